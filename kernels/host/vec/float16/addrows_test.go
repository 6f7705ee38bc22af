package float16

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestAddBF16Rows compares sums with those in float64: of n products and the sum before, each rounded once.
func TestAddBF16Rows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	eachLevel(t, func(t *testing.T) {
		for rows := range 10 {
			for cols := range 40 {
				step := cols + r.IntN(3)
				a, b, before := make([]float32, rows), make([]uint16, max(rows-1, 0)*step+cols), make([]float32, cols)
				for i := range a {
					a[i] = float32(r.NormFloat64())
				}
				for i := range b {
					b[i] = dtype.F32ToBF16(float32(r.NormFloat64()))
				}
				for i := range before {
					before[i] = float32(r.NormFloat64())
				}
				sums, check := vectest.Guarded(append([]float32(nil), before...))
				require.True(t, AddBF16Rows(sums, a, b, step))
				check(t)
				for j := range cols {
					want, all := float64(before[j]), math.Abs(float64(before[j]))
					for l := range rows {
						p := float64(a[l]) * float64(dtype.BF16ToF32(b[l*step+j]))
						want, all = want+p, all+math.Abs(p)
					}
					require.InDelta(t, want, sums[j], float64(2*rows)*0x1p-24*all, "%d x %d", rows, cols)
				}
			}
		}
		require.False(t, AddBF16Rows(make([]float32, 4), make([]float32, 3), make([]uint16, 11), 4))
		require.False(t, AddBF16Rows(make([]float32, 4), make([]float32, 3), make([]uint16, 12), 3))
	})
}
