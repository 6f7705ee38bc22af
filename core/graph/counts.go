package graph

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Numbers that a traced function computes of sizes, for Unify: what two traces say of them, and the calls that compute them for all
// sizes. A graph has no calls for sizes, so that these are calls of tensors: the size s0 is the sum of s0 ones.

// Two graphs cannot tell a form from one that is alike for their sizes, such as the half of 16 and another size of 8. Callers who do
// not choose the sizes compare what Unify makes of further graphs; see python/paddle_mps/_calls/_open_sizes.py.

// A number of elements is the usual scalar that is made of sizes: what a sum is divided by. Any two numbers are some function of
// two sizes, so that few forms count, and each only where it alone gives both numbers: a product of sizes, perhaps times a number,
// and one more or less than a product, as in a variance; beside floats also 1 over these, and their square roots.

// For the mean of 5 and of 11 rows of 4 elements, divided by 20 and by 44, and a size that is s0:
//
//	%1 int64[s0] = full() shape=[s0] fill_value=1    %2 int64[] = sum(%1)    %3 int64[] = multiply(%2, 4)
//	%4 float32[] = cast(%3)    %5 float32[] = divide(%0, %4)
//
// All of it but the division is folded into a constant when the graph is compiled for the sizes of a run. The other operand has to
// be of a dtype in which the tensor is what the scalar was: int64, of which whole numbers are, or a float.

// mostCounted is how many symbols products are looked for among: all of their sets are tried.
const mostCounted = 8

// leastBeside is the least product that counts with one more or less: of 2 and 3, one less is also half of them, rounded up. The
// second graph may have been traced for sizes of 1 on purpose.
const leastBeside = 4

// mostSets is how many symbols have a bit in a set.
const mostSets = 62

// form is what a number is of a whole one.
type form uint8

// The forms, which are tried in this order. A number that is whole in both graphs is itself, and no other form of a larger one: 12 and
// 24 are roots too.
const (
	itself     form = iota
	reciprocal      // 1 over it
	root            // its square root
)

// forms are what a number may be of a whole one, each with its inverse.
var forms = [...]struct{ of, back func(float64) float64 }{
	itself:     {func(f float64) float64 { return f }, func(f float64) float64 { return f }},
	reciprocal: {func(f float64) float64 { return 1 / f }, func(f float64) float64 { return 1 / f }},
	root:       {math.Sqrt, func(f float64) float64 { return f * f }},
}

// count is a 0-d tensor for operand j of two calls, if it is a number that is of one form in both.
func (u *unifier) count(n, m *Node, j int) (Value, bool) {
	if n.Row.Kind != op.Binary && n.Row.Kind != op.Compare {
		return 0, false
	}
	v, w := u.g.values[n.In[j]].number, u.h.values[m.In[j]].number
	beside := &u.g.values[n.In[1-j]]
	if v == nil || w == nil || v.Kind != w.Kind || beside.number != nil {
		return 0, false
	}
	in := beside.DType
	usable := forms[:1]
	switch {
	case in == dtype.Int64 && v.Kind == op.Int:
	case !in.IsFloat() || n.Row.Kind == op.Compare || in.Size() < 4 && n.Row.Factor == op.NoFactor: // other numbers, such as exponents, are not rounded to a half
		return 0, false
	case in.Size() >= 4: // of halves, the number would be rounded twice
		usable = forms[:]
	}
	for i := range usable {
		f := &usable[i]
		a, b := math.Round(f.back(v.Float64())), math.Round(f.back(w.Float64()))
		if !(min(a, b) >= 0 && max(a, b) < 1<<53 && f.of(a) == v.Float64() && f.of(b) == w.Float64()) {
			continue
		}
		t, ok := u.counted(int64(a), int64(b))
		if ok {
			return u.ones(t, form(i), in)
		}
		if i == 0 {
			break // whole numbers are no roots
		}
	}
	return 0, false
}

// product is that of some of the symbols, for g and for h; 0 where it is beyond any number of elements.
func (u *unifier) product(mask int) (x, y int64) {
	x, y = 1, 1
	for i, s := range u.symbols[:min(len(u.symbols), mostSets)] {
		if mask&(1<<i) != 0 && x > 0 && y > 0 {
			if s.g < 1 || s.h < 1 || x > 1<<53/s.g || y > 1<<53/s.h {
				return 0, 0
			}
			x, y = x*s.g, y*s.h
		}
	}
	return x, y
}

