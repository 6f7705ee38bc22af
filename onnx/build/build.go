package build

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// A name of the file stands for a value: a tensor with a type, often with elements, sometimes a sequence of such.
// Values with elements are not part of the graph until something reads them that is. A call of a row whose operands
// all have elements is folded: the evaluator of the caller computes it, and its results have elements too.
//
// Three properties of values decide what happens to results. A value that is fixed follows from the file alone: what
// is computed of fixed values is kept by the model, and is the same constant for all shapes, so that a transposed
// weight is computed once and copied to a device once. A value that depends on shapes is computed again for each
// resolution, and its constant is Local to the program of that resolution. A value that depends on elements of
// inputs has no elements; it remembers of which inputs, for the error of a function that has to know them.
//
// Large results are folded only where they are fixed, and up to a limit for the model; beyond it they are computed
// each time the model runs. Small ones are always folded.

// Builder makes the graph of a model for one set of input types.
type Builder struct {
	Model   *Model
	Graph   *graph.Builder
	ask     op.Inference
	known   map[int]*op.Const // inputs of the model that the graph does not have, because their elements are known
	tensors int               // of all inputs of the model
	main    *Scope            // of the main graph
	ports   []*Value          // inputs of the graph
	stage   int               // how many stages there are before the graph
	outer   *file.Node        // of the main graph, which is being added
	drawn   bool              // it has drawn random numbers
	given   []*Value          // results of counted calls of the node at which the graph begins; see stage.go
	taken   int               // how many of them it has asked for
	Depth   int
	Budget
}

// Scope is where names are looked up: those of a graph, and for its branches those of the graphs around them.
type Scope struct {
	outer  *Scope
	Values map[string]*Value
	Opsets map[string]int64
	attrs  map[string]*file.Attribute // of the function that is expanded
	inside *file.Function             // the function; nil: the graph of the model
}

// find is what a name stands for; nil where nothing has made it. The search goes outwards: a graph in an attribute
// sees the names of the graphs around it, as ONNX says, and a function sees nothing but its own.
func (s *Scope) find(name string) *Value {
	for ; s != nil; s = s.outer {
		if v := s.Values[name]; v != nil {
			return v
		}
	}
	return nil
}

// leftOut tells whether a name is that of an input which the call of the function around it has left out.
func (s *Scope) leftOut(name string) bool {
	return s.inside != nil && slices.Contains(s.inside.Inputs, name)
}

// Within is a scope for a graph of an attribute. Graphs of attributes have the opsets of the graph around them.
func (s *Scope) Within() *Scope {
	return &Scope{outer: s, Values: map[string]*Value{}, Opsets: s.Opsets, attrs: s.attrs, inside: s.inside}
}

// newBuilder begins a graph of the model, for calls with so many tensors.
func (m *Model) newBuilder(known map[int]*op.Const, tensors int) *Builder {
	main := &Scope{Values: map[string]*Value{}, Opsets: m.file.Opsets}
	return &Builder{Model: m, Graph: graph.NewBuilder(), known: known, tensors: tensors, main: main}
}

// input is an input of the graph. from are the inputs of the model that its elements depend on.
func (b *Builder) input(t op.Type, elem file.ElemType, from uint64) *Value {
	v := &Value{Type: t, Elem: elem, At: b.Graph.Input(t), Placed: true, inputs: from}
	b.ports = append(b.ports, v)
	return v
}

// build adds the nodes of the main graph from one on, and ends the graph.
func (b *Builder) build(from int) (*graph.Graph, *graph.Stage, error) {
	made, err := b.Body(b.main, b.Model.file.Graph, from)
	var cut *cut
	if errors.As(err, &cut) {
		return b.cutAt(cut)
	}
	if err != nil {
		return nil, nil, err
	}
	outputs, err := b.returned(made)
	if err != nil {
		return nil, nil, err
	}
	return b.Graph.Build(outputs...), nil, nil
}

