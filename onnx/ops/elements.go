package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Elements of 8 bits and less: floats of 8 and 4 bits, integers of 4 and 2. A byte carries each. A float is looked up in a table
// of the numbers that bytes stand for, and made by arithmetic on floats. Nothing computes with them in between: models
// convert them, or dequantize them, before they do.

// convertedTo is x with elements of a type that tensors lack, or of a dtype where elem is 0.
func convertedTo(c *build.Call, x *build.Value, d dtype.DType, elem file.ElemType) *build.Value {
	if x.Elem != 0 && x.Elem == elem {
		return x
	}
	if elem == file.ElemString {
		return toStrings(c, x)
	}
	if x.Elem == file.ElemString {
		return ofStrings(c, x, d, elem)
	}
	if x.Elem != 0 {
		want := d
		if elem != 0 {
			want = dtype.Int64
		}
		if build.FormatOf(elem) != nil || elem == file.ElemFloat8E8M0 {
			want = dtype.Float32
		}
		x = c.Decoded(x, want)
	}
	return encoded(c, x, d, elem)
}

// encoded is numbers as elements of a type that tensors lack, or of a dtype where elem is 0.
func encoded(c *build.Call, x *build.Value, d dtype.DType, elem file.ElemType) *build.Value {
	f := build.FormatOf(elem)
	switch {
	case elem == 0:
		return c.Cast(x, d)
	case elem.Unsigned():
		return unsignedOf(c, x, d).As(elem)
	case f != nil:
		return smallFloat(c, x, f, elem == file.ElemFloat4E2M1 || c.Yes("saturate", 1)).As(elem)
	case elem == file.ElemFloat8E8M0:
		return powerOfTwo(c, x).As(elem)
	}
	low, high := build.SmallInt(elem) // the low bits, as ONNX's reference has it
	x = c.Binary(op.IDBitwiseAnd, c.Cast(x, dtype.Int64), c.IntegerOf(dtype.Int64, int64(high-low)))
	return c.Cast(x, dtype.Uint8).As(elem)
}

// exponents is floor(log2(x)) between two numbers, and 2 to this power. The logarithm may be off by an ulp: near a power of 2
// the exponent may be that of the numbers on the other side.
func exponents(c *build.Call, x *build.Value, low, high int) (e, power *build.Value) {
	e = c.Clamp(c.Unary(op.IDFloor, c.Unary(op.IDLog2, x)), float64(low), float64(high))
	var powers []float64
	for i := low; i <= high; i++ {
		powers = append(powers, math.Ldexp(1, i))
	}
	return e, c.Cast(c.Looked(powers, c.Sub(e, build.Num(float64(low)))), x.DType)
}

// magnitude is |x|, and 0 for NaN, in a float that holds all of x; and where x is NaN.
func magnitude(c *build.Call, x *build.Value) (wide, size, nan *build.Value) {
	if x.DType != dtype.Float64 {
		x = c.Cast(x, dtype.Float32)
	}
	nan = c.Unary(op.IDIsnan, x)
	return x, c.Where(nan, build.Num(0), c.Unary(op.IDAbs, x)), nan
}

// smallFloat is numbers rounded to a format, halves to even, as bytes.
//
// A number is a multiple of the quantum of its exponent. The multiple and the exponent make the code; one that is rounded up
// to the next power of 2 gets its code too. It does not matter if the exponent is off next to a power of 2: whichever of the
// two quanta is taken, the result is the power.
func smallFloat(c *build.Call, x *build.Value, f *build.SmallFloat, saturates bool) *build.Value {
	x, size, nan := magnitude(c, x)
	highest := f.Lowest + f.Most>>f.Fraction - 1
	e, power := exponents(c, size, f.Lowest, highest)
	steps := float64(int(1) << f.Fraction)
	code := c.Unary(op.IDRound, c.Div(size, c.Mul(power, build.Num(1/steps))))
	code = c.Add(code, c.Mul(c.Sub(e, build.Num(float64(f.Lowest))), build.Num(steps)))
	most := float64(f.Most)
	if saturates {
		code = c.Binary(op.IDMinimum, code, build.Num(most))
	} else {
		code = c.Where(c.Binary(op.IDGreaterThan, code, build.Num(most)), build.Num(float64(f.Beyond)), code)
	}
	code = c.Where(nan, build.Num(float64(f.NaN)), code)
	negative := c.Binary(op.IDLessThan, c.Binary(op.IDCopysign, build.Num(1), x), build.Num(0))
	if !f.Zero {
		negative = c.Binary(op.IDLogicalAnd, negative, c.Binary(op.IDGreaterThan, code, build.Num(0)))
	}
	sign := build.Num(float64(f.Sign))
	negative = c.Binary(op.IDLogicalAnd, negative, c.Binary(op.IDLessThan, code, sign))
	return c.Cast(c.Where(negative, c.Add(code, sign), code), dtype.Uint8)
}