// sizeCount is times the product of a set of symbols, and plus a number. For sizes 5 and 7 of one graph, and 11 and 13 of the other, the
// numbers 69 and 285 are 2 * 5 * 7 - 1 and 2 * 11 * 13 - 1: both symbols, twice, and -1.
type sizeCount struct {
	set         int // of symbols: bit i for that at i of unifier.symbols
	times, plus int64
}

// counted finds how two whole numbers are made of symbols. Products of sizes of inputs come first, then a size that a call has
// made, then what is one more or less than a product. Of two answers none is right.
func (u *unifier) counted(a, b int64) (t sizeCount, ok bool) {
	var inputs, made []int
	for set := 1; set < 1<<min(u.given, mostCounted); set++ {
		inputs = append(inputs, set)
	}
	for i := u.given; i < min(len(u.symbols), mostSets); i++ {
		made = append(made, 1<<i)
	}
	for _, c := range []struct {
		sets []int
		once bool // no times
		plus []int64
	}{{inputs, false, []int64{0}}, {made, true, []int64{0}}, {inputs, false, []int64{-1, 1}}} {
		found := 0
		for _, set := range c.sets {
			x, y := u.product(set)
			for _, p := range c.plus {
				if x < 1 || y < 1 || p != 0 && (x < leastBeside || y < leastBeside && y != 1) || a-p < 1 || (a-p)%x != 0 || (b-p)%y != 0 || (a-p)/x != (b-p)/y || c.once && a-p != x {
					continue
				}
				t, found = sizeCount{set, (a - p) / x, p}, found+1
			}
		}
		if found > 0 {
			return t, found == 1
		}
	}
	return t, false
}

// ones builds a count, or a form of it, as a 0-d tensor. Each of them is counted by itself, when the graph is
// compiled for known sizes, so that a run computes nothing for it.
func (u *unifier) ones(t sizeCount, of form, d dtype.DType) (Value, bool) {
	var failed error
	call := func(id op.ID, at op.Attrs, in ...Value) Value {
		var out []Value
		if failed == nil {
			out, failed = u.builder.Call(op.ByID(id), in, at)
		}
		if failed != nil {
			return 0
		}
		return out[0]
	}
	whole := op.Value{Kind: op.DType, I: int64(dtype.Int64)}
	made := Value(-1)
	for i := range u.symbols[:min(len(u.symbols), mostSets)] {
		if t.set&(1<<i) == 0 {
			continue
		}
		shape := op.Value{Kind: op.Ints, Ints: []int64{op.SizeAttr(u.symbols[i].symbol)}}
		one := call(op.IDSum, nil, call(op.IDFull, op.Attrs{op.FullShape: shape, op.FullFillValue: {Kind: op.Float, F: 1}, op.FullDtype: whole}))
		if made >= 0 {
			one = call(op.IDMultiply, nil, made, one)
		}
		made = one
	}
	if t.times != 1 {
		made = call(op.IDMultiply, nil, made, u.builder.Scalar(op.Value{Kind: op.Int, I: t.times}))
	}
	if t.plus != 0 {
		made = call(op.IDAdd, nil, made, u.builder.Scalar(op.Value{Kind: op.Int, I: t.plus}))
	}
	if d != dtype.Int64 {
		made = call(op.IDCast, op.Attrs{op.CastDtype: {Kind: op.DType, I: int64(d)}}, made)
	}
	switch of {
	case reciprocal:
		made = call(op.IDReciprocal, nil, made)
	case root:
		made = call(op.IDSqrt, nil, made)
	}
	return made, failed == nil
}

// from adds a number that is made of sizes to what a call makes with 0 in its place: a range from s0 on is one from 0 on, plus s0. It
// reports whether v and w are such a number. Floats of a range are rounded otherwise.
func (u *unifier) from(n *Node, v, w *op.Value) bool {
	d := u.g.values[n.Out[0]].DType
	exact := d == dtype.Int64 || d == dtype.Int32 || d.IsFloat()
	if count := n.Row.AttrIndex("count"); count >= 0 { // a range; one without elements begins anywhere
		exact = exact && !d.IsFloat() && n.Attrs[count].I > 0
	}
	a, b := v.Float64(), w.Float64()
	if !exact || a != math.Trunc(a) || b != math.Trunc(b) || max(a, b) >= 1<<31 {
		return false
	}
	t, ok := u.counted(int64(a), int64(b))
	if !ok {
		return false
	}
	u.then = func(out Value) ([]Value, error) {
		number, ok := u.ones(t, itself, d)
		if !ok {
			return nil, status.Errorf(status.Unsupported, "[%s] a size cannot be counted", n.Row.Name)
		}
		return u.builder.Call(op.ByID(op.IDAdd), []Value{out, number}, nil)
	}
	return true
}
