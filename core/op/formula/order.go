package formula

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// What formulas of sorted elements are too weak to say: places that follow from numbers, and comparisons with a few elements one after
// the other.

// interpolations are the words for what is taken between two elements.
var interpolations = []string{"linear", "lower", "higher", "nearest", "midpoint"}

// quantilesOf are the elements of sorted lines below which shares q of the others lie. Several shares make a first axis.
func quantilesOf(e *evaluation, args []*quantity) *quantity {
	sorted, shares, word := args[0].v, []float64{0.5}, args[3].value.Str()
	s := e.Shape(sorted)
	axis, ok := e.axis(&s, args[2])
	if !ok {
		return args[0]
	}
	if args[1].value.Set() {
		shares = args[1].value.Floats()
	}
	outside := func(q float64) bool { return !(q >= 0 && q <= 1) }
	switch {
	case len(shares) == 0 || slices.ContainsFunc(shares, outside):
		return e.refuse("q is %v; want one or several numbers from 0 to 1", shares)
	case !slices.Contains(interpolations, word):
		return e.refuse("interpolation is '%s'; want one of %v", word, interpolations)
	case s.Dims[axis] == 0:
		return e.refuse("x has shape %s; want elements along axis %d", &s, axis)
	}
	last := float64(s.Dims[axis] - 1)
	if shape.IsSymbol(s.Dims[axis]) { // types alone
		last = 0
	}
	found := make([]op.Var, len(shares))
	for i, q := range shares {
		found[i] = e.between(args[0], args[2], q*last, word)
	}
	if len(found) == 1 {
		return &quantity{v: found[0]}
	}
	return &quantity{v: e.Do(op.IDStack, op.Attrs{{Kind: op.Int}}, found...)}
}

// between is what lies at a place of sorted lines, which need not be whole.
func (e *evaluation) between(sorted, axis *quantity, place float64, word string) op.Var {
	at := func(place float64) op.Var { return numberAlong(e, []*quantity{sorted, axis, whole(int64(place))}).v }
	low, high := math.Floor(place), math.Ceil(place)
	switch word {
	case "nearest":
		return at(math.RoundToEven(place))
	case "lower":
		return at(low)
	case "higher":
		return at(high)
	case "midpoint":
		return e.Divide(e.Add(at(high), at(low)), e.Float(2))
	}
	if low == high { // both ends are one element, whose difference to itself may be nan
		return at(low)
	}
	share := place - low
	if e.TypeOf(sorted.v).DType != dtype.Float64 {
		share = float64(float32(share))
	}
	below, above := at(low), at(high)
	weight := numberLike(e, []*quantity{sorted, known(share)}).v
	return e.Add(below, e.Multiply(e.Subtract(above, below), weight))
}

// fewTested is how many elements take less time to compare with one after the other than to sort with all others.
const fewTested = 16

// isFew is whether an operand has few elements.
func isFew(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[0].v)
	return whether(!slices.ContainsFunc(s.Slice(), shape.IsSymbol) && s.Numel() <= fewTested)
}

// amongFew is whether each element of x is one of the few of another operand.
func amongFew(e *evaluation, args []*quantity) *quantity {
	s := e.Shape(args[1].v)
	n := s.Numel()
	line := shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{n}}
	few := e.Reshape(args[1].v, &line)
	var found op.Var
	for i := range n {
		same := e.Do(op.IDEqual, nil, args[0].v, e.Reshape(between(e.Calls, few, 0, i, i+1), &shape.Shape{}))
		if i > 0 {
			same = e.Do(op.IDLogicalOr, nil, found, same)
		}
		found = same
	}
	if n == 0 {
		x := e.Shape(args[0].v)
		found = e.Filled(&x, op.Value{Kind: op.Bool}, dtype.Bool)
	}
	return &quantity{v: found}
}
