package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Formulas with as many products, or terms, as a number says.

// powerOf is square matrices to the power of n, by repeated squares; the identity matrices for 0.
func powerOf(e *evaluation, args []quantity) quantity {
	x, n := args[0].v, args[1].value.I
	s := e.Shape(x)
	switch {
	case s.Rank < 2 || op.Differ(s.Dims[s.Rank-1], s.Dims[s.Rank-2]):
		return e.refuse("x has shape %s; want [..., n, n]", &s)
	case n < 0:
		return e.refuse("n is %d; want 0 or more", n)
	case n == 0, s.Dims[s.Rank-1] == 0:
		line := func(axis int) op.Var { return rows.Column(e.Calls, s.Dims[axis], s.Rank, axis) }
		same := e.Cast(e.Do(op.IDEqual, nil, line(s.Rank-2), line(s.Rank-1)), e.TypeOf(x).DType)
		return quantity{v: e.Expand(same, &s)}
	}
	product := func(x, y op.Var) op.Var { return e.Do(op.IDMatmul, nil, x, y) }
	power, known := x, false
	for ; n > 0; n >>= 1 {
		switch {
		case n&1 == 1 && known:
			power = product(power, x)
		case n&1 == 1:
			power, known = x, true
		}
		if n > 1 {
			x = product(x, x)
		}
	}
	return quantity{v: power}
}
