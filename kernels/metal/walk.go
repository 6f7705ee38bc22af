package metal

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// numbered reports whether 32 bits are enough to number elements; kernels have no more threads.
func numbered(os ...*device.Operand) error {
	for _, o := range os {
		if o.Numel() >= 1<<32 {
			return status.Errorf(status.Unsupported, "got %d elements; want fewer than %d", o.Numel(), int64(1)<<32)
		}
	}
	return nil
}

// wideness reports whether the offsets of some operands need 64 bits, as a number for keys.
func wideness(os ...*device.Operand) uint64 {
	for _, o := range os {
		if isWide(&o.Layout) {
			return 1
		}
	}
	return 0
}

// place binds the memory of an operand and answers the number of elements before the one whose indices are
// all zero.
func place(d *objc.Dispatch, o *device.Operand) (first int64, err error) {
	s, ok := locate(o)
	if !ok {
		return 0, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	d.Bind(objc.ID(s.buffer), s.offset)
	return s.first, nil
}

// bindScratch binds the workspace of a call.
func bindScratch(d *objc.Dispatch, c *device.Call) error {
	h, ok := c.Scratch.(*heap)
	if !ok {
		return status.Errorf(status.Internal, "got a workspace in memory that the GPU does not have")
	}
	d.Bind(objc.ID(h.whole), uint64(uintptr(c.Workspace)-uintptr(h.base)))
	return nil
}

// walkSize is that of msl's Walk: rank, dims, first, strides.
func walkSize(wide uint64) int {
	if wide == 1 {
		return 4 + 4*shape.MaxRank + 8 + 8*shape.MaxRank
	}
	return 4 + 4*shape.MaxRank + 4 + 4*shape.MaxRank
}

// bindWalk makes a Walk over a layout the next argument.
func bindWalk(d *objc.Dispatch, l *shape.Layout, first int64, wide uint64) {
	block := d.Constant(walkSize(wide))
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

// bindOffsets makes an array of offsets the next argument.
func bindOffsets(d *objc.Dispatch, wide uint64, values ...int64) {
	block := d.Constant((4 + 4*int(wide)) * len(values))[:0]
	for _, v := range values {
		block = appendOffset(block, v, wide)
	}
}

// bindCounts makes numbers of 32 bits the next argument, one or a vector.
func bindCounts(d *objc.Dispatch, values ...int64) {
	block := d.Constant(4 * len(values))[:0]
	for _, v := range values {
		block = binary.LittleEndian.AppendUint32(block, uint32(v))
	}
}

// joined is a layout without axes of one element, and with neighbours joined that one stride walks. The
// elements keep their row-major numbers.
func joined(l *shape.Layout) (out shape.Layout) {
	for i := range l.Rank {
		if l.Dims[i] == 1 {
			continue
		}
		if n := out.Rank; n > 0 && out.Strides[n-1] == l.Strides[i]*l.Dims[i] {
			out.Dims[n-1] *= l.Dims[i]
			out.Strides[n-1] = l.Strides[i]
			continue
		}
		out.Append(l.Dims[i])
		out.Strides[out.Rank-1] = l.Strides[i]
	}
	return out
}

// threadsOf is a power of two of threads that is enough for n elements, within what a group may have.
func (p *pipeline) threadsOf(n int64) uint64 {
	width := min(p.width, p.most)
	for width < groupMost && 2*width <= p.most && int64(width) < n {
		width *= 2
	}
	return width
}

// groups lays out so many threadgroups of one width.
func groups(d *objc.Dispatch, count int64, width uint64) {
	d.Threads = objc.Size{Width: uint64(count) * width, Height: 1, Depth: 1}
	d.Group = objc.Size{Width: width, Height: 1, Depth: 1}
}

// wide reports a key's lowest bit, which says whether offsets have 64 bits.
func wide(key uint64) bool { return key&1 != 0 }
