//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The polynomials of the vector loops. They run in float64, so their error in
// float32 ulp (2^-24 relative) is what the comments give, far below the half
// ulp of the final rounding.

// constants are the vectors that the loops load, in one object: see vec.NewAligned. Every field is a vector or an array of vectors;
// TestConstantsAreAligned checks it, and that loops load no constant from elsewhere.
type constants struct {
	plainConstants
	expConstants
	logConstants
	powConstants
	tablePowConstants
	trigConstants
	asinhConstants
	atanConstants
	geluConstants
	gammaConstants
	besselConstants
	narrowExpConstants
	narrowLogConstants
	narrowTrigConstants
	narrowSiluConstants
	narrowPiecesConstants
}

// Consts are loaded for each vector by a loop that stores. With the address held in a register instead, log, tanh, erf and sin took 4
// to 15 % less of data in cache, but 30 to 80 % more of 16 MiB, measured on Zen 5; why is not known.
var Consts = newConstants()

// newConstants fills them.
// SAFETY: see vec.NewAligned; the type has no pointers.
func newConstants() *constants {
	c := (*constants)(vec.NewAligned(unsafe.Sizeof(constants{})))
	c.plainConstants.fill()
	c.expConstants.fill()
	c.logConstants.fill()
	c.powConstants.fill()
	c.tablePowConstants.fill()
	c.trigConstants.fill()
	c.asinhConstants.fill()
	c.atanConstants.fill()
	c.geluConstants.fill()
	c.gammaConstants.fill()
	c.besselConstants.fill()
	c.narrowExpConstants.fill()
	c.narrowLogConstants.fill()
	c.narrowTrigConstants.fill()
	c.narrowSiluConstants.fill()
	c.narrowPiecesConstants.fill()
	return c
}

// plainConstants are numbers that many functions use.
type plainConstants struct {
	zero, One, two, half, minusOne, inf, nan vec.Splat64

	// Integers in the guise of floats.
	minusZero                                 vec.Splat64
	absMask, mantissaMask, fieldShift, lowBit vec.Splat64
}

func (c *plainConstants) fill() {
	c.zero.Set(0)
	c.One.Set(1)
	c.two.Set(2)
	c.half.Set(0.5)
	c.minusOne.Set(-1)
	c.inf.Set(math.Inf(1))
	c.nan.Set(math.NaN())

	c.minusZero.SetBits(1 << 63)
	c.absMask.SetBits(1<<63 - 1)
	c.mantissaMask.SetBits(1<<52 - 1)
	c.fieldShift.SetBits(52)
	c.lowBit.SetBits(1)
}

// exp: x = n ln2 + r with |r| <= ln2/2, exp(x) = 2^n exp(r).
type expConstants struct {
	// Beyond these exp is 0 or infinite in float32, with room for a division
	// by a small beta, and 2^n stays a normal float64.
	expLow, expHigh vec.Splat64

	log2e, minusLn2 vec.Splat64
	// Adding it to a small number leaves, rounded to nearest, that number in
	// the low mantissa bits, with the exponent bias of float64 added.
	expMagic vec.Splat64

	// (exp(r)-1)/r, Taylor: the terms left out add up to below 2.1e-11.
	expTaylor [9]vec.Splat64
}

func (c *expConstants) fill() {
	c.expLow.Set(-708)
	c.expHigh.Set(708)

	c.log2e.Set(math.Log2E)
	c.minusLn2.Set(-math.Ln2)
	c.expMagic.Set(0x1.8p52 + 1023)

	setAll(c.expTaylor[:], 1, 1./2, 1./6, 1./24, 1./120, 1./720, 1./5040, 1./40320, 1./362880)
}

// log: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m-1, s = f/(2+f),
// log(m) = 2 atanh(s).
type logConstants struct {
	rootHalf vec.Splat64 // of float32, so that float32 and float64 split alike

	ln2, log10e vec.Splat64

	// 2^52 + 1023: an exponent field or-ed into the mantissa of 2^52 is the
	// number 2^52 + field.
	fieldBias vec.Splat64
	Two52     vec.Splat64

	// (atanh(s)/s - 1)/s^2 in powers of s^2 <= 0.0295, Taylor: the terms left
	// out add up to below 2e-12 of the result.
	atanhTaylor [6]vec.Splat64
}

