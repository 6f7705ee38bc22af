// Package graph turns operator calls into steps for a device. Every caller takes the same three steps: eager
// calls with one node, programs with many.
//
//   - Build: a [Builder] makes a [Graph] of nodes in SSA form, each value defined once, and infers types
//     at once. Dimensions may be symbols; [Graph.Resolve] puts numbers in their place.
//   - Legalize: in a [Legal] graph nothing is implicit. Casts, composites, broadcasting, views, and the
//     copies that views or shared memory require are steps on views of buffers, in the form that devices
//     accept.
//   - Plan: [Graph.PlanFor] does both for a whole graph: the steps, in the order of the nodes, and for each
//     buffer a place, most of them in one arena that they share by liveness. Eager calls need no arena and
//     run the steps of a Legal as they are.
//
// The invariant: what a graph computes does not depend on how it is legalized or planned. Two rules
// keep it. First, an output may use the memory of an input only where that is safe: Legal checks this for memory
// that callers supply (clashes), the planner for memory that it assigns (donor); both ask [op.Row.Elementwise].
// Second, random numbers are drawn in the order of the nodes, so a program draws the same numbers as the same
// calls one by one.
//
// The package computes no elements, owns no memory and knows no device; the meaning of an operator is defined
// by its row in core/op.
package graph

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Value names a value of a graph: 0, 1, 2, ... in the order in which they were added. A value of another
// graph is not recognised; who hands out values to strangers marks them.
type Value int

// value is what is known of one. With neither a number nor data it is an input or the result of a node.
type value struct {
	op.Type
	number *op.Value // of a Python scalar, or of an input that was left out (not Set)
	data   *op.Const // of a constant
}

// Node applies an operator to values that are defined before it.
type Node struct {
	Row   *op.Row
	Attrs op.Attrs // complete; see op.Row.Fill
	In    []Value
	Out   []Value
}

// Graph is nodes in an order in which they can run. It does not change once it is built, and may then
// be used from any goroutine.
type Graph struct {
	values  []value
	nodes   []Node
	inputs  []Value // in the order of a call
	outputs []Value // likewise; values may be there more than once
	symbols int     // how many there are: their numbers are below
}

// Nodes are the nodes in order; the slice belongs to the graph.
func (g *Graph) Nodes() []Node { return g.nodes }

// Calls is the number of nodes.
func (g *Graph) Calls() int { return len(g.nodes) }

// Inputs are the types of what a call gives. Dimensions that are symbols are for the call to choose, the
// same symbol always alike.
func (g *Graph) Inputs() []op.Type { return g.typesOf(g.inputs) }

// Outputs are the types of what a call makes. Symbols that no input has stand for sizes that follow from
// theirs.
func (g *Graph) Outputs() []op.Type { return g.typesOf(g.outputs) }

// TypeOf is the type of a value.
func (g *Graph) TypeOf(v Value) op.Type { return g.values[v].Type }

// Given is what is known of a value when the graph is built: the number of a scalar or the elements of a constant; neither for
// what inputs and nodes make.
func (g *Graph) Given(v Value) (number *op.Value, elements *op.Const) {
	return g.values[v].number, g.values[v].data
}

// Ends are the values of the inputs, and those of the first outputs.
func (g *Graph) Ends(first int) (inputs, outputs []Value) { return g.inputs, g.outputs[:first] }

// Leading is the graph with its first outputs alone.
func (g *Graph) Leading(first int) *Graph {
	short := *g
	short.outputs = g.outputs[:first]
	return &short
}

func (g *Graph) typesOf(vs []Value) []op.Type {
	ts := make([]op.Type, len(vs))
	for i, v := range vs {
		ts[i] = g.values[v].Type
	}
	return ts
}

// NeedsElements is the error of a source that cannot make a graph for the types of inputs alone: what it computes depends on
// the elements of some of them, whose numbers these are.
type NeedsElements struct {
	Inputs []int
	Err    error // for callers who do not know the elements
}

// Error is the message of Err.
func (e *NeedsElements) Error() string { return e.Err.Error() }

// Unwrap is Err.
func (e *NeedsElements) Unwrap() error { return e.Err }

// Known reports whether no dimension of an input is a symbol, so that the graph can be legalized.
func (g *Graph) Known() bool {
	for _, v := range g.inputs {
		if !g.values[v].Shape.Known() {
			return false
		}
	}
	return true
}

// Sized refuses a graph with a call whose result has a size that only its elements tell: behind it dimensions are symbols
// whatever the inputs are, so that passes and plans have to be of graphs without one. See [Staged] for programs with such calls.
func (g *Graph) Sized() error {
	for i := range g.nodes {
		if row := g.nodes[i].Row; row.Counted {
			return status.Errorf(status.Unsupported, "[%s] has a result of unknown size; it cannot be part of a program", row.Name)
		}
	}
	return nil
}

