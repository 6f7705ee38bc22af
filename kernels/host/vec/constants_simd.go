//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
)

// The polynomials of the vector loops. They run in float64, so their error in
// float32 ulp (2^-24 relative) is what the comments give, far below the half
// ulp of the final rounding.

var (
	zero     = splat(0)
	one      = splat(1)
	two      = splat(2)
	half     = splat(0.5)
	minusOne = splat(-1)
	inf      = splat(math.Inf(1))
	nan      = splat(math.NaN())

	// Integers in the guise of floats.
	minusZero    = splatBits(1 << 63)
	absMask      = splatBits(1<<63 - 1)
	mantissaMask = splatBits(1<<52 - 1)
	fieldShift   = splatBits(52)
	lowBit       = splatBits(1)
)

// exp: x = n ln2 + r with |r| <= ln2/2, exp(x) = 2^n exp(r).
var (
	// Beyond these exp is 0 or infinite in float32, with room for a division
	// by a small beta, and 2^n stays a normal float64.
	expLow, expHigh = splat(-708), splat(708)

	log2e    = splat(math.Log2E)
	minusLn2 = splat(-math.Ln2)
	// Adding it to a small number leaves, rounded to nearest, that number in
	// the low mantissa bits, with the exponent bias of float64 added.
	expMagic = splat(0x1.8p52 + 1023)

	// (exp(r)-1)/r, Taylor: the terms left out add up to below 2.1e-11.
	expTaylor = [...]splat8{
		splat(1), splat(1. / 2), splat(1. / 6), splat(1. / 24), splat(1. / 120),
		splat(1. / 720), splat(1. / 5040), splat(1. / 40320), splat(1. / 362880),
	}
)

// log: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m-1, s = f/(2+f),
// log(m) = 2 atanh(s).
var (
	ln2    = splat(math.Ln2)
	log10e = splat(math.Log10E)

	// 2^52 + 1023: an exponent field or-ed into the mantissa of 2^52 is the
	// number 2^52 + field.
	fieldBias = splat(0x1p52 + 1023)
	two52     = splat(0x1p52)

	// (atanh(s)/s - 1)/s^2 in powers of s^2 <= 0.0295, Taylor: the terms left
	// out add up to below 2e-12 of the result.
	atanhTaylor = [...]splat8{
		splat(1. / 3), splat(1. / 5), splat(1. / 7), splat(1. / 9), splat(1. / 11), splat(1. / 13),
	}
)

// sin and cos: x = q pi/2 + r with |r| <= pi/4.
var (
	twoOverPi   = splat(2 / math.Pi)
	trigMagic   = splat(0x1.8p52)
	minusHalfPi = splat(-0x1.921fb54442d18p+0)
	// pi/2 less its float64, by which q may be multiplied up to trigLimit.
	minusHalfPiLow = splat(-0x1.1a62633145c07p-54)

	// Above it the two-word pi/2 runs out and the scalar function takes over.
	trigLimit = splat(0x1p30)

	// sin(r)/r and cos(r) in powers of r^2 <= 0.617, Taylor: the terms left
	// out are below 9e-12 and 4e-13.
	sinTaylor = [...]splat8{
		splat(1), splat(-1. / 6), splat(1. / 120), splat(-1. / 5040), splat(1. / 362880), splat(-1. / 39916800),
	}
	cosTaylor = [...]splat8{
		splat(1), splat(-1. / 2), splat(1. / 24), splat(-1. / 720), splat(1. / 40320),
		splat(-1. / 3628800), splat(1. / 479001600),
	}
)

// asinh: a + (sqrt(1+a^2) - 1) above, where the difference has not cancelled to
// less than 2e-10 of a; a + a^2/2 below, where a^4/8 is below 2e-10 of a.
var asinhSplit = splat(0x1p-10)

// atan: the angle of a point with 0 <= y <= x is q = y/x times a function of q^2.
var (
	halfTurn = splat(math.Pi)
	rightPi  = splat(math.Pi / 2)

	// atan(q)/q in powers of 2q^2 - 1. The coefficients interpolate at 11
	// Chebyshev nodes; TestAtanFit computes them again. Error below 5e-10.
	atanFitted = [...]splat8{
		splat(0.8704197513671027), splat(-0.10187654574464397),
		splat(0.020851852252788787), splat(-0.0050307960956747656),
		splat(0.0013155651370061576), splat(-0.0003613558146932599),
		splat(0.00010239166889437389), splat(-2.8816726626892194e-05),
		splat(8.488348421244819e-06), splat(-3.4035784091718764e-06),
		splat(1.0328192714000166e-06),
	}
)

