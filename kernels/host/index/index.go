// Package index holds the kernels that read or write at places that other operands name: gather and scatter, nonzero, and the
// suppression of overlapping boxes.
package index

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// indexing reads (index) or writes (index_put) the slices of a tensor that index tensors name:
//
//	index:     out[b..., r...] = x[i0[b], i1[b], ..., r...]
//	index_put: x[i0[b], i1[b], ..., r...] = value[b..., r...]
//
// index_reduce is index_put that joins each value with what is there; see folds.
//
// The tensor that is indexed is In[0] of the one and Out[0] of the other; the other tensor, here
// called list, holds the slices one behind the other. All indices are checked before anything is written,
// and each again when it is used: another thread of the program may have changed it since.
type indexing struct {
	write bool
	fold  bool // index_reduce: a write that keeps what is there as its first operand
}

// Elements are moved as bytes, so one kernel serves all dtypes.
func init() {
	engine.RegisterSet(op.IDIndex, dtype.Movable, indexing{write: false})
	engine.RegisterSet(op.IDIndexPut, dtype.Movable, indexing{write: true})
	engine.RegisterSet(op.IDIndexReduce, dtype.All, indexing{write: true, fold: true})
}

// operands tells the tensor that is indexed from the list.
func (k indexing) operands(c *device.Call) (indexed, list *device.Operand) {
	if k.write {
		return &c.Out[0], &c.In[0]
	}
	return &c.In[0], &c.Out[0]
}

// Cost takes an element that has to be found for four additions.
func (k indexing) Cost(c *device.Call) int64 {
	_, list := k.operands(c)
	return 4 * list.Numel()
}

func (indexing) Workspace(*device.Call) int64 { return 0 }

// Run checks all indices, and then moves the slices. Reading is split over the threads; writing is not.
func (k indexing) Run(t *engine.Threads, c *device.Call) error {
	indices := c.In[1:]
	slices := indices[0].Numel()
	if slices == 0 {
		return nil
	}
	if err := k.check(c, indices); err != nil {
		return err
	}
	_, list := k.operands(c)
	if list.Numel() == 0 {
		return nil
	}
	if k.write {
		return k.Part(c, 0, slices) // of equal indices the last wins: in order
	}
	return t.Each(k, c, slices, k.Cost(c))
}

// check refuses an index that is out of range.
func (k indexing) check(c *device.Call, indices []device.Operand) error {
	indexed, _ := k.operands(c)
	f := engine.NewFrame()
	defer f.Free()
	for axis := range indices {
		size, n := indexed.Dims[axis], indices[axis].Numel()
		f.Used = 0
		var from engine.Lane[int64]
		from.Open(&indices[axis], &longs, f, 0)
		for n > 0 {
			m := min(engine.Block, n)
			for _, i := range from.Next(m) {
				if i < -size || i >= size {
					return outOfRange(c, i, axis, size)
				}
			}
			n -= m
		}
	}
	return nil
}

// outOfRange is the error for an index; the message says what is allowed.
func outOfRange(c *device.Call, i int64, axis int, size int64) error {
	return status.Errorf(status.Index, "[%s] index %d is out of range for axis %d of %d elements; want %d to %d", op.ByID(c.Op).Name, i, axis, size, -size, size-1)
}

// longs reads and writes int64 as they are.
var longs engine.Codec[int64]

// Part moves slices lo to hi-1.
// SAFETY: the value of an index that is checked here is the one that is used, so each slice lies in the operand.
func (k indexing) Part(c *device.Call, lo, hi int64) error {
	if scalars := k.scalars(c); scalars != nil {
		return scalars(k, c, lo, hi)
	}
	indexed, list := k.operands(c)
	indices := c.In[1:]
	width := indexed.DType.Size()
	var at [shape.MaxRank]engine.Walk
	for axis := range indices {
		at[axis].Start(&indices[axis])
		at[axis].SeekTo(lo)
	}
	b := indices[0].Rank
	slots, line := split(list, b)
	_, slice := split(indexed, len(indices))
	var slot, from, to engine.Walk
	slot.Begin(list.Addr, width, &slots)
	slot.SeekTo(lo)
	from.Begin(nil, width, &slice)
	to.Begin(nil, width, &line)
	if k.write {
		from, to = to, from
	}
	n, row := slice.Numel(), k.folder(c)
	for ; lo < hi; lo++ {
		offset := int64(0)
		for axis := range indices {
			i, size := *(*int64)(at[axis].Here()), indexed.Dims[axis]
			at[axis].Skip(1)
			if i < -size || i >= size {
				return outOfRange(c, i, axis, size)
			}
			if i < 0 {
				i += size
			}
			offset += i * indexed.Strides[axis]
		}
		from.Base, to.Base = unsafe.Add(indexed.Addr, offset*width), slot.Here()
		if k.write {
			from.Base, to.Base = to.Base, from.Base
		}
		if n == 1 { // as in all that indexes every axis: the walks would cost more than the element
			row(to.Base, from.Base, 0, 0, 1)
		} else {
			row.each(&to, &from, n)
		}
		slot.Skip(1)
	}
	return nil
}

