package vec

import "math"

// The 16-bit formats are carried as their bits. Both narrowings round to
// nearest, ties to even, overflow to infinity at the IEEE boundary and keep
// NaN a (quiet) NaN with its sign.
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

// F16ToF32Row sets dst[i] to src[i] widened.
func F16ToF32Row(dst []float32, src []uint16) {
	n := min(len(dst), len(src))
	active.f16ToF32(dst[:n], src[:n])
}

// F32ToF16Row sets dst[i] to src[i] narrowed.
func F32ToF16Row(dst []uint16, src []float32) {
	n := min(len(dst), len(src))
	active.f32ToF16(dst[:n], src[:n])
}

// F64ToF16Row sets dst[i] to src[i] narrowed with one rounding.
func F64ToF16Row(dst []uint16, src []float64) { convert(dst, src, F64ToF16) }

// BF16ToF32Row sets dst[i] to src[i] widened.
func BF16ToF32Row(dst []float32, src []uint16) {
	n := min(len(dst), len(src))
	active.bf16ToF32(dst[:n], src[:n])
}

// F32ToBF16Row sets dst[i] to src[i] narrowed.
func F32ToBF16Row(dst []uint16, src []float32) {
	n := min(len(dst), len(src))
	active.f32ToBF16(dst[:n], src[:n])
}

// F64ToBF16Row sets dst[i] to src[i] narrowed with one rounding.
func F64ToBF16Row(dst []uint16, src []float64) { convert(dst, src, F64ToBF16) }

func f16ToF32Row(dst []float32, src []uint16)  { convert(dst, src, F16ToF32) }
func f32ToF16Row(dst []uint16, src []float32)  { convert(dst, src, F32ToF16) }
func bf16ToF32Row(dst []float32, src []uint16) { convert(dst, src, BF16ToF32) }
func f32ToBF16Row(dst []uint16, src []float32) { convert(dst, src, F32ToBF16) }

// convert is small enough to be inlined, and f with it.
func convert[D, S any](dst []D, src []S, f func(S) D) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for i, x := range src {
		dst[i] = f(x)
	}
}