// Resolve is the graph for inputs of these types, whose dimensions are known. Everything is inferred
// again, so that shapes which follow from symbols are numbers. status.Invalid says which input is none
// that the graph was built for; other errors are those of operators that do not take the sizes, such as a
// split into three parts of an axis that has four elements.
//
// What was inferred with symbols holds for all sizes that can be resolved, except that reshape gives
// tensors without elements the dimensions that Paddle does.
func (g *Graph) Resolve(inputs []op.Type) (*Graph, error) {
	if len(inputs) != len(g.inputs) {
		return nil, status.Errorf(status.Invalid, "[program] got %d inputs; want %d", len(inputs), len(g.inputs))
	}
	sizes, err := g.matches(inputs)
	if err != nil {
		return nil, err
	}
	b := NewBuilder()
	known := make([]Value, len(g.values))
	for i, v := range g.inputs {
		known[v] = b.Input(inputs[i])
	}
	return g.rebuild(b, known, g.outputs, sizes)
}

// Freeze is the graph without its last inputs, which have these elements from now on, and with its first outputs alone.
func (g *Graph) Freeze(last []*op.Const, outputs int) (*Graph, error) {
	b, sizes := NewBuilder(), sizes{}
	known := make([]Value, len(g.values))
	for i, v := range g.inputs {
		if at := i - (len(g.inputs) - len(last)); at >= 0 {
			known[v] = b.Constant(last[at])
		} else {
			known[v] = b.Input(g.values[v].Type)
			sizes.bind(&g.values[v].Shape, &g.values[v].Shape)
		}
	}
	return g.rebuild(b, known, g.outputs[:outputs], sizes)
}

// Sizes are found as the nodes are rebuilt: that of a symbol which stands for the rows of a concat is known once the
// concat has been inferred again.

