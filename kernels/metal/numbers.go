package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Number is a buffer with a number for the call that is being encoded. It is the batch's until the GPU has ended what is in
// it, and then one of the stream's spare ones. The caller holds a pool.
func (b *batch) Number(value [8]byte) (mtl.Buffer, error) {
	if b.numbers == len(b.scalars) {
		buffer, ok := takeLast(&b.stream.buffers.numbers)
		if !ok {
			buffer = b.stream.device.Metal.NewBuffer(gpu.Granule, gpu.Resource)
		}
		if buffer == 0 {
			return 0, status.Errorf(status.OutOfMemory, "the GPU has no memory for a number")
		}
		b.scalars = append(b.scalars, buffer)
	}
	buffer := b.scalars[b.numbers]
	b.numbers++
	at := buffer.Contents()
	// SAFETY: the memory belongs to the buffer, which lives as long as the stream, and is not read meanwhile:
	// the GPU has ended what was in the batch before.
	**(**[8]byte)(unsafe.Pointer(&at)) = value
	return buffer, nil
}

// takeLast removes the last element of a list; false where there is none.
func takeLast[T any](list *[]T) (x T, ok bool) {
	last := len(*list) - 1
	if last < 0 {
		return x, false
	}
	x, *list = (*list)[last], (*list)[:last]
	return x, true
}