// erfc in float64, for gelu.
var (
	// (a+K) exp(a^2) erfc(a) for a >= 0 in powers of t = (a-K)/(a+K), which
	// runs over [-1, 1): the substitution of Shepherd and Laframboise,
	// Math. Comp. 36 (1981) 249-253. The coefficients interpolate at 13
	// Chebyshev nodes; TestErfcFit computes them again. Error below 7e-10.
	erfcK      = splat(erfcCentre)
	erfcTwoK   = splat(2 * erfcCentre)
	erfcFitted = [...]splat8{
		splat(1.0540318203057184), splat(-0.8046518577968317),
		splat(0.45391412257513836), splat(-0.1712509083288718),
		splat(0.028361383572150622), splat(0.008391090149169056),
		splat(-0.00481744104371451), splat(-0.0004321175710320091),
		splat(0.0006980082650809294), splat(4.520140995367683e-05),
		splat(-0.0001045697585908556), splat(-6.6165639509563334e-06),
		splat(1.1468259302205297e-05),
	}

	rootHalf = splat(math.Sqrt2 / 2)
)

const erfcCentre = 2.5

// gelu with tanh: x/(1+exp(-y)), y = x (linear + cubic x^2).
var (
	geluLinear = splat(2 * math.Sqrt2 / math.SqrtPi)
	geluThird  = splat(2 * math.Sqrt2 / math.SqrtPi * geluCubic)
)

// splatNarrow16 is splat8 for float32; the 256-bit loops read its first half.
type splatNarrow16 [16]float32

func splatNarrow(x float32) (s splatNarrow16) {
	for i := range s {
		s[i] = x
	}
	return s
}

func loadNarrow512(s *splatNarrow16) narrow512 {
	return archsimd.LoadFloat32x16((*[16]float32)(s))
}

func loadNarrow256(s *splatNarrow16) narrow256 {
	return archsimd.LoadFloat32x8((*[8]float32)(s[:8]))
}

// exp in float32: x = n ln2 + r, exp(x) = 2^n exp(r).
var (
	narrowOne   = splatNarrow(1)
	narrowInt32 = splatNarrow(0x1p31) // the first float beyond int32
	narrowHalf  = splatNarrow(0.5)
	narrowAbs   = splatNarrow(math.Float32frombits(1<<31 - 1))
	narrowSign  = splatNarrow(math.Float32frombits(1 << 31))

	// Beyond these exp is 0 or infinite.
	narrowLowest, narrowHighest = splatNarrow(-104), splatNarrow(89)

	narrowLog2e = splatNarrow(math.Log2E)
	// ln2 in two parts. The first has 16 bits, so that its product with n, less x, is exact.
	narrowMinusLn2    = splatNarrow(-0x1.62e4p-1)
	narrowMinusLn2Low = splatNarrow(-(math.Ln2 - 0x1.62e4p-1))
	// Adding it to a small number leaves that number, rounded, in the low bits; with the bias, as an exponent.
	narrowMagic = splatNarrow(0x1.8p23)
	narrowBias  = splatNarrow(0x1.8p23 + 127)

	// (exp(r)-1-r)/r^2, Taylor: the terms left out add up to below 5.5e-9, a tenth of the half ulp of the last rounding.
	narrowTaylor = [...]splatNarrow16{
		splatNarrow(1. / 2), splatNarrow(1. / 6), splatNarrow(1. / 24), splatNarrow(1. / 120), splatNarrow(1. / 720),
		splatNarrow(1. / 5040),
	}

	narrowTanhLimit = splatNarrow(10) // tanh is 1 from there on
	narrowTanhSplit = splatNarrow(0.6)
	// (tanh(a)/a - 1)/a^2 in powers of a^2 for a <= 0.6, a minimax fit, which TestNarrowFits checks.
	narrowTanhNear = splatsNarrow(tanhNear[:])
)

// erf in float32. Coefficients are minimax fits, which TestNarrowFits checks.
var (
	narrowErfLimit = splatNarrow(4) // erf is 1 from there on

	// erf(a)/a - 1 in powers of a^2 for a <= 1.
	narrowErfNear = splatsNarrow(erfNear[:])
	// log(erfc(a)) in powers of a for a from 1 to 4.
	narrowErfFar = splatsNarrow(erfFar[:])
)

func splatsNarrow(xs []float32) (s [8]splatNarrow16) {
	for i, x := range xs {
		s[i] = splatNarrow(x)
	}
	return s
}

// The coefficients, from the constant term on.
var (
	tanhNear = [...]float32{
		-0.3333333134651184, 0.13333246111869812, -0.0539521686732769, 0.021732721477746964, -0.00826274510473013,
		0.00222697458229959,
	}
	erfNear = [...]float32{
		2/math.SqrtPi - 1, -0.3761262595653534, 0.1128358542919159, -0.026853812858462334, 0.005188327748328447,
		-0.0008010193705558777, 7.853860734030604e-05,
	}
	erfFar = [...]float32{
		0.00018846649618353695, -1.1295802593231201, -0.633216381072998, -0.10842208564281464, 0.02521033212542534,
		-0.004205282311886549, 0.0004414721915964037, -2.1697576812584884e-05,
	}
)

// padding is -Inf, whose exponential is 0 beside any other.
var padding = splatNarrow(float32(math.Inf(-1)))
