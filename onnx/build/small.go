package build

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// SmallFloat is a format of floats: a sign, an exponent and a fraction. Codes are the bits without the sign. They are in the
// order of the numbers.
type SmallFloat struct {
	elem     file.ElemType
	Sign     int  // the code with only the sign
	Fraction int  // bits of it
	Lowest   int  // exponent of the smallest number that is no subnormal
	Most     int  // code of the largest number
	Beyond   int  // code of what is larger, if it does not saturate; an infinity or NaN
	NaN      int  // code of NaN
	Zero     bool // there is a negative zero
}

// smallFloats are the formats: E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ and FLOAT4E2M1. Those of FNUZ have one NaN in the place of the
// negative zero. FLOAT4E2M1 has no NaN, which becomes a zero, and always saturates.
var smallFloats = [...]SmallFloat{
	{17, 0x80, 3, -6, 0x7e, 0x7f, 0x7f, true},
	{18, 0x80, 3, -7, 0x7f, 0x80, 0x80, false},
	{19, 0x80, 2, -14, 0x7b, 0x7c, 0x7e, true},
	{20, 0x80, 2, -15, 0x7f, 0x80, 0x80, false},
	{file.ElemFloat4E2M1, 8, 1, 0, 7, 7, 8, true},
}

// FormatOf is the format of a type; nil where it is none of a float, or has only an exponent.
func FormatOf(e file.ElemType) *SmallFloat {
	for i := range smallFloats {
		if smallFloats[i].elem == e {
			return &smallFloats[i]
		}
	}
	return nil
}

// number is the number that a byte stands for.
func (f *SmallFloat) number(code int) float64 {
	magnitude := code & (f.Sign - 1)
	exponent, fraction := magnitude>>f.Fraction, magnitude&(1<<f.Fraction-1)
	if exponent > 0 {
		fraction, exponent = fraction|1<<f.Fraction, exponent-1
	}
	n := math.Ldexp(float64(fraction), f.Lowest+exponent-f.Fraction)
	switch {
	case magnitude > f.Most && magnitude == f.Beyond && f.Beyond != f.NaN:
		n = math.Inf(1)
	case magnitude > f.Most || !f.Zero && code == f.NaN:
		return math.NaN()
	}
	if code&f.Sign != 0 {
		return math.Copysign(n, -1)
	}
	return n
}

// SmallInt are the smallest and the largest integer of a type of 4 or 2 bits; of others both are 0.
func SmallInt(e file.ElemType) (low, high int) {
	switch bits := e.Bits(); e {
	case file.ElemUint4, file.ElemUint2:
		return 0, 1<<bits - 1
	case file.ElemInt4, file.ElemInt2:
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 0
}

// Numbers are what the 256 bytes stand for that carry floats. Bits above those of an element do not count.
func Numbers(e file.ElemType) []float64 {
	list := make([]float64, 256)
	f := FormatOf(e)
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

// Looked is the numbers of a table at indices, in float32.
func (c *Call) Looked(table []float64, index *Value) *Value {
	flat := c.Cast(c.Reshape(index.As(0), index.Shape.Numel()), dtype.Int32)
	numbers := c.Reals(dtype.Float32, []int64{int64(len(table))}, table)
	return c.Reshape(c.Do(op.IDGather, With(op.GatherAxis, 0), numbers, flat), index.Dims()...)
}

// Decoded is the numbers that elements stand for which tensors lack: unsigned integers as [call.unsignedNumber] has them, floats in
// float32, which holds all of them, and small integers in a byte.
func (c *Call) Decoded(x *Value, d dtype.DType) *Value {
	switch low, high := SmallInt(x.Elem); {
	case x.Elem.Unsigned():
		return c.unsignedNumber(x, d)
	case low < 0: // the highest bit of the element is moved to that of the byte, and back with its sign
		space := Whole(int64(8 - x.Elem.Bits()))
		top := c.Binary(op.IDBitwiseLeftShift, c.Cast(x.As(0), dtype.Int8), space)
		return c.Binary(op.IDBitwiseRightShift, top, space)
	case high > 0:
		return c.Binary(op.IDBitwiseAnd, x.As(0), c.IntegerOf(dtype.Uint8, int64(high)))
	}
	return c.Looked(Numbers(x.Elem), x)
}

// unsignedNumber is unsigned integers as int64, or of 64 bits as d if that is a float. Integers of fewer bits may be made of
// the int64: 64 bits are those of the unsigned integer.
//
// The highest bit is no number of an int64. Half of such an integer is rounded instead; the bit that is lost counts as one
// below the last, so that what is halfway stays apart from what is above.
func (c *Call) unsignedNumber(x *Value, d dtype.DType) *Value {
	if x.DType != dtype.Int64 {
		return c.Extended(x)
	}
	x = x.As(0)
	if !d.IsFloat() {
		return x
	}
	last := c.Binary(op.IDBitwiseAnd, x, c.IntegerOf(dtype.Int64, 1))
	half := c.Cast(c.Binary(op.IDBitwiseOr, c.Halved(x), last), d)
	return c.Where(c.Negative(x), c.Mul(half, Num(2)), c.Cast(x, d))
}

// Extended is unsigned integers of 16 or 32 bits as int64.
func (c *Call) Extended(x *Value) *Value {
	mask := int64(1)<<x.DType.Bits() - 1
	return c.Binary(op.IDBitwiseAnd, c.Cast(x.As(0), dtype.Int64), c.IntegerOf(dtype.Int64, mask))
}

// Halved is unsigned integers of 64 bits divided by 2, without their highest bit.
func (c *Call) Halved(x *Value) *Value {
	return c.Binary(op.IDBitwiseAnd, c.Binary(op.IDBitwiseRightShift, x.As(0), Whole(1)), c.IntegerOf(dtype.Int64, math.MaxInt64))
}

// Negative reports of integers whether the highest bit is set.
func (c *Call) Negative(x *Value) *Value { return c.Binary(op.IDLessThan, x, Whole(0)) }
