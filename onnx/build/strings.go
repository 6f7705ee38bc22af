package build

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// A tensor of strings is one of int64, whose elements are numbers in the table of a run; see package core/text. Equal strings have
// equal numbers. So what moves and compares elements is the operators of integers, as for other types that tensors lack, and what
// follows from strings of the file is computed when the graph is built.
//
// Operators that look into strings are in ops/string.go. A device has numbers and no strings, so that such a call ends the graph, as
// one whose result has a size that elements tell; see stage.go. The runtime makes it between two graphs, on the CPU.
//
// Which operators take strings is in the table of treatments in elements.go. An operator that sorts elements, or computes with them,
// is not among them: the order of numbers is that in which the run has met the strings. Where an order matters, as for Unique, a call
// on strings makes ranks of them first, see ranks in package ops.
//
// A number that a run gives to a string may be a constant of a program only if that program is for this run alone, which none is. So
// a result of a call on strings is never known when a graph is built, and a shape that follows from it is refused. An input of strings
// of which a shape is wanted is refused in the same way, once the runtime has tried it with the numbers as constants.

// intern gives the strings of the file their numbers: those of tensors and of attributes. Graphs have these numbers as constants, and
// runs look for strings among them, so that there are no further ones later. All texts of attributes count, also those that name a mode,
// because within a function of the model an attribute may stand for one of another name. In alphabetical order they have the same
// numbers each time that the file is read, and so have the constants that devices keep.
func (m *Model) intern() {
	found := map[string]bool{}
	textsOfGraph(m.file.Graph, found)
	for _, f := range m.file.Functions {
		textsOfNodes(f.Nodes, found)
		for _, a := range f.Defaults {
			textsOf(a, found)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(found)) {
		m.strings.Add(s)
	}
}

// textsOfGraph adds the strings of a graph.
func textsOfGraph(g *file.Graph, found map[string]bool) {
	for _, t := range g.Initializers {
		textsOfTensor(t, found)
	}
	textsOfNodes(g.Nodes, found)
}

// textsOfNodes adds the strings of nodes, and those that operators of ai.onnx.ml have as a default.
func textsOfNodes(nodes []*file.Node, found map[string]bool) {
	for _, n := range nodes {
		if n.Domain == "ai.onnx.ml" {
			found[Unused] = true
		}
		for _, a := range n.Attrs {
			textsOf(a, found)
		}
	}
}

// textsOf adds the strings of an attribute.
func textsOf(a *file.Attribute, found map[string]bool) {
	found[string(a.S)] = true
	for _, s := range a.Texts {
		found[string(s)] = true
	}
	if a.T != nil {
		textsOfTensor(a.T, found)
	}
	if a.G != nil {
		textsOfGraph(a.G, found)
	}
}

// textsOfTensor adds the elements of a tensor of strings; others have none.
func textsOfTensor(t *file.Tensor, found map[string]bool) {
	for _, s := range t.Texts {
		found[string(s)] = true
	}
}

// read is a tensor of the file with its elements, which are numbers of the model for strings. ONNX has strings in no other place of a
// tensor than string_data: neither in raw data nor in another file. They are checked here and not when they are interned, so that an
// attribute with other bytes, which nothing takes for a string, does no harm.
func (m *Model) read(t *file.Tensor) (*op.Const, error) {
	if t.Elem != file.ElemString {
		c, err := t.Const(m.folder.Read)
		if err == nil {
			c.Mapped = t.Elem.Bits() == 0 && (t.Outside || t.RawSet && m.from != nil)
		}
		return c, err
	}
	made, err := t.Type()
	if err != nil {
		return nil, err
	}
	if t.Outside || t.RawSet || int64(len(t.Texts)) != made.Shape.Numel() {
		return nil, status.Errorf(status.Invalid, "[onnx] tensor %q of string%s has %s in string_data; want %d, and no other data", t.Name, &made.Shape, status.Count(len(t.Texts), "element", "elements"), made.Shape.Numel())
	}
	c := &op.Const{Type: made}
	for i, s := range t.Texts {
		id, ok := m.strings.ID(string(s))
		if !ok || !utf8.Valid(s) {
			return nil, status.Errorf(status.Invalid, "[onnx] element %d of tensor %q is not UTF-8", i, t.Name)
		}
		c.Bytes = file.AppendInt(c.Bytes, id, 8)
	}
	return c, nil
}

// Numbers are the numbers of strings of an attribute.
func (c *Call) Numbers(name string, list ...[]byte) []int64 {
	c.Room(int64(len(list)))
	ids := make([]int64, len(list))
	for i, s := range list {
		id, ok := c.Model.strings.ID(string(s))
		if !ok || !utf8.Valid(s) {
			c.Wrong("string %d of attribute %s is not UTF-8", i, name)
		}
		ids[i] = id
	}
	return ids
}

// Strings is operand i, which has to be strings.
func (c *Call) Strings(i int) *Value {
	x := c.X(i)
	if x.Elem != file.ElemString {
		c.Wrong("operand %d has elements of type %s; want strings", i, x.ElemText())
	}
	return x
}

// OnStrings ends the graph at a call on strings; in the graph behind it, it returns the results. Each of results has their type, with
// a symbol for a size that only the call tells.
//
// It is [call.counted] for functions instead of rows, with two differences. The call is made in each run even if all operands are
// known, because strings that it makes have no numbers before. And it may have several results, which are inputs of the rest in this
// order.
func (c *Call) OnStrings(call graph.StringCall, operands []*Value, results ...Value) []*Value {
	b := c.Builder
	if b.taken+len(results) <= len(b.given) {
		b.taken += len(results)
		return b.given[b.taken-len(results) : b.taken : b.taken]
	}
	if b.drawn {
		c.Refuse("it looks into strings, and random numbers were drawn before it in a branch, a loop or a function; want them outside")
	}
	where := c.Node.Named(c.Opset)
	placed := func(t *text.Table, in []*op.Const) ([]*op.Const, error) {
		made, err := call(t, in)
		if err != nil {
			return nil, placeError(where, err)
		}
		return made, nil
	}
	panic(refusal{&cut{node: b.outer, strings: placed, operands: operands, results: results}})
}

// Typed is a result of a call on strings, with dimensions that may be symbols.
func Typed(d dtype.DType, elem file.ElemType, dims ...int64) Value {
	return Value{Type: op.Type{DType: d, Shape: ShapeOf(dims)}, Elem: elem}
}

// EachString is a call that makes a string of each element of x.
func (c *Call) EachString(x *Value, of func(t *text.Table, k *op.Const) ([]string, error)) *Value {
	call := func(t *text.Table, in []*op.Const) ([]*op.Const, error) {
		list, err := of(t, in[0])
		if err != nil {
			return nil, err
		}
		return StringConst(t, in[0].Shape, list)
	}
	return c.OnStrings(call, []*Value{x.As(0)}, Typed(dtype.Int64, file.ElemString, x.Dims()...))[0]
}

// OnTexts is OnStrings for a call whose operands are strings: it gets them beside the tensors of their numbers.
func (c *Call) OnTexts(call func(t *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error), operands []*Value, results ...Value) []*Value {
	read := func(t *text.Table, in []*op.Const) ([]*op.Const, error) {
		lists := make([][]string, len(in))
		for i, k := range in {
			var err error
			if lists[i], err = StringList(t, k); err != nil {
				return nil, err
			}
		}
		return call(t, in, lists)
	}
	numbers := make([]*Value, len(operands))
	for i, x := range operands {
		numbers[i] = x.As(0)
	}
	return c.OnStrings(read, numbers, results...)
}

// OfEachString is a call that makes an element of dtype d of each string of x: it appends its bytes to raw.
func (c *Call) OfEachString(x *Value, d dtype.DType, of func(raw []byte, s string) ([]byte, error)) *Value {
	call := func(_ *text.Table, in []*op.Const, lists [][]string) ([]*op.Const, error) {
		k := &op.Const{Type: op.Type{DType: d, Shape: in[0].Shape}}
		for i, s := range lists[0] {
			var err error
			if k.Bytes, err = of(k.Bytes, s); err != nil {
				return nil, status.Errorf(status.CodeOf(err), "[onnx] element %d is %s", i, err)
			}
		}
		return []*op.Const{k}, nil
	}
	return c.OnTexts(call, []*Value{x}, Typed(d, 0, x.Dims()...))[0]
}

// StringList are the strings that an operand has numbers of.
func StringList(t *text.Table, k *op.Const) ([]string, error) {
	ids, _ := k.Ints()
	return t.Texts(ids)
}

// StringConst is the numbers of strings as the one result of a call.
func StringConst(t *text.Table, s shape.Shape, list []string) ([]*op.Const, error) {
	k := &op.Const{Type: op.Type{DType: dtype.Int64, Shape: s}, Bytes: make([]byte, 0, 8*len(list))}
	for _, s := range list {
		id, err := t.ID(s)
		if err != nil {
			return nil, err
		}
		k.Bytes = file.AppendInt(k.Bytes, id, 8)
	}
	return []*op.Const{k}, nil
}

// Strings are the strings of the model; see [graph.Stringed].
func (m *Model) Strings() *text.Model { return m.strings }

// Wire is the wire form of the strings of a constant of the model, such as a value that [Model.Take] has returned.
func (m *Model) Wire(k *op.Const) ([]byte, error) {
	list, err := StringList(text.New(m.strings), k)
	if err != nil {
		return nil, err
	}
	return text.Encode(list)
}

// StringInputs describes the inputs that are strings, if all are tensors.
func (m *Model) StringInputs() []string { return stringPorts(m.inputs) }

// StringInputs describes the tensors of a form that are strings.
func (f *Form) StringInputs() []string { return stringPorts(f.ports) }

// stringPorts describes the ports that are strings, and others as an empty text; nil where there are none.
func stringPorts(ports []*file.Port) (list []string) {
	for i, p := range ports {
		if p.Elem == file.ElemString {
			if list == nil {
				list = make([]string, len(ports))
			}
			list[i] = "input \"" + p.Name + "\", " + p.Text()
		}
	}
	return list
}

// StringOutputs says which outputs are strings, and whether the results of a run begin with their form.
func (m *Model) StringOutputs() (outputs []bool, formed bool) {
	for i, p := range m.file.Graph.Outputs {
		if p.Elem == file.ElemString {
			if outputs == nil {
				outputs = make([]bool, len(m.file.Graph.Outputs))
			}
			outputs[i] = true
		}
	}
	return outputs, Varies(m.file.Graph.Outputs)
}

// Unused is what attribute default_string is if it is not given.
const Unused = "_Unused"
