package graphs

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// Conversions: cast by value, and assign, which keeps the bits of elements where the dtypes are equal.
func init() {
	move := func(b *builder) tensor { return b.unary(mpsgraph.Identity, b.in[0]) }
	convert := func(b *builder) tensor { return b.convert(b.in[0], b.call.Out[0].DType) }
	for _, id := range []op.ID{op.IDCast, op.IDAssign} {
		graphVariant{lowering: move, bits: true, accepts: oneDType}.register(id, gpu.Elements)
		graphVariant{lowering: convert, accepts: func(c *device.Call) bool { return !oneDType(c) }}.register(id, gpu.Elements)
	}
}

// oneDType reports whether a conversion is a copy, which changes no bit of a float.
func oneDType(c *device.Call) bool { return c.In[0].DType == c.Out[0].DType }

// convert is a cast as Paddle does it: integers wrap around, floats lose their fraction and become the nearest
// integer there is, NaN becomes 0, and what is not zero is true.
func (b *builder) convert(x tensor, d dtype.DType) tensor {
	switch {
	case x.dtype == d:
		return x
	case d == dtype.Bool:
		return b.nonZero(x)
	case d.IsFloat():
		return b.cast(x, b.stored(d))
	case x.dtype.IsFloat():
		return b.saturate(b.wide(x), d)
	}
	return b.wrap(x, d)
}

// wrap keeps the low bits of an integer, as Paddle does: MPSGraph's cast goes to the end of the range instead, or does
// not, see https://github.com/pytorch/pytorch/issues/179415. For a signed dtype the sign bit is flipped and subtracted
// again, which extends it.
func (b *builder) wrap(x tensor, d dtype.DType) tensor {
	low, high := d.Range()
	from, to := x.dtype.Range()
	if low <= from && to <= high {
		return b.cast(x, d)
	}
	if x.dtype.Size() <= d.Size() { // of as many bits, with another sign: through one that holds both
		x = b.cast(x, dtype.Int32)
	}
	x = b.binary(mpsgraph.BitwiseAnd, x, b.like(x, high-low))
	if low < 0 {
		x = b.binary(mpsgraph.BitwiseXor, x, b.like(x, high+1))
		x = b.minus(x, b.like(x, high+1))
	}
	return b.cast(x, d)
}

// saturate is a float32 as an integer, towards zero; what is out of range becomes the end that is nearer, and NaN 0.
// MPSGraph leaves such casts undefined, so the number is brought into range first. Where the largest integer is no
// float32, what reaches it is chosen apart.
func (b *builder) saturate(x tensor, d dtype.DType) tensor {
	low, high := d.Range()
	// The bounds are numbers that float32 has: clamping to one that it rounds up would let the cast overflow.
	top := float64(high) // the first float32 that is too large, or the last integer
	x = b.choose(b.test(mpsgraph.IsNaN, x), b.like(x, 0), x)
	inside := b.binary(mpsgraph.Maximum, x, b.real(float64(low)))
	below := top
	if high >= 1<<24 {
		below = float64(math.Nextafter32(float32(top), 0))
	}
	inside = b.cast(b.binary(mpsgraph.Minimum, inside, b.real(below)), d)
	return b.choose(b.compare(mpsgraph.GreaterThanOrEqualTo, x, b.real(top)), b.integer(high, d), inside)
}
