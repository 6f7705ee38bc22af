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
// and touched by nobody but its users.
type heap struct {
	mem  []byte // as mapped
	size int64
}

// NewHeap maps size bytes.
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

func refused(size int64, why error) error {
	return status.Errorf(status.OutOfMemory, "[heap] the system refused %d bytes: %v", size, why)
}

// Bytes is the memory, valid until Close.
func (h *heap) Bytes() []byte { return h.mem[:h.size] }

// Close unmaps the memory; whoever still uses it faults.
func (h *heap) Close() error {
	if h.mem == nil {
		return nil
	}
	mem := h.mem
	h.mem, h.size = nil, 0
	return syscall.Munmap(mem)
}

// lent is memory of somebody else as a heap.
type lent struct{ mem []byte }

// Adopt makes a heap over memory of somebody else, however it lies.
func (d *Device) Adopt(memory []byte) (device.Heap, error) { return &lent{memory}, nil }

// Bytes is the memory, valid until Close.
func (h *lent) Bytes() []byte { return h.mem }

// Close forgets the memory.
func (h *lent) Close() error {
	h.mem = nil
	return nil
}
