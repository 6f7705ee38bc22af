package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Products of panels are those of matrices, which the test lays out as panels.
func TestMulPanels(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rows, cols := PanelTile()
		r := rand.New(rand.NewPCG(1, 2))
		for _, k := range []int{0, 1, 7, 64} {
			m := 3 * rows
			a, b, c := make([]float32, m*k), make([]float32, k*cols), make([]float32, m*cols)
			columns := k + 2
			left := make([]float32, m*columns-2*rows)
			for i := range m {
				for l := range k {
					a[i*k+l] = float32(r.NormFloat64())
					left[i/rows*rows*columns+l*rows+i%rows] = a[i*k+l]
				}
			}
			for i := range b {
				b[i] = float32(r.NormFloat64())
			}
			want := make([]float32, m*cols)
			require.True(t, MatMul(want, a, b, m, cols, k, k, cols, cols))
			require.True(t, MulPanels(c, left, b, k, columns, true))
			require.Equal(t, want, c)
			require.True(t, AddMatMul(want, a, b, m, cols, k, k, cols, cols))
			require.True(t, MulPanels(c, left, b, k, columns, false))
			require.Equal(t, want, c)
		}
		require.False(t, MulPanels(make([]float32, rows*cols+1), make([]float32, 2*rows), make([]float32, cols), 1, 1, true))
		require.False(t, MulPanels(make([]float32, rows*cols), make([]float32, rows-1), make([]float32, cols), 1, 1, true))
		require.False(t, MulPanels(make([]float32, rows*cols), make([]float32, rows), make([]float32, cols-1), 1, 1, true))
		require.False(t, MulPanels(make([]float32, rows*cols), make([]float32, rows), make([]float32, cols), -1, 1, true))
		require.False(t, MulPanels(make([]float32, rows*cols), make([]float32, 2*rows), make([]float32, 2*cols), 2, 1, true))
	})
}