// Body adds a graph, from one of its nodes on, to what is built, and returns its outputs. The scope has the inputs.
// Initializers hide names of the graphs around, as inputs do.
func (b *Builder) Body(s *Scope, g *file.Graph, from int) ([]*Value, error) {
	if err := b.Draw(int64(1 + len(g.Initializers) + len(g.Inputs) + len(g.Outputs))); err != nil {
		return nil, err
	}
	for _, t := range g.Initializers {
		if from > 0 || b.Model.taken(g, t.Name) { // a rest has those that it reads
			continue
		}
		c, err := b.Model.Constant(t)
		if err != nil {
			return nil, err
		}
		s.Values[t.Name] = &Value{Type: c.Type, Elem: t.Elem.Lacking(), Data: c, Fixed: true}
	}
	if err := b.run(s, g.Nodes[from:]); err != nil {
		return nil, err
	}
	out := make([]*Value, len(g.Outputs))
	for i, p := range g.Outputs {
		if out[i] = s.find(p.Name); out[i] == nil {
			return nil, status.Errorf(status.Invalid, "[onnx] output %q of graph %q is made by no node", p.Name, g.Name)
		}
		if err := b.settle(out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// run adds nodes in order. The order of a file is one in which nodes can run; a name that is not there yet is an
// error of the file, be it by a cycle or by the order. Nodes that nothing reads are added too: core/graph leaves
// them out.
func (b *Builder) run(s *Scope, nodes []*file.Node) error {
	for _, n := range nodes {
		if b.nodes++; b.nodes > file.MostNodes {
			return status.Errorf(status.Unsupported, "[onnx] %s: the model runs more than %d nodes, those of loops counted each time", n.Named(s.Opsets[n.Domain]), file.MostNodes)
		}
		if s == b.main {
			b.outer, b.drawn = n, false
		}
		if err := b.node(s, n); err != nil {
			return err
		}
		if s == b.main {
			b.given, b.taken = nil, 0
		}
	}
	return nil
}

// refusal is the panic with which a function of an operator ends where it cannot do what is asked; node makes an error of it.
type refusal struct{ err error }

// node adds one node. The result of an error is that of the whole resolution: nothing of the graph is used then.
func (b *Builder) node(s *Scope, n *file.Node) (err error) {
	opset := s.Opsets[n.Domain]
	defer func() {
		if r := recover(); r != nil {
			err = placeError(n.Named(opset), recovered(r))
		}
	}()
	c := &Call{Builder: b, Scope: s, Node: n, Opset: opset}
	c.Room(int64(len(n.In) + len(n.Out)))
	for _, name := range n.In {
		var v *Value
		if name != "" {
			if v = s.find(name); v == nil && !s.leftOut(name) {
				c.Wrong("reads %q, which no node before it makes; want nodes in an order in which they can run", name)
			}
		}
		c.In = append(c.In, v)
	}
	e := b.Model.operator(s.Opsets, n)
	if e.Build == nil {
		c.Refuse("is not supported")
	}
	c.Row = e.Row
	if e.Row != op.IDMatmulInteger && e.Row != op.IDConvInteger && e.Row != op.IDTranspose {
		for _, v := range c.In {
			c.Must(b.settle(v))
		}
	}
	out := c.results(&e)
	for i, name := range n.Out {
		if name != "" && i < len(out) && out[i] != nil {
			s.Values[name] = out[i]
		} else if name != "" {
			c.Refuse("output %d (%q) is not supported", i, name)
		}
	}
	return nil
}

// recovered is the error of a function that has ended with a panic. Functions check what exporters may write; an
// index that is out of range comes from a node with fewer operands or dimensions than its operator has. Any other
// panic is a mistake of this package and goes on.
func recovered(r any) error {
	switch r := r.(type) {
	case refusal:
		return r.err
	case runtime.Error:
		return status.Errorf(status.Invalid, "its operands or attributes are none that the operator takes (%s)", r)
	}
	panic(r)
}

// placeError says in which node an error is. One that says it already, because it is from a node of a branch, stays.
// Errors of rows begin with the name of the row, which stays: it is the row that says what is wrong.
func placeError(where string, err error) error {
	var needs *graph.NeedsElements
	if errors.As(err, &needs) {
		return &graph.NeedsElements{Inputs: needs.Inputs, Err: placeError(where, needs.Err)}
	}
	var e *status.Error
	if !errors.As(err, &e) {
		return err
	}
	if strings.HasPrefix(e.Msg, "[onnx] node ") {
		return err
	}
	return status.Errorf(e.Code, "[onnx] %s: %s", where, strings.TrimPrefix(e.Msg, "[onnx] "))
}

// place is a value in the graph. Constants that only took part in what was folded are never placed, so that no
// device gets a copy of them.
func (b *Builder) place(v *Value) graph.Value {
	if !v.Placed {
		if v.Placed = true; v.Number != nil {
			v.At = b.Graph.Scalar(*v.Number)
		} else {
			v.At = b.Graph.Constant(v.Data)
		}
	}
	return v.At
}

// constant is a tensor with these elements. Small ones are the same constant wherever they are wanted. The bytes
// belong to the constant from here on.
func (b *Builder) constant(d dtype.DType, dims []int64, raw []byte) *Value {
	c := &op.Const{Type: op.Type{DType: d, Shape: ShapeOf(dims)}, Bytes: raw, Local: true}
	return &Value{Type: c.Type, Data: b.Model.share(c)}
}

// share is a small constant with the same elements that is there already, or the constant. Sharing matters for
// programs: a device keeps a copy of each constant that is not Local, by its address.
func (m *Model) share(c *op.Const) *op.Const {
	const small = 64
	if len(c.Bytes) > small {
		return c
	}
	key := c.DType.String() + c.Shape.String() + string(c.Bytes)
	if before := m.kept.Small[key]; before != nil {
		return before
	}
	if len(m.kept.Small) < MostShared {
		c.Local = false
		m.kept.Small[key] = c
	}
	return c
}

// outlive says of a constant that all resolutions share it. One that they share already is only read: a program may be
// compiling with it.
func outlive(c *op.Const) {
	if c.Local {
		c.Local = false
	}
}

// infer asks the row about a call. The answer is in b.ask until the next question. It is what graph.Builder asks
// too. Here the answer says how large a result would be before anything is computed.
func (b *Builder) infer(row *op.Row, at op.Attrs, in []*Value) (op.Attrs, error) {
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	if err := row.Fill(full); err != nil {
		return nil, err
	}
	q := &b.ask
	q.NewSymbol = b.Graph.Symbol
	q.Reset(row, full)
	for _, v := range in {
		q.In = append(q.In, op.Arg{Type: v.Type, Scalar: v.Number != nil, Absent: v.Number != nil && !v.Number.Set(), Value: v.Number, Const: v.Data})
	}
	if err := row.Arity(q.In); err != nil {
		return nil, err
	}
	if err := q.Infer(); err != nil {
		return nil, err
	}
	for i := range q.Out {
		if err := q.Out[i].Possible(row.Name); err != nil {
			return nil, err
		}
	}
	return full, nil
}

// apply adds a call of a row, or computes it where its operands are known. tainted says that attributes follow from
// the shapes of inputs. The graph gets a node only where an operand is not known, or where the result is large and
// follows from shapes of inputs. A result without elements is a constant in any case, so that functions need not
// care for empty tensors. What is folded depends on its size: small results always, large ones where they follow
// from the file alone, which the limits bound for the whole model.
func (b *Builder) apply(row *op.Row, at op.Attrs, in []*Value, tainted bool) ([]*Value, error) {
	if err := b.Called(len(in)); err != nil {
		return nil, err
	}
	full, err := b.infer(row, at, in)
	if err != nil {
		return nil, err
	}
	b.drawn = b.drawn || row.Random
	known, fixed, bytes, inputs := !row.Random && !row.Counted, !tainted, int64(0), uint64(0)
	for _, v := range in {
		known, fixed, inputs = known && v.known(), fixed && v.Fixed, inputs|v.inputs
	}
	out, empty := make([]*Value, len(b.ask.Out)), true
	for i, t := range b.ask.Out {
		out[i] = &Value{Type: t, Fixed: known && fixed, inputs: inputs}
		if !t.Shape.Known() {
			return nil, status.Errorf(status.Unsupported, "[%s] the size of its result depends on the elements of a tensor", row.Name)
		}
		n := t.Shape.Numel() * t.DType.Size()
		bytes, empty = bytes+n, empty && n == 0
	}
	switch {
	case empty: // whatever the operands are
		for _, v := range out {
			v.Data = b.constant(v.DType, v.Dims(), nil).Data
		}
		return out, nil
	case known && row.Kind == op.View && b.rename(row, in, out):
		return out, nil
	case known:
		if ok, err := b.compute(row, full, in, out, fixed, bytes); ok || err != nil {
			return out, err
		}
	}
	operands := make([]graph.Value, len(in))
	for i, v := range in {
		operands[i] = b.place(v)
	}
	made, err := b.Graph.Call(row, operands, full)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].At, out[i].Placed, out[i].Fixed = made[i], true, false
	}
	return out, nil
}

// rename is a view of a constant that has the same elements in the same order, without a copy of them. Weights that
// are reshaped stay in the mapped file this way.
func (b *Builder) rename(row *op.Row, in, out []*Value) bool {
	if row.ID != op.IDReshape && row.ID != op.IDSqueeze && row.ID != op.IDUnsqueeze {
		return false
	}
	x, key := in[0].Data, ""
	if !x.Local && out[0].Fixed {
		key = "view " + b.Model.id(x) + out[0].Shape.String()
	}
	made := b.Model.kept.Folded[key]
	if made == nil {
		c := &op.Const{Type: out[0].Type, Bytes: x.Bytes, Local: true}
		made = []*op.Const{b.Model.share(c)}
		if key != "" && len(b.Model.kept.Folded) < MostShared {
			outlive(made[0]) // what is computed of it is fixed too, however large that is
			b.Model.kept.Folded[key] = made
		}
	}
	out[0].Data = made[0]
	return true
}

// id tells the constants of a model apart. Addresses would do as well, but a package without unsafe cannot print
// them for long.
func (m *Model) id(c *op.Const) string {
	n, ok := m.kept.ids[c]
	if !ok {
		n = len(m.kept.ids)
		m.kept.ids[c] = n
	}
	return strconv.Itoa(n)
}

// compute gives out the elements that a call computes; ok is false where they are too many. What follows from the
// file alone is computed once for all resolutions. What is kept are the constants, which all resolutions then share
// by address. The budget of the resolution counts what is computed, and not what the model has already.
func (b *Builder) compute(row *op.Row, at op.Attrs, in, out []*Value, fixed bool, bytes int64) (ok bool, err error) {
	m, key, kept := b.Model, "", false
	if fixed {
		key, kept = m.foldKey(row, at, in)
		kept = kept && len(m.kept.Folded) < MostShared
	}
	made := m.kept.Folded[key]
	switch {
	case made != nil:
	case bytes > SmallFold && (!kept || bytes > m.MostFolded()-m.kept.Spent):
		return false, nil
	default:
		if ok, err = b.Folding(WorkOf(row, at, in, out), bytes); !ok {
			return false, err
		}
		if made, err = m.evaluate(row, at, in); err != nil {
			return false, err
		}
		if kept {
			for _, c := range made {
				outlive(c)
			}
			m.kept.Folded[key] = made
			if bytes > SmallFold {
				m.kept.Spent += bytes
			}
		}
	}
	for i, v := range out {
		v.Data = made[i]
	}
	return true, nil
}

// evaluate computes a call. The caller decides whether the result outlives the resolution; until then it is Local.
func (m *Model) evaluate(row *op.Row, at op.Attrs, in []*Value) ([]*op.Const, error) {
	operands := make([]op.Known, len(in))
	for i, v := range in {
		if operands[i].Const = v.Data; v.Number != nil {
			operands[i].Number = *v.Number
		}
	}
	made, err := m.fold(row, at, operands)
	for i := range made {
		made[i].Local = true
		made[i] = m.share(made[i])
	}
	return made, err
}

// foldKey is a text that two calls have in common only if they are one call of the same constants. Constants are
// named by their numbers in the model, since their elements may be many megabytes.
func (m *Model) foldKey(row *op.Row, at op.Attrs, in []*Value) (string, bool) {
	var b strings.Builder
	b.WriteString(row.Name)
	for _, v := range in {
		switch {
		case v.Number != nil:
			b.WriteString(" " + v.Number.Kind.String() + v.Number.String())
		case v.Data.Local:
			return "", false
		default:
			b.WriteString(" " + m.id(v.Data))
		}
	}
	for i := range at {
		if b.WriteString("|" + at[i].Kind.String()); at[i].Kind == op.String {
			b.WriteString(at[i].Str())
			continue
		}
		b.WriteString(at[i].String())
	}
	return b.String(), true
}

// Nest begins something within the node; the caller lowers depth again. Functions may call themselves, in a file
// that were not checked; each level takes some of the stack.
func (c *Call) Nest() {
	if c.Depth++; c.Depth > deepCalls {
		c.Refuse("is within %d functions and branches; want fewer", deepCalls)
	}
}

// inline expands a function of the model: its names are its own. Operands that the call leaves out are absent in the
// function too. Attributes that it leaves out have the default of the function. A function imports its own opsets.
// Its outputs that nothing makes are absent, and an error where they are read.
func (c *Call) inline(f *file.Function) []*Value {
	c.Nest()
	defer func() { c.Depth-- }()
	c.Room(int64(len(f.Inputs) + len(f.Outputs) + len(f.Defaults) + len(c.Node.Attrs)))
	s := &Scope{Values: map[string]*Value{}, Opsets: f.Opsets, attrs: map[string]*file.Attribute{}, inside: f}
	for i, name := range f.Inputs {
		if c.Has(i) {
			s.Values[name] = c.In[i]
		}
	}
	for name, a := range f.Defaults {
		s.attrs[name] = a
	}
	for name := range c.Node.Attrs {
		if a := c.Attr(name); a != nil {
			s.attrs[name] = a
		}
	}
	c.Must(c.run(s, f.Nodes))
	out := make([]*Value, len(f.Outputs))
	for i, name := range f.Outputs {
		out[i] = s.find(name)
		c.Must(c.settle(out[i]))
	}
	return out
}
