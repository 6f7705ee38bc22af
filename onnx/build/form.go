package build

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// A sequence is a list of tensors, and an optional is a value or nothing. A graph has neither: it is made for known numbers of
// tensors. The form of a call is these numbers, one for each input of the model: 1 for a tensor, the length of a sequence, and
// -1 for an optional that is nothing. The tensors themselves follow each other in one list.
//
// Inputs whose elements decide something have numbers: those of the tensors in that list, not those of the model's inputs. A
// model whose inputs are all tensors has one form, in which both are the same.
//
// How many tensors a model returns is known when its graph is made. Where an output is no tensor, the graph has one more result,
// before all others: the form of the outputs, as a constant.

// Nothing is the number of a form for an optional without a value.
const Nothing = -1

// mostTensors is how many tensors all inputs of a call, or all its results, have at most.
const mostTensors = 4096

// Form is a model for known numbers of tensors; see [Model.Form].
type Form struct {
	*Model
	counts []int64      // by inputs of the model
	ports  []*file.Port // by tensors
	types  []op.Type    // likewise
}

// Varies reports whether one of the ports is no tensor.
func Varies(ports []*file.Port) bool {
	for _, p := range ports {
		if p.Sequence || p.Optional {
			return true
		}
	}
	return false
}

// Varies reports whether a call gives a form, and whether its results begin with one.
func (m *Model) Varies() (inputs, outputs bool) {
	return Varies(m.inputs), Varies(m.file.Graph.Outputs)
}

// OnlyTensors refuses a model that takes or returns anything else.
func (m *Model) OnlyTensors() error {
	for _, list := range [2][]*file.Port{m.inputs, m.file.Graph.Outputs} {
		for _, p := range list {
			if p.Sequence || p.Optional {
				return status.Errorf(status.Unsupported, "[onnx] %q is %s; want a tensor", p.Name, p.Text())
			}
		}
	}
	return nil
}

// Form is the model for calls of a form. Each form has graphs of its own.
func (m *Model) Form(counts []int64) (*Form, error) {
	if len(counts) != len(m.inputs) {
		return nil, status.Errorf(status.Invalid, "[onnx] the form has %s; want one for each of %d inputs", status.Count(len(counts), "number", "numbers"), len(m.inputs))
	}
	f := &Form{Model: m, counts: counts}
	for i, p := range m.inputs {
		n := counts[i]
		if !(n == 1 || n == Nothing && p.Optional || n >= 0 && n <= mostTensors && p.Sequence) {
			return nil, status.Errorf(status.Invalid, "[onnx] input %q is given as %d tensors; want %s of at most %d", p.Name, n, p.Text(), mostTensors)
		}
		for range max(n, 0) {
			f.ports, f.types = append(f.ports, p), append(f.types, m.types[i])
		}
		if len(f.ports) > mostTensors {
			return nil, status.Errorf(status.Unsupported, "[onnx] the inputs are more than %d tensors; want fewer", mostTensors)
		}
	}
	return f, nil
}

// plain is the form of calls whose inputs are all tensors.
func (m *Model) plain() *Form { return &Form{Model: m, ports: m.inputs, types: m.types} }

// Inputs are the types of the tensors.
func (f *Form) Inputs() []op.Type { return f.types }

// Resolve is that of the model, for types of the tensors.
func (f *Form) Resolve(inputs []op.Type) (*graph.Graph, error) { return unstaged(f.Stage(inputs)) }

// Stage is that of the model, likewise.
func (f *Form) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	if err := f.matches(inputs); err != nil {
		return nil, nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resolve(inputs, nil)
}

// matches checks the types of a call against what the file declares. A size that the file leaves open may be any.
// The file may be wrong about sizes that it does say; onnxruntime refuses these inputs as well. Like it, of tensors in a
// sequence only the dtype is checked.
func (f *Form) matches(inputs []op.Type) error {
	if len(inputs) != len(f.types) {
		return status.Errorf(status.Invalid, "[onnx] got %s; want %d", status.Count(len(inputs), "input", "inputs"), len(f.types))
	}
	for i := range inputs {
		got, want, p := &inputs[i], &f.types[i], f.ports[i]
		sized := p.Ranked && !p.Sequence
		ok := got.DType == want.DType && got.Shape.Known() && (!sized || got.Shape.Rank == want.Shape.Rank)
		for j := 0; ok && sized && j < want.Shape.Rank; j++ {
			ok = shape.IsSymbol(want.Shape.Dims[j]) || want.Shape.Dims[j] == got.Shape.Dims[j]
		}
		if !ok {
			return status.Errorf(status.Invalid, "[onnx] input %q is %s%s; want %s", p.Name, p.Elem.TextOf(got.DType), &got.Shape, p.Text())
		}
	}
	return nil
}

