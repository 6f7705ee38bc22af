//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// The functions whose time counts most have loops of their own. What a loop calls is inlined, because each of the
// functions below stays under the compiler's limit; a function handed to a driver would have to fit in as a whole, and
// a call passes vectors through memory, which takes longer than the arithmetic.

// inWhole512 runs loop, which leaves what does not fill a vector alone, on the row, and on what is left padded with zeros.
// Inlined, it would be a copy for each loop. The padded vector is from a pool: the compiler puts on the heap what a function
// that it does not know gets.
//
//go:noinline
func inWhole512(loop func(dst, src []float32)) func(dst, src []float32) {
	return func(dst, src []float32) {
		n := len(src) &^ (lanes512 - 1)
		loop(dst[:n], src[:n])
		if n < len(src) {
			pad := pads.Get().(*splatNarrow16)
			clear(pad[copy(pad[:lanes512], src[n:]):])
			loop(pad[:lanes512], pad[:lanes512])
			copy(dst[n:], pad[:])
			pads.Put(pad)
		}
	}
}

// loops512 puts the loops in.
func (t *table) loops512() {
	t.unary[Exp] = inWhole512(expLoop512)
	t.unary[Sigmoid] = inWhole512(sigmoidLoop512)
	t.unary[Tanh] = inWhole512(tanhLoop512)
	t.unary[Erf] = inWhole512(erfLoop512)
	t.unary[Gelu] = inWhole512(geluLoop512)
	t.unary[Log] = inWhole512(logLoop512)
	t.unary[Log2] = inWhole512(log2Loop512)
	t.unary[Log1p] = inWhole512(log1pLoop512)
	t.unary[Expm1] = inWhole512(expm1Loop512)
	t.unary[Sin] = inWhole512(sinLoop512)
	t.unary[Cos] = inWhole512(cosLoop512)
	t.unary[Silu] = inWhole512(siluLoop512)
	t.softmax, t.logSoftmax = softmax512, logSoftmax512
	t.weigh = weigh512
	t.pow, t.exp2 = pow512, exp2512
	t.toInt32, t.toFloat32 = toInt32512, toFloat32512
	t.lessInt32 = lessInt32512
	t.choose = choose512
	t.less, t.lessEqual, t.equal, t.notEqual = less512, lessEqual512, equal512, notEqual512
}

// foldNarrow512 gives n and r with x = n ln2 + r, |r| <= ln2/2. The first product is exact.
func foldNarrow512(x narrow512) (n, r narrow512) {
	magic := loadNarrow512(&consts.narrowMagic)
	n = x.MulAdd(loadNarrow512(&consts.narrowLog2e), magic).Sub(magic)
	r = n.MulAdd(loadNarrow512(&consts.narrowMinusLn2), x)
	return n, n.MulAdd(loadNarrow512(&consts.narrowMinusLn2Low), r)
}

// growthNarrow512 is exp(r) - 1, accurate relative to itself.
func growthNarrow512(r narrow512) narrow512 {
	p := loadNarrow512(&consts.narrowGrowth[4]).
		MulAdd(r, loadNarrow512(&consts.narrowGrowth[3])).
		MulAdd(r, loadNarrow512(&consts.narrowGrowth[2])).
		MulAdd(r, loadNarrow512(&consts.narrowGrowth[1])).
		MulAdd(r, loadNarrow512(&consts.narrowGrowth[0]))
	return p.MulAdd(r.Mul(r), r)
}

