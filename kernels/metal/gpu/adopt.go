package gpu

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

var _ device.Adopter = (*Device)(nil)

// page is what the memory of Apple silicon is mapped in.
const page = 16 << 10

// Adopt makes a heap of one buffer over memory that begins with a page. Metal takes whole pages, so the
// buffer goes on to the end of the last one. What lies there, as mapped as the rest of its page, is not
// the heap's, and no kernel gets to it.
func (d *Device) Adopt(memory []byte) (device.Heap, error) {
	defer objc.Pool().Close()
	// SAFETY: the memory is not Go's and stays with its owner until Close.
	base := unsafe.Pointer(unsafe.SliceData(memory))
	at, size := objc.Pointer(base), uint64(len(memory))
	if behind := at % page; behind != 0 {
		return nil, status.Errorf(status.Unsupported, "[share] the memory begins %d bytes behind the start of a page; want it to begin with one, at a multiple of %d", behind, page)
	}
	length := RoundUp(size, page)
	if most := d.Metal.MaxBufferLength(); length > most {
		return nil, status.Errorf(status.Unsupported, "[share] got %d bytes; the GPU takes at most %d at once", size, most)
	}
	h := &Heap{device: d, size: int64(size), base: base, whole: d.Metal.NewBufferNoCopy(at, length, Resource)}
	if h.whole == 0 {
		return nil, status.Errorf(status.Unsupported, "[share] the GPU does not take %d bytes of the CPU's memory as they are; want pages that may be written, or a copy", size)
	}
	return h, nil
}
