package maths

import "math"

// Functions of one float64 where Go's math package is off by more than two units in the last place:
// logarithms of subnormal numbers (its assembly on amd64 takes them for normal ones), log2 and log10
// near 1, the trigonometric functions near their zeros, and their inverse functions near 1.

// ln is the natural logarithm.
func ln(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// log2 splits x into a power of two and a factor in [1/sqrt(2), sqrt(2)), so that nothing cancels
// where the logarithm is small.
func log2(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log2(x)
	}
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	return float64(e) + math.Log1p(f-1)*(1/math.Ln2)
}

// log10 is exact for powers of ten that float64 holds. Go's own is the logarithm to base 2 times a
// constant, which is far off near 1.
func log10(x float64) float64 {
	const shift = 3 << 51 // added and subtracted again, it rounds to an integer
	y := ln(x) * (1 / math.Ln10)
	if whole := y + shift - shift; math.Abs(y-whole) < 1e-12 && whole >= -22 && whole <= 22 && math.Pow10(int(whole)) == x {
		return whole
	}
	return y
}

// acos is the angle whose half has the tangent sqrt((1-x) / (1+x)). Go's own is pi/2 - asin(x), of
// which nothing is left near 1.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// asin keeps the factors of 1 - x*x apart, which cancels near 1.
func asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// The nearest float64 to pi/2, and to what is left of it.
const (
	halfPi    = 0x1.921fb54442d18p0
	halfPiLow = 0x1.1a62633145c07p-54
	reducible = 1 << 20 // above, k*halfPiLow is no longer enough: see farQuadrant
)

// quadrant is x - k*pi/2 in [-pi/4, pi/4] and k mod 4. The first product cancels exactly where the
// result is small, so the error stays one unit of the result.
func quadrant(x float64) (r float64, k int) {
	if !(math.Abs(x) < reducible) {
		return farQuadrant(x)
	}
	n := math.RoundToEven(x * (2 / math.Pi))
	r = math.FMA(-n, halfPiLow, math.FMA(-n, halfPi, x))
	return r, int(n) & 3
}

func sin(x float64) float64 {
	if !(math.Abs(x) <= math.MaxFloat64) || x == 0 {
		return math.Sin(x)
	}
	r, k := quadrant(x)
	return turn(r, k)
}

func cos(x float64) float64 {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return math.Cos(x)
	}
	r, k := quadrant(x)
	return turn(r, k+1)
}

// turn is sin(r + k*pi/2).
func turn(r float64, k int) float64 {
	switch k & 3 {
	case 0:
		return math.Sin(r)
	case 1:
		return math.Cos(r)
	case 2:
		return -math.Sin(r)
	}
	return -math.Cos(r)
}

func tan(x float64) float64 {
	if !(math.Abs(x) <= math.MaxFloat64) || x == 0 {
		return math.Tan(x)
	}
	r, k := quadrant(x)
	if k&1 == 1 {
		return -1 / tanNear0(r)
	}
	return tanNear0(r)
}

// tanNear0 is tan where it is not yet clear that the cubic term counts: Go drops it below 1e-7, where it is
// 15 units in the last place.
func tanNear0(r float64) float64 {
	if math.Abs(r) < 1e-6 {
		return r + r*r*r/3
	}
	return math.Tan(r)
}

// wide is below where exp(x) overflows, of which sinh and cosh are a half.
const wide = 700

// halfExp is exp(x)/2 for x above wide. The difference is exact: ln2High has 32 bits.
func halfExp(x float64) float64 { return math.Exp(x-2*ln2High) * (2 - 4*ln2Mid) }

func sinh(x float64) float64 {
	if math.Abs(x) > wide {
		return math.Copysign(halfExp(math.Abs(x)), x)
	}
	return math.Sinh(x)
}

func cosh(x float64) float64 {
	if math.Abs(x) > wide {
		return halfExp(math.Abs(x))
	}
	return math.Cosh(x)
}
