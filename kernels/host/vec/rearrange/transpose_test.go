package rearrange

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestTranspose has sizes around those of the squares of all levels, and distances that leave elements between rows, which stay.
func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	eachLevel(t, func(t *testing.T) {
		for rows := range 36 {
			for cols := range 36 {
				toStep, fromStep := rows+r.IntN(3), cols+r.IntN(3)
				from := make([]float32, max(rows-1, 0)*fromStep+cols)
				for i := range from {
					from[i] = float32(i + 1)
				}
				want := make([]float32, max(cols-1, 0)*toStep+rows)
				for i := range rows {
					for j := range cols {
						want[j*toStep+i] = from[i*fromStep+j]
					}
				}
				to, check := vectest.Guarded(make([]float32, len(want)))
				require.Equal(t, rows > 0 && cols > 0, Transpose(to, from, rows, cols, toStep, fromStep))
				if rows > 0 && cols > 0 {
					require.Equal(t, want, to, "%d x %d", rows, cols)
				}
				check(t)
			}
		}
		for _, x := range [][6]int{{11, 12, 3, 4, 3, 4}, {12, 11, 3, 4, 3, 4}, {12, 12, 3, 4, 2, 4}, {12, 12, 3, 4, 3, -4}, {12, 12, -3, 4, 3, 4}} {
			require.False(t, Transpose(make([]float32, x[0]), make([]float32, x[1]), x[2], x[3], x[4], x[5]), "%v", x)
		}
		to := make([]float32, 12)
		require.True(t, Transpose(to, []float32{1, 2, 3}, 4, 3, 4, 0), "a row that is repeated")
		require.Equal(t, []float32{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}, to)
	})
}

func BenchmarkTranspose(b *testing.B) {
	from, to := make([]float32, 128*64), make([]float32, 128*64)
	b.SetBytes(8 * 128 * 64)
	for b.Loop() {
		Transpose(to, from, 128, 64, 128, 64)
	}
}
