package dtype

import "math"

// The 16-bit floats have no Go type: they travel as their bits. Narrowing rounds once, to nearest and
// ties to even, overflows to infinity at the IEEE boundary and keeps NaN a (quiet) NaN with its sign.
//
//	float16   1 sign, 5 exponent (bias 15), 10 fraction bits   IEEE 754 binary16
//	bfloat16  1 sign, 8 exponent (bias 127), 7 fraction bits   upper half of a float32

// F16ToF32 widens a float16; every float16 is a float32, so it is exact.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	magnitude := uint32(h&0x7fff) << 13
	if magnitude >= 0x1f<<23 { // infinity or NaN: all exponent bits in both formats
		return math.Float32frombits(sign | 0x7f800000 | magnitude)
	}
	// Read with float32's bias the value is 2^(127-15) too small; the product
	// is exact and makes subnormals normal on its way.
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude)*0x1p112))
}

// F32ToF16 narrows with one rounding.
func F32ToF16(x float32) uint16 {
	b := math.Float32bits(x)
	sign, a := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case a > 0x7f800000:
		return sign | 0x7e00
	case a >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case a < 0x38800000: // below 2^-14: the unit in the last place is 2^-24
		// Adding 0.5, whose own last place is 2^-24, rounds there.
		half := math.Float32frombits(a) + 0.5
		return sign | uint16(math.Float32bits(half)-0x3f000000)
	}
	return sign | uint16((a-(127-15)<<23+0xfff+a>>13&1)>>13)
}

// F64ToF16 narrows with one rounding: going through float32 would round twice.
func F64ToF16(x float64) uint16 { return F32ToF16(roundToOdd(x)) }

// BF16ToF32 widens a bfloat16 exactly.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 narrows with one rounding.
func F32ToBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40 // the quiet bit: the payload's rest may be cut to 0
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// F64ToBF16 narrows with one rounding.
func F64ToBF16(x float64) uint16 { return F32ToBF16(roundToOdd(x)) }

// roundToOdd narrows to float32 so that a later rounding to at most 22 bits
// sees what the float64 was: an inexact result gets its last bit set.
// Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
// algorithms using rounding to odd", IEEE Trans. Computers 57(4), 2008.
func roundToOdd(x float64) float32 {
	y := float32(x)
	back := float64(y)
	if back == x || x != x {
		return y
	}
	b := math.Float32bits(y)
	if math.Abs(back) > math.Abs(x) {
		b-- // one step towards zero: truncation
	}
	return math.Float32frombits(b | 1)
}
