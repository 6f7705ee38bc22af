package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// vectorElements is the number of elements of the longest vector.
const vectorElements = 16

// A depthwise convolution of images that have their channels last multiplies runs of all channels with weights that lie in
// the same order. Windows of a line that lie inside of the image see the same runs, each a stride further on; of the others only
// what is inside counts. That is the same as padding with zeros where weights are finite, which this kernel needs.

func init() {
	registry.Add(variant{
		Op: op.IDConv, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special + 2, Accepts: acceptsDepthwise,
		Make: func(_ *Device, c *device.Call, _ uint64) (kernel, error) {
			weight := &c.In[right]
			channels := weight.Dims[0]
			taps := weight.Numel() / channels
			known := make([]float32, weight.Numel()+vectorElements) // so that vectors of the last tap lie in it
			for i, v := range weightsOf(weight) {
				known[int64(i)%taps*channels+int64(i)/taps] = v
			}
			return &convolution[float32]{dtype: dtype.Float32, native: true, plan: planDepthwise, known: known, byRows: true}, nil
		},
	})
}

// weightsOf are the elements of a constant weight of float32, which is contiguous.
// SAFETY: the layout of the operand lies in its Const.
func weightsOf(weight *device.Operand) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&weight.Const[0])), weight.Numel())
}

// acceptsDepthwise takes convolutions with a finite constant weight of one channel for each channel of a result that has its
// channels last in memory.
func acceptsDepthwise(_ *Device, c *device.Call) (uint64, bool) {
	weight := &c.In[right]
	if !isFilter(weight) || !isDepthwise(c) || !channelsLast(&c.Out[0]) {
		return 0, false
	}
	for _, v := range weightsOf(weight) {
		if v-v != 0 {
			return 0, false
		}
	}
	return 0, true
}

// isDepthwise reports whether each channel of the result is one channel of the image with a weight of its own.
func isDepthwise(c *device.Call) bool {
	return c.In[right].Dims[1] == 1 && c.In[right].Dims[0] == c.In[left].Dims[1]
}

// Padding is what most windows of small images see, so that it is left out rather than multiplied. A finite weight times 0 adds
// 0 to a sum, which changes none: a sum begins with 0 and is never -0.

// planDepthwise is the plan of such a conv. Pieces are lines of windows.
func planDepthwise(j *convolving[float32], w *op.Windows) {
	j.work = depthwise{j}
	j.rows = j.out.channels
	j.noteTaps(w)
	j.pieces = j.out.batch * j.out.dims[0] * j.out.dims[1]
}

// depthwise is a call as work that is cut into lines of windows.
type depthwise struct{ *convolving[float32] }

// part computes lines lo to hi-1.
func (j depthwise) part(_ *device.Call, lo, hi int64) error {
	b := j.epilogue.begin()
	defer j.epilogue.end(b)
	taps := tapLists.Get().(*[]vec.Tap)
	defer tapLists.Put(taps)
	windows := j.out.dims[2]
	low, high := j.inside()
	for ; lo < hi; lo++ {
		first := lo * windows * j.rows
		to := j.out.data[first:][:windows*j.rows]
		for i := int64(0); i < windows; {
			n := int64(1)
			if i == low && low < high {
				n = high - low
			}
			if !j.run(to[i*j.rows:][:n*j.rows], lo, i, n, taps) {
				return misfit()
			}
			i += n
		}
		if err := j.epilogue.rows(b, first, 1, windows*j.rows, windows*j.rows); err != nil {
			return err
		}
	}
	return nil
}

// inside are the first window of a line all of whose taps are inside of the image on the last axis, and the first behind it of
// which that is not so.
func (j depthwise) inside() (low, high int64) {
	const last = op.MaxSpatial - 1
	least, most := bounds(j.taps)
	step := j.step[last]
	low = min(max((step-1-least[last])/step, 0), j.out.dims[last])
	high = low
	if room := j.in.dims[last] - 1 - most[last]; room >= 0 {
		high = min(max(room/step+1, low), j.out.dims[last])
	}
	return low, high
}

// Offsets count from the first run that a window sees, because vec wants none below 0.

// run computes n windows of a line from number i on, which see the same taps.
func (j depthwise) run(to []float32, line, i, n int64, list *[]vec.Tap) bool {
	im := &j.in
	a, b, c := line/j.out.dims[1]%j.out.dims[0]*j.step[0], line%j.out.dims[1]*j.step[1], i*j.step[2]
	image := line / (j.out.dims[0] * j.out.dims[1]) * volumeOf(&im.dims)
	taps := (*list)[:0]
	least := int64(-1) // where the first of all runs begins
	for number, t := range j.taps {
		x, y, z := a+t[0], b+t[1], c+t[2]
		if x < 0 || x >= im.dims[0] || y < 0 || y >= im.dims[1] || z < 0 || z >= im.dims[2] {
			continue
		}
		at := (image + (x*im.dims[1]+y)*im.dims[2] + z) * im.channels
		if least < 0 {
			least = at
		}
		taps = append(taps, vec.Tap{Offset: int(at - least), Number: int32(number)})
	}
	*list = taps
	return vec.Depthwise(to, im.data[max(least, 0):], j.conv.known, taps, int(n), int(j.step[2]*im.channels), int(j.rows))
}
