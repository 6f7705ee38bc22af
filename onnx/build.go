package onnx

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

// builder makes the graph of a model for one set of input types.
type builder struct {
	model   *Model
	graph   *graph.Builder
	ask     op.Inference
	known   map[int]*op.Const // inputs of the model that the graph does not have, because their elements are known
	tensors int               // of all inputs of the model
	main    *scope            // of the main graph
	ports   []*value          // inputs of the graph
	stage   int               // how many stages there are before the graph
	outer   *Node             // of the main graph, which is being added
	drawn   bool              // it has drawn random numbers
	given   []*value          // results of counted calls of the node at which the graph begins; see stage.go
	taken   int               // how many of them it has asked for
	depth   int
	budget
}

// scope is where names are looked up: those of a graph, and for its branches those of the graphs around them.
type scope struct {
	outer  *scope
	values map[string]*value
	opsets map[string]int64
	attrs  map[string]*Attribute // of the function that is expanded
	inside *function             // the function; nil: the graph of the model
}

// find is what a name stands for; nil where nothing has made it. The search goes outwards: a graph in an attribute
// sees the names of the graphs around it, as ONNX says, and a function sees nothing but its own.
func (s *scope) find(name string) *value {
	for ; s != nil; s = s.outer {
		if v := s.values[name]; v != nil {
			return v
		}
	}
	return nil
}

// leftOut tells whether a name is that of an input which the call of the function around it has left out.
func (s *scope) leftOut(name string) bool {
	return s.inside != nil && slices.Contains(s.inside.inputs, name)
}

// within is a scope for a graph of an attribute. Graphs of attributes have the opsets of the graph around them.
func (s *scope) within() *scope {
	return &scope{outer: s, values: map[string]*value{}, opsets: s.opsets, attrs: s.attrs, inside: s.inside}
}

// newBuilder begins a graph of the model, for calls with so many tensors.
func (m *Model) newBuilder(known map[int]*op.Const, tensors int) *builder {
	main := &scope{values: map[string]*value{}, opsets: m.file.opsets}
	return &builder{model: m, graph: graph.NewBuilder(), known: known, tensors: tensors, main: main}
}

// input is an input of the graph. from are the inputs of the model that its elements depend on.
func (b *builder) input(t op.Type, elem ElemType, from uint64) *value {
	v := &value{Type: t, elem: elem, at: b.graph.Input(t), placed: true, inputs: from}
	b.ports = append(b.ports, v)
	return v
}

// build adds the nodes of the main graph from one on, and ends the graph.
func (b *builder) build(from int) (*graph.Graph, *graph.Stage, error) {
	made, err := b.body(b.main, b.model.file.graph, from)
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
	return b.graph.Build(outputs...), nil, nil
}

