package conv

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/product"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Where the channels of an element are neighbours in memory, a window is a row of the left operand of a product, and the right
// operand is the weight, packed once: what a window sees at one element of the kernel is a run of channels, and so is a row of
// the result: see channelslast_lines.go.
//
// A sum is over the elements of the kernel, and for each over the channels, in this order: those of the other kernels are over
// the channels first, and have other roundings.

// newChannelsLast packs the weight as a right operand.
func newChannelsLast(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
	packed, err := packTaps(t, c)
	return &Convolution[float32]{dtype: dtype.Float32, native: true, plan: planLines, Right: packed, byRows: true}, err
}

// packTaps lays out the contiguous weight of a conv as a right operand whose rows are the taps, and for each the channels. Of kernels
// whose lines have gaps, the elements of a column come before the next one.
func packTaps(t *engine.Threads, c *device.Call) (*gemm.PackedRight, error) {
	weight := c.In[engine.Right]
	axes := weight.Rank - 2
	w, err := op.WindowsOf(op.ByID(c.Op), c.Attrs, axes)
	if err != nil {
		return nil, err
	}
	outputs, channels := weight.Dims[0], weight.Dims[1]
	taps := weight.Numel() / (outputs * channels)
	width := weight.Dims[axes+1]
	rows, columns := taps, int64(1)
	if window.Spatial(w.Dilation, w.Axes, 1)[op.MaxSpatial-1] > 1 && axes > 1 {
		rows, columns = weight.Dims[axes], width
	}
	turned := weight
	turned.Layout = shape.Layout{Shape: shape.Shape{Rank: 5, Dims: [shape.MaxRank]int64{taps / (rows * columns), columns, rows, channels, outputs}}}
	copy(turned.Strides[:], []int64{rows * columns, 1, columns, taps, taps * channels})
	return product.PackRight(t, &turned, 4)
}

// A product whose columns are the windows would compute whole tiles for the few windows at the end of a network. Turned, its columns
// are the channels, of which there are many: the image and the result are small enough to be copied. The sums are the same for
// kernels of one element only.

// Devices see all images in the frame of a call, channels at axis 1: what tells where they lie in memory is the strides alone.