// resolve is Stage for types that match. The caller holds the lock of the model. Outputs of the file become
// outputs of the graph in the same order; one may be an input, or a constant.
func (f *Form) resolve(inputs []op.Type, known map[int]*op.Const) (*graph.Graph, *graph.Stage, error) {
	b := f.newBuilder(known, len(f.ports))
	made := make([]*Value, len(f.ports))
	for i := range made {
		if k := known[i]; k != nil {
			made[i] = &Value{Type: k.Type, Elem: f.ports[i].Elem.Lacking(), Data: k}
			continue
		}
		made[i] = b.input(inputs[i], f.ports[i].Elem.Lacking(), 1<<min(i, 63))
	}
	// Each input of the model takes its tensors from the front of the list.
	for i, p := range f.inputs {
		n := int64(1)
		if f.counts != nil {
			n = f.counts[i]
		}
		v := &Value{None: n == Nothing, IsList: n != Nothing && p.Sequence}
		of := made[:max(n, 0)]
		if made = made[len(of):]; v.IsList {
			v.List = of
		} else if !v.None {
			v = of[0]
		}
		b.main.Values[p.Name] = v
	}
	return b.build(0)
}

// returned are the results of a graph: its outputs or, where one of them may be no tensor, their form and then all tensors.
func (b *Builder) returned(made []*Value) ([]graph.Value, error) {
	ports := b.Model.file.Graph.Outputs
	formed := Varies(ports)
	var list []*Value
	var form []byte
	for i, v := range made {
		if err := checkMade(ports[i], v); err != nil {
			return nil, err
		}
		switch {
		case v.IsList || v.None:
			if p := ports[i]; v.IsList && !p.Sequence || v.None && !p.Optional {
				return nil, status.Errorf(status.Unsupported, "[onnx] output %q is a sequence or nothing; want %s", p.Name, p.Text())
			}
			n := int64(len(v.List))
			if v.None {
				n = Nothing
			}
			form, list = file.AppendInt(form, n, 8), append(list, v.List...)
		default:
			form, list = file.AppendInt(form, 1, 8), append(list, v)
		}
	}
	// Models whose outputs are all tensors return them alone, as they always did.
	if formed && len(list) > mostTensors {
		return nil, status.Errorf(status.Unsupported, "[onnx] the outputs are %d tensors; want at most %d", len(list), mostTensors)
	}
	if formed {
		list = append([]*Value{b.constant(dtype.Int64, []int64{int64(len(made))}, form)}, list...)
	}
	outputs := make([]graph.Value, len(list))
	for i, v := range list {
		if v.IsList || v.None {
			return nil, status.Errorf(status.Unsupported, "[onnx] an output is a sequence of sequences or optionals; want tensors")
		}
		outputs[i] = b.place(v)
	}
	return outputs, nil
}

// checkMade checks that a value, or each of a sequence, has elements of the type that the file declares: another type that tensors
// lack would leave as something else.
func checkMade(p *file.Port, v *Value) error {
	for _, e := range v.List {
		if err := checkMade(p, e); err != nil {
			return err
		}
	}
	if !v.IsList && !v.None && v.Elem != p.Elem.Lacking() {
		return status.Errorf(status.Unsupported, "[onnx] output %q is made of %s; want %s, as the file declares", p.Name, v.ElemText(), p.Elem)
	}
	return nil
}

// Given is the form for known elements of some tensors, by their numbers; its graphs take the others. It is for models in
// which these elements decide what the graph is: Resolve has refused them with graph.NeedsElements.
func (f *Form) Given(known map[int]*op.Const) *Given {
	g := &Given{Form: f, known: known}
	for i, t := range f.types {
		if known[i] == nil {
			g.rest = append(g.rest, t)
		}
	}
	return g
}

// Given is a form some of whose tensors are known; see [Form.Given].
type Given struct {
	*Form
	known map[int]*op.Const
	rest  []op.Type
}

// Inputs are the types of the tensors that are not known.
func (g *Given) Inputs() []op.Type { return g.rest }

// Resolve is that of the model, for types of the tensors that are not known.
func (g *Given) Resolve(inputs []op.Type) (*graph.Graph, error) { return unstaged(g.Stage(inputs)) }

// Stage is that of the model, likewise.
func (g *Given) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	if len(inputs) != len(g.rest) {
		return nil, nil, status.Errorf(status.Invalid, "[onnx] got %s; want %d", status.Count(len(inputs), "input", "inputs"), len(g.rest))
	}
	all := make([]op.Type, 0, len(g.types))
	for i := range g.types {
		if k := g.known[i]; k != nil {
			all = append(all, k.Type)
			continue
		}
		all, inputs = append(all, inputs[0]), inputs[1:]
	}
	if err := g.matches(all); err != nil {
		return nil, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.resolve(all, g.known)
}
