package dtype

import "math"

// The 16-bit floats have no Go type; these are the scalar conversions, rounding to nearest even.

// ToFloat16 is the IEEE binary16 nearest to x, rounded once.
func ToFloat16(x float64) uint16 {
	b := math.Float64bits(x)
	sign := uint16(b >> 48 & 0x8000)
	switch a := math.Abs(x); {
	case a != a:
		return sign | 0x7e00
	case a >= 65520: // the middle between the largest float16 and the next power of two
		return sign | 0x7c00
	case a < 0x1p-14: // subnormal: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	exponent := int(b>>52&0x7ff) - 1023
	fraction := math.RoundToEven(float64(b&(1<<52-1)) * 0x1p-42) // ten bits; may carry into the exponent
	return sign | uint16((exponent+15)<<10+int(fraction))
}

// FromFloat16 is the value of an IEEE binary16.
func FromFloat16(h uint16) float64 {
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	v := math.Ldexp(fraction, -24)
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		v = math.Inf(1)
	case exponent > 0:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h&0x8000 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}

// ToBFloat16 is the bfloat16 nearest to x, rounded once.
func ToBFloat16(x float64) uint16 {
	if x != x {
		return 0x7fc0
	}
	f := float32(x)
	// A float32 that was rounded up or down to a tie is nudged to the side of x, so that the second
	// rounding decides as the exact value would.
	b := math.Float32bits(f)
	if b&0xffff == 0x8000 && !math.IsInf(float64(f), 0) {
		switch exact := math.Abs(x); {
		case exact > math.Abs(float64(f)):
			b++
		case exact < math.Abs(float64(f)):
			b--
		}
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// FromBFloat16 is the value of a bfloat16.
func FromBFloat16(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }
