//go:build arm64 && cgo && !race

package maths

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

// Functions that round correctly, or not at all, have the bits of the portable ones.
func TestExactFunctionsInC(t *testing.T) {
	portable := portableTable()
	for f, in := range map[Function]neon.Function{
		Neg: neon.Neg, Abs: neon.Abs, Sqrt: neon.Sqrt, Reciprocal: neon.Reciprocal, Square: neon.Square, Relu: neon.Relu,
		Floor: neon.Floor, Ceil: neon.Ceil, Round: neon.Round, Trunc: neon.Trunc, Sign: neon.Sign,
	} {
		vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
			x, got, want := vectest.Filled(fenced, r, n), vectest.Operand[float32](fenced, n), make([]float32, n)
			require.Equal(t, n, in.Row(got, x))
			portable.unary[f](want, x)
			vectest.RequireBits(t, want, got, "%v of %d", f, n)
			require.Equal(t, n, in.Row(x, x))
			vectest.RequireBits(t, want, x, "%v of %d in place", f, n)
		})
	}
}