// rebuild adds the constants and the nodes of a graph to a builder, and builds these values. known are the values of the
// inputs in the builder, by their values here, and sizes what the symbols of inputs are there.
func (g *Graph) rebuild(b *Builder, known, outputs []Value, sizes sizes) (*Graph, error) {
	for v := range g.values {
		switch x := &g.values[v]; {
		case x.data != nil:
			known[v] = b.Constant(x.data)
		case x.number != nil:
			known[v] = b.Scalar(*x.number)
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		at, err := n.sized(sizes)
		if err != nil {
			return nil, err
		}
		out, err := b.Call(n.Row, translate(known, n.In), at)
		if err != nil {
			return nil, err
		}
		for j, v := range n.Out {
			known[v] = out[j]
			sizes.bind(&g.values[v].Shape, &b.graph.values[out[j]].Shape)
		}
	}
	return b.Build(translate(known, outputs)...), nil
}

// sizes are what symbols of a graph are in another one, which has the same values: numbers, or symbols of its own.
type sizes map[int64]int64

// bind takes the symbols in the shape of a value, which is another shape in the other graph.
func (s sizes) bind(was, is *shape.Shape) {
	for i, d := range was.Slice() {
		if _, seen := s[d]; !seen && shape.IsSymbol(d) && i < is.Rank {
			s[d] = is.Dims[i]
		}
	}
}

// sized are the attributes with sizes in place of symbols.
func (n *Node) sized(sizes sizes) (op.Attrs, error) {
	at := n.Attrs
	for i := range n.Attrs {
		if !n.Row.TakesSizes(i) {
			continue
		}
		v, err := n.Attrs[i].WithSizes(func(symbol int64) (int64, error) {
			switch size, ok := sizes[symbol]; {
			case !ok:
				return 0, status.Errorf(status.Invalid, "[%s] %s has a size that no earlier value has", n.Row.Name, n.Row.Attrs[i].Name)
			case shape.IsSymbol(size):
				return op.SizeAttr(size), nil
			default:
				return size, nil
			}
		})
		if err != nil {
			return nil, err
		}
		if v != nil {
			if &at[0] == &n.Attrs[0] {
				at = slices.Clone(at)
			}
			at[i] = *v
		}
	}
	return at, nil
}

func translate(known, vs []Value) []Value {
	out := make([]Value, len(vs))
	for i, v := range vs {
		out[i] = known[v]
	}
	return out
}

// matches checks the types of a call against those that the graph was built for, and returns the size for each symbol.
func (g *Graph) matches(inputs []op.Type) (sizes, error) {
	sizes := sizes{}
	for i := range inputs {
		want, got := &g.values[g.inputs[i]], &inputs[i]
		ok := want.Form == got.Form && want.DType == got.DType && want.Shape.Rank == got.Shape.Rank && got.Shape.Known()
		for j := 0; ok && j < want.Shape.Rank; j++ {
			d, n := want.Shape.Dims[j], got.Shape.Dims[j]
			if shape.IsSymbol(d) {
				if before, seen := sizes[d]; seen {
					d = before
				} else {
					sizes[d], d = n, n
				}
			}
			ok = d == n
		}
		if !ok {
			return nil, status.Errorf(status.Invalid, "[program] input %d is %s of shape %s; want %s of shape %s", i, got.DType, &got.Shape, want.DType, dims(&want.Shape))
		}
	}
	return sizes, nil
}

// Builder makes a graph. It is for one goroutine.
type Builder struct {
	graph Graph
	asked op.Inference
}

// NewBuilder begins a graph.
func NewBuilder() *Builder {
	b := &Builder{}
	b.asked.NewSymbol = b.Symbol
	return b
}

// Symbol makes a dimension that is not known yet.
func (b *Builder) Symbol() int64 {
	b.graph.symbols++
	return shape.Symbol(b.graph.symbols - 1)
}

// Input declares what a call gives next.
func (b *Builder) Input(t op.Type) Value {
	for _, d := range t.Shape.Slice() {
		if shape.IsSymbol(d) {
			b.graph.symbols = max(b.graph.symbols, shape.SymbolNumber(d)+1)
		}
	}
	v := b.add(value{Type: t})
	b.graph.inputs = append(b.graph.inputs, v)
	return v
}

// Constant declares a tensor whose elements are known. The graph keeps c.
func (b *Builder) Constant(c *op.Const) Value { return b.add(value{Type: c.Type, data: c}) }

// Scalar declares a Python scalar, weak in promotion; one that is not Set stands for an input that is
// left out. It is part of the graph: a program that shall take another number each time has a 0-d tensor as
// an input.
func (b *Builder) Scalar(v op.Value) Value {
	return b.add(value{Type: op.Type{DType: v.DType()}, number: &v})
}

func (b *Builder) add(v value) Value {
	b.graph.values = append(b.graph.values, v)
	return Value(len(b.graph.values) - 1)
}

// TypeOf is the type of a value.
func (b *Builder) TypeOf(v Value) op.Type { return b.graph.TypeOf(v) }

// Has reports whether a value is one of this graph.
func (b *Builder) Has(v Value) bool { return v >= 0 && int(v) < len(b.graph.values) }

// IsScalar reports whether a value of the graph is a Python scalar, or an input that is left out.
func (b *Builder) IsScalar(v Value) bool { return b.graph.values[v].number != nil }

// Symbols is how many symbols there are: they are shape.Symbol(0), shape.Symbol(1), ...
func (b *Builder) Symbols() int { return b.graph.symbols }

// Calls is how many calls there are so far.
func (b *Builder) Calls() int { return len(b.graph.nodes) }

// String is the graph so far, as text.
func (b *Builder) String() string { return b.graph.String() }

// Call applies an operator. at is in the row's order; what is left out gets its default. On an error the
// graph is as before.
func (b *Builder) Call(row *op.Row, in []Value, at op.Attrs) ([]Value, error) {
	full := make(op.Attrs, len(row.Attrs))
	copy(full, at)
	for i := range full { // the caller may change its lists
		full[i].Ints = slices.Clone(full[i].Ints)
		if use := row.Attrs[i].Sizes; b.graph.symbols == 0 && (use == op.AsStart || use == op.AsEnd) {
			withoutSymbols(full[i].Ints)
		}
	}
	if err := row.Fill(full); err != nil {
		return nil, err
	}
	c := &b.asked
	c.Reset(row, full)
	c.Open = b.graph.symbols > 0
	for _, v := range in {
		if !b.Has(v) {
			return nil, status.Errorf(status.Invalid, "[%s] an operand is no value of this graph", row.Name)
		}
		x := &b.graph.values[v]
		c.In = append(c.In, op.Arg{Type: x.Type, Scalar: x.number != nil, Absent: x.number != nil && !x.number.Set(), Value: x.number, Const: x.data})
	}
	if err := row.Arity(c.In); err != nil {
		return nil, err
	}
	if err := c.Infer(); err != nil {
		return nil, err
	}
	for i := range c.Out {
		if err := c.Out[i].Possible(row.Name); err != nil {
			return nil, err
		}
	}
	n := Node{Row: row, Attrs: full, In: append([]Value(nil), in...)}
	for i := range c.Out {
		n.Out = append(n.Out, b.add(value{Type: c.Out[i]}))
	}
	b.graph.nodes = append(b.graph.nodes, n)
	return n.Out, nil
}

// withoutSymbols moves bounds of slices that look like symbols farther from every axis, where they mean the same.
func withoutSymbols(bounds []int64) {
	for i, n := range bounds {
		if _, ok := op.SymbolIn(n); ok {
			bounds[i] = math.MinInt64
		}
	}
}

// Retract takes the latest call back, for callers who find its results to be too many for them. Nothing may
// have been added since.
func (b *Builder) Retract() {
	g := &b.graph
	last := len(g.nodes) - 1
	g.values = g.values[:len(g.values)-len(g.nodes[last].Out)]
	g.nodes = g.nodes[:last]
}

// Build ends the graph, which makes these values: tensors, not scalars. A value may be there twice, and may be
// an input or a constant; each output of a program is a copy of its own. The builder must not be used any
// more.
func (b *Builder) Build(outputs ...Value) *Graph {
	b.graph.outputs = append(b.graph.outputs, outputs...)
	return &b.graph
}
