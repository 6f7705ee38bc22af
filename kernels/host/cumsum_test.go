package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Sums of integers wrap around in their own dtype and those of halves are rounded once; lines may be longer than a
// block and lie in any way.
func TestCumsum(t *testing.T) {
	eachMode(t, func(t *testing.T, r *rig) {
		for _, d := range dtype.Numbers.Members() {
			for axis, ds := range [][]int64{{3, 700}, {700, 3}} {
				for where, l := range layouts(ds...) {
					x := place(d, l, 0, ramp(int(ds[0]*ds[1]), -2, 0.25)...)
					out := place(d, layouts(ds...)["contiguous"], 0)
					axes := op.Axes(1 << (1 - axis))
					want := cumsumOf(d, x.values(), ds, axes)
					require.NoError(t, r.call("cumsum", &device.Call{In: operands(x), Out: operands(out), Axes: axes}))
					require.Equal(t, want, out.values(), "%s %v %s", d, ds, where)
				}
			}
		}
	})
}

// cumsumOf adds up quarters, which float64 does exactly.
func cumsumOf(d dtype.DType, values []float64, ds []int64, axes op.Axes) []float64 {
	out := make([]float64, len(values))
	for _, group := range groups(ramp(len(values), 0, 1), ds, axes) {
		sum := 0.0
		for _, i := range group {
			sum += values[int(i)]
			out[int(i)] = rounded(d, sum)
		}
	}
	return out
}
