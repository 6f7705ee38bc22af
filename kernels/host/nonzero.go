package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// nonzero lists the indices of the elements that are not zero: row i of the output is the index of
// the i-th of them, and the call's Count their number. Elements are compared as bits of type T;
// mask leaves out the sign of a float, which zero may have.
type nonzero[T uint8 | uint16 | uint32 | uint64] struct{ mask T }

func init() {
	for _, d := range dtype.All.Members() {
		sign := uint64(0)
		if d.IsFloat() {
			sign = 1 << (8*d.Size() - 1)
		}
		switch d.Size() {
		case 1:
			register("nonzero", d, &nonzero[uint8]{^uint8(sign)})
		case 2:
			register("nonzero", d, &nonzero[uint16]{^uint16(sign)})
		case 4:
			register("nonzero", d, &nonzero[uint32]{^uint32(sign)})
		case 8:
			register("nonzero", d, &nonzero[uint64]{^sign})
		}
	}
}

func (k *nonzero[T]) cost(c *device.Call) int64    { return 4 * c.In[0].Numel() }
func (k *nonzero[T]) workspace(*device.Call) int64 { return 0 }

func (k *nonzero[T]) run(_ *threads, c *device.Call) error {
	x := &c.In[0]
	c.Count = 0
	n := x.Numel()
	if n == 0 {
		return nil
	}
	f := newFrame()
	defer f.free()
	var raw codec[T]
	var from lane[T]
	from.open(x, &raw, f, 0)
	for at := int64(0); at < n; at += block {
		for i, v := range from.next(min(block, n-at)) {
			if v&k.mask != 0 {
				writeIndex(&c.Out[0], c.Count, &x.Shape, at+int64(i))
				c.Count++
			}
		}
	}
	return nil
}

// writeIndex writes the index of the element with a row-major number to a row of out.
// SAFETY: out has a row for every element of the shape, and a column for every axis.
func writeIndex(out *device.Operand, row int64, s *shape.Shape, number int64) {
	const size = int64(unsafe.Sizeof(number))
	for axis := s.Rank - 1; axis >= 0; axis-- {
		at := row*out.Strides[0] + int64(axis)*out.Strides[1]
		*(*int64)(unsafe.Add(out.Addr, at*size)) = number % s.Dims[axis]
		number /= s.Dims[axis]
	}
}
