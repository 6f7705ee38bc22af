//go:build arm64 && cgo && !race

package arith

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

func TestPairsInC(t *testing.T) {
	portable := portableRows[float32]()
	for op, f := range []neon.Operation{Add: neon.Add, Sub: neon.Sub, Mul: neon.Mul, Div: neon.Div, Max: neon.Max, Min: neon.Min} {
		vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
			a, b, got, want := vectest.Filled(fenced, r, n), vectest.Filled(fenced, r, n), vectest.Operand[float32](fenced, n), make([]float32, n)
			number := vectest.Specials32(r, 1)[0]
			f.VV(got, a, b)
			portable[op].VV(want, a, b)
			vectest.RequireBits(t, want, got, "%v of %d", Binary(op), n)
			f.VS(got, a, number)
			portable[op].VS(want, a, number)
			vectest.RequireBits(t, want, got, "%v of %d and %g", Binary(op), n, number)
			f.SV(got, number, b)
			portable[op].SV(want, number, b)
			vectest.RequireBits(t, want, got, "%v of %g and %d", Binary(op), number, n)
			portable[op].VV(want, a, b)
			f.VV(a, a, b)
			vectest.RequireBits(t, want, a, "%v of %d in place", Binary(op), n)
		})
	}
}

func TestComparisonsInC(t *testing.T) {
	for _, c := range []struct {
		long  neon.Comparison
		short func(dst []uint8, a, b []float32)
	}{{neon.Less, lessRow}, {neon.LessEqual, lessEqualRow}, {neon.Equal, equalRow}, {neon.NotEqual, notEqualRow}} {
		vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
			a, b, got, want := vectest.Filled(fenced, r, n), vectest.Filled(fenced, r, n), vectest.Operand[uint8](fenced, n), make([]uint8, n)
			c.long.Row(got, a, b)
			c.short(want, a, b)
			require.Equal(t, want, append([]uint8{}, got...))
		})
	}
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		a, b, got, want := vectest.Operand[int32](fenced, n), vectest.Operand[int32](fenced, n), vectest.Operand[uint8](fenced, n), make([]uint8, n)
		for i := range a {
			a[i], b[i] = int32(r.Uint32()), int32(r.Uint32())
			if i%3 == 0 {
				b[i] = a[i]
			}
		}
		neon.LessInt32(got, a, b)
		lessInt32Row(want, a, b)
		require.Equal(t, want, append([]uint8{}, got...))
	})
}

func TestConversionsInC(t *testing.T) {
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		x, got, doubles := vectest.Filled(fenced, r, n), vectest.Operand[float32](fenced, n), vectest.Operand[float64](fenced, n)
		want := make([]float32, n)
		for i := range x {
			if i%2 == 0 {
				x[i] = math.Float32frombits(r.Uint32())
			}
			doubles[i] = float64(x[i]) * (1 + 0x1p-25)
		}
		neon.ToFloat32(got, doubles)
		toFloat32Row(want, doubles)
		vectest.RequireBits(t, want, got, "float64 of %d", n)
		ints, wantInts := vectest.Operand[int32](fenced, n), make([]int32, n)
		for i := range x {
			x[i] *= 0x1p31
		}
		neon.ToInt32(ints, x)
		toInt32Row(wantInts, x)
		require.Equal(t, wantInts, append([]int32{}, ints...))
	})
}
