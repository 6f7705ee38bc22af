package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Unsigned integers of 16, 32 and 64 bits, which signed integers of the same size carry. What is the same for both is in
// the table of treatments; here is what differs: quotients, remainders, shifts to the right, and conversions. Those of 16 and
// 32 bits are computed in int64, which holds all of them. Those of 64 bits take what compilers do for machines without
// unsigned instructions.

// extended is unsigned integers of 16 or 32 bits as int64.
func (c *call) extended(x *value) *value {
	mask := int64(1)<<x.DType.Bits() - 1
	return c.binary(op.IDBitwiseAnd, c.cast(x.as(0), dtype.Int64), c.integerOf(dtype.Int64, mask))
}

// halved is unsigned integers of 64 bits divided by 2, without their highest bit.
func (c *call) halved(x *value) *value {
	return c.binary(op.IDBitwiseAnd, c.binary(op.IDBitwiseRightShift, x.as(0), whole(1)), c.integerOf(dtype.Int64, math.MaxInt64))
}

// negative reports of integers whether the highest bit is set.
func (c *call) negative(x *value) *value { return c.binary(op.IDLessThan, x, whole(0)) }

// unsignedQuotient is x / y without its fraction.
//
// Of 64 bits it is half of x divided by y, twice, which is too small by 1 or not at all. A y with the highest bit set goes into
// x once or not at all.
func (c *call) unsignedQuotient(x, y *value) *value {
	if x.DType != dtype.Int64 {
		return c.cast(c.binary(op.IDFloorDivide, c.extended(x), c.extended(y)), x.DType)
	}
	large := c.negative(y)
	about := c.binary(op.IDFloorDivide, c.halved(x), c.where(large, whole(1), y))
	about = c.where(large, whole(0), c.binary(op.IDBitwiseLeftShift, about, whole(1)))
	rest := c.sub(x, c.mul(about, y))
	more := c.binary(op.IDGreaterEqual, c.reordered(rest), c.reordered(y))
	return c.add(about, c.cast(more, dtype.Int64))
}

// unsignedRemainder is what x / y leaves.
func (c *call) unsignedRemainder(x, y *value) *value {
	return c.sub(x, c.mul(c.unsignedQuotient(x, y), y))
}

// unsignedRight is x shifted by y to the right, with zeros from the left. A y beyond the number of bits gives 0.
func (c *call) unsignedRight(x, y *value) *value {
	if x.DType != dtype.Int64 {
		return c.cast(c.binary(op.IDBitwiseRightShift, c.extended(x), c.extended(y)), x.DType)
	}
	rest := c.binary(op.IDBitwiseRightShift, c.halved(x), c.sub(y, whole(1)))
	return c.where(c.binary(op.IDEqual, y, whole(0)), x, rest)
}

// unsignedNumber is unsigned integers as int64, or of 64 bits as d if that is a float. Integers of fewer bits may be made of
// the int64: 64 bits are those of the unsigned integer.
//
// The highest bit is no number of an int64. Half of such an integer is rounded instead; the bit that is lost counts as one
// below the last, so that what is halfway stays apart from what is above.
func (c *call) unsignedNumber(x *value, d dtype.DType) *value {
	if x.DType != dtype.Int64 {
		return c.extended(x)
	}
	x = x.as(0)
	if !d.IsFloat() {
		return x
	}
	last := c.binary(op.IDBitwiseAnd, x, c.integerOf(dtype.Int64, 1))
	half := c.cast(c.binary(op.IDBitwiseOr, c.halved(x), last), d)
	return c.where(c.negative(x), c.mul(half, num(2)), c.cast(x, d))
}

// unsignedOf is numbers as unsigned integers that d carries. Floats lose their fraction and saturate, NaN is 0; integers keep
// their low bits.
func (c *call) unsignedOf(x *value, d dtype.DType) *value {
	if !x.DType.IsFloat() {
		return c.cast(x, d)
	}
	if x.DType != dtype.Float64 {
		x = c.cast(x, dtype.Float32)
	}
	if d != dtype.Int64 {
		most := int64(1)<<d.Bits() - 1
		return c.cast(c.do(op.IDClip, nil, c.cast(x, dtype.Int64), whole(0), whole(most)), d)
	}
	const highest = 1 << 63
	x = c.larger(x, num(0))
	above := c.reordered(c.cast(c.sub(x, num(highest)), d))
	return c.where(c.binary(op.IDGreaterEqual, x, num(highest)), above, c.cast(x, d))
}