func (c *logConstants) fill() {
	c.rootHalf.Set(float64(float32(math.Sqrt2 / 2)))

	c.ln2.Set(math.Ln2)
	c.log10e.Set(math.Log10E)

	c.fieldBias.Set(0x1p52 + 1023)
	c.Two52.Set(0x1p52)

	setAll(c.atanhTaylor[:], 1./3, 1./5, 1./7, 1./9, 1./11, 1./13)
}

// pow: 2^(y log2(x)).
type powConstants struct {
	// log2(1+f)/f, a minimax fit relative to itself: error below 1.1e-10.
	log2Fitted [12]vec.Splat64

	// Beyond these 2^t is 0 or infinite in float32, and 2^n stays a normal float64.
	exp2Low, exp2High vec.Splat64

	// (2^r-1)/r for |r| <= 1/2, a minimax fit: error below 2.4e-10 of 2^r.
	exp2Fitted [7]vec.Splat64
}

func (c *powConstants) fill() {
	setAll(c.log2Fitted[:],
		1.442695040939366, -0.7213475252113207, 0.4808983207188551, -0.36067280081344577,
		0.2885406447747511, -0.24050416390622853, 0.20609620800153952, -0.17904707764398156,
		0.15900225711202523, -0.15698219720001663, 0.15485350530465858, -0.08634140982681918)
	c.exp2Low.Set(-1000)
	c.exp2High.Set(1000)
	setAll(c.exp2Fitted[:],
		0.6931471838167426, 0.24022650920797323, 0.055504003758576184, 0.009618056914585817,
		0.0013341950383091942, 0.00015461369471339839, 1.3360009435286524e-05)
}

// sin and cos: x = q pi/2 + r with |r| <= pi/4.
type trigConstants struct {
	twoOverPi, trigMagic, minusHalfPi vec.Splat64
	// pi/2 less its float64, by which q may be multiplied up to trigLimit.
	minusHalfPiLow vec.Splat64

	// Above it the two-word pi/2 runs out and the scalar function takes over.
	trigLimit vec.Splat64

	// sin(r)/r and cos(r) in powers of r^2 <= 0.617, Taylor: the terms left
	// out are below 9e-12 and 4e-13.
	sinTaylor [6]vec.Splat64
	cosTaylor [7]vec.Splat64
}

func (c *trigConstants) fill() {
	c.twoOverPi.Set(2 / math.Pi)
	c.trigMagic.Set(0x1.8p52)
	c.minusHalfPi.Set(-0x1.921fb54442d18p+0)
	c.minusHalfPiLow.Set(-0x1.1a62633145c07p-54)

	c.trigLimit.Set(0x1p30)

	setAll(c.sinTaylor[:], 1, -1./6, 1./120, -1./5040, 1./362880, -1./39916800)
	setAll(c.cosTaylor[:], 1, -1./2, 1./24, -1./720, 1./40320, -1./3628800, 1./479001600)
}

// asinh: a + (sqrt(1+a^2) - 1) above, where the difference has not cancelled to
// less than 2e-10 of a; a + a^2/2 below, where a^4/8 is below 2e-10 of a.
type asinhConstants struct{ asinhSplit vec.Splat64 }

func (c *asinhConstants) fill() { c.asinhSplit.Set(0x1p-10) }

// atan: the angle of a point with 0 <= y <= x is q = y/x times a function of q^2.
type atanConstants struct {
	halfTurn, rightPi vec.Splat64

	// atan(q)/q in powers of 2q^2 - 1. The coefficients interpolate at 11
	// Chebyshev nodes; TestAtanFit computes them again. Error below 5e-10.
	atanFitted [11]vec.Splat64
}

func (c *atanConstants) fill() {
	c.halfTurn.Set(math.Pi)
	c.rightPi.Set(math.Pi / 2)

	setAll(c.atanFitted[:],
		0.8704197513671027, -0.10187654574464397, 0.020851852252788787, -0.0050307960956747656,
		0.0013155651370061576, -0.0003613558146932599, 0.00010239166889437389, -2.8816726626892194e-05,
		8.488348421244819e-06, -3.4035784091718764e-06, 1.0328192714000166e-06)
}

// gelu with tanh: x/(1+exp(-y)), y = x (linear + cubic x^2).
type geluConstants struct {
	geluLinear, geluThird vec.Splat64
}

