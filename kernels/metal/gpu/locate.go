package gpu

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Span is where an operand lies: in a buffer, from an offset on that kernels may bind, with so many
// elements before the one whose indices are all zero.
type Span struct {
	Buffer mtl.Buffer
	Offset uint64
	First  int64
}

// Bindable is what offsets of bound buffers are multiples of.
const Bindable = 4

// HeapOf is the heap of this device that an operand lies in; nil for scalars and foreign memory.
func HeapOf(o *device.Operand) *Heap {
	h, _ := o.Heap.(*Heap)
	return h
}

// Locate finds an operand that lies in a heap of this device; ok is false for scalars and foreign memory.
func Locate(o *device.Operand) (s Span, ok bool) {
	h := HeapOf(o)
	if h == nil {
		return s, false
	}
	low, _, _ := o.Extent()
	size := o.DType.Size()
	at := int64(h.offset(o.Addr)) + low*size
	offset := at &^ (Bindable - 1)
	return Span{h.whole, uint64(offset), (at-offset)/size - low}, true
}

// Line is the bytes that memory is read by; buffers begin at a multiple of it.
const Line = 128

// LocateLine is Locate with an offset that is a multiple of the 128 bytes of a line, so that a shader knows from the
// number of an element in which line it is.
func LocateLine(o *device.Operand) (s Span, ok bool) {
	s, ok = Locate(o)
	s.First += int64(s.Offset%Line) / o.DType.Size()
	s.Offset -= s.Offset % Line
	return s, ok
}

// Where is the element of an operand with all indices zero, in the buffer over its heap; ok is false for
// memory of another device.
func Where(o *device.Operand) (b mtl.Buffer, offset uint64, ok bool) {
	h := HeapOf(o)
	if h == nil {
		return 0, 0, false
	}
	return h.whole, h.offset(o.Addr), true
}

// Scratch is the workspace of a call: its heap, and how many bytes from the start of that; ok is false where
// the call has none.
func Scratch(c *device.Call) (h *Heap, offset uint64, ok bool) {
	if h, ok = c.Scratch.(*Heap); !ok {
		return nil, 0, false
	}
	return h, h.offset(c.Workspace), true
}

// offset is where an address lies in the heap.
// SAFETY: only a difference of addresses; nothing is read.
func (h *Heap) offset(at unsafe.Pointer) uint64 { return uint64(uintptr(at) - uintptr(h.base)) }

// At is the address of a byte of the heap.
// SAFETY: the caller keeps the offset within what it may use of the heap.
func (h *Heap) At(offset uint64) unsafe.Pointer { return unsafe.Add(h.base, offset) }

// Whole is the buffer over all of the heap.
func (h *Heap) Whole() mtl.Buffer { return h.whole }
