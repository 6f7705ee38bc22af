package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// nonzero looks at bits, so that the sign of a zero can be dropped.
func init() { lowerBits(op.IDNonzero, nonzeroRows) }

// nonzeroRows writes the number of each element that is not zero to where as many came before it, and the
// others behind the end. MPSGraph's own, of macOS 14, has a result of unknown size.
func nonzeroRows(b *builder) tensor {
	x := b.full(0)
	dims := x.dims
	n := volume(dims)
	x = b.reshape(x, n)
	if d := b.call.In[0].DType; d.IsFloat() { // zero has a sign
		x = b.binary(mpsgraph.BitwiseAnd, x, b.like(x, 1<<(8*d.Size()-1)-1))
	}
	kept := b.nonZero(x)
	if !b.allows(dtype.Int32, []int64{n + 1}) {
		return x
	}
	// How many come before an element is an exclusive sum, and at the same time where its number goes. All others are
	// written to one place behind the end, which is cut off.
	ones := b.cast(kept, dtype.Int32)
	before := b.made(b.graph.cumulative(mpsgraph.CumulativeSum, ones.id, 0, true, false), dtype.Int32, ones.dims)
	to := b.choose(kept, before, b.integer(n, dtype.Int32))
	room := b.broadcast(b.integer(0, dtype.Int32), n+1)
	if b.err != nil {
		return x
	}
	found := b.made(b.graph.scatter(0, room.id, b.coordinates(0, n).id, to.id, mpsgraph.ScatterModeSet), dtype.Int32, room.dims)
	number := b.reshape(b.slice(found, 0, 0, n), n, 1)
	// A row-major number is taken apart from the last axis on.
	columns := make([]tensor, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		extent := b.integer(dims[i], dtype.Int32)
		columns[i] = b.binary(mpsgraph.Modulo, number, extent)
		number = b.over(number, extent)
	}
	b.report(b.reduce(mpsgraph.ReductionSum, ones, 0), func(c *device.Call, value int32) error {
		c.Count = int64(value)
		return nil
	})
	return b.concat(1, columns...)
}