func (c *geluConstants) fill() {
	c.geluLinear.Set(2 * math.Sqrt2 / math.SqrtPi)
	c.geluThird.Set(2 * math.Sqrt2 / math.SqrtPi * geluCubic)
}

// lgamma and digamma, as in gamma.go. What is left out of the series, which begin at 8 here, is below 1e-11.
type gammaConstants struct {
	eight, three, minusHalf, gammaDoubt, lgammaShift vec.Splat64
	lgammaFitted                                     [14]vec.Splat64
	stirlingTerms                                    [4]vec.Splat64
	digammaRoot, digammaRootLow                      vec.Splat64
	digammaFitted                                    [15]vec.Splat64
	digammaTerms                                     [5]vec.Splat64
}

func (c *gammaConstants) fill() {
	c.eight.Set(8)
	c.three.Set(3)
	c.minusHalf.Set(-0.5)
	c.gammaDoubt.Set(0x1p-8)
	c.lgammaShift.Set((logOf2Pi - 1) / 2)
	setAll(c.lgammaFitted[:], lgammaFew...)
	setAll(c.stirlingTerms[:], 1./12, -1./360, 1./1260, -1./1680)
	c.digammaRoot.Set(digammaZero)
	c.digammaRootLow.Set(digammaRest)
	setAll(c.digammaFitted[:], digammaFew...)
	setAll(c.digammaTerms[:], 1./12, -1./120, 1./252, -1./240, 1./132)
}

// Modified Bessel functions: the series of bessel.go without terms below 1e-10 of the result.
type besselConstants struct {
	quarter, sixteen vec.Splat64
	i0NearFitted     [23]vec.Splat64
	i1NearFitted     [24]vec.Splat64
	i0FarFitted      [9]vec.Splat64
	i1FarFitted      [9]vec.Splat64
}

func (c *besselConstants) fill() {
	c.quarter.Set(0.25)
	c.sixteen.Set(16)
	setAll(c.i0NearFitted[:], i0Near[:23]...)
	setAll(c.i1NearFitted[:], i1Near[:24]...)
	setAll(c.i0FarFitted[:], i0Far[:9]...)
	setAll(c.i1FarFitted[:], i1Far[:9]...)
}

// setAll sets one constant for each number.
func setAll(s []vec.Splat64, xs ...float64) {
	for i, x := range xs {
		s[i].Set(x)
	}
}

// exp in float32: x = n ln2 + r, exp(x) = 2^n exp(r).
type narrowExpConstants struct {
	NarrowOne             vec.Splat32
	narrowHalf, narrowTwo vec.Splat32
	narrowPower           vec.Splat32 // the first power of 2 that exponents do not have on both sides
	narrowAbs, NarrowSign vec.Splat32

	// Beyond these exp is 0 or infinite.
	narrowLowest, narrowHighest vec.Splat32

	NarrowLog2e vec.Splat32
	// ln2 in two parts. The first has 16 bits, so that its product with n, less x, is exact.
	NarrowMinusLn2, NarrowMinusLn2Low vec.Splat32
	// Adding it to a small number leaves that number, rounded, in the low bits; with the bias, as an exponent.
	NarrowMagic vec.Splat32
	narrowBias  vec.Splat32

	// (exp(r)-1-r)/r^2, a minimax fit: error below 3.2e-9 of exp(r), which TestNarrowFits checks.
	narrowGrowth [9]vec.Splat32
}

func (c *narrowExpConstants) fill() {
	c.NarrowOne.Set(1)
	c.narrowHalf.Set(0.5)
	c.narrowTwo.Set(2)
	c.narrowPower.Set(127)
	c.narrowAbs.Set(math.Float32frombits(1<<31 - 1))
	c.NarrowSign.Set(math.Float32frombits(1 << 31))

	c.narrowLowest.Set(-104)
	c.narrowHighest.Set(89)

	c.NarrowLog2e.Set(math.Log2E)
	c.NarrowMinusLn2.Set(-0x1.62e4p-1)
	c.NarrowMinusLn2Low.Set(-(math.Ln2 - 0x1.62e4p-1))
	c.NarrowMagic.Set(0x1.8p23)
	c.narrowBias.Set(0x1.8p23 + 127)

	setAllNarrow(&c.narrowGrowth, growth[:])
}

