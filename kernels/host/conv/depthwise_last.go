package conv

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/stencil"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// vectorElements is the number of elements of the longest vector.
const vectorElements = 16

// A depthwise convolution of images that have their channels last multiplies runs of all channels with weights that lie in
// the same order. Windows of a line that lie inside of the image see the same runs, each a stride further on; of the others only
// what is inside counts. That is the same as padding with zeros where weights are finite, which this kernel needs.

// newDepthwise packs the weight tap by tap.
func newDepthwise(_ *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
	weight := &c.In[engine.Right]
	channels := weight.Dims[0]
	taps := weight.Numel() / channels
	known := make([]float32, weight.Numel()+vectorElements) // so that vectors of the last tap lie in it
	for i, v := range weightsOf(weight) {
		known[int64(i)%taps*channels+int64(i)/taps] = v
	}
	return &Convolution[float32]{dtype: dtype.Float32, native: true, plan: planDepthwise, known: known, byRows: true}, nil
}

// weightsOf are the elements of a constant weight of float32, which is contiguous.
// SAFETY: the layout of the operand lies in its Const.
func weightsOf(weight *device.Operand) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&weight.Const[0])), weight.Numel())
}

// Padding is what most windows of small images see, so that it is left out rather than multiplied. A finite weight times 0 adds
// 0 to a sum, which changes none: a sum begins with 0 and is never -0.

// planDepthwise is the plan of such a conv. Pieces are lines of windows.
func planDepthwise(j *Convolving[float32], w *op.Windows) {
	j.work = depthwise{j}
	j.Rows = j.out.Channels
	j.noteTaps(w)
	j.pieces = j.out.Batch * j.out.Dims[0] * j.out.Dims[1]
}

// depthwise is a call as work that is cut into lines of windows.
type depthwise struct{ *Convolving[float32] }

// Part computes lines lo to hi-1.
func (j depthwise) Part(_ *device.Call, lo, hi int64) error {
	b := j.epilogue.Begin()
	defer j.epilogue.End(b)
	taps := tapLists.Get().(*[]stencil.Tap)
	defer tapLists.Put(taps)
	windows := j.out.Dims[2]
	low, high := j.inside()
	for ; lo < hi; lo++ {
		first := lo * windows * j.Rows
		to := j.out.Data[first:][:windows*j.Rows]
		for i := int64(0); i < windows; {
			n := int64(1)
			if i == low && low < high {
				n = high - low
			}
			if !j.run(to[i*j.Rows:][:n*j.Rows], lo, i, n, taps) {
				return window.Misfit()
			}
			i += n
		}
		if err := j.epilogue.Rows(b, first, 1, windows*j.Rows, windows*j.Rows); err != nil {
			return err
		}
	}
	return nil
}

// inside are the first window of a line all of whose taps are inside of the image on the last axis, and the first behind it of
// which that is not so.
func (j depthwise) inside() (low, high int64) {
	const last = op.MaxSpatial - 1
	least, most := bounds(j.Taps)
	step := j.Step[last]
	low = min(max((step-1-least[last])/step, 0), j.out.Dims[last])
	high = low
	if room := j.In.Dims[last] - 1 - most[last]; room >= 0 {
		high = min(max(room/step+1, low), j.out.Dims[last])
	}
	return low, high
}

// Offsets count from the first run that a window sees, because vec wants none below 0.

// run computes n windows of a line from number i on, which see the same taps.
func (j depthwise) run(to []float32, line, i, n int64, list *[]stencil.Tap) bool {
	im := &j.In
	a, b, c := line/j.out.Dims[1]%j.out.Dims[0]*j.Step[0], line%j.out.Dims[1]*j.Step[1], i*j.Step[2]
	image := line / (j.out.Dims[0] * j.out.Dims[1]) * window.Volume(&im.Dims)
	taps := (*list)[:0]
	least := int64(-1) // where the first of all runs begins
	for number, t := range j.Taps {
		x, y, z := a+t[0], b+t[1], c+t[2]
		if x < 0 || x >= im.Dims[0] || y < 0 || y >= im.Dims[1] || z < 0 || z >= im.Dims[2] {
			continue
		}
		at := (image + (x*im.Dims[1]+y)*im.Dims[2] + z) * im.Channels
		if least < 0 {
			least = at
		}
		taps = append(taps, stencil.Tap{Offset: int(at - least), Number: int32(number)})
	}
	*list = taps
	return stencil.DepthwiseChannelsLast(to, im.Data[max(least, 0):], j.conv.known, taps, int(n), int(j.Step[2]*im.Channels), int(j.Rows))
}
