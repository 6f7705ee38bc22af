package graphs

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// The tensor that index reads and index_put writes is places of slices: the axes that indices count along
// are one, and the rest another.

// Both move bits, so floats go as integers of their size.
func init() {
	lowerBits(op.IDIndex, func(b *builder) tensor {
		x := b.full(0)
		at, _ := b.slicePlaces(x)
		return b.gather(b.slices(x), at)
	})
	lowerBits(op.IDIndexPut, writeSlices)
}

// slices is the indexed tensor with two axes: of places, which are the indexed axes as one, and of what lies there.
func (b *builder) slices(x tensor) tensor {
	n := volume(x.dims[:min(len(b.call.In)-1, len(x.dims))])
	return b.reshape(x, n, volume(x.dims)/n)
}

// slicePlaces is which place of x each index names, and whether one is out of range, which ends the call with an
// error. Whatever an index is when the graph reads it, perhaps once more after it was checked, the place is one of x.
func (b *builder) slicePlaces(x tensor) (places, outside tensor) {
	for i := range b.call.In[1:] {
		if b.err != nil {
			return places, outside
		}
		at := b.full(i + 1)
		// A negative index counts from the end. What is out of range is read at 0, because a gather beyond the end
		// would answer zeros or worse; the call fails anyway.
		size := b.like(at, x.dims[i])
		from := b.plus(at, b.choose(b.compare(mpsgraph.LessThan, at, b.like(at, 0)), size, b.like(at, 0)))
		beyond := b.either(b.compare(mpsgraph.LessThan, from, b.like(at, 0)), b.compare(mpsgraph.GreaterThanOrEqualTo, from, size))
		from = b.cast(from, dtype.Int32)
		from = b.binary(mpsgraph.Maximum, b.binary(mpsgraph.Minimum, from, b.like(from, x.dims[i]-1)), b.like(from, 0))
		if i == 0 {
			places, outside = from, beyond
			continue
		}
		places = b.times(places, b.integer(x.dims[i], dtype.Int32))
		places = b.plus(places, from)
		outside = b.either(outside, beyond)
	}
	if b.err != nil {
		return places, outside
	}
	outside = b.anyTrue(outside)
	b.report(outside, outOfRange)
	return b.reshape(places, volume(places.dims)), b.nonZero(outside)
}

// gather is the slices of x, which has two axes, at places, in the order of places.
func (b *builder) gather(x, places tensor) tensor {
	if b.err != nil || !b.allows(x.dtype, []int64{places.dims[0], x.dims[1]}) {
		return x
	}
	return b.made(b.graph.gather(x.id, places.id, 0, 0), x.dtype, []int64{places.dims[0], x.dims[1]})
}

// writeSlices writes by reading: each place takes the last slice of those that go there, or what it has. What two
// writes to one place leave, MPSGraph does not say, but the largest of their numbers it knows.
func writeSlices(b *builder) tensor {
	old := b.feedOutput()
	value := b.full(0)
	at, outside := b.slicePlaces(old)
	if b.err != nil {
		return old
	}
	dims := old.dims
	old = b.slices(old)
	value = b.reshape(value, at.dims[0], old.dims[1])
	// last is, for each place, the largest number of the slices that go there, or -1: MPSGraph's scatter leaves open
	// which of two writes wins, but a maximum does not depend on it.
	none := b.broadcast(b.integer(-1, dtype.Int32), old.dims[0])
	last := b.made(b.graph.scatter(0, none.id, b.coordinates(0, at.dims[0]).id, at.id, mpsgraph.ScatterModeMax), dtype.Int32, none.dims)
	taken := b.compare(mpsgraph.GreaterThanOrEqualTo, last, b.integer(0, dtype.Int32))
	taken = b.both(taken, b.unary(mpsgraph.Not, outside))
	fresh := b.gather(value, b.binary(mpsgraph.Maximum, last, b.integer(0, dtype.Int32)))
	return b.reshape(b.choose(b.reshape(taken, old.dims[0], 1), fresh, old), dims...)
}

// putID is the operator whose indexed tensor is its output.
var putID = op.IDIndexPut

// outOfRange finds the index that the GPU has met, to name it. The GPU reports only that there was one, because a
// graph has one number to report; by now the memory of the indices may hold others.
func outOfRange(c *device.Call, value int32) error {
	if value == 0 {
		return nil
	}
	x := &c.In[0]
	if c.Op == putID {
		x = &c.Out[0]
	}
	for axis := range c.In[1:] {
		o := &c.In[axis+1]
		size := x.Dims[axis]
		for number := range o.Numel() {
			at, rest := int64(0), number
			for i := o.Rank - 1; i >= 0; i-- {
				at += rest % o.Dims[i] * o.Strides[i]
				rest /= o.Dims[i]
			}
			// SAFETY: the operand belongs to the call until its owner is notified.
			if i := *(*int64)(unsafe.Add(o.Addr, 8*at)); i < -size || i >= size {
				return status.Errorf(status.Index, "index %d is out of range for axis %d of %d elements; want %d to %d", i, axis, size, -size, size-1)
			}
		}
	}
	return status.Errorf(status.Index, "an index is out of range, and has been overwritten since")
}
