package host

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/conv"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/dots"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
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

// Lines are no copies of what is far larger than the cache: of long lines with padding, and of long dilations.
func TestLinesAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		x, y  [3]int64 // spatial sizes of the image and of the windows
		taps  [][op.MaxSpatial]int64
		lines bool
	}{
		"padded":         {[3]int64{1, 28, 28}, [3]int64{1, 28, 28}, [][op.MaxSpatial]int64{{0, -1, -1}, {0, 1, 1}}, true},
		"large":          {[3]int64{1, 512, 512}, [3]int64{1, 512, 512}, [][op.MaxSpatial]int64{{0, -1, -1}, {0, 1, 1}}, true},
		"long in place":  {[3]int64{1, 1, 1 << 30}, [3]int64{1, 1, 1<<30 - 2}, [][op.MaxSpatial]int64{{}, {0, 0, 2}}, true},
		"long":           {[3]int64{1, 1, 1 << 30}, [3]int64{1, 1, 1 << 30}, [][op.MaxSpatial]int64{{0, 0, -1}, {0, 0, 1}}, false},
		"far planes":     {[3]int64{1, 9, 64}, [3]int64{1, 9, 64}, [][op.MaxSpatial]int64{{-1 << 40, 0, 0}, {1 << 40, 0, 0}}, false},
		"far lines":      {[3]int64{1, 9, 64}, [3]int64{1, 9, 64}, [][op.MaxSpatial]int64{{0, -1 << 40, 0}, {0, 1 << 40, 0}}, false},
		"short":          {[3]int64{1, 9, 7}, [3]int64{1, 9, 7}, [][op.MaxSpatial]int64{{0, -1, -1}, {0, 1, 1}}, false},
		"single element": {[3]int64{1, 9, 7}, [3]int64{1, 9, 7}, [][op.MaxSpatial]int64{{}}, true},
	} {
		j := &conv.Convolving[float32]{Rows: 16, Channels: 3, Groups: 1, Step: window.UnitSteps, Taps: c.taps}
		for im, size := range map[*window.Image[float32]][3]int64{&j.In: c.x, &j.Seen: c.y} {
			im.Batch, im.Channels, im.Dims = 2, 3, size
			im.Strides = [op.MaxSpatial]int64{size[1] * size[2], size[2], 1}
			im.PerChannel = size[0] * size[1] * size[2]
			im.PerImage = 3 * im.PerChannel
		}
		conv.CutLines(j)
		require.Equal(t, c.lines && dots.HasLines(), j.CutInLines.On, name)
	}
}