// setAllNarrow sets one constant for each number.
func setAllNarrow(s *[9]vec.Splat32, xs []float32) {
	for i, x := range xs {
		s[i].Set(x)
	}
}

// log in float32: x = 2^k (1+f) with 1+f in [sqrt(1/2), sqrt(2)), log(1+f) = f + f^2 q(f).
type narrowLogConstants struct {
	narrowRoot, narrowShift                 vec.Splat32
	narrowLeast                             vec.Splat32 // the least normal number
	narrowRaise, narrowRaised               vec.Splat32
	narrowMinusOne                          vec.Splat32
	narrowInf, narrowMinusInf, narrowNaN    vec.Splat32
	narrowLn2, narrowLn2Low, narrowLog2eLow vec.Splat32
	narrowLogCurve, narrowLog2Curve         [9]vec.Splat32

	// Added to the bits of a positive normal number it gives what is less, as an int32, than one of the tops; of no other.
	narrowNormal                    vec.Splat32
	narrowNormalTop, narrowLog1pTop vec.Splat32
	narrowLog1pFar                  vec.Splat32
}

func (c *narrowLogConstants) fill() {
	c.narrowRoot.Set(math.Sqrt2 / 2)
	c.narrowShift.Set(math.Float32frombits(23))
	c.narrowLeast.Set(0x1p-126)
	c.narrowRaise.Set(0x1p24)
	c.narrowRaised.Set(24)
	c.narrowMinusOne.Set(-1)
	c.narrowInf.Set(float32(math.Inf(1)))
	c.narrowNaN.Set(float32(math.NaN()))
	c.narrowMinusInf.Set(float32(math.Inf(-1)))
	c.narrowLn2.Set(math.Ln2)
	c.narrowLn2Low.Set(math.Ln2 - 0x1.62e43p-1)
	c.narrowLog2eLow.Set(math.Log2E - 0x1.715476p+0)
	setAllNarrow(&c.narrowLogCurve, logCurve[:])
	setAllNarrow(&c.narrowLog2Curve, log2Curve[:])

	c.narrowNormal.Set(math.Float32frombits(0x7f800000))
	c.narrowNormalTop.Set(math.Float32frombits(0xff000000 - 1))
	c.narrowLog1pTop.Set(math.Float32frombits(0xfe000000 - 1))
	c.narrowLog1pFar.Set(0x1p126)
}

// sin and cos in float32: x = n pi + r or (n + 1/2) pi + r, |r| <= pi/2, sin(r) = r + r^3 p(r^2).
type narrowTrigConstants struct {
	narrowOverPi vec.Splat32
	// pi in three parts, each below what is left, so that a product of -0 and its negative is 0 of the right sign.
	narrowMinusPi, narrowMinusPiMid, narrowMinusPiLow vec.Splat32

	narrowMinusHalf, narrowMagicOdd, narrowTrigLimit vec.Splat32
	narrowSin                                        [9]vec.Splat32
}

func (c *narrowTrigConstants) fill() {
	c.narrowOverPi.Set(1 / math.Pi)
	c.narrowMinusPi.Set(-0x1.921fb4p+1)
	c.narrowMinusPiMid.Set(-0x1.4442dp-23)
	c.narrowMinusPiLow.Set(-0x1.846988p-47)
	c.narrowMinusHalf.Set(-0.5)
	c.narrowMagicOdd.Set(0x1.8p23 + 1)
	c.narrowTrigLimit.Set(trigLimitNarrow)
	setAllNarrow(&c.narrowSin, sinFit[:])
}

// Above it multiples of pi in three parts are not accurate enough, and float64 takes over.
const trigLimitNarrow = 0x1p17

// silu in float32.
type narrowSiluConstants struct {
	narrowSiluLimit                           vec.Splat32 // silu of less is 0
	narrowDown, narrowMinusDown, NarrowBiasUp vec.Splat32
	narrowExpm1Least                          vec.Splat32 // expm1 of less is -1
}

func (c *narrowSiluConstants) fill() {
	c.narrowSiluLimit.Set(120)
	c.narrowDown.Set(0x1p-64)
	c.narrowMinusDown.Set(-0x1p-64)
	c.NarrowBiasUp.Set(0x1.8p23 + 127 + 64)
	c.narrowExpm1Least.Set(-20)
}

