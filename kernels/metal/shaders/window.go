package shaders

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// Convolutions and pools share this file: how the windows of a call are read and handed to kernels, and how much a dispatch
// does. The kernels number everything with 32 bits and walk by the strides of the operands, so that views and images with
// their channels last are read where they are; numbers too large for that are left to the CPU. A thread computes an element
// of the result from all that goes into it, and no two write to one place: no kernel here needs atomics but for faults, and
// sums are the same each time.

// windowing is how the windows of a call lie on images, as window.metal numbers axes: three, of which those in front have
// one element where the images have fewer.
type windowing struct {
	op.Windows
	size, count [op.MaxSpatial]int64 // of the images that windows lie on, and of the windows
}

// windowsOf reads the windows of a call, given the operand with the images that they lie on and the one with an element for
// each window. ok is false where numbers are too large for the 32 bits of the kernels.
func windowsOf(c *device.Call, images, windows *device.Operand) (w windowing, ok bool) {
	axes := images.Rank - 2
	if axes < 1 || axes > op.MaxSpatial {
		return w, false
	}
	// Inference has checked the attributes, so that there is no error; a call that has one is left to the CPU, which names it.
	var err error
	if w.Windows, err = op.WindowsOf(op.ByID(c.Op), c.Attrs, axes); err != nil {
		return w, false
	}
	w.size, w.count = spatialOf(images.Dims[2:images.Rank], 1), spatialOf(windows.Dims[2:windows.Rank], 1)
	for _, list := range []*[op.MaxSpatial]int64{&w.Kernel, &w.Stride, &w.Dilation} {
		*list = spatialOf(list[:axes], 1)
	}
	for _, list := range []*[op.MaxSpatial]int64{&w.Before, &w.Behind} {
		*list = spatialOf(list[:axes], 0)
	}
	return w, true
}

// fits reports whether all places on an axis, and all products that find them, are less than 2**31. It is asked when the
// size of the kernel is known, which is not an attribute of all operators.
func (w *windowing) fits() bool {
	for axis := range w.size {
		size, count := w.size[axis], w.count[axis]
		reach := size + w.Before[axis] + w.Behind[axis] + w.Dilation[axis]*w.Kernel[axis] + w.Stride[axis]
		if w.Adaptive {
			reach = (count + 1) * (size + 1)
		}
		if reach > math.MaxInt32 {
			return false
		}
	}
	// Elements of a plane are numbered too, and an index may be an int32.
	return volumeOf(&w.size) <= math.MaxInt32 && volumeOf(&w.count) <= math.MaxInt32
}

// apart is apart of images, of which threads read elements that are a window's stride from each other.
func (w *windowing) apart(o *device.Operand) int64 {
	return min(msl.LineSize, apart(o)*max(1, w.Stride[op.MaxSpatial-1]))
}

// spatialOf moves the numbers of spatial axes to the last of three.
func spatialOf(v []int64, rest int64) (all [op.MaxSpatial]int64) {
	for i := range all {
		all[i] = rest
	}
	copy(all[op.MaxSpatial-len(v):], v)
	return all
}

// volumeOf is the number of elements of a plane or a kernel.
func volumeOf(dims *[op.MaxSpatial]int64) int64 { return dims[0] * dims[1] * dims[2] }

// A thread that sums so many terms one after the other takes as long as a dispatch may: each waits some 100 ns for memory
// where there is nothing else to do. Calls with longer sums are left to another way.
const mostTerms = 1 << 18

// termOperations is what a term costs, in operations of the model: two loads through the cache, the places of both, and
// the product.
const termOperations = 16

// outputOperations is what an element of the result costs besides its terms: finding its place and its windows.
const outputOperations = 128

// mostInTime is how many things a dispatch may do so that it takes no longer than the model allows, given the operations
// of each and the bytes that it moves; one more, because there may be none.
func mostInTime(operations float64, bytes int64) int64 {
	return max(min(int64(longest*m1Operations*reached/(operations+1)), mostMoved/(bytes+1)), 1)
}

// inTime dispatches groups in as many pieces as there have to be so that none takes longer than the model allows, given
// the operations of one group and the bytes that it moves, or has more threads than a grid can.
func inTime(groups, width int64, operations float64, bytes int64, dispatch func(first, groups int64) error) error {
	return inPartsOf(min(mostInTime(operations, bytes), math.MaxUint32/width), groups, dispatch)
}

// channelCounts are the numbers of a call besides its windows; what they count says each kernel: the terms of a sum, the
// channels of the result, those of a group of it, and those that an element is a sum over.
type channelCounts struct{ terms, channels, each, depth int64 }

// bindImages makes the places of operands in memory the next argument: an array of Image of window.metal.
func bindImages(d *objc.Dispatch, wide uint64, firsts []int64, operands ...*device.Operand) {
	const numbers = 3 + op.MaxSpatial
	block := d.Constant((4 + 4*int(wide)) * numbers * len(operands))[:0]
	for i, o := range operands {
		block = appendOffset(block, firsts[i], wide)
		block = appendOffset(block, o.Strides[0], wide)
		block = appendOffset(block, o.Strides[1], wide)
		for _, s := range spatialOf(o.Strides[2:o.Rank], 0) {
			block = appendOffset(block, s, wide)
		}
	}
}

// bindWindows makes a Windows of window.metal the next argument.
func bindWindows(d *objc.Dispatch, w *windowing, outputs, first int64, n channelCounts, add bool) {
	const numbers = 6 + 6*op.MaxSpatial + 3
	block := d.Constant(4 * numbers)[:0]
	// The order is that of the fields; booleans are ints there.
	put := func(values ...int64) {
		for _, v := range values {
			block = binary.LittleEndian.AppendUint32(block, uint32(v))
		}
	}
	put(outputs, first, n.terms, n.channels, n.each, n.depth)
	put(w.size[:]...)
	put(w.count[:]...)
	put(w.Kernel[:]...)
	put(w.Stride[:]...)
	put(w.Dilation[:]...)
	put(w.Before[:]...)
	for _, b := range [...]bool{w.Adaptive, w.Exclusive, add} {
		put(map[bool]int64{true: 1}[b])
	}
}

// bindAll binds the memory of operands in their order. One without elements has none, and is not touched: it gets that of
// the first.
func bindAll(d *objc.Dispatch, firsts []int64, operands ...*device.Operand) error {
	whole, ok := gpu.Locate(operands[0])
	if !ok {
		return status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	for i, o := range operands {
		var err error
		if firsts[i], err = placeOr(d, o, whole.Buffer, whole.Offset); err != nil {
			return err
		}
	}
	return nil
}

// kernelOf is the spatial size of a weight.
func kernelOf(weight *device.Operand) [op.MaxSpatial]int64 {
	return spatialOf(weight.Dims[2:min(weight.Rank, shape.MaxRank)], 1)
}
