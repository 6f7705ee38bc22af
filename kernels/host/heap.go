//go:build unix

package host

import (
	"os"
	"syscall"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// hugeHeap is the size from which a heap asks for huge pages: below it they would mostly waste.
const hugeHeap = 8 << 20

// heap is anonymous memory of the operating system, outside the Go heap: zeroed, page-aligned,
// and untouched by the allocator.
type heap struct {
	mem  []byte // as mapped
	size int64
}

// NewHeap maps size bytes. Mapping reserves addresses: the system finds memory for a page when it is first
// written, so a heap that is too large may be refused only then.
func (d *Device) NewHeap(size int64) (device.Heap, error) {
	if size <= 0 {
		return nil, status.Errorf(status.Invalid, "[heap] size is %d; want more than 0", size)
	}
	page := int64(os.Getpagesize())
	length := (size + page - 1) / page * page
	if length < size || int64(int(length)) != length {
		return nil, refused(size, syscall.ENOMEM)
	}
	mem, err := syscall.Mmap(-1, 0, int(length), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, refused(size, err)
	}
	if size >= hugeHeap {
		adviseHuge(mem)
	}
	return &heap{mem, size}, nil
}

// refused is the error for memory that the system did not give.
func refused(size int64, why error) error {
	return status.Errorf(status.OutOfMemory, "[heap] the system refused %d bytes: %v", size, why)
}

// Bytes is the memory, valid until Close.
func (h *heap) Bytes() []byte { return h.mem[:h.size] }

// Close unmaps the memory; later access to it faults.
func (h *heap) Close() error {
	if h.mem == nil {
		return nil
	}
	mem := h.mem
	h.mem, h.size = nil, 0
	return syscall.Munmap(mem)
}

// adopted is a heap over memory that belongs to the caller of Adopt.
type adopted struct{ mem []byte }

// Adopt makes a heap over memory of the caller, who keeps it until the heap is closed. Any alignment will
// do.
func (d *Device) Adopt(memory []byte) (device.Heap, error) { return &adopted{memory}, nil }

// Bytes is the memory, valid until Close.
func (h *adopted) Bytes() []byte { return h.mem }

// Close forgets the memory; its owner frees it.
func (h *adopted) Close() error {
	h.mem = nil
	return nil
}
