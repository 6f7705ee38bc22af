//go:build arm64 && cgo && !race

package rownorm

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

func TestReductionsInC(t *testing.T) {
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		whole := vectest.Operand[float32](fenced, n)
		for i := range whole {
			whole[i] = float32(r.IntN(2000) - 1000) // sums of these are exact
		}
		require.Equal(t, sumDeviationsRow(whole, 3), neon.SumDeviations(whole, 3))
	})
}

func TestStandardizeInC(t *testing.T) {
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		x, weight, bias, got, want := vectest.Filled(fenced, r, n), vectest.Filled(fenced, r, n), vectest.Filled(fenced, r, n), vectest.Operand[float32](fenced, n), make([]float32, n)
		for _, w := range [][]float32{nil, weight} {
			for _, b := range [][]float32{nil, bias} {
				neon.Standardize(got, x, w, b, 0.3, 1.7)
				standardizeRow(want, x, w, b, 0.3, 1.7)
				vectest.RequireBits(t, want, got, "%d, with weight %v, bias %v", n, w != nil, b != nil)
			}
		}
	})
}

func TestWeighInC(t *testing.T) {
	for _, columns := range []int{4, 8, 12} {
		for _, rows := range []int{0, 1, 5} {
			fenced := vectest.NewFences(t)
			fenced.High = true
			s, tops := vectest.Operand[float32](fenced, rows*columns), vectest.Operand[float32](fenced, columns)
			sums, factors := vectest.Operand[float32](fenced, columns), vectest.Operand[float32](fenced, columns)
			for i := range s {
				s[i] = float32(i%7) - 3
			}
			for i := range tops {
				tops[i], sums[i] = float32(math.Inf(-1)), 0
			}
			all, high, sum, factor := append([]float32{}, s...), append([]float32{}, tops...), make([]float32, columns), make([]float32, columns)
			neon.Weigh(s, tops, sums, factors, 2)
			onlineSoftmaxPortable(all, high, sum, factor, 2)
			require.Equal(t, high, append([]float32{}, tops...))
			require.InDeltaSlice(t, all, s, 0x1p-22)
			require.InDeltaSlice(t, sum, sums, 0x1p-20)
			require.Equal(t, factor, append([]float32{}, factors...))
		}
	}
}
