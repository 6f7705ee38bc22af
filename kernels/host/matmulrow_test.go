package host

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
)

// TestRowTimesMatrix compares products of a row and a large matrix with sums in float64, in rows that do not follow one another too,
// and of any number of threads with those of one, bit for bit. The bound of a sum of k products, each rounded once, is k roundings
// of the sum of their magnitudes; the result is rounded to its dtype.
func TestRowTimesMatrix(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, s := range []struct{ k, n, gap int64 }{{1100, 513, 0}, {1024, 1030, 7}, {3, 200000, 0}, {2100, 512, 0}} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.BFloat16} {
			t.Run(fmt.Sprintf("%dx%d/%v", s.k, s.n, d), func(t *testing.T) {
				x, out := of(d, dims(1, s.k), gaussian(random, 1021)...), of(d, dims(1, s.n))
				whole := of(d, dims(s.k, s.n+s.gap), gaussian(random, 4099)...)
				y := *whole
				y.Layout.Dims[1] = s.n
				c := &device.Call{In: operands(x, &y), Out: operands(out)}
				require.True(t, product.IsRowTimesMatrix(c))
				require.NoError(t, newRig(t, Config{Threads: 1}).call("matmul", c))
				want := out.values()
				xs, ys := x.values(), whole.values()
				unit := map[dtype.DType]float64{dtype.Float32: 0x1p-24, dtype.Float16: 0x1p-11, dtype.BFloat16: 0x1p-8}[d]
				for j := int64(0); j < s.n; j += 1 + s.n/700 {
					sum, all := 0.0, 0.0
					for l := range s.k {
						p := xs[l] * ys[l*(s.n+s.gap)+j]
						sum += p
						all += math.Abs(p)
					}
					require.InDelta(t, sum, want[j], unit*math.Abs(sum)+float64(s.k)*0x1p-24*all+0x1p-24, "column %d", j)
				}
				for _, threads := range []int{2, 5} {
					again := of(d, dims(1, s.n))
					c.Out = operands(again)
					require.NoError(t, newRig(t, Config{Threads: threads}).call("matmul", c))
					require.Equal(t, want, again.values())
				}
			})
		}
	}
	x, y := of(dtype.Float32, dims(1, 1024)), of(dtype.Float32, dims(1024, 1024))
	two := of(dtype.Float32, dims(2, 1024))
	require.False(t, product.IsRowTimesMatrix(&device.Call{In: operands(two, y), Out: operands(two)}), "two rows")
	turned := *y
	turned.Layout.Strides[0], turned.Layout.Strides[1] = 1, 1024
	require.False(t, product.IsRowTimesMatrix(&device.Call{In: operands(x, &turned), Out: operands(x)}), "columns")
}
