package build

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/mapped"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Newest is the latest opset of the main domain that the table of operators was written for.
const Newest = 27

// Fold computes a call whose operands are all known. It may be called from any goroutine.
type Fold func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error)

// Model is a file that was read. It may be used from any goroutine until Close.
type Model struct {
	file    *file.Model
	inputs  []*file.Port // those that a call gives: initializers may be listed among the inputs of the graph
	types   []op.Type
	outputs []op.Type
	// Inputs of the graph that are initializers too.
	replaceable []*file.Port
	names       string // of the file, for people
	fold        Fold

	from   *mapped.File // of a model that was opened
	size   int64        // bytes of the file
	folder file.Folder

	strings *text.Model

	integers bool // see UseIntegers

	mu   sync.Mutex // held while the model is resolved
	kept Kept
}

// Kept is what the resolutions of a model share: constants, and results that follow from the file alone.
type Kept struct {
	Consts map[*file.Tensor]*op.Const
	Small  map[string]*op.Const   // by type and elements
	Folded map[string][]*op.Const // by operator, attributes and operands, where these follow from the file alone
	ids    map[*op.Const]int      // of constants among the operands of what is in folded
	Spent  int64                  // bytes of what is in folded and is large
}

// Kept is what resolutions have left for later ones. It is read while none runs.
func (m *Model) Kept() *Kept { return &m.kept }

// File is what was read.
func (m *Model) File() *file.Model { return m.file }

// Size is how many bytes the file has.
func (m *Model) Size() int64 { return m.size }

// Open maps a file and reads the model in it. Errors of the system, such as a file that is not there, are
// status.Invalid with its message.
func Open(path string, fold Fold) (*Model, error) {
	from, err := mapped.Open(path)
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[onnx] %s", err)
	}
	m, err := Parse(from.Bytes, filepath.Dir(path), fold)
	if err != nil {
		_ = from.Close() // the first error is the one to report
		return nil, err
	}
	m.from, m.names = from, filepath.Base(path)
	return m, nil
}

