package metal

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// resource is what all memory is: visible to the CPU, and tracked, so that Metal keeps those who write
// from those who read in other passes and command buffers.
const resource = mtl.ResourceStorageModeShared | mtl.ResourceHazardTrackingModeTracked

// heap is a placement heap with one buffer over all of it. Shader kernels bind that buffer with an
// offset; MPSGraph, which knows no offsets, gets buffers of its own over parts (see window). Over memory of
// somebody else there is only the buffer (see Adopt).
type heap struct {
	memory mtl.Heap // nil over memory of somebody else
	whole  mtl.Buffer
	base   unsafe.Pointer
	size   int64
	device *Device

	mu      sync.Mutex
	windows map[[2]uint64]mtl.Buffer // by offset and length
}

// NewHeap takes memory from the system.
func (d *Device) NewHeap(size int64) (device.Heap, error) {
	defer objc.Pool().Close()
	if most := d.gpu.MaxBufferLength(); uint64(size) > most {
		return nil, status.Errorf(status.OutOfMemory, "[heap] got %d bytes; the GPU takes at most %d at once", size, most)
	}
	h := &heap{device: d, size: size, windows: map[[2]uint64]mtl.Buffer{}}
	need := d.gpu.HeapBufferSizeAndAlign(uint64(size), resource)
	if h.memory = d.placement(max(need.Size, uint64(size))); h.memory != 0 {
		h.whole = h.memory.NewBuffer(uint64(size), resource, 0)
	}
	at := h.whole.Contents()
	if at == 0 {
		h.release()
		return nil, status.Errorf(status.OutOfMemory, "[heap] the GPU has no %d bytes", size)
	}
	// SAFETY: the memory belongs to the heap until Close; it is no Go memory.
	h.base = *(*unsafe.Pointer)(unsafe.Pointer(&at))
	return h, nil
}

// placement makes a heap in which the caller says where what lies; nil where there is no memory.
func (d *Device) placement(size uint64) mtl.Heap {
	h := mtl.NewHeapDescriptor()
	defer objc.Release(h)
	h.SetType(mtl.HeapTypePlacement)
	h.SetSize(size)
	h.SetStorageMode(mtl.StorageModeShared)
	h.SetHazardTrackingMode(mtl.HazardTrackingModeTracked)
	return d.gpu.NewHeap(h)
}

// Bytes is the memory.
// SAFETY: it is valid until Close, which comes after the last use.
func (h *heap) Bytes() []byte { return unsafe.Slice((*byte)(h.base), h.size) }

// Close returns the memory.
func (h *heap) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
	return nil
}

func (h *heap) release() {
	for _, b := range h.windows {
		objc.Release(b)
	}
	h.windows = nil
	objc.Release(h.whole)
	objc.Release(h.memory)
	h.whole, h.memory = 0, 0
}

// mostWindows bounds what a heap keeps of them.
const mostWindows = 1024

// align asks the GPU how buffers in a heap have to lie, for lengths up to each power of two.
func (d *Device) align() {
	most := d.gpu.MaxBufferLength()
	for i := range d.alignments {
		d.alignments[i] = granule
		if length := uint64(1) << i; length <= most {
			d.alignments[i] = max(granule, d.gpu.HeapBufferSizeAndAlign(length, resource).Align)
		}
	}
}

// alignment is what the offset of a buffer of that length has to be a multiple of: a granule at least.
func (d *Device) alignment(length uint64) uint64 { return d.alignments[bits.Len64(length-1)] }

// takes reports whether there can be a window at an offset.
func (h *heap) takes(offset, length uint64) bool {
	length = roundUp(length, granule)
	if h.memory == 0 {
		return length > 0 && length <= uint64(h.size) && offset == 0
	}
	return length > 0 && offset+length <= uint64(h.size) && offset%h.device.alignment(length) == 0
}

// window is a buffer over a part of the heap, +1, which the heap keeps for the next call with the same part.
// A window only names memory, so what lies there may come and go under it. The caller holds a pool; nil
// where the offset does not suit Metal.
func (h *heap) window(offset, length uint64) mtl.Buffer {
	if !h.takes(offset, length) {
		return 0
	}
	if h.memory == 0 {
		return objc.Retain(h.whole)
	}
	length = roundUp(length, granule)
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]uint64{offset, length}
	if b := h.windows[key]; b != 0 {
		return objc.Retain(b)
	}
	if len(h.windows) == mostWindows {
		h.forget()
	}
	b := h.memory.NewBuffer(length, resource, offset)
	if b != 0 {
		h.windows[key] = b
	}
	return objc.Retain(b)
}

// forget drops a window, any one: command buffers keep those that they use.
func (h *heap) forget() {
	for key, b := range h.windows {
		objc.Release(b)
		delete(h.windows, key)
		return
	}
}

// span is where an operand lies: in a buffer, from an offset on that kernels may bind, with so many
// elements before the one whose indices are all zero.
type span struct {
	buffer mtl.Buffer
	offset uint64
	first  int64
}

// bindable is what offsets of bound buffers are multiples of.
const bindable = 4

// locate finds an operand that lies in a heap of this device; ok is false for scalars and foreign memory.
func locate(o *device.Operand) (s span, ok bool) {
	h, ok := o.Heap.(*heap)
	if !ok {
		return s, false
	}
	low, _, _ := o.Extent()
	size := o.DType.Size()
	// SAFETY: only a difference of addresses within the heap.
	at := int64(uintptr(o.Addr)-uintptr(h.base)) + low*size
	offset := at &^ (bindable - 1)
	return span{h.whole, uint64(offset), (at-offset)/size - low}, true
}
