package gpu

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Resource is what all memory is: visible to the CPU, and not hazard tracked. Metal would track a heap as one resource,
// over all queues, in the order in which command buffers arrive: streams that share a heap would wait for each other,
// even for ever. Streams order their own work instead (package metal), and the runtime that of different streams.
const Resource = mtl.ResourceStorageModeShared | mtl.ResourceHazardTrackingModeUntracked

// Heap is a placement heap with one buffer over all of it. Shader kernels bind that buffer with an
// offset; MPSGraph, which knows no offsets, gets buffers of its own over parts (see Window). Over memory of
// another owner there is only the buffer (see Adopt).
type Heap struct {
	memory mtl.Heap // nil over memory of another owner
	whole  mtl.Buffer
	base   unsafe.Pointer
	size   int64
	room   uint64 // of memory: at least size
	device *Device

	mu      sync.Mutex
	windows map[[2]uint64]mtl.Buffer // by offset and length
}

// NewHeap takes memory from the system.
func (d *Device) NewHeap(size int64) (device.Heap, error) {
	defer objc.Pool().Close()
	if most := d.Metal.MaxBufferLength(); uint64(size) > most {
		return nil, status.Errorf(status.OutOfMemory, "[heap] got %d bytes; the GPU takes at most %d at once", size, most)
	}
	h := &Heap{device: d, size: size, windows: map[[2]uint64]mtl.Buffer{}}
	h.room = d.Need(uint64(size)).Size
	if h.memory = d.placement(h.room); h.memory != 0 {
		h.whole = h.memory.NewBuffer(uint64(size), Resource, 0)
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

// placement makes a heap in which the caller chooses the places; nil where there is no memory.
func (d *Device) placement(size uint64) mtl.Heap {
	h := mtl.NewHeapDescriptor()
	defer objc.Release(h)
	h.SetType(mtl.HeapTypePlacement)
	h.SetSize(size)
	h.SetStorageMode(mtl.StorageModeShared)
	h.SetHazardTrackingMode(mtl.HazardTrackingModeUntracked)
	return d.Metal.NewHeap(h)
}

// Bytes is the memory.
// SAFETY: it is valid until Close, which comes after the last use.
func (h *Heap) Bytes() []byte { return unsafe.Slice((*byte)(h.base), h.size) }

// Close returns the memory.
func (h *Heap) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
	return nil
}

// release drops all buffers; the memory goes with the last of them.
func (h *Heap) release() {
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

// Takes reports whether there can be a window at an offset, as Metal checks it: a buffer may take more of a heap than
// its length.
func (h *Heap) Takes(offset, length uint64) bool {
	length = RoundUp(length, Granule)
	switch {
	case length == 0 || offset+length > uint64(h.size):
		return false
	case h.memory == 0:
		return offset == 0
	}
	need := h.device.Need(length)
	return offset+need.Size <= h.room && offset%need.Align == 0
}

// Window is a buffer over a part of the heap, +1, which the heap keeps for the next call with the same part.
// A window only names memory, so what lies there may come and go under it. The caller holds a pool; nil
// where the offset does not suit Metal.
func (h *Heap) Window(offset, length uint64) mtl.Buffer {
	if !h.Takes(offset, length) {
		return 0
	}
	if h.memory == 0 {
		return objc.Retain(h.whole)
	}
	length = RoundUp(length, Granule)
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]uint64{offset, length}
	if b := h.windows[key]; b != 0 {
		return objc.Retain(b)
	}
	if len(h.windows) == mostWindows {
		h.forget()
	}
	b := h.memory.NewBuffer(length, Resource, offset)
	if b != 0 {
		h.windows[key] = b
	}
	return objc.Retain(b)
}

// forget drops an arbitrary window; command buffers keep those that they use.
func (h *Heap) forget() {
	for key, b := range h.windows {
		objc.Release(b)
		delete(h.windows, key)
		return
	}
}
