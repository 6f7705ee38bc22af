package graph

import (
	"bytes"
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Two graphs of one function, for inputs of other sizes, say which sizes the function leaves open. Where they make the same
// calls, one graph with symbols does for all sizes: Resolve infers everything anew for those of a run.
//
// Attributes that have a size in them are the difficulty: reshape(x, [7, 3]) for 7 rows and reshape(x, [11, 3]) for 11 are
// reshape(x, [0, 3]) for any number of them. Where an operator has such a way to name a size, it is used, and elsewhere the
// symbol of an earlier value that has this size in both: of an input, or of what a call has made, such as the length of a cache
// and what was joined to it. What is neither, such as a half of a size, has no such graph.
//
// An example, of a function that adds zeros([n, 1]) to the first two columns of its argument:
//
//	for 5 rows                                   for 11 rows
//	input %0 float32[5, 4]                       input %0 float32[11, 4]
//	%1 = slice(%0) axes=[1] starts=[0] ends=[2]  the same
//	%2 = full() shape=[5, 1] fill_value=0.0      %2 = full() shape=[11, 1] fill_value=0.0
//	%3 = add(%1, %2)                             the same
//
// The graph of both has the input float32[s0, 4], and full() shape=[s0, 1]. A scalar that is made of sizes, as in x / n, is part
// of a call and no attribute. Where it is a product of sizes, or of a few forms more, the graph counts ones; any other one is
// refused.

// Unify is the graph that is g for inputs of its sizes, and h for those of h. Its inputs have a symbol wherever the sizes of g
// and h differ: sizes that are equal in both are one size. at says where in it the nodes of g are, in their order; it has more
// where it counts. status.Unsupported says where the two make other calls.
func (g *Graph) Unify(h *Graph) (made *Graph, at []int, err error) {
	u := unifier{g: g, h: h, builder: NewBuilder(), of: make([]Value, len(h.values)), made: make([]Value, len(g.values))}
	for v := range u.of {
		u.of[v] = -1
	}
	for v := range u.made {
		u.made[v] = -1
	}
	if err := u.inputs(); err != nil {
		return nil, nil, err
	}
	u.given = len(u.symbols)
	if len(g.nodes) != len(h.nodes) || len(g.outputs) != len(h.outputs) {
		return nil, nil, status.Errorf(status.Unsupported, "[program] there are %d calls and %d results for some sizes, %d and %d for others; want the same calls", len(g.nodes), len(g.outputs), len(h.nodes), len(h.outputs))
	}
	for i := range g.nodes {
		if err := u.node(i); err != nil {
			return nil, nil, err
		}
	}
	outputs := make([]Value, len(g.outputs))
	for i, v := range g.outputs {
		var ok bool
		if outputs[i], ok = u.operand(v, h.outputs[i]); !ok {
			return nil, nil, status.Errorf(status.Unsupported, "[program] result %d is another one for other sizes; want the same", i)
		}
	}
	made = u.builder.Build(outputs...)
	for _, one := range []*Graph{g, h} {
		if err := made.becomes(one); err != nil {
			return nil, nil, err
		}
	}
	return made, u.at, nil
}

// The two graphs are walked through in step. A value of h stands for one of g from the moment when the calls that make them have
// been found to be the same, so that operands are compared by number and not by what computes them.

// unifier walks through two graphs at once.
type unifier struct {
	g, h    *Graph
	builder *Builder
	symbols []openSize                       // those of inputs, and then of what calls make
	then    func(out Value) ([]Value, error) // makes what a call is of what was built in its place; nil: it is that
	given   int                              // how many of them inputs have
	of      []Value                          // by value of h: the one of g that it corresponds to; -1: none yet
	made    []Value                          // by value of g: the one that was built; -1: none yet
	at      []int                            // by node of g: where it is in what was built
}

// openSize is a symbol that was built, and what it is for g and for h.
type openSize struct{ symbol, g, h int64 }

// inputs declares the inputs.
func (u *unifier) inputs() error {
	if len(u.g.inputs) != len(u.h.inputs) {
		return status.Errorf(status.Unsupported, "[program] there are %d inputs for some sizes, %d for others; want the same", len(u.g.inputs), len(u.h.inputs))
	}
	for i, v := range u.g.inputs {
		w := u.h.inputs[i]
		t, other := u.g.TypeOf(v), u.h.TypeOf(w)
		if t.Form != other.Form || t.DType != other.DType || t.Shape.Rank != other.Shape.Rank {
			return status.Errorf(status.Unsupported, "[program] input %d is %s%s for some sizes, %s%s for others; want the same but for sizes", i, t.DType, dims(&t.Shape), other.DType, dims(&other.Shape))
		}
		for j := range t.Shape.Rank {
			if a, b := t.Shape.Dims[j], other.Shape.Dims[j]; a != b {
				t.Shape.Dims[j] = u.symbol(a, b)
			}
		}
		u.of[w], u.made[v] = v, u.builder.Input(t)
	}
	return nil
}

// Sizes are told apart by the pair that they are in the two graphs. A caller who traces for sizes of its choice takes other ones
// for each axis that is to be free.

// symbol is the size of inputs that is a for g and b for h.
func (u *unifier) symbol(a, b int64) int64 {
	d, ok := u.find(a, b)
	if !ok {
		d = u.builder.Symbol()
		u.symbols = append(u.symbols, openSize{d, a, b})
	}
	return d
}

// find is the first symbol that is a for g and b for h.
func (u *unifier) find(a, b int64) (symbol int64, ok bool) {
	for i := range u.symbols {
		if k := &u.symbols[i]; k.g == a && k.h == b {
			return k.symbol, true
		}
	}
	return 0, false
}

// learn adds the sizes that a call has made of others; v is its result in g, w in h, and out what was built.
func (u *unifier) learn(v, w, out Value) {
	x, y, s := &u.g.values[v].Shape, &u.h.values[w].Shape, u.builder.TypeOf(out).Shape
	if x.Rank != s.Rank || y.Rank != s.Rank {
		return
	}
	for i, d := range s.Slice() {
		a, b := x.Dims[i], y.Dims[i]
		if _, ok := u.find(a, b); ok || a == b || !shape.IsSymbol(d) || shape.SymbolNumber(d) >= mostSymbols {
			continue
		}
		u.symbols = append(u.symbols, openSize{d, a, b})
	}
}

// operand is what was built of a value of g, if w is the same value of h.
func (u *unifier) operand(v, w Value) (Value, bool) {
	x, y := &u.g.values[v], &u.h.values[w]
	switch {
	case x.number != nil || y.number != nil:
		if x.number == nil || y.number == nil || !sameValue(x.number, y.number) {
			return 0, false
		}
		return u.builder.Scalar(*x.number), true
	case x.data != nil || y.data != nil:
		if x.data == nil || y.data == nil || x.Type != y.Type || !bytes.Equal(x.data.Bytes, y.data.Bytes) {
			return 0, false
		}
		if u.made[v] < 0 {
			u.made[v] = u.builder.Constant(x.data)
		}
		return u.made[v], true
	}
	return u.made[v], u.of[w] == v
}

// sameValue reports whether two attributes or numbers are the same to the bit. Tensors and graphs never are.
func sameValue(x, y *op.Value) bool {
	if x.Kind == op.Floats || x.Kind == op.Strings {
		return y.Kind == x.Kind && attribute(x) == attribute(y)
	}
	a, ok := valueText(nil, x)
	b, known := valueText(nil, y)
	return ok && known && bytes.Equal(a, b)
}

// node builds a call that both graphs make.
func (u *unifier) node(i int) error {
	n, m := &u.g.nodes[i], &u.h.nodes[i]
	if n.Row != m.Row || len(n.In) != len(m.In) {
		return status.Errorf(status.Unsupported, "[program] call %d is %s for some sizes, %s for others; want the same calls", i, n.Row.Name, m.Row.Name)
	}
	in := make([]Value, len(n.In))
	for j, v := range n.In {
		var ok bool
		if in[j], ok = u.operand(v, m.In[j]); !ok {
			if count, known := u.count(n, m, j); known {
				in[j] = count
				continue
			}
			if x, y := u.g.values[v].number, u.h.values[m.In[j]].number; x != nil && y != nil {
				return status.Errorf(status.Unsupported, "[%s] call %d: operand %d is %s for some sizes, %s for others; want one number, a product of sizes, or one more or less than it", n.Row.Name, i, j, number(x), number(y))
			}
			return status.Errorf(status.Unsupported, "[%s] call %d: operand %d is another one for other sizes; want the same", n.Row.Name, i, j)
		}
	}
	at := append(op.Attrs(nil), n.Attrs...)
	for j := range at {
		if sameValue(&n.Attrs[j], &m.Attrs[j]) {
			continue
		}
		v, ok := u.open(n, m, j)
		if !ok {
			return status.Errorf(status.Unsupported, "[%s] call %d: %s is %s for some sizes, %s for others, which the call cannot say for all sizes; want one that no size is part of, or a size of an input", n.Row.Name, i, n.Row.Attrs[j].Name, attribute(&n.Attrs[j]), attribute(&m.Attrs[j]))
		}
		at[j] = v
	}
	out, err := u.builder.Call(n.Row, in, at)
	if err != nil {
		return status.Errorf(status.Unsupported, "%s; want a call that needs no known size", err)
	}
	if then := u.then; then != nil {
		u.then = nil
		if out, err = then(out[0]); err != nil {
			return err
		}
	}
	u.at = append(u.at, u.builder.Calls()-1)
	for j, v := range n.Out {
		u.made[v], u.of[m.Out[j]] = out[j], v
		u.learn(v, m.Out[j], out[j])
	}
	return nil
}

// How an attribute names sizes is said by its row, so that few operators are special here. Other attributes have to be the same: a
// step, a window or an axis that depends on a size is another call for each.

// open is an attribute that names sizes in another way than by numbers, of two calls where it has other numbers.
func (u *unifier) open(n, m *Node, attr int) (op.Value, bool) {
	v, w, use := &n.Attrs[attr], &m.Attrs[attr], n.Row.Attrs[attr].Sizes
	if v.Kind != w.Kind || len(v.Ints) != len(w.Ints) {
		return op.Value{}, false
	}
	switch use {
	case op.AsAdded:
		return op.Value{Kind: op.Int}, u.from(n, v, w)
	case op.AsDims, op.AsReshaped, op.AsExpanded:
		if v.Kind == op.Int {
			size, found := u.size(v.I, w.I)
			return op.Value{Kind: op.Int, I: size}, found
		}
		list, found := u.sizes(n, m, use, v.Ints, w.Ints)
		return op.Value{Kind: op.Ints, Ints: list}, found
	case op.AsStart, op.AsEnd:
		axes := n.Row.AttrIndex("axes")
		if !sameValue(&n.Attrs[axes], &m.Attrs[axes]) {
			return op.Value{}, false
		}
		x, y := u.g.values[n.In[0]].Shape, u.h.values[m.In[0]].Shape
		if whole := n.Row.AttrIndex("shape"); whole >= 0 { // the slice is of the result
			copy(x.Dims[:], n.Attrs[whole].Ints)
			copy(y.Dims[:], m.Attrs[whole].Ints)
			x.Rank, y.Rank = len(n.Attrs[whole].Ints), len(m.Attrs[whole].Ints)
		}
		list, left := u.cutAny(v.Ints, w.Ints, n.Attrs[axes].Ints, use == op.AsEnd, &x, &y)
		found := len(left) == 0 || use == op.AsEnd && n.Row.Kind == op.View && u.lengths(n, m, left)
		return op.Value{Kind: op.Ints, Ints: list}, found
	}
	return op.Value{}, false
}

// size is what stands in an attribute for the symbol that is a for g and b for h.
func (u *unifier) size(a, b int64) (int64, bool) {
	symbol, ok := u.find(a, b)
	return op.SizeAttr(symbol), ok
}

// The forms that need no symbol come first: they hold whatever the graph is part of. With [0, -1] a reshape keeps its rows even
// where they are no input of the graph, but, for example, the rows that a slice has left.

// sizes are the dimensions that reshape, expand and operators that make tensors ask for. Where a dimension is that of the operand,
// reshape has 0 for it and expand -1; one dimension of reshape may follow from the others; all other ones are symbols.
func (u *unifier) sizes(n, m *Node, use op.Sizes, a, b []int64) ([]int64, bool) {
	list, free := append([]int64(nil), a...), 0
	reshape, expand := use == op.AsReshaped, use == op.AsExpanded
	for i := range a {
		at := i
		if expand {
			at -= len(a) - u.g.values[n.In[0]].Shape.Rank
		}
		size, known := u.size(a[i], b[i])
		switch {
		case a[i] == b[i]:
			if reshape && a[i] == -1 {
				free++
			}
		case (reshape || expand) && at >= 0 && u.kept(n, m, at, a[i], b[i]):
			list[i] = 0
			if expand {
				list[i] = -1
			}
		case known:
			list[i] = size
		case reshape:
			list[i], free = -1, free+1
		default:
			return nil, false
		}
	}
	return list, free <= 1
}

// kept reports whether an axis of the first operand has size a in g and b in h.
func (u *unifier) kept(n, m *Node, axis int, a, b int64) bool {
	x, y := &u.g.values[n.In[0]].Shape, &u.h.values[m.In[0]].Shape
	return axis < x.Rank && axis < y.Rank && x.Dims[axis] == a && y.Dims[axis] == b
}

// Bounds of a slice are clamped to the axis, so that those from the end hold for axes that are shorter than both, as an index
// of Python does.

// cutAny are the starts or the ends of slice: an end that is the size of the axis is the largest number, and what has the same
// distance from it in both is counted from the end. The end of a slice backwards that is before the first element is -n-1. Other
// bounds are symbols, as in a table of positions that is cut to the length of an input. left are the places of those that have no
// form; the end there is the largest number.
func (u *unifier) cutAny(a, b, axes []int64, ends bool, x, y *shape.Shape) (list []int64, left []int) {
	list = append([]int64(nil), a...)
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		axis := axes[i]
		if axis < 0 {
			axis += int64(x.Rank)
		}
		p, q := fromStart(a[i], x.Dims[axis]), fromStart(b[i], y.Dims[axis])
		behind := x.Dims[axis] - p
		symbol, known := u.size(p, q)
		switch {
		case ends && a[i] == -x.Dims[axis]-1 && b[i] == -y.Dims[axis]-1:
			list[i] = math.MinInt64
		case p >= 0 && behind == y.Dims[axis]-q && behind > 0:
			list[i] = -behind
		case p >= 0 && behind == y.Dims[axis]-q && behind == 0 && ends:
			list[i] = math.MaxInt64
		case known:
			list[i] = symbol
		default:
			list[i], left = math.MaxInt64, append(left, i)
		}
	}
	return list, left
}