// gelu in float32: max(x, 0) - a erfc(a/sqrt(2))/2 with a = |x|; erfc(a/sqrt(2)) = exp(-a^2/2) times what decreases slowly.
type narrowPiecesConstants struct {
	narrowGeluLimit                    vec.Splat32 // gelu of less is 0
	narrowGeluShift                    vec.Splat32
	narrowGeluFirst                    vec.Splat32 // a + shift where the first interval ends
	narrowPieces, narrowMinusHalfLog2e vec.Splat32
	narrowGelu                         [9]vec.Splat32

	narrowTanhLimit vec.Splat32 // tanh is 1 from there on
	narrowTanhShift vec.Splat32
	narrowTanh      [9]vec.Splat32

	narrowErfLimit vec.Splat32 // erf is 1 from there on
	narrowErfShift vec.Splat32
	narrowErfFirst vec.Splat32 // see narrowGeluFirst
	narrowErf      [9]vec.Splat32
}

func (c *narrowPiecesConstants) fill() {
	c.narrowGeluLimit.Set(14.5)
	c.narrowGeluShift.Set(1)
	c.narrowGeluFirst.Set(1.5)
	c.narrowPieces.Set(math.Float32frombits(22))
	c.narrowMinusHalfLog2e.Set(-math.Log2E / 2)
	setPieces(&c.narrowGelu, geluPieces[:], 6)

	c.narrowTanhLimit.Set(9.05)
	c.narrowTanhShift.Set(0.75)
	setPieces(&c.narrowTanh, tanhPieces[:], 5)

	c.narrowErfLimit.Set(4)
	c.narrowErfShift.Set(0.375)
	c.narrowErfFirst.Set(0.5)
	setPieces(&c.narrowErf, erfPieces[:], 3)
}

// setPieces makes tables of eight polynomials. The first of them belongs to numbers with the given last three bits above the
// second of the mantissa.
func setPieces(s *[9]vec.Splat32, rows [][8]float32, first int) {
	for i, row := range rows {
		for lane := range s[i] {
			s[i][lane] = row[(lane-first+8)%8]
		}
	}
}

// The coefficients, from the constant term on.
var (
	growth = [...]float32{
		0.4999999403953552, 0.1666651964187622, 0.04166825860738754, 0.008368857204914093, 0.0013821767643094063,
	}
	logCurve = [...]float32{
		-0.49999988079071045, 0.33333325386047363, -0.2500160038471222, 0.20001959800720215, -0.16608718037605286,
		0.1418234258890152, -0.13246417045593262, 0.12900835275650024, -0.07608295977115631,
	}
	log2Curve = [...]float32{
		-0.7213473320007324, 0.4808981716632843, -0.3606986403465271, 0.2885737419128418, -0.23957094550132751,
		0.20443645119667053, -0.19129438698291779, 0.18740899860858917, -0.11095607280731201,
	}
	sinFit = [...]float32{
		-0.1666666716337204, 0.008333349600434303, -0.00019842888286802918, 2.7613475594989723e-06, -2.52243186338319e-08,
	}
)

// pads has *vec.Splat32, for the end of a row.
var pads = sync.Pool{New: func() any { return new(vec.Splat32) }}

// geluPieces are the centers of eight intervals of a, which begin at 0, 0.5, 1, 2, 3, 5, 7 and 11, and the coefficients there, in powers of
// a less the center, of a exp(a^2/2) erfc(a/sqrt(2))/2, less a/2 in the first. They are minimax fits, with centers where the constant term is nearly
// a float32; TestNarrowFits checks them.
var geluPieces = [...][8]float32{
	{0, 0.747894287, 1.50743866, 2.49786377, 3.98382568, 6.06289673, 8.97624207, 13.0480042},
	{0, 0.224816084, 0.309192419, 0.353269964, 0.377492815, 0.38887313, 0.394164771, 0.396639138},
	{0, 0.170370758, 0.0698186904, 0.0273456126, 0.00930542685, 0.00309160468, 0.00102792063, 0.000347047142},
	{-0.398941994, -0.110416554, -0.0371263288, -0.0115195261, -0.00291393697, -0.000697111187, -0.00016408255, -3.90056921e-05},
	{0.249988765, 0.0576587394, 0.016254643, 0.00408142107, 0.000783295778, 0.00013697824, 2.30362439e-05, 3.87586942e-06},
	{-0.132833466, -0.0260231439, -0.00624558702, -0.00129069132, -0.00019073271, -2.4741872e-05, -2.98955501e-06, -3.58780824e-07},
	{0.0616003685, 0.0105212862, 0.00217477046, 0.000375226111, 4.34049143e-05, 4.20099195e-06, 3.69993387e-07, 3.16856763e-08},
	{-0.0237439834, -0.00394360349, -0.000731841777, -0.000105047104, -1.0121219e-05, -7.18172828e-07, -4.90314669e-08, -2.86556134e-09},
	{0.00568332104, 0.00135559461, 0.000228401535, 2.69388638e-05, 2.06088657e-06, 1.23686632e-07, 5.67541258e-09, 2.49400056e-10},
}