// body adds a graph, from one of its nodes on, to what is built, and returns its outputs. The scope has the inputs.
// Initializers hide names of the graphs around, as inputs do.
func (b *builder) body(s *scope, g *Graph, from int) ([]*value, error) {
	if err := b.draw(int64(1 + len(g.Initializers) + len(g.Inputs) + len(g.Outputs))); err != nil {
		return nil, err
	}
	for _, t := range g.Initializers {
		if from > 0 || b.model.taken(g, t.Name) { // a rest has those that it reads
			continue
		}
		c, err := b.model.constant(t)
		if err != nil {
			return nil, err
		}
		s.values[t.Name] = &value{Type: c.Type, elem: t.Elem.lacking(), data: c, fixed: true}
	}
	if err := b.run(s, g.Nodes[from:]); err != nil {
		return nil, err
	}
	out := make([]*value, len(g.Outputs))
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
func (b *builder) run(s *scope, nodes []*Node) error {
	for _, n := range nodes {
		if b.nodes++; b.nodes > mostNodes {
			return status.Errorf(status.Unsupported, "[onnx] %s: the model runs more than %d nodes, those of loops counted each time", n.named(s.opsets[n.Domain]), mostNodes)
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
func (b *builder) node(s *scope, n *Node) (err error) {
	opset := s.opsets[n.Domain]
	defer func() {
		if r := recover(); r != nil {
			err = placeError(n.named(opset), recovered(r))
		}
	}()
	c := &call{builder: b, scope: s, node: n, opset: opset}
	c.room(int64(len(n.In) + len(n.Out)))
	for _, name := range n.In {
		var v *value
		if name != "" {
			if v = s.find(name); v == nil && !s.leftOut(name) {
				c.wrong("reads %q, which no node before it makes; want nodes in an order in which they can run", name)
			}
		}
		c.in = append(c.in, v)
	}
	e := b.model.operator(s.opsets, n)
	if e.build == nil {
		c.refuse("is not supported")
	}
	c.row = e.row
	if e.row != op.IDMatmulInteger && e.row != op.IDConvInteger && e.row != op.IDTranspose {
		for _, v := range c.in {
			c.must(b.settle(v))
		}
	}
	out := c.results(&e)
	for i, name := range n.Out {
		if name != "" && i < len(out) && out[i] != nil {
			s.values[name] = out[i]
		} else if name != "" {
			c.refuse("output %d (%q) is not supported", i, name)
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
func (b *builder) place(v *value) graph.Value {
	if !v.placed {
		if v.placed = true; v.number != nil {
			v.at = b.graph.Scalar(*v.number)
		} else {
			v.at = b.graph.Constant(v.data)
		}
	}
	return v.at
}

// constant is a tensor with these elements. Small ones are the same constant wherever they are wanted. The bytes
// belong to the constant from here on.
func (b *builder) constant(d dtype.DType, dims []int64, raw []byte) *value {
	c := &op.Const{Type: op.Type{DType: d, Shape: shapeOf(dims)}, Bytes: raw, Local: true}
	return &value{Type: c.Type, data: b.model.share(c)}
}

// share is a small constant with the same elements that is there already, or the constant. Sharing matters for
// programs: a device keeps a copy of each constant that is not Local, by its address.
func (m *Model) share(c *op.Const) *op.Const {
	const small = 64
	if len(c.Bytes) > small {
		return c
	}
	key := c.DType.String() + c.Shape.String() + string(c.Bytes)
	if before := m.small[key]; before != nil {
		return before
	}
	if len(m.small) < mostShared {
		c.Local = false
		m.small[key] = c
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
func (b *builder) infer(row *op.Row, at op.Attrs, in []*value) (op.Attrs, error) {
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	if err := row.Fill(full); err != nil {
		return nil, err
	}
	q := &b.ask
	q.NewSymbol = b.graph.Symbol
	q.Reset(row, full)
	for _, v := range in {
		q.In = append(q.In, op.Arg{Type: v.Type, Scalar: v.number != nil, Absent: v.number != nil && !v.number.Set(), Value: v.number, Const: v.data})
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
func (b *builder) apply(row *op.Row, at op.Attrs, in []*value, tainted bool) ([]*value, error) {
	if err := b.called(len(in)); err != nil {
		return nil, err
	}
	full, err := b.infer(row, at, in)
	if err != nil {
		return nil, err
	}
	b.drawn = b.drawn || row.Random
	known, fixed, bytes, inputs := !row.Random && !row.Counted, !tainted, int64(0), uint64(0)
	for _, v := range in {
		known, fixed, inputs = known && v.known(), fixed && v.fixed, inputs|v.inputs
	}
	out, empty := make([]*value, len(b.ask.Out)), true
	for i, t := range b.ask.Out {
		out[i] = &value{Type: t, fixed: known && fixed, inputs: inputs}
		if !t.Shape.Known() {
			return nil, status.Errorf(status.Unsupported, "[%s] the size of its result depends on the elements of a tensor", row.Name)
		}
		n := t.Shape.Numel() * t.DType.Size()
		bytes, empty = bytes+n, empty && n == 0
	}
	switch {
	case empty: // whatever the operands are
		for _, v := range out {
			v.data = b.constant(v.DType, v.dims(), nil).data
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
	made, err := b.graph.Call(row, operands, full)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].at, out[i].placed, out[i].fixed = made[i], true, false
	}
	return out, nil
}

// rename is a view of a constant that has the same elements in the same order, without a copy of them. Weights that
// are reshaped stay in the mapped file this way.
func (b *builder) rename(row *op.Row, in, out []*value) bool {
	if row.ID != op.IDReshape && row.ID != op.IDSqueeze && row.ID != op.IDUnsqueeze {
		return false
	}
	x, key := in[0].data, ""
	if !x.Local && out[0].fixed {
		key = "view " + b.model.id(x) + out[0].Shape.String()
	}
	made := b.model.folded[key]
	if made == nil {
		c := &op.Const{Type: out[0].Type, Bytes: x.Bytes, Local: true}
		made = []*op.Const{b.model.share(c)}
		if key != "" && len(b.model.folded) < mostShared {
			outlive(made[0]) // what is computed of it is fixed too, however large that is
			b.model.folded[key] = made
		}
	}
	out[0].data = made[0]
	return true
}

// id tells the constants of a model apart. Addresses would do as well, but a package without unsafe cannot print
// them for long.
func (m *Model) id(c *op.Const) string {
	n, ok := m.ids[c]
	if !ok {
		n = len(m.ids)
		m.ids[c] = n
	}
	return strconv.Itoa(n)
}

// compute gives out the elements that a call computes; ok is false where they are too many. What follows from the
// file alone is computed once for all resolutions. What is kept are the constants, which all resolutions then share
// by address. The budget of the resolution counts what is computed, and not what the model has already.
func (b *builder) compute(row *op.Row, at op.Attrs, in, out []*value, fixed bool, bytes int64) (ok bool, err error) {
	m, key, kept := b.model, "", false
	if fixed {
		key, kept = m.foldKey(row, at, in)
		kept = kept && len(m.folded) < mostShared
	}
	made := m.folded[key]
	switch {
	case made != nil:
	case bytes > smallFold && (!kept || bytes > m.mostFolded()-m.spent):
		return false, nil
	default:
		if ok, err = b.folding(workOf(row, at, in, out), bytes); !ok {
			return false, err
		}
		if made, err = m.evaluate(row, at, in); err != nil {
			return false, err
		}
		if kept {
			for _, c := range made {
				outlive(c)
			}
			m.folded[key] = made
			if bytes > smallFold {
				m.spent += bytes
			}
		}
	}
	for i, v := range out {
		v.data = made[i]
	}
	return true, nil
}

// evaluate computes a call. The caller decides whether the result outlives the resolution; until then it is Local.
func (m *Model) evaluate(row *op.Row, at op.Attrs, in []*value) ([]*op.Const, error) {
	operands := make([]op.Known, len(in))
	for i, v := range in {
		if operands[i].Const = v.data; v.number != nil {
			operands[i].Number = *v.number
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
func (m *Model) foldKey(row *op.Row, at op.Attrs, in []*value) (string, bool) {
	var b strings.Builder
	b.WriteString(row.Name)
	for _, v := range in {
		switch {
		case v.number != nil:
			b.WriteString(" " + v.number.Kind.String() + v.number.String())
		case v.data.Local:
			return "", false
		default:
			b.WriteString(" " + m.id(v.data))
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
