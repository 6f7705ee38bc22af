package host

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Where the channels of an element are neighbours in memory, a window is a row of the left operand of a product, and the right
// operand is the weight, packed once: what a window sees at one element of the kernel is a run of channels, and so is a row of
// the result: see convpad.go.
//
// A sum is over the elements of the kernel, and for each over the channels, in this order: those of the other kernels are over
// the channels first, and have other roundings.

func init() {
	registry.Add(variant{
		Op: op.IDConv, DTypes: dtype.SetOf(dtype.Float32), Priority: kernels.Special + 2, Accepts: acceptsRows,
		Make: func(d *Device, c *device.Call, _ uint64) (kernel, error) {
			packed, err := packTaps(d.threads, c)
			return &convolution[float32]{dtype: dtype.Float32, native: true, plan: planLines, right: packed, byRows: true}, err
		},
	})
}

// packTaps lays out the contiguous weight of a conv as a right operand whose rows are the taps, and for each the channels. Of kernels
// whose lines have gaps, the elements of a column come before the next one.
func packTaps(t *threads, c *device.Call) (*vec.Right, error) {
	weight := c.In[right]
	axes := weight.Rank - 2
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, axes)
	if err != nil {
		return nil, err
	}
	outputs, channels := weight.Dims[0], weight.Dims[1]
	taps := weight.Numel() / (outputs * channels)
	width := weight.Dims[axes+1]
	rows, columns := taps, int64(1)
	if spatial(w.Dilation, w.Axes, 1)[op.MaxSpatial-1] > 1 && axes > 1 {
		rows, columns = weight.Dims[axes], width
	}
	turned := weight
	turned.Layout = shape.Layout{Shape: shape.Shape{Rank: 5, Dims: [shape.MaxRank]int64{taps / (rows * columns), columns, rows, channels, outputs}}}
	copy(turned.Strides[:], []int64{rows * columns, 1, columns, taps, taps * channels})
	return packRight(t, &turned, 4)
}

// acceptsRows takes convolutions of one group with a constant weight whose result has its channels last in memory, as every result
// of one element for each channel has them, or has few elements.
func acceptsRows(_ *Device, c *device.Call) (uint64, bool) {
	weight, out := &c.In[right], &c.Out[0]
	if !isFilter(weight) || weight.Dims[1] != c.In[left].Dims[1] {
		return 0, false
	}
	single := out.Numel() > 0 && out.Numel() == out.Dims[0]*out.Dims[1] && isLast(out)
	return 0, channelsLast(out) || single || fewElements(c)
}

// A product whose columns are the windows would compute whole tiles for the few windows at the end of a network. Turned, its columns
// are the channels, of which there are many: the image and the result are small enough to be copied. The sums are the same for
// kernels of one element only.

// mostFewWindows is the number of windows up to which that pays.
const mostFewWindows = 64

// fewElements reports whether a contiguous result has so few windows that the turned product has less to compute.
func fewElements(c *device.Call) bool {
	weight, out := &c.In[right], &c.Out[0]
	channels := out.Dims[1]
	if !out.IsContiguous() || weight.Numel() != weight.Dims[0]*weight.Dims[1] || channels < int64(vec.FewRows[float32]()) {
		return false
	}
	windows := out.Numel() / channels
	rows, cols := vec.MatMulTile[float32]()
	straight := roundTo(channels, int64(rows)) * roundTo(windows, int64(cols))
	turned := roundTo(windows, int64(rows)) * roundTo(channels, int64(cols))
	return windows > 0 && windows <= mostFewWindows && turned < straight
}

// channelsLast reports whether images of several channels and elements lie one behind the other with their channels last.
func channelsLast(o *device.Operand) bool {
	return o.Dims[1] > 1 && o.Numel() > o.Dims[0]*o.Dims[1] && isLast(o)
}

// Devices see all images in the frame of a call, channels at axis 1: what tells where they lie in memory is the strides alone.

// isLast reports whether the layout of an operand is lastLayout, but for axes of one element, whose strides are never used.
func isLast(o *device.Operand) bool {
	want := lastLayout(o.Shape)
	for i, d := range o.Shape.Slice() {
		if d > 1 && o.Strides[i] != want.Strides[i] {
			return false
		}
	}
	return true
}

// lastLayout is the layout of images whose elements lie one behind the other with their channels last.
func lastLayout(s shape.Shape) shape.Layout {
	l := shape.Layout{Shape: s}
	step := s.Dims[1]
	l.Strides[1] = 1
	for axis := s.Rank - 1; axis >= 2; axis-- {
		l.Strides[axis] = step
		step *= s.Dims[axis]
	}
	l.Strides[0] = step
	return l
}

// lastAxes is an image with its channels as the last axis: a copy goes over the elements in the order of the axes.
func lastAxes(o device.Operand) device.Operand {
	turned := o
	last := o.Rank - 1
	copy(turned.Dims[1:last], o.Dims[2:o.Rank])
	copy(turned.Strides[1:last], o.Strides[2:o.Rank])
	turned.Dims[last], turned.Strides[last] = o.Dims[1], o.Strides[1]
	return turned
}