// fromStart is a bound of a slice of n elements, counted from the first one; one before that stays below 0.
func fromStart(v, n int64) int64 {
	if v < 0 && v >= -n {
		return v + n
	}
	return v
}

// lengths says ends of slices by how many elements they are from the start, which a slice of the slice takes. So positions[k:k+n] is
// positions[k:][:n]. It reports whether the lengths are the same, or sizes.
func (u *unifier) lengths(n, m *Node, left []int) bool {
	var axes, starts, ends []int64
	for _, i := range left {
		from, to := n.Attrs[op.SliceStarts].Ints[i], m.Attrs[op.SliceStarts].Ints[i]
		a, b := n.Attrs[op.SliceEnds].Ints[i]-from, m.Attrs[op.SliceEnds].Ints[i]-to
		length, known := u.size(a, b)
		if a == b {
			length, known = a, true
		}
		if steps := n.Attrs[op.SliceSteps].Ints; from < 0 || to < 0 || a < 0 || b < 0 || !known || len(steps) > 0 && steps[i] != 1 {
			return false
		}
		axes, starts, ends = append(axes, n.Attrs[op.SliceAxes].Ints[i]), append(starts, 0), append(ends, length)
	}
	list := func(v []int64) op.Value { return op.Value{Kind: op.Ints, Ints: v} }
	at := op.Attrs{op.SliceAxes: list(axes), op.SliceStarts: list(starts), op.SliceEnds: list(ends)}
	u.then = func(out Value) ([]Value, error) { return u.builder.Call(n.Row, []Value{out}, at) }
	return true
}

// Symbols are inferred by rules of their own, beside those for numbers. That both say the same of the sizes that were traced is
// checked here, where a difference is an error of the caller's function and no wrong shape of a run.

// becomes checks that the graph has the results of another one, for the inputs of that.
func (g *Graph) becomes(one *Graph) error {
	known, err := g.Resolve(one.Inputs())
	if err != nil {
		return err
	}
	for i, t := range known.Outputs() {
		if want := one.Outputs()[i]; t != want {
			return status.Errorf(status.Unsupported, "[program] result %d is %s%s where sizes are open, %s%s where they are known; want the same", i, t.DType, dims(&t.Shape), want.DType, dims(&want.Shape))
		}
	}
	return nil
}