// scalars is the function for slices of one element each, if there is one for the call, else nil: the walks would cost more
// than the elements. The list is contiguous or, in a write, one element for all; see also scalarFolds.
func (k indexing) scalars(c *device.Call) func(k indexing, c *device.Call, lo, hi int64) error {
	indexed, list := k.operands(c)
	indices := c.In[1:]
	if len(indices) != indexed.Rank || !list.IsContiguous() && (!k.write || !engine.IsScalar(list)) {
		return nil
	}
	if k.fold {
		if len(indices) != 1 || !indices[0].IsContiguous() || !list.IsContiguous() {
			if elementFolds[indexed.DType] == nil {
				return nil
			}
			return indexing.elements
		}
		return scalarFolds[indexed.DType]
	}
	if moveElements[indexed.DType.Size()] == nil {
		return nil
	}
	return indexing.elements
}

// elements moves slices lo to hi-1. Where the indices of all axes but the last lead to is computed for a block at a time, so that
// nothing but a load depends on an index, and the processor has several under way.
// SAFETY: an element of the list is within it; see part for the others.
func (k indexing) elements(c *device.Call, lo, hi int64) error {
	indexed, list := k.operands(c)
	indices, width := c.In[1:], indexed.DType.Size()
	f := engine.NewFrame()
	defer f.Free()
	var from [shape.MaxRank]engine.Track
	for axis := range indices {
		from[axis].Open(&indices[axis], &longs.Coding, f, lo)
	}
	m := movement{base: indexed.Addr, step: width, write: k.write}
	last := moveElements[width]
	if k.fold {
		last, m.how = elementFolds[indexed.DType], foldOfCall(c)
	}
	if k.write && engine.IsScalar(list) {
		m.step = 0
	}
	places := engine.Slice[int64](f.Room(), engine.Block)
	for ; lo < hi; lo += engine.Block {
		m.places, m.list = places[:min(engine.Block, hi-lo)], unsafe.Add(list.Addr, lo*m.step)
		clear(m.places)
		for axis := range indices {
			move := addPlaces
			if axis == len(indices)-1 {
				move = last
			}
			m.size, m.stride = indexed.Dims[axis], indexed.Strides[axis]*width
			row := engine.Slice[int64](from[axis].Next(int64(len(m.places))), int64(len(m.places)))
			if i := move(&m, row); i < len(row) {
				return outOfRange(c, row[i], axis, m.size)
			}
		}
	}
	return nil
}

// movement is the way of a block of elements between a list and an operand.
type movement struct {
	base, list   unsafe.Pointer
	places       []int64 // bytes from base to the elements that the axes so far lead to
	step         int64   // bytes from an element of the list to the next
	size, stride int64   // of the next axis, in elements and in bytes
	write        bool    // from the list
	how          fold    // of elementFolds
}

// addPlaces adds to places where the indices along an axis lead, and returns the number of the first one that is out of range, or
// how many there are.
func addPlaces(m *movement, indices []int64) int {
	for j, i := range indices {
		if i < 0 {
			i += m.size
		}
		if uint64(i) >= uint64(m.size) {
			return j
		}
		m.places[j] += i * m.stride
	}
	return len(indices)
}

// moveElements moves the elements of a size that the indices along the last axis lead to; its result is that of addPlaces.
var moveElements = [17]func(m *movement, indices []int64) int{
	1: movePlaces[uint8], 2: movePlaces[uint16], 4: movePlaces[uint32], 8: movePlaces[uint64],
}

// movePlaces moves elements as bits.
// SAFETY: as in part.
func movePlaces[T uint8 | uint16 | uint32 | uint64](m *movement, indices []int64) int {
	base, list, size, stride, step, write := m.base, m.list, m.size, m.stride, m.step, m.write
	places := m.places[:len(indices)]
	for j, i := range indices {
		if i < 0 {
			i += size
		}
		if uint64(i) >= uint64(size) {
			return j
		}
		at, item := (*T)(unsafe.Add(base, places[j]+i*stride)), (*T)(unsafe.Add(list, int64(j)*step))
		if write {
			*at = *item
		} else {
			*item = *at
		}
	}
	return len(indices)
}

// split cuts the layout of an operand before an axis.
func split(o *device.Operand, axis int) (outer, inner shape.Layout) {
	for i := range o.Rank {
		part := &inner
		if i < axis {
			part = &outer
		}
		part.Append(o.Dims[i])
		part.Strides[part.Rank-1] = o.Strides[i]
	}
	return outer, inner
}