// Parse reads a model. bytes must not change until Close. dir is the folder for external data; empty: there is none.
// Nothing but the elements of tensors refers to bytes afterwards. It refuses operators that are missing, but
// resolves nothing: that takes the types of inputs.
func Parse(bytes []byte, dir string, fold Fold) (*Model, error) {
	d := file.Decoder{}
	f, err := d.File(bytes)
	if err != nil {
		return nil, file.Explained(bytes, err)
	}
	if err := f.Definitions(); err != nil {
		return nil, err
	}
	m := &Model{
		size: int64(len(bytes)), file: f, fold: fold, folder: file.Folder{Path: dir}, kept: Kept{Consts: map[*file.Tensor]*op.Const{}, Small: map[string]*op.Const{}, Folded: map[string][]*op.Const{}, ids: map[*op.Const]int{}}, strings: &text.Model{},
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.intern()
	return m, m.declare()
}

// Close unmaps the file. No method may be running or be called later, and no constant of a graph of the model be
// read. The program of the model calls it when it is freed.
func (m *Model) Close() error {
	m.folder.Close()
	if m.from != nil {
		_ = m.from.Close() // read only
	}
	return nil
}

// declare lists inputs and outputs. An input that is also an initializer has a value: callers do not give it.
// Inputs with elements that no tensor of the runtime has are refused here.
func (m *Model) declare() error {
	given := map[string]bool{}
	for _, t := range m.file.Graph.Initializers {
		given[t.Name] = true
	}
	symbols := 0
	for _, p := range m.file.Graph.Inputs {
		if given[p.Name] {
			m.replaceable = append(m.replaceable, p)
			continue
		}
		t, err := typeWith(p, &symbols)
		if err != nil {
			return err
		}
		if t.DType == dtype.Invalid || p.Other {
			return status.Errorf(status.Unsupported, "[onnx] input %q is %s; want a tensor of one of %s", p.Name, p.Text(), file.Carried())
		}
		m.inputs, m.types = append(m.inputs, p), append(m.types, t)
	}
	if len(m.file.Graph.Outputs) == 0 {
		return status.Errorf(status.Invalid, "[onnx] the model has no outputs")
	}
	for _, p := range m.file.Graph.Outputs {
		t, err := typeWith(p, &symbols)
		if err != nil {
			return err
		}
		m.outputs = append(m.outputs, t)
	}
	return nil
}

// typeWith is the type of a port, that of the tensor that carries its elements. Each dimension that is not known is a symbol of its own,
// because files give one name to sizes that differ: "?", "-1", or an expression. A port of unknown rank has the rank 0. symbols counts
// those of the model, so that each is another one.
func typeWith(p *file.Port, symbols *int) (t op.Type, err error) {
	t.DType = p.Elem.Carrier()
	if len(p.Dims) > shape.MaxRank {
		return t, status.Errorf(status.Unsupported, "[onnx] %q has %d dimensions; want at most %d", p.Name, len(p.Dims), shape.MaxRank)
	}
	t.Shape.Rank = len(p.Dims)
	for i, d := range p.Dims {
		if t.Shape.Dims[i] = d.Size; d.Size < 0 {
			t.Shape.Dims[i] = shape.Symbol(*symbols)
			*symbols++
		}
	}
	return t, t.Possible("onnx")
}

// Ports are the inputs that a call gives, and the outputs, as the file declares them.
func (m *Model) Ports() (inputs, outputs []*file.Port) { return m.inputs, m.file.Graph.Outputs }

// Inputs are the types of what a call gives. An input whose rank the file leaves open has the rank 0 here; see
// [Port.Ranked].
func (m *Model) Inputs() []op.Type { return m.types }

// Outputs are the types that the file declares for the results. What a graph makes may be more specific.
func (m *Model) Outputs() []op.Type { return m.outputs }

// Calls is the number of nodes of the main graph.
func (m *Model) Calls() int { return len(m.file.Graph.Nodes) }

// String describes the model: its inputs and outputs, and the nodes of the main graph, one a line. The format is for
// people and may change.
func (m *Model) String() string {
	var b strings.Builder
	for _, p := range m.inputs {
		fmt.Fprintf(&b, "input %s %s\n", p.Name, p.Text())
	}
	for _, n := range m.file.Graph.Nodes {
		fmt.Fprintf(&b, "%s = %s(%s)\n", strings.Join(n.Out, ", "), n.Op, strings.Join(n.In, ", "))
	}
	for _, p := range m.file.Graph.Outputs {
		fmt.Fprintf(&b, "output %s %s\n", p.Name, p.Text())
	}
	return b.String()
}

// Resolve is the graph for inputs of these types, whose dimensions are known. Constants that do not depend on them
// are the same objects for all types. An error names the node. graph.NeedsElements says that elements of inputs
// decide something; see Given.
func (m *Model) Resolve(inputs []op.Type) (*graph.Graph, error) {
	return unstaged(m.Stage(inputs))
}

// Stage is Resolve for a model that may have calls whose results have a size that follows from elements; see
// [graph.Staged].
func (m *Model) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	if Varies(m.inputs) {
		return nil, nil, status.Errorf(status.Unsupported, "[onnx] the model takes a sequence or an optional; want a call with the number of tensors")
	}
	return m.plain().Stage(inputs)
}

// unstaged is the graph of a stage that nothing follows, and an error for others.
func unstaged(g *graph.Graph, next *graph.Stage, err error) (*graph.Graph, error) {
	if err == nil && next != nil {
		if next.Strings != nil {
			return nil, status.Errorf(status.Unsupported, "[onnx] the model computes with strings, which takes a run")
		}
		err = status.Errorf(status.Unsupported, "[%s] the size of its result depends on the elements of a tensor", next.Row.Name)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Given is the model for known elements of some inputs; see [Form.Given].
func (m *Model) Given(known map[int]*op.Const) *Given { return m.plain().Given(known) }

// Constant is an initializer, or the tensor of an attribute, as a constant: always the same one. The same tensor is
// the same constant in all graphs; devices keep one copy of it.
func (m *Model) Constant(t *file.Tensor) (*op.Const, error) {
	if c := m.kept.Consts[t]; c != nil {
		return c, nil
	}
	c, err := m.read(t)
	if err == nil {
		m.kept.Consts[t] = c
	}
	return c, err
}
