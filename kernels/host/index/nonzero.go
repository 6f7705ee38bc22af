package index

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// nonzero lists the indices of the elements that are not zero: row i of the output is the index of
// the i-th of them, and the call's Count their number. Elements are compared as bits of type T;
// mask leaves out the sign of a float, which zero may have.
type nonzero[T uint8 | uint16 | uint32 | uint64] struct{ mask T }

// The sign of a float is masked out: -0.0 is zero. Any nan is not zero.
func init() {
	for _, d := range dtype.All.Members() {
		sign := uint64(0)
		if d.IsFloat() {
			sign = 1 << (8*d.Size() - 1)
		}
		switch d.Size() {
		case 1:
			engine.Register(op.IDNonzero, d, &nonzero[uint8]{^uint8(sign)})
		case 2:
			engine.Register(op.IDNonzero, d, &nonzero[uint16]{^uint16(sign)})
		case 4:
			engine.Register(op.IDNonzero, d, &nonzero[uint32]{^uint32(sign)})
		case 8:
			engine.Register(op.IDNonzero, d, &nonzero[uint64]{^sign})
		}
	}
}

// Cost counts the input: the output is as long as it may become.
func (k *nonzero[T]) Cost(c *device.Call) int64    { return 4 * c.In[0].Numel() }
func (k *nonzero[T]) Workspace(*device.Call) int64 { return 0 }

// Run is not split: each row is written where the rows before it end. It reads each element once, because
// another thread of the program may change it, and stops where the output ends: the caller may have counted before such a change.
func (k *nonzero[T]) Run(_ *engine.Threads, c *device.Call) error {
	x := &c.In[0]
	c.Count = 0
	n := x.Numel()
	f := engine.NewFrame()
	defer f.Free()
	var raw engine.Codec[T]
	var from engine.Lane[T]
	from.Open(x, &raw, f, 0)
	out, rows := &c.Out[0], c.Out[0].Dims[0]
	if x.Rank == 1 && out.IsContiguous() {
		c.Count = k.line(engine.RowAt[int64](out, 0, rows), n, &from)
		return nil
	}
	for at := int64(0); at < n; at += engine.Block {
		for i, v := range from.Next(min(engine.Block, n-at)) {
			if v&k.mask != 0 && c.Count < rows {
				writeIndex(&c.Out[0], c.Count, &x.Shape, at+int64(i))
				c.Count++
			}
		}
	}
	return nil
}

// line lists the indices of a line of n elements, and answers how many there are. Each index is written, where the next that counts
// takes its place, so that there is no branch to mispredict; the one that ends the loop is met once.
func (k *nonzero[T]) line(to []int64, n int64, from *engine.Lane[T]) (count int64) {
	for at := int64(0); at < n; at += engine.Block {
		for i, v := range from.Next(min(engine.Block, n-at)) {
			if count == int64(len(to)) {
				return count
			}
			to[count] = at + int64(i)
			count += int64(engine.Bit(v&k.mask != 0))
		}
	}
	return count
}

// writeIndex writes the index of the element with a row-major number to a row of out.
// SAFETY: row is one of out, which has a column for every axis.
func writeIndex(out *device.Operand, row int64, s *shape.Shape, number int64) {
	const size = int64(unsafe.Sizeof(number))
	for axis := s.Rank - 1; axis >= 0; axis-- {
		at := row*out.Strides[0] + int64(axis)*out.Strides[1]
		*(*int64)(unsafe.Add(out.Addr, at*size)) = number % s.Dims[axis]
		number /= s.Dims[axis]
	}
}