// powerNarrow512 is 2 to the n for an integer from -126 to 127.
func powerNarrow512(n narrow512) narrow512 {
	return n.Add(loadNarrow512(&consts.narrowBias)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
}

// scaleNarrow512 is y times 2 to the n, in two steps: half of n is an exponent where n is none. Only the second step
// rounds, where the result is subnormal.
func scaleNarrow512(y, n narrow512) narrow512 {
	bias := loadNarrow512(&consts.narrowBias)
	h := n.MulAdd(loadNarrow512(&consts.narrowHalf), bias)
	y = y.Mul(h.AsInt32x16().ShiftAllLeft(23).AsFloat32x16())
	return y.Mul(powerNarrow512(n.Sub(h.Sub(bias))))
}

// clampNarrow512 moves what is beyond two limits to them. It keeps nan, which compares with neither.
func clampNarrow512(x, low, high narrow512) narrow512 {
	x = low.Merge(x, x.Less(low))
	return high.Merge(x, x.Greater(high))
}

// absNarrow512 clears the sign, that of nan as well.
func absNarrow512(x narrow512) narrow512 {
	return x.AsInt32x16().And(loadNarrow512(&consts.narrowAbs).AsInt32x16()).AsFloat32x16()
}

// signNarrow512 is y, which is not negative, with the sign of x.
func signNarrow512(y, x narrow512) narrow512 {
	sign := x.AsInt32x16().And(loadNarrow512(&consts.narrowSign).AsInt32x16())
	return y.AsInt32x16().Add(sign).AsFloat32x16()
}

// expLoop512 is exp: 0 or infinite beyond the limits, subnormal or normal between them.
func expLoop512(dst, src []float32) {
	low, high, unit := loadNarrow512(&consts.narrowLowest), loadNarrow512(&consts.narrowHighest), loadNarrow512(&consts.narrowOne)
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		n, r := foldNarrow512(clampNarrow512(archsimd.LoadFloat32x16(at512(&src[i])), low, high))
		scaleNarrow512(growthNarrow512(r).Add(unit), n).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// sigmoidLoop512: q = 1/(1+e) for positive x, e q for negative ones, with e = exp(-|x|), which does not overflow. The exponential is
// computed times 2^64, so that it is rounded once before it may be subnormal. What rounding drops from 1+e and from the quotient,
// 1 - q - q e, is added to q, or there would be half ulps of both.
func sigmoidLoop512(dst, src []float32) {
	low, unit := loadNarrow512(&consts.narrowLowest), loadNarrow512(&consts.narrowOne)
	var nought narrow512
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		a := x.AsInt32x16().Or(loadNarrow512(&consts.narrowSign).AsInt32x16()).AsFloat32x16()
		n, r := foldNarrow512(low.Merge(a, a.Less(low)))
		scale := n.Add(loadNarrow512(&consts.narrowBiasUp)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
		scaled := growthNarrow512(r).MulAdd(scale, scale)
		minusE := scaled.Mul(loadNarrow512(&consts.narrowMinusDown))
		q := unit.Div(unit.Sub(minusE))
		q = q.MulAdd(q.MulAdd(minusE, unit.Sub(q)), q)
		scaled.Mul(loadNarrow512(&consts.narrowDown)).Merge(unit, x.Less(nought)).Mul(q).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// tanhLoop512 is a polynomial of |x| with the sign of x.
func tanhLoop512(dst, src []float32) {
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		a, limit := absNarrow512(x), loadNarrow512(&consts.narrowTanhLimit)
		a = limit.Merge(a, a.Greater(limit))
		constant, p, t := pieces512(&consts.narrowTanh, a, loadNarrow512(&consts.narrowTanhShift))
		signNarrow512(p.MulAdd(t, constant), x).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// erfLoop512 is the same for erf, but that what is multiplied by t in the first interval is less by 1: 1.128, the slope at 0, has too
// few digits.
func erfLoop512(dst, src []float32) {
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		a, limit := absNarrow512(x), loadNarrow512(&consts.narrowErfLimit)
		a = limit.Merge(a, a.Greater(limit))
		constant, p, t := pieces512(&consts.narrowErf, a, loadNarrow512(&consts.narrowErfShift))
		constant = t.Merge(constant, a.Add(loadNarrow512(&consts.narrowErfShift)).Less(loadNarrow512(&consts.narrowErfFirst)))
		signNarrow512(p.MulAdd(t, constant), x).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// pow512 is 2^(y log2(x)), in float64 for the digits that the product needs. It pads what fills no vector: an element's place in the
// row must not show.
func pow512(dst, x, y []float32) {
	whole := len(dst) &^ (lanes512 - 1)
	powLoop512(dst[:whole], x, y)
	if whole < len(dst) {
		bases, powers := consts.narrowOne, consts.narrowOne
		copy(bases[:lanes512], x[whole:])
		copy(powers[:lanes512], y[whole:])
		powLoop512(bases[:lanes512], bases[:], powers[:])
		copy(dst[whole:], bases[:])
	}
}

// powLoop512 computes vectors of positive normal bases and finite powers, and of squares: these are products, which all paths round
// alike. It gives other vectors to signedPow512, and those with some squares too: a choice by lanes would slow all others down.
// SAFETY: dst has whole vectors, x and y as many elements or more.
func powLoop512(dst, x, y []float32) {
	for i := 0; i < len(dst); i += lanes512 {
		a, b := archsimd.LoadFloat32x16(at512(&x[i])), archsimd.LoadFloat32x16(at512(&y[i]))
		squares := b.Equal(loadNarrow512(&consts.narrowTwo)).ToBits()
		if squares == 1<<lanes512-1 {
			a.Mul(a).Store(at512(&dst[i]))
			continue
		}
		finite := absNarrow512(b).Less(loadNarrow512(&consts.narrowInf)).ToBits()
		if squares != 0 || finite != 1<<lanes512-1 || unusual512(a, &consts.narrowNormalTop) {
			signedPow512(octo512(&dst[i]), octo512(&x[i]), octo512(&y[i]))
			signedPow512(octo512(&dst[i+half512]), octo512(&x[i+half512]), octo512(&y[i+half512]))
			continue
		}
		k, f := splitNarrow512(a)
		low := wideLog2512(k.GetLo().ConvertToFloat64(), f.GetLo().ConvertToFloat64())
		low = low.Mul(archsimd.LoadFloat32x8(octo512(&y[i])).ConvertToFloat64())
		high := wideLog2512(k.GetHi().ConvertToFloat64(), f.GetHi().ConvertToFloat64())
		high = high.Mul(archsimd.LoadFloat32x8(octo512(&y[i+half512])).ConvertToFloat64())
		wideExp2512(low).ConvertToFloat32().Store(octo512(&dst[i]))
		wideExp2512(high).ConvertToFloat32().Store(octo512(&dst[i+half512]))
	}
	archsimd.ClearAVXUpperBits()
}

// wideLog2512 is log2 of 2^k (1+f) for f from sqrt(1/2)-1 to sqrt(2)-1, within 1.1e-10 of itself; k of f = 0. The polynomial is one
// of pairs of terms, in f^4: a product waits for few others.
func wideLog2512(k, f wide512) wide512 {
	z := f.Mul(f)
	z2 := z.Mul(z)
	return log2High512(f, z).MulAdd(z2, log2Middle512(f, z)).MulAdd(z2, log2Low512(f, z)).MulAdd(f, k)
}

// log2High512 has the coefficients of the highest four powers, given f and its square z.
func log2High512(f, z wide512) wide512 {
	low := load512(&consts.log2Fitted[9]).MulAdd(f, load512(&consts.log2Fitted[8]))
	return load512(&consts.log2Fitted[11]).MulAdd(f, load512(&consts.log2Fitted[10])).MulAdd(z, low)
}

// log2Middle512 has the next four.
func log2Middle512(f, z wide512) wide512 {
	low := load512(&consts.log2Fitted[5]).MulAdd(f, load512(&consts.log2Fitted[4]))
	return load512(&consts.log2Fitted[7]).MulAdd(f, load512(&consts.log2Fitted[6])).MulAdd(z, low)
}

// log2Low512 has the lowest four.
func log2Low512(f, z wide512) wide512 {
	low := load512(&consts.log2Fitted[1]).MulAdd(f, load512(&consts.log2Fitted[0]))
	return load512(&consts.log2Fitted[3]).MulAdd(f, load512(&consts.log2Fitted[2])).MulAdd(z, low)
}

// wideExp2512 is 2^t within 2.4e-10 of itself, 2^t of an integer; any t beyond 1000 counts as that, which float32 does not show. It is
// not for NaN, of which Max and Min may or may not make a number.
func wideExp2512(t wide512) wide512 {
	t = t.Min(load512(&consts.exp2High)).Max(load512(&consts.exp2Low))
	shifted := t.Add(load512(&consts.trigMagic)) // the integer beside t in the low bits
	p := exp2Fraction512(t.Sub(shifted.Sub(load512(&consts.trigMagic))))
	return p.AsInt64x8().Add(shifted.AsInt64x8().ShiftAllLeft(52)).AsFloat64x8()
}

// exp2Fraction512 is 2^r for |r| <= 1/2.
func exp2Fraction512(r wide512) wide512 {
	z := r.Mul(r)
	even := load512(&consts.exp2Fitted[5]).
		MulAdd(z, load512(&consts.exp2Fitted[3])).
		MulAdd(z, load512(&consts.exp2Fitted[1])).
		MulAdd(z, load512(&consts.one))
	return load512(&consts.exp2Fitted[6]).
		MulAdd(z, load512(&consts.exp2Fitted[4])).
		MulAdd(z, load512(&consts.exp2Fitted[2])).
		MulAdd(z, load512(&consts.exp2Fitted[0])).
		MulAdd(r, even)
}

// signedPow512 computes a vector of any elements: 2^(y log2|x|), negative for odd powers of negative numbers. The scalar
// function computes elements whose base is 0 or not finite, whose power is not finite, or whose power is a fraction while the
// base is negative.
func signedPow512(dst, x, y *[half512]float32) {
	bases, powers := *x, *y // dst may be either
	a, b := archsimd.LoadFloat32x8(x).ConvertToFloat64(), archsimd.LoadFloat32x8(y).ConvertToFloat64()
	nought := load512(&consts.zero)
	base, integral, h := abs512(a), b.TruncScaled(0).Equal(b), b.Mul(load512(&consts.half))
	// The same steps as in powLoop512: an element has the same bits in either.
	p := wideExp2512(wideLog2512(splitLog512(base)).Mul(b))
	// An integer is odd if its half has a fraction; of 2^53 and above all are even.
	odd := h.TruncScaled(0).NotEqual(h)
	p = negate512(p).Merge(p, a.Less(nought).And(odd))
	finite := a.Sub(a).Add(b.Sub(b)).Equal(nought)
	usual := base.Greater(nought).And(finite).And(a.Greater(nought).Or(integral)).ToBits()
	a.Mul(a).Merge(p, b.Equal(load512(&consts.two))).ConvertToFloat32().Store(dst)
	archsimd.ClearAVXUpperBits()
	for left := usual ^ (1<<half512 - 1); left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left)
		dst[i] = power(bases[i], powers[i])
	}
}

// exp2512 is Exp2: integers become exponents, vectors with other numbers are left to pow512, which rounds integers to the same.
// SAFETY: both slices have one length.
func exp2512(dst, src []float32) {
	whole := len(src) &^ (lanes512 - 1)
	for i := 0; i < whole; i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		// NaN equals nothing, and infinities are beyond the limit. Subnormal powers are left out too: they have no exponent.
		usual := x.TruncScaled(0).Equal(x).And(absNarrow512(x).Less(loadNarrow512(&consts.narrowPower)))
		if usual.ToBits() == 1<<lanes512-1 {
			powerNarrow512(x).Store(at512(&dst[i]))
		} else {
			pow512(dst[i:i+lanes512], consts.narrowTwo[:lanes512], src[i:i+lanes512])
		}
	}
	archsimd.ClearAVXUpperBits()
	pow512(dst[whole:], consts.narrowTwo[:len(src)-whole], src[whole:])
}

// octo512 is the vector of half512 elements at an element.
// SAFETY: see at512.
func octo512(p *float32) *[half512]float32 { return (*[half512]float32)(unsafe.Pointer(p)) }
