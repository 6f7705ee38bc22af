package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Elements of 8 bits and less: floats of 8 and 4 bits, integers of 4 and 2. A byte carries each. A float is looked up in a table
// of the numbers that bytes stand for, and made by arithmetic on floats. Nothing computes with them in between: models
// convert them, or dequantize them, before they do.

// smallFloat is a format of floats: a sign, an exponent and a fraction. Codes are the bits without the sign. They are in the
// order of the numbers.
type smallFloat struct {
	elem     ElemType
	sign     int  // the code with only the sign
	fraction int  // bits of it
	lowest   int  // exponent of the smallest number that is no subnormal
	most     int  // code of the largest number
	beyond   int  // code of what is larger, if it does not saturate; an infinity or NaN
	nan      int  // code of NaN
	zero     bool // there is a negative zero
}

// smallFloats are the formats: E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ and FLOAT4E2M1. Those of FNUZ have one NaN in the place of the
// negative zero. FLOAT4E2M1 has no NaN, which becomes a zero, and always saturates.
var smallFloats = [...]smallFloat{
	{17, 0x80, 3, -6, 0x7e, 0x7f, 0x7f, true},
	{18, 0x80, 3, -7, 0x7f, 0x80, 0x80, false},
	{19, 0x80, 2, -14, 0x7b, 0x7c, 0x7e, true},
	{20, 0x80, 2, -15, 0x7f, 0x80, 0x80, false},
	{elemFloat4E2M1, 8, 1, 0, 7, 7, 8, true},
}

// smallFloat is the format of a type; nil where it is none of a float, or has only an exponent.
func (e ElemType) smallFloat() *smallFloat {
	for i := range smallFloats {
		if smallFloats[i].elem == e {
			return &smallFloats[i]
		}
	}
	return nil
}

// number is the number that a byte stands for.
func (f *smallFloat) number(code int) float64 {
	magnitude := code & (f.sign - 1)
	exponent, fraction := magnitude>>f.fraction, magnitude&(1<<f.fraction-1)
	if exponent > 0 {
		fraction, exponent = fraction|1<<f.fraction, exponent-1
	}
	n := math.Ldexp(float64(fraction), f.lowest+exponent-f.fraction)
	switch {
	case magnitude > f.most && magnitude == f.beyond && f.beyond != f.nan:
		n = math.Inf(1)
	case magnitude > f.most || !f.zero && code == f.nan:
		return math.NaN()
	}
	if code&f.sign != 0 {
		return math.Copysign(n, -1)
	}
	return n
}

