package shaders

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// mostElements bounds what a shader numbers with 32 bits. A quotient and a remainder of numbers close to 2**32 are wrong
// on some GPU (https://github.com/HigherOrderCO/Bend/issues/824), and places are found by division.
const mostElements = 1<<32 - 128

// walked is the class of calls of a kernel that walks all operands by their strides: 1 where the offsets of some
// need 64 bits, which cost registers, and else 0. ok is false for operands that the GPU cannot reach, and where 32
// bits are too few to number the elements, because a grid has no more threads. Operands without elements, and those
// that are left out, are not looked at: they have no memory.
func walked(_ *gpu.Device, c *device.Call) (class uint64, ok bool) {
	for _, list := range [2][]device.Operand{c.Out, c.In} {
		for i := range list {
			o := &list[i]
			n := o.Numel()
			if n == 0 || o.Absent() {
				continue
			}
			if gpu.HeapOf(o) == nil || n > mostElements {
				return 0, false
			}
			if isWide(&o.Layout) {
				class = 1
			}
		}
	}
	return class, true
}

// place binds the memory of an operand and answers the number of elements before the one whose indices are all zero;
// shaders begin there.
func place(d *objc.Dispatch, o *device.Operand) (first int64, err error) {
	s, ok := gpu.Locate(o)
	if !ok {
		return 0, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	d.Bind(objc.ID(s.Buffer), s.Offset)
	return s.First, nil
}

// placeLine is place for kernels that count elements from a multiple of [msl.LineSize] bytes on.
func placeLine(d *objc.Dispatch, o *device.Operand) (first int64, err error) {
	s, ok := gpu.LocateLine(o)
	if !ok {
		return 0, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	d.Bind(objc.ID(s.Buffer), s.Offset)
	return s.First, nil
}

// apart is the bytes of memory for each element of an operand that neighbours on its last axis move: a line where they do
// not share one.
func apart(o *device.Operand) int64 {
	if o.Rank == 0 {
		return msl.LineSize
	}
	return min(msl.LineSize, max(1, magnitude(o.Strides[o.Rank-1]))*o.DType.Size())
}

// mostBytes is how many bytes a dispatch may move. An M1 moves 68 GB/s, so it takes 32 ms; what takes much longer
// makes a Mac's display stand still, and macOS ends it.
const mostBytes = 2 << 30

// mostMoved is mostBytes; tests lower it.
var mostMoved int64 = mostBytes

// inPieces dispatches groups in as many pieces as there have to be so that none moves more than mostBytes, given what
// a group does, or has more threads than a grid can. dispatch gets the first group of a piece and their number.
func inPieces(groups, width, bytes int64, dispatch func(first, groups int64) error) error {
	// A group that moves more by itself is not cut here: what shares the work keeps groups below that.
	return inPartsOf(max(1, min(mostMoved/max(bytes, 1), math.MaxUint32/width)), groups, dispatch)
}

// powerOfTwo is the number of lanes that share n elements: lanes combine what they have by flipping bits of their
// numbers, so it is a power of two. It is the least power of two that is not below n, and at most a power of two.
func powerOfTwo(n, most int64) int64 {
	p := int64(1)
	for p < n && p < most {
		p *= 2
	}
	return p
}

// bindScratch binds the workspace of a call, from its first byte on.
func bindScratch(d *objc.Dispatch, c *device.Call) error {
	h, offset, ok := gpu.Scratch(c)
	if !ok {
		return status.Errorf(status.Internal, "got a workspace in memory that the GPU does not have")
	}
	d.Bind(objc.ID(h.Whole()), offset)
	return nil
}

// walkSize is that of msl's Walk: rank, dims, first, strides.
func walkSize(wide uint64) int {
	if wide == 1 {
		return 4 + 4*shape.MaxRank + 8 + 8*shape.MaxRank
	}
	return 4 + 4*shape.MaxRank + 4 + 4*shape.MaxRank
}

// bindWalk makes a Walk over a layout the next argument. Axes beyond the rank have one element, so that shaders may
// walk all of them.
func bindWalk(d *objc.Dispatch, l *shape.Layout, first int64, wide uint64) {
	block := d.Constant(walkSize(wide)) // in the dispatch itself; written below, field by field
	binary.LittleEndian.PutUint32(block, uint32(l.Rank))
	for i := range shape.MaxRank {
		dim := int64(1)
		if i < l.Rank {
			dim = l.Dims[i]
		}
		binary.LittleEndian.PutUint32(block[4+4*i:], uint32(dim))
	}
	at := appendOffset(block[:4+4*shape.MaxRank], first, wide)
	for i := range shape.MaxRank {
		stride := int64(0)
		if i < l.Rank {
			stride = l.Strides[i]
		}
		at = appendOffset(at, stride, wide)
	}
}

// appendOffset writes an offset in as many bits as a kernel reads.
func appendOffset(b []byte, v int64, wide uint64) []byte {
	if wide == 1 {
		return binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

// bindOffsets makes an array of offsets the next argument, in as many bits as the kernel's class says.
func bindOffsets(d *objc.Dispatch, wide uint64, values ...int64) {
	block := d.Constant((4 + 4*int(wide)) * len(values))[:0]
	for _, v := range values {
		block = appendOffset(block, v, wide)
	}
}

// bindCounts makes numbers of 32 bits the next argument, one or a vector of them.
func bindCounts(d *objc.Dispatch, values ...int64) {
	block := d.Constant(4 * len(values))[:0]
	for _, v := range values {
		block = binary.LittleEndian.AppendUint32(block, uint32(v))
	}
}
