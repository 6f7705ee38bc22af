package metal

import (
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// transfers are the shaders that carry elements between layouts and dtypes for MPSGraph.
type transfers [dtype.Last + 1][dtype.Last + 1]atomic.Pointer[elementwise]

var castID = op.MustByName("cast").ID

// transfer copies the elements of from to to, which has the same dimensions, on the GPU.
func (d *Device) transfer(b *batch, to, from *device.Operand) error {
	slot := &d.transfers[from.DType][to.DType]
	c := &device.Call{Op: castID, In: []device.Operand{*from}, Out: []device.Operand{*to}}
	if slot.Load() == nil {
		k, err := makeElementwise(d, c)
		if err != nil {
			return err
		}
		slot.CompareAndSwap(nil, k.(*elementwise)) // a kernel that has compiled nothing needs no close
	}
	return slot.Load().encode(b, c)
}

// close gives the shaders back.
func (t *transfers) close() {
	for from := range t {
		for to := range t[from] {
			if k := t[from][to].Load(); k != nil {
				k.close()
			}
		}
	}
}

// scalar is a buffer with a number for the call that is being encoded. It stays with the batch, and is
// used again when the GPU has ended what is in it. The caller holds a pool.
func (b *batch) scalar(value [8]byte) (mtl.Buffer, error) {
	if b.numbers == len(b.scalars) {
		buffer := b.stream.device.gpu.NewBuffer(granule, resource)
		if buffer == 0 {
			return 0, status.Errorf(status.OutOfMemory, "the GPU has no memory for a number")
		}
		b.scalars = append(b.scalars, buffer)
	}
	buffer := b.scalars[b.numbers]
	b.numbers++
	at := buffer.Contents()
	// SAFETY: the memory belongs to the buffer, which lives as long as the batch, and nobody reads it: the
	// GPU has ended what was in the batch before.
	**(**[8]byte)(unsafe.Pointer(&at)) = value
	return buffer, nil
}
