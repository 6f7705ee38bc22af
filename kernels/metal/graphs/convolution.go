package graphs

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Convolutions are MPSGraph's, in float32 whatever the dtype. Images of one spatial axis get another one; those of three
// are left to the shader, because MPSGraph has such convolutions from macOS 13.2 on and computes some of them wrongly on
// an M1.
func init() {
	for id, f := range map[op.ID]lowering{op.IDConv: convolved, op.IDConvTranspose: convolvedBack, op.IDConvWeight: convolvedWeight} {
		graphVariant{lowering: f, accepts: isPlanar}.register(id, graphFloats)
	}
}

// isPlanar accepts images of one or two axes, with elements in all operands.
func isPlanar(c *device.Call) bool {
	for i := range len(c.In) + 1 {
		if gpu.Operand(c, i).Numel() == 0 {
			return false
		}
	}
	return c.In[0].Rank <= 4
}

// mostSide is the extent from which on MPSGraph's convolutions have been wrong without a word.
// https://github.com/pytorch/pytorch/pull/129484
const mostSide = 1 << 16

// side is a tensor of a convolution with four axes: one of three gets rows of one element.
func (b *builder) side(x tensor) tensor {
	if b.err != nil {
		return x
	}
	dims := planar(x.dims)
	if slices.Max(dims) >= mostSide { // also a batch, from there on: https://github.com/pytorch/pytorch/issues/96225
		b.refuse("got %v; MPSGraph convolves fewer than %d along an axis", x.dims, mostSide)
	}
	return b.reshape(b.wide(x), dims...)
}

// planar is the dimensions of images with two spatial axes.
func planar(dims []int64) []int64 {
	if len(dims) == 4 {
		return dims
	}
	return []int64{dims[0], dims[1], 1, dims[2]}
}

// convolve has add put a convolution of x and y into the graph. weight are the dimensions of the weight, windows those of the images
// that have an element for each window, and images those of what the windows lie on: MPSGraph ends the process where they do
// not belong together.
func (b *builder) convolve(images, windows, weight []int64, x, y tensor, add func(s *script, x, y mpsgraph.Tensor, dims []int64, c *mpsgraph.Convolution2D) mpsgraph.Tensor) tensor {
	none := tensor{dtype: dtype.Float32, dims: planar(dimsOf(&b.call.Out[0].Shape))}
	if b.err != nil || !b.allows(none.dtype, none.dims) {
		return none
	}
	w, err := op.WindowsOf(op.ByID(b.call.Op), b.call.Attrs, b.call.In[0].Rank-2)
	if err != nil {
		b.err = err
		return none
	}
	c := mpsgraph.Convolution2D{Strides: [2]uint64{1, 1}, Dilations: [2]uint64{1, 1}, Groups: uint64(w.Groups)}
	for axis := range w.Axes {
		at := 2 - w.Axes + axis
		w.Kernel[axis] = weight[2+at]
		c.Strides[at], c.Dilations[at] = uint64(w.Stride[axis]), uint64(w.Dilation[axis])
		c.Before[at], c.Behind[at] = uint64(w.Before[axis]), uint64(w.Behind[axis])
		reach := max(w.Stride[axis], w.Before[axis], w.Behind[axis], w.Dilation[axis]*w.Kernel[axis])
		if size := images[2+at]; reach > mostSide || w.Count(axis, size) != windows[2+at] {
			b.refuse("got %d windows that reach over %d of %d elements; MPSGraph has others", windows[2+at], reach, size)
			return none
		}
	}
	b.check(weight[1]*w.Groups == images[1] && weight[0] == windows[1] && images[0] == windows[0],
		"convolves %v with %v to %v", images, weight, windows)
	if b.err != nil {
		return none
	}
	return b.made(add(b.graph, x.id, y.id, none.dims, &c), none.dtype, none.dims)
}

// convolved is conv.
func convolved(b *builder) tensor {
	x, weight := b.side(b.full(0)), b.side(b.full(1))
	return b.convolve(x.dims, planar(dimsOf(&b.call.Out[0].Shape)), weight.dims, x, weight, (*script).convolution)
}

// convolvedBack is conv_transpose, the gradient of a convolution with respect to its images.
func convolvedBack(b *builder) tensor {
	x, weight := b.side(b.full(0)), b.side(b.full(1))
	return b.convolve(planar(dimsOf(&b.call.Out[0].Shape)), x.dims, weight.dims, x, weight, (*script).convolutionData)
}

// convolvedWeight is conv_weight.
func convolvedWeight(b *builder) tensor {
	x, y := b.side(b.full(0)), b.side(b.full(1))
	return b.convolve(x.dims, y.dims, planar(dimsOf(&b.call.Out[0].Shape)), y, x, (*script).convolutionWeights)
}