// smallInt are the smallest and the largest integer of a type of 4 or 2 bits; of others both are 0.
func smallInt(e ElemType) (low, high int) {
	switch bits := e.bits(); e {
	case elemUint4, elemUint2:
		return 0, 1<<bits - 1
	case elemInt4, elemInt2:
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 0
}

// numbers are what the 256 bytes stand for that carry floats. Bits above those of an element do not count.
func numbers(e ElemType) []float64 {
	list := make([]float64, 256)
	f := e.smallFloat()
	for code := range list {
		switch {
		case f != nil:
			list[code] = f.number(code)
		case code == 0xff:
			list[code] = math.NaN()
		default:
			list[code] = math.Ldexp(1, code-127)
		}
	}
	return list
}

// looked is the numbers of a table at indices, in float32.
func (c *call) looked(table []float64, index *value) *value {
	flat := c.cast(c.reshape(index.as(0), index.Shape.Numel()), dtype.Int32)
	numbers := c.reals(dtype.Float32, []int64{int64(len(table))}, table)
	return c.reshape(c.do(op.IDGather, with(op.GatherAxis, 0), numbers, flat), index.dims()...)
}

// decoded is the numbers that elements stand for which tensors lack: unsigned integers as [call.unsignedNumber] has them, floats in
// float32, which holds all of them, and small integers in a byte.
func (c *call) decoded(x *value, d dtype.DType) *value {
	switch low, high := smallInt(x.elem); {
	case x.elem.unsigned():
		return c.unsignedNumber(x, d)
	case low < 0: // the highest bit of the element is moved to that of the byte, and back with its sign
		space := whole(int64(8 - x.elem.bits()))
		top := c.binary(op.IDBitwiseLeftShift, c.cast(x.as(0), dtype.Int8), space)
		return c.binary(op.IDBitwiseRightShift, top, space)
	case high > 0:
		return c.binary(op.IDBitwiseAnd, x.as(0), c.integerOf(dtype.Uint8, int64(high)))
	}
	return c.looked(numbers(x.elem), x)
}

func (c *call) converted(x *value, to ElemType) *value {
	return c.convertedTo(x, c.carrier(to), to.lacking())
}

// convertedTo is x with elements of a type that tensors lack, or of a dtype where elem is 0.
func (c *call) convertedTo(x *value, d dtype.DType, elem ElemType) *value {
	if x.elem != 0 && x.elem == elem {
		return x
	}
	if elem == elemString {
		return c.toStrings(x)
	}
	if x.elem == elemString {
		return c.ofStrings(x, d, elem)
	}
	if x.elem != 0 {
		want := d
		if elem != 0 {
			want = dtype.Int64
		}
		if elem.smallFloat() != nil || elem == elemFloat8E8M0 {
			want = dtype.Float32
		}
		x = c.decoded(x, want)
	}
	return c.encoded(x, d, elem)
}

// encoded is numbers as elements of a type that tensors lack, or of a dtype where elem is 0.
func (c *call) encoded(x *value, d dtype.DType, elem ElemType) *value {
	f := elem.smallFloat()
	switch {
	case elem == 0:
		return c.cast(x, d)
	case elem.unsigned():
		return c.unsignedOf(x, d).as(elem)
	case f != nil:
		return c.smallFloat(x, f, elem == elemFloat4E2M1 || c.yes("saturate", 1)).as(elem)
	case elem == elemFloat8E8M0:
		return c.powerOfTwo(x).as(elem)
	}
	low, high := smallInt(elem) // the low bits, as ONNX's reference has it
	x = c.binary(op.IDBitwiseAnd, c.cast(x, dtype.Int64), c.integerOf(dtype.Int64, int64(high-low)))
	return c.cast(x, dtype.Uint8).as(elem)
}

// exponents is floor(log2(x)) between two numbers, and 2 to this power. The logarithm may be off by an ulp: near a power of 2
// the exponent may be that of the numbers on the other side.
func (c *call) exponents(x *value, low, high int) (e, power *value) {
	e = c.clamp(c.unary(op.IDFloor, c.unary(op.IDLog2, x)), float64(low), float64(high))
	var powers []float64
	for i := low; i <= high; i++ {
		powers = append(powers, math.Ldexp(1, i))
	}
	return e, c.cast(c.looked(powers, c.sub(e, num(float64(low)))), x.DType)
}

// magnitude is |x|, and 0 for NaN, in a float that holds all of x; and where x is NaN.
func (c *call) magnitude(x *value) (wide, size, nan *value) {
	if x.DType != dtype.Float64 {
		x = c.cast(x, dtype.Float32)
	}
	nan = c.unary(op.IDIsnan, x)
	return x, c.where(nan, num(0), c.unary(op.IDAbs, x)), nan
}

// smallFloat is numbers rounded to a format, halves to even, as bytes.
//
// A number is a multiple of the quantum of its exponent. The multiple and the exponent make the code; one that is rounded up
// to the next power of 2 gets its code too. It does not matter if the exponent is off next to a power of 2: whichever of the
// two quanta is taken, the result is the power.
func (c *call) smallFloat(x *value, f *smallFloat, saturates bool) *value {
	x, size, nan := c.magnitude(x)
	highest := f.lowest + f.most>>f.fraction - 1
	e, power := c.exponents(size, f.lowest, highest)
	steps := float64(int(1) << f.fraction)
	code := c.unary(op.IDRound, c.div(size, c.mul(power, num(1/steps))))
	code = c.add(code, c.mul(c.sub(e, num(float64(f.lowest))), num(steps)))
	most := float64(f.most)
	if saturates {
		code = c.smaller(code, num(most))
	} else {
		code = c.where(c.binary(op.IDGreaterThan, code, num(most)), num(float64(f.beyond)), code)
	}
	code = c.where(nan, num(float64(f.nan)), code)
	negative := c.binary(op.IDLessThan, c.binary(op.IDCopysign, num(1), x), num(0))
	if !f.zero {
		negative = c.binary(op.IDLogicalAnd, negative, c.binary(op.IDGreaterThan, code, num(0)))
	}
	sign := num(float64(f.sign))
	negative = c.binary(op.IDLogicalAnd, negative, c.binary(op.IDLessThan, code, sign))
	return c.cast(c.where(negative, c.add(code, sign), code), dtype.Uint8)
}

// powerOfTwo is |x| rounded to a power of 2, as the byte of its exponent. Attribute round_mode says which of two powers is
// taken: up, down or nearest, where halves go up. NaN and infinities are NaN.
//
// The exponent may be off by 1. The quotient of x and its power is then 0.5 to 4, and counting the thresholds that it has
// reached gives the right one.
func (c *call) powerOfTwo(x *value) *value {
	_, size, nan := c.magnitude(c.cast(x, dtype.Float32))
	e, power := c.exponents(size, -126, 127)
	part := c.div(size, power)
	first, compare := 0.5, op.IDGreaterThan
	switch mode := c.text("round_mode", "up"); mode {
	case "up":
	case "nearest":
		first, compare = 0.75, op.IDGreaterEqual
	case "down":
		first, compare = 1, op.IDGreaterEqual
	default:
		c.wrong("round_mode is %q; want up, down or nearest", mode)
	}
	code := c.add(e, num(126))
	for range 3 {
		code = c.add(code, c.cast(c.do(compare, nil, part, num(first)), dtype.Float32))
		first *= 2
	}
	most := 255.0 // NaN
	if c.yes("saturate", 1) {
		most = 254
	}
	code = c.smaller(code, num(most))
	nan = c.binary(op.IDLogicalOr, nan, c.unary(op.IDIsinf, size))
	return c.cast(c.where(nan, num(255), code), dtype.Uint8)
}