// tanhPieces is the same for tanh(a), in intervals that begin at 0, 0.25, 0.75, 1.25, 2.25, 3.25, 5.25 and 7.25.
var tanhPieces = [...][8]float32{
	{0, 0.50100708, 1.00415039, 1.74842453, 2.75822449, 4.2291832, 6.31866455, 8.11505508},
	{0, 0.462908804, 0.763331711, 0.941195965, 0.991991997, 0.999575853, 0.999993503, 0.999999821},
	{1, 0.785715461, 0.417324692, 0.114150196, 0.0159518793, 0.000848108612, 1.2991959e-05, 3.57612549e-07},
	{-3.82821455e-08, -0.363714248, -0.318557471, -0.107435219, -0.0158241391, -0.00084824831, -1.30008775e-05, -3.57604989e-07},
	{-0.333330452, -0.0935421735, 0.104057834, 0.0630679876, 0.0103800595, 0.000564772228, 8.68387451e-06, 2.38377666e-07},
	{-7.13056361e-05, 0.164503753, 0.0267848875, -0.0236079916, -0.00502218958, -0.000278875465, -4.28686781e-06, -1.18705231e-07},
	{0.134127513, -0.027364077, -0.0458916984, 0.00369997765, 0.00187749066, 0.000111909445, 1.67270764e-06, 4.77564832e-08},
	{-0.00425455207, -0.0492327586, 0.0181873236, 0.00241327193, -0.00053997722, -4.23040583e-05, -6.55699978e-07, -1.74330186e-08},
	{-0.0444592126, 0.0260935929, 0.00303285685, -0.00205866154, 0.000100907404, 1.13717906e-05, 2.16548059e-07, 4.66887196e-09},
}

// erfPieces is the same for erf(a), less a in the first interval, in intervals that begin at 0, 0.125, 0.375, 0.625, 1.125, 1.625, 2.625 and 3.625.
var erfPieces = [...][8]float32{
	{0, 0.252506256, 0.496154785, 0.874639511, 1.37506294, 2.10726357, 3.1498909, 3.83252287},
	{0, 0.278981388, 0.517114282, 0.783885837, 0.948180795, 0.997118652, 0.999991596, 0.99999994},
	{2/math.SqrtPi - 1, 1.05867994, 0.88215512, 0.525076151, 0.170330286, 0.0133027546, 5.53753744e-05, 4.71451642e-07},
	{5.485688916451181e-07, -0.267323434, -0.437685519, -0.459252298, -0.234215051, -0.0280288607, -0.000174765039, -1.8040065e-06},
	{-0.3761768639087677, -0.307876498, -0.149264276, 0.0927579999, 0.157930344, 0.0349513032, 0.00034888013, 4.45871547e-06},
	{0.00170741300098598, 0.12801376, 0.182936892, 0.112519324, -0.0304920655, -0.027569145, -0.000482985401, -8.09951689e-06},
	{0.08667188882827759, 0.0777578652, 0.00665941462, -0.0670893788, -0.0306128133, 0.0126387803, 0.000502413954, 1.09114771e-05},
	{0.18503203988075256, -0.0425258279, -0.0506826565, -0.0105529437, 0.0216544885, -0.000926388835, -0.000456293405, -9.82106394e-06},
	{-0.5178008079528809, 0.0340264291, 0.071612969, 0.0174910072, -0.00115456234, -0.00202634372, 0.000280422071, 8.83963003e-06},
}