// powerOfTwo is |x| rounded to a power of 2, as the byte of its exponent. Attribute round_mode says which of two powers is
// taken: up, down or nearest, where halves go up. NaN and infinities are NaN.
//
// The exponent may be off by 1. The quotient of x and its power is then 0.5 to 4, and counting the thresholds that it has
// reached gives the right one.
func powerOfTwo(c *build.Call, x *build.Value) *build.Value {
	_, size, nan := magnitude(c, c.Cast(x, dtype.Float32))
	e, power := exponents(c, size, -126, 127)
	part := c.Div(size, power)
	first, compare := 0.5, op.IDGreaterThan
	switch mode := c.Text("round_mode", "up"); mode {
	case "up":
	case "nearest":
		first, compare = 0.75, op.IDGreaterEqual
	case "down":
		first, compare = 1, op.IDGreaterEqual
	default:
		c.Wrong("round_mode is %q; want up, down or nearest", mode)
	}
	code := c.Add(e, build.Num(126))
	for range 3 {
		code = c.Add(code, c.Cast(c.Do(compare, nil, part, build.Num(first)), dtype.Float32))
		first *= 2
	}
	most := 255.0 // NaN
	if c.Yes("saturate", 1) {
		most = 254
	}
	code = c.Binary(op.IDMinimum, code, build.Num(most))
	nan = c.Binary(op.IDLogicalOr, nan, c.Unary(op.IDIsinf, size))
	return c.Cast(c.Where(nan, build.Num(255), code), dtype.Uint8)
}

// Unsigned integers of 16, 32 and 64 bits, which signed integers of the same size carry. What is the same for both is in
// the table of treatments; here is what differs: quotients, remainders, shifts to the right, and conversions. Those of 16 and
// 32 bits are computed in int64, which holds all of them. Those of 64 bits take what compilers do for machines without
// unsigned instructions.

// unsignedQuotient is x / y without its fraction.
//
// Of 64 bits it is half of x divided by y, twice, which is too small by 1 or not at all. A y with the highest bit set goes into
// x once or not at all.
func unsignedQuotient(c *build.Call, x, y *build.Value) *build.Value {
	if x.DType != dtype.Int64 {
		return c.Cast(c.Binary(op.IDFloorDivide, c.Extended(x), c.Extended(y)), x.DType)
	}
	large := c.Negative(y)
	about := c.Binary(op.IDFloorDivide, c.Halved(x), c.Where(large, build.Whole(1), y))
	about = c.Where(large, build.Whole(0), c.Binary(op.IDBitwiseLeftShift, about, build.Whole(1)))
	rest := c.Sub(x, c.Mul(about, y))
	more := c.Binary(op.IDGreaterEqual, c.Reordered(rest), c.Reordered(y))
	return c.Add(about, c.Cast(more, dtype.Int64))
}

// unsignedRight is x shifted by y to the right, with zeros from the left. A y beyond the number of bits gives 0.
func unsignedRight(c *build.Call, x, y *build.Value) *build.Value {
	if x.DType != dtype.Int64 {
		return c.Cast(c.Binary(op.IDBitwiseRightShift, c.Extended(x), c.Extended(y)), x.DType)
	}
	rest := c.Binary(op.IDBitwiseRightShift, c.Halved(x), c.Sub(y, build.Whole(1)))
	return c.Where(c.Binary(op.IDEqual, y, build.Whole(0)), x, rest)
}

// unsignedOf is numbers as unsigned integers that d carries. Floats lose their fraction and saturate, NaN is 0; integers keep
// their low bits.
func unsignedOf(c *build.Call, x *build.Value, d dtype.DType) *build.Value {
	if !x.DType.IsFloat() {
		return c.Cast(x, d)
	}
	if x.DType != dtype.Float64 {
		x = c.Cast(x, dtype.Float32)
	}
	if d != dtype.Int64 {
		most := int64(1)<<d.Bits() - 1
		return c.Cast(c.Do(op.IDClip, nil, c.Cast(x, dtype.Int64), build.Whole(0), build.Whole(most)), d)
	}
	const highest = 1 << 63
	x = c.Binary(op.IDMaximum, x, build.Num(0))
	above := c.Reordered(c.Cast(c.Sub(x, build.Num(highest)), d))
	return c.Where(c.Binary(op.IDGreaterEqual, x, build.Num(highest)), above, c.Cast(x, d))
}
