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
	t.softmax = softmax512
	t.weigh = weigh512
	t.pow, t.exp2 = pow512, exp2512
	t.toInt32, t.toFloat32 = toInt32512, toFloat32512
	t.lessInt32 = lessInt32512
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

// sigmoidLoop512: 1/(1+e) for positive x, e/(1+e) for negative ones, with e = exp(-|x|), which does not overflow.
// What rounding drops from 1+e is taken off at the end: it would be the third half ulp.
func sigmoidLoop512(dst, src []float32) {
	low, unit := loadNarrow512(&consts.narrowLowest), loadNarrow512(&consts.narrowOne)
	var nought narrow512
	for len(src) >= lanes512 && len(dst) >= lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		a := nought.Sub(absNarrow512(x))
		n, r := foldNarrow512(low.Merge(a, a.Less(low)))
		e := scaleNarrow512(growthNarrow512(r).Add(unit), n)
		d := e.Add(unit)
		negative := x.Less(nought)
		q := e.Merge(unit, negative).Div(d)
		dropped := e.Sub(d.Sub(unit)).Mul(unit.Sub(q).Merge(q, negative)) // times 1/d
		q.Sub(q.Mul(dropped)).StoreSlice(dst)
		src, dst = src[lanes512:], dst[lanes512:]
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

// expSum512 is expSumRow, accurate to 3e-11, which is far below the rounding to float32. It leaves the end of the row, which fills no vector, to a vector that is padded with -Inf.
func expSum512(dst []float64, src []float32, top float32) float64 {
	var sums wide512
	t := archsimd.BroadcastFloat64x8(float64(top))
	for len(src) >= half512 && len(dst) >= half512 {
		r, scale := foldExp512(archsimd.LoadFloat32x8Slice(src).ConvertToFloat64().Sub(t))
		e := expTaylor512(r).MulAdd(scale, scale)
		sums = sums.Add(e)
		e.StoreSlice(dst)
		src, dst = src[half512:], dst[half512:]
	}
	sum := across512(sums)
	if len(src) == 0 {
		return sum
	}
	pad := consts.padding
	var out [half512]float64
	copy(pad[:], src)
	sum += expSum512(out[:], pad[:half512], top)
	copy(dst, out[:])
	return sum
}

// pow512 is exp(y log(x)), which is accurate to 1e-9 because the logarithm is a float64. Squares are products, which all paths
// round alike; a vector of squares needs no more than that. Vectors with other than positive finite bases and finite powers go
// to signedPow512.
// SAFETY: all three slices have one length; octo512 gets the first of half512 elements.
func pow512(dst, x, y []float32) {
	nought := load512(&consts.zero)
	whole := len(dst) &^ (half512 - 1)
	for m := 0; m < whole; m += half512 {
		a := archsimd.LoadFloat32x8(octo512(&x[m])).ConvertToFloat64()
		b := archsimd.LoadFloat32x8(octo512(&y[m])).ConvertToFloat64()
		// The product of two float32 is exact in float64, so that it is rounded once, as in float32.
		squares := b.Equal(load512(&consts.two)).ToBits()
		if squares == 1<<half512-1 {
			a.Mul(a).ConvertToFloat32().Store(octo512(&dst[m]))
			continue
		}
		finite := a.Sub(a).Add(b.Sub(b)).Equal(nought) // else NaN
		// A vector with some squares goes to signedPow512 too: a choice by lanes would slow all others down.
		if squares != 0 || a.Greater(nought).And(finite).ToBits() != 1<<half512-1 {
			signedPow512(octo512(&dst[m]), octo512(&x[m]), octo512(&y[m]))
			continue
		}
		k, f := splitLog512(a)
		r, scale := foldExp512(k.MulAdd(load512(&consts.ln2), atanhLog512(f)).Mul(b))
		expTaylor512(r).MulAdd(scale, scale).ConvertToFloat32().Store(octo512(&dst[m]))
	}
	archsimd.ClearAVXUpperBits()
	if whole < len(dst) { // one more vector: an element's place in the row must not show
		var bases, powers [half512]float32
		copy(bases[:], x[whole:])
		copy(powers[:], y[whole:])
		signedPow512(&bases, &bases, &powers)
		copy(dst[whole:], bases[:])
	}
}

// signedPow512 computes a vector of any elements: exp(y log|x|), negative for odd powers of negative numbers. The scalar
// function computes elements whose base is 0 or not finite, whose power is not finite, or whose power is a fraction while the
// base is negative.
func signedPow512(dst, x, y *[half512]float32) {
	bases, powers := *x, *y // dst may be either
	a, b := archsimd.LoadFloat32x8(x).ConvertToFloat64(), archsimd.LoadFloat32x8(y).ConvertToFloat64()
	nought := load512(&consts.zero)
	base, integral, h := abs512(a), b.TruncScaled(0).Equal(b), b.Mul(load512(&consts.half))
	// The same steps as in pow512: an element has the same bits in either.
	k, f := splitLog512(base)
	r, scale := foldExp512(k.MulAdd(load512(&consts.ln2), atanhLog512(f)).Mul(b))
	p := expTaylor512(r).MulAdd(scale, scale)
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
