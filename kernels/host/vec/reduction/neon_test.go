//go:build arm64 && cgo && !race

package reduction

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

func TestReductionsInC(t *testing.T) {
	vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
		x, whole := vectest.Filled(fenced, r, n), vectest.Operand[float32](fenced, n)
		for i := range whole {
			whole[i] = float32(r.IntN(2000) - 1000) // sums of these are exact
		}
		require.Equal(t, PortableSumRow(whole), neon.Sum(whole))
		require.Equal(t, sumSquaresRow(whole), neon.SumSquares(whole))
		for _, row := range [][]float32{x, whole} {
			top, bottom := neon.Top(row), neon.Bottom(row)
			require.True(t, top == PortableMaxRow(row) || top != top && PortableMaxRow(row) != PortableMaxRow(row))
			require.True(t, bottom == portableMinRow(row) || bottom != bottom && portableMinRow(row) != portableMinRow(row))
			for _, flip := range []uint32{0, vec.Descending} {
				want, _ := largestRow(row, flip)
				require.Equal(t, want, neon.Largest(row, flip))
				place := findRow(row, want, 0)
				if place < 0 {
					place = n
				}
				require.Equal(t, place, neon.Find(row, want))
			}
		}
		for i := range x { // NaN that is not quiet is passed over like any other
			if x[i] != x[i] {
				x[i] = math.Float32frombits(0x7f800001)
			}
		}
		want, _ := largestRow(x, 0)
		require.Equal(t, want, neon.Largest(x, 0))
	})
}

func TestColumnsInC(t *testing.T) {
	for _, rows := range []int{1, 3, 4, 5, 8, 9, 13} {
		vectest.EachFenced(t, func(fenced *vectest.Fences, r *rand.Rand, n int) {
			stride := n + n%3
			x := vectest.Filled(fenced, r, (rows-1)*stride+n)
			sums, want := vectest.Operand[float64](fenced, n), make([]float64, n)
			neon.SumColumns(sums, x, stride, rows)
			sumColumnsRow(want, x, stride, rows)
			for i := range want {
				require.True(t, vectest.SameBits(want[i], sums[i]), "column %d of %d", i, n)
				sums[i] = 0
			}
			tops := vectest.Filled(fenced, r, n)
			wanted := append([]float32{}, tops...)
			neon.MaxColumns(tops, x, stride, rows)
			maxColumnsRow(wanted, x, stride, rows)
			vectest.RequireBits(t, wanted, tops, "largest of %d", n)
			neon.MinColumns(tops, x, stride, rows)
			minColumnsRow(wanted, x, stride, rows)
			vectest.RequireBits(t, wanted, tops, "smallest of %d", n)
			at, wantAt := vectest.Operand[int32](fenced, n), make([]int32, n)
			clear(at)
			neon.ArgColumns(tops, at, x[:n], vec.Descending, 7)
			argColumnsRow(wanted, wantAt, x[:n], vec.Descending, 7)
			vectest.RequireBits(t, wanted, tops, "best of %d", n)
			require.Equal(t, wantAt, append([]int32{}, at...))
		})
	}
}
