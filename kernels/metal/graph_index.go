package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// The tensor that index reads and index_put writes is places of slices: the axes that indices count along
// are one, and the rest another.

func init() {
	lowerBits("index", func(b *builder) tensor {
		x := b.full(0)
		at, _ := b.placesOf(x)
		return b.gather(b.slices(x), at)
	})
	lowerBits("index_put", writeSlices)
}

// slices is a tensor with two axes, of places and of what lies there.
func (b *builder) slices(x tensor) tensor {
	n := volume(x.dims[:min(len(b.call.In)-1, len(x.dims))])
	return b.reshape(x, n, volume(x.dims)/n)
}

// placesOf is which place of x each index names, and whether one is out of range, for which its end is taken.
// That ends the call with an error.
func (b *builder) placesOf(x tensor) (places, stray tensor) {
	for i := range b.call.In[1:] {
		if b.err != nil {
			return places, stray
		}
		at := b.full(i + 1)
		size := b.like(at, x.dims[i])
		from := b.plus(at, b.choose(b.compare(mpsgraph.LessThan, at, b.like(at, 0)), size, b.like(at, 0)))
		beyond := b.either(b.compare(mpsgraph.LessThan, from, b.like(at, 0)), b.compare(mpsgraph.GreaterThanOrEqualTo, from, size))
		from = b.cast(b.choose(beyond, b.like(at, 0), from), dtype.Int32)
		if i == 0 {
			places, stray = from, beyond
			continue
		}
		places = b.times(places, b.integer(x.dims[i], dtype.Int32))
		places = b.plus(places, from)
		stray = b.either(stray, beyond)
	}
	if b.err != nil {
		return places, stray
	}
	stray = b.anywhere(stray)
	b.tell(stray, outOfRange)
	return b.reshape(places, volume(places.dims)), b.nonZero(stray)
}

// gather is the slices of x, which has two axes, at places.
func (b *builder) gather(x, places tensor) tensor {
	if b.err != nil || !b.allows(x.dtype, []int64{places.dims[0], x.dims[1]}) {
		return x
	}
	return b.made(b.graph.Gather(x.id, places.id, 0, 0), x.dtype, []int64{places.dims[0], x.dims[1]})
}

// writeSlices writes by reading: each place takes the last slice of those that go there, or what it has. What two
// writes to one place leave, MPSGraph does not say, but the largest of their numbers it knows.
func writeSlices(b *builder) tensor {
	old := b.feedOutput()
	value := b.full(0)
	at, stray := b.placesOf(old)
	if b.err != nil {
		return old
	}
	dims := old.dims
	old = b.slices(old)
	value = b.reshape(value, at.dims[0], old.dims[1])
	none := b.broadcast(b.integer(-1, dtype.Int32), old.dims[0])
	last := b.made(b.graph.ScatterAlongAxis(0, none.id, b.coordinates(0, at.dims[0]).id, at.id, mpsgraph.ScatterModeMax), dtype.Int32, none.dims)
	taken := b.compare(mpsgraph.GreaterThanOrEqualTo, last, b.integer(0, dtype.Int32))
	taken = b.both(taken, b.unary(mpsgraph.Not, stray))
	fresh := b.gather(value, b.binary(mpsgraph.Maximum, last, b.integer(0, dtype.Int32)))
	return b.reshape(b.choose(b.reshape(taken, old.dims[0], 1), fresh, old), dims...)
}

// outOfRange finds the index that the GPU has met.
func outOfRange(c *device.Call, told int32) error {
	if told == 0 {
		return nil
	}
	x := &c.In[0]
	if nameOf(c) == "index_put" {
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
			// SAFETY: the operand belongs to the call until its owner hears of the end.
			if i := *(*int64)(unsafe.Add(o.Addr, 8*at)); i < -size || i >= size {
				return status.Errorf(status.Index, "index %d is out of range for axis %d of %d elements; want %d to %d", i, axis, size, -size, size-1)
			}
		}
	}
	return status.Errorf(status.Index, "an index is out of range, and has been overwritten since")
}
