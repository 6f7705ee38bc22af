package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// A NaN of an image is in the terms of the weight whose taps see it, and in no others: lines that are multiplied in vectors
// have elements of other windows beside them.
func TestConvWeightOfNaN(t *testing.T) {
	one := [op.MaxSpatial]int{1, 1, 1}
	for name, c := range map[string]convCase{
		"padded":   {2, 1, 2, 7, [op.MaxSpatial]int{1, 9, 12}, [op.MaxSpatial]int{1, 3, 3}, one, one, [op.MaxSpatial]int{0, 1, 1}, 2},
		"in place": {2, 1, 2, 7, [op.MaxSpatial]int{1, 9, 12}, [op.MaxSpatial]int{1, 3, 3}, one, one, [op.MaxSpatial]int{}, 2},
		"strided":  {2, 1, 2, 7, [op.MaxSpatial]int{1, 9, 37}, [op.MaxSpatial]int{1, 3, 3}, [op.MaxSpatial]int{1, 2, 2}, one, [op.MaxSpatial]int{0, 1, 1}, 2},
	} {
		x, w, y := c.sizes(c.batch, c.in, c.size), c.sizes(c.out, c.in, c.kernel), c.sizes(c.batch, c.out, c.windows())
		for at := int64(0); at < numel(x); at += 11 {
			xv, yv, want := make([]float64, numel(x)), make([]float64, numel(y)), make([]float64, numel(w))
			for i := range yv {
				yv[i] = 1
			}
			xv[at] = math.NaN()
			c.each(func(a, b, d int) { want[b] += xv[a] * yv[d] })
			out := place(dtype.Float32, dims(w...), 0)
			call := &device.Call{In: operands(place(dtype.Float32, dims(x...), 0, xv...), place(dtype.Float32, dims(y...), 0, yv...)), Out: operands(out), Attrs: c.attrs("conv_weight")}
			require.NoError(t, newRig(t, Config{Threads: 1}).call("conv_weight", call))
			for i, v := range out.values() {
				require.Equal(t, math.IsNaN(want[i]), math.IsNaN(v), "%s: element %d is NaN, term %d", name, at, i)
			}
		}
	}
}
