//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The elementary functions on one wide vector. Max and Min are not used: the
// compiler takes them for commutative, which they are not for NaN. Nor are
// right shifts by a constant: it passes the count through a legacy SSE move.

// reduceExp512 splits exp(x) into scale * (1 + m), scale a power of two and m
// in [-0.3, 0.42]. Relative to m it is accurate down to m = 0.
func reduceExp512(x archsimd.Float64x8) (m, scale archsimd.Float64x8) {
	r, scale := SplitExp512(x)
	return ExpTaylor512(r), scale
}

// SplitExp512 gives r and a power of two with exp(x) = scale * exp(r).
func SplitExp512(x archsimd.Float64x8) (r, scale archsimd.Float64x8) {
	low, high := vec.LoadSplat512(&Consts.expLow), vec.LoadSplat512(&Consts.expHigh)
	x = low.Merge(x, x.Less(low))
	x = high.Merge(x, x.Greater(high))
	magic := vec.LoadSplat512(&Consts.expMagic)
	t := x.MulAdd(vec.LoadSplat512(&Consts.log2e), magic)
	r = t.Sub(magic).MulAdd(vec.LoadSplat512(&Consts.minusLn2), x)
	return r, t.AsInt64x8().ShiftAllLeft(52).AsFloat64x8()
}

// ExpTaylor512 is exp(r) - 1.
func ExpTaylor512(r archsimd.Float64x8) archsimd.Float64x8 {
	return vec.LoadSplat512(&Consts.expTaylor[8]).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[7])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[6])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[5])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[4])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[3])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[2])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[1])).
		MulAdd(r, vec.LoadSplat512(&Consts.expTaylor[0])).
		Mul(r)
}

func exp512(x archsimd.Float64x8) archsimd.Float64x8 {
	m, scale := reduceExp512(x)
	return m.MulAdd(scale, scale)
}

// expm1Raw512 loses the sign of zero; its callers put the sign back.
func expm1Raw512(x archsimd.Float64x8) archsimd.Float64x8 {
	m, scale := reduceExp512(x)
	return m.MulAdd(scale, scale.Sub(vec.LoadSplat512(&Consts.One)))
}

// Signs are handled by And and integer Add: adding the sign bit flips it. Of
// two bitwise operations on a loaded constant Go 1.26 makes a VPTERNLOGQ that
// its assembler refuses.

func abs512(x archsimd.Float64x8) archsimd.Float64x8 {
	return x.AsInt64x8().And(vec.LoadSplat512(&Consts.absMask).AsInt64x8()).AsFloat64x8()
}

func negate512(x archsimd.Float64x8) archsimd.Float64x8 {
	return x.AsInt64x8().Add(vec.LoadSplat512(&Consts.minusZero).AsInt64x8()).AsFloat64x8()
}

// signed512 is |y| with the sign of x.
func signed512(y, x archsimd.Float64x8) archsimd.Float64x8 {
	sign := x.AsInt64x8().And(vec.LoadSplat512(&Consts.minusZero).AsInt64x8())
	return abs512(y).AsInt64x8().Add(sign).AsFloat64x8()
}

// sinh512: sinh(a) = (e + e/(e+1))/2 with e = expm1(a), for a = |x|.
func sinh512(x archsimd.Float64x8) archsimd.Float64x8 {
	e := expm1Raw512(abs512(x))
	return signed512(e.Div(e.Add(vec.LoadSplat512(&Consts.One))).Add(e).Mul(vec.LoadSplat512(&Consts.half)), x)
}

func cosh512(x archsimd.Float64x8) archsimd.Float64x8 {
	e := exp512(abs512(x))
	return vec.LoadSplat512(&Consts.One).Div(e).Add(e).Mul(vec.LoadSplat512(&Consts.half))
}

// gate512 is x/(1+exp(-y)), NaN for x = -Inf.
func gate512(x, y archsimd.Float64x8) archsimd.Float64x8 {
	r := x.Div(exp512(negate512(y)).Add(vec.LoadSplat512(&Consts.One)))
	return vec.LoadSplat512(&Consts.nan).Merge(r, x.Equal(negate512(vec.LoadSplat512(&Consts.inf))))
}

func geluTanh512(x archsimd.Float64x8) archsimd.Float64x8 {
	return gate512(x, x.Mul(x).MulAdd(vec.LoadSplat512(&Consts.geluThird), vec.LoadSplat512(&Consts.geluLinear)).Mul(x))
}

// splitLog512 gives k as a float and f with x = 2^k (1+f), 1+f in
// [sqrt(1/2), sqrt(2)), for positive normal x. Subtracting the bits of
// sqrt(1/2) makes the exponent field count from there; the bits are musl's and
// FreeBSD's old way to do it.
func splitLog512(x archsimd.Float64x8) (k, f archsimd.Float64x8) {
	root := vec.LoadSplat512(&Consts.rootHalf).AsUint64x8()
	unit := vec.LoadSplat512(&Consts.One)
	bits := x.AsUint64x8().Add(unit.AsUint64x8()).Sub(root)
	bias := vec.LoadSplat512(&Consts.fieldBias)
	k = bits.ShiftRight(vec.LoadSplat512(&Consts.fieldShift).AsUint64x8()).Add(vec.LoadSplat512(&Consts.Two52).AsUint64x8()).AsFloat64x8().Sub(bias)
	mantissa := bits.And(vec.LoadSplat512(&Consts.mantissaMask).AsUint64x8())
	return k, mantissa.Add(root).AsFloat64x8().Sub(unit)
}

// atanhLog512 is log(1+f) for f in [sqrt(1/2)-1, sqrt(2)-1), accurate relative
// to the result.
func atanhLog512(f archsimd.Float64x8) archsimd.Float64x8 {
	s := f.Div(f.Add(vec.LoadSplat512(&Consts.two)))
	z := s.Mul(s)
	p := vec.LoadSplat512(&Consts.atanhTaylor[5]).
		MulAdd(z, vec.LoadSplat512(&Consts.atanhTaylor[4])).
		MulAdd(z, vec.LoadSplat512(&Consts.atanhTaylor[3])).
		MulAdd(z, vec.LoadSplat512(&Consts.atanhTaylor[2])).
		MulAdd(z, vec.LoadSplat512(&Consts.atanhTaylor[1])).
		MulAdd(z, vec.LoadSplat512(&Consts.atanhTaylor[0]))
	s = s.Add(s)
	return p.Mul(z).MulAdd(s, s)
}

// logEdges512 puts the values outside (0, inf) into r, a logarithm of x.
func logEdges512(r, x archsimd.Float64x8) archsimd.Float64x8 {
	top, nought := vec.LoadSplat512(&Consts.inf), vec.LoadSplat512(&Consts.zero)
	r = r.Merge(x, x.Less(top)) // x itself when it is +Inf or NaN
	r = negate512(top).Merge(r, x.Equal(nought))
	return vec.LoadSplat512(&Consts.nan).Merge(r, x.Less(nought))
}

func log512(x archsimd.Float64x8) archsimd.Float64x8 {
	k, f := splitLog512(x)
	return logEdges512(k.MulAdd(vec.LoadSplat512(&Consts.ln2), atanhLog512(f)), x)
}

// Log1p512 takes x itself as the fraction where 1+x needs no scaling: that is
// exact where 1+x would drop bits of x. Elsewhere 1+x is far enough from 1 for
// its rounding not to matter.
func Log1p512(x archsimd.Float64x8) archsimd.Float64x8 {
	u := x.Add(vec.LoadSplat512(&Consts.One))
	k, f := splitLog512(u)
	f = x.Merge(f, k.Equal(vec.LoadSplat512(&Consts.zero)))
	r := k.MulAdd(vec.LoadSplat512(&Consts.ln2), atanhLog512(f))
	return signed512(logEdges512(r, u), x)
}

// reduceTrig512 gives r in [-pi/4, pi/4] and q with x = q pi/2 + r, for |x| up
// to trigLimit; q sits in the low bits of the integer.
func reduceTrig512(x archsimd.Float64x8) (r archsimd.Float64x8, q archsimd.Int64x8) {
	magic := vec.LoadSplat512(&Consts.trigMagic)
	t := x.MulAdd(vec.LoadSplat512(&Consts.twoOverPi), magic)
	n := t.Sub(magic)
	r = n.MulAdd(vec.LoadSplat512(&Consts.minusHalfPi), x)
	return n.MulAdd(vec.LoadSplat512(&Consts.minusHalfPiLow), r), t.AsInt64x8()
}

// sinCos512 is sin and cos for |r| <= pi/4.
func sinCos512(r archsimd.Float64x8) (sin, cos archsimd.Float64x8) {
	z := r.Mul(r)
	sin = vec.LoadSplat512(&Consts.sinTaylor[5]).
		MulAdd(z, vec.LoadSplat512(&Consts.sinTaylor[4])).
		MulAdd(z, vec.LoadSplat512(&Consts.sinTaylor[3])).
		MulAdd(z, vec.LoadSplat512(&Consts.sinTaylor[2])).
		MulAdd(z, vec.LoadSplat512(&Consts.sinTaylor[1])).
		MulAdd(z, vec.LoadSplat512(&Consts.sinTaylor[0])).
		Mul(r)
	cos = vec.LoadSplat512(&Consts.cosTaylor[6]).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[5])).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[4])).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[3])).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[2])).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[1])).
		MulAdd(z, vec.LoadSplat512(&Consts.cosTaylor[0]))
	return sin, cos
}

// flip512 changes the sign of x where bit 1 of q is set.
func flip512(x archsimd.Float64x8, q archsimd.Int64x8) archsimd.Float64x8 {
	sign := q.ShiftAllLeft(62).And(vec.LoadSplat512(&Consts.minusZero).AsInt64x8())
	return x.AsInt64x8().Add(sign).AsFloat64x8()
}

// odd512 tells where bit 0 of q is set.
func odd512(q archsimd.Int64x8) archsimd.Mask64x8 {
	return q.ShiftAllLeft(63).Equal(vec.LoadSplat512(&Consts.minusZero).AsInt64x8())
}

func sin512(x archsimd.Float64x8) archsimd.Float64x8 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	return flip512(cos.Merge(sin, odd512(q)), q)
}

// cos512 is sin a quarter turn on.
func cos512(x archsimd.Float64x8) archsimd.Float64x8 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	next := q.Add(vec.LoadSplat512(&Consts.lowBit).AsInt64x8())
	return flip512(cos.Merge(sin, odd512(next)), next)
}

// tan512: tan(r + pi/2) = -cos(r)/sin(r).
func tan512(x archsimd.Float64x8) archsimd.Float64x8 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	odd := odd512(q)
	return flip512(cos.Merge(sin, odd).Div(sin.Merge(cos, odd)), q.Add(q))
}

func log10512(x archsimd.Float64x8) archsimd.Float64x8 {
	return log512(x).Mul(vec.LoadSplat512(&Consts.log10e))
}

// angle512 is the angle of the point (x, y) for x, y >= 0, at most pi/2. It
// divides the smaller by the larger; what does not compare, with NaN, is y/x.
func angle512(y, x archsimd.Float64x8) archsimd.Float64x8 {
	steep := y.Greater(x)
	q := x.Merge(y, steep).Div(y.Merge(x, steep))
	u := q.Mul(q).MulAdd(vec.LoadSplat512(&Consts.two), vec.LoadSplat512(&Consts.minusOne))
	r := vec.LoadSplat512(&Consts.atanFitted[10]).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[9])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[8])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[7])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[6])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[5])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[4])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[3])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[2])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[1])).
		MulAdd(u, vec.LoadSplat512(&Consts.atanFitted[0])).
		Mul(q)
	return vec.LoadSplat512(&Consts.rightPi).Sub(r).Merge(r, steep)
}

func atan512(x archsimd.Float64x8) archsimd.Float64x8 {
	return signed512(angle512(abs512(x), vec.LoadSplat512(&Consts.One)), x)
}

// asin512 keeps the factors of 1 - x^2 apart, which cancels near 1.
func asin512(x archsimd.Float64x8) archsimd.Float64x8 {
	return signed512(angle512(abs512(x), cosine512(x)), x)
}

func acos512(x archsimd.Float64x8) archsimd.Float64x8 {
	r := angle512(cosine512(x), abs512(x))
	return vec.LoadSplat512(&Consts.halfTurn).Sub(r).Merge(r, x.Less(vec.LoadSplat512(&Consts.zero)))
}

// cosine512 is sqrt(1-x^2), NaN where |x| > 1.
func cosine512(x archsimd.Float64x8) archsimd.Float64x8 {
	unit := vec.LoadSplat512(&Consts.One)
	return unit.Sub(x).Mul(unit.Add(x)).Sqrt()
}

// atan2512 takes the point (1, 1) for one with two infinities and (1, 0) for
// the origin; the signs tell the quadrant, those of zeros too.
func atan2512(y, x archsimd.Float64x8) archsimd.Float64x8 {
	unit, top, nought := vec.LoadSplat512(&Consts.One), vec.LoadSplat512(&Consts.inf), vec.LoadSplat512(&Consts.zero)
	a, b := abs512(y), abs512(x)
	both := a.Equal(top).And(b.Equal(top))
	a, b = unit.Merge(a, both), unit.Merge(b, both)
	b = unit.Merge(b, a.Equal(nought).And(b.Equal(nought)))
	r := angle512(a, b)
	return signed512(vec.LoadSplat512(&Consts.halfTurn).Sub(r).Merge(r, signed512(unit, x).Less(nought)), y)
}

// asinh512: asinh(a) = log(1 + a + (sqrt(1+a^2) - 1)), for a = |x|.
func asinh512(x archsimd.Float64x8) archsimd.Float64x8 {
	a, unit := abs512(x), vec.LoadSplat512(&Consts.One)
	z := a.Mul(a)
	more := z.Mul(vec.LoadSplat512(&Consts.half)).Merge(z.Add(unit).Sqrt().Sub(unit), a.Less(vec.LoadSplat512(&Consts.asinhSplit)))
	return signed512(Log1p512(a.Add(more)), x)
}

// acosh512: acosh(1+t) = log(1 + t + sqrt(t(t+2))).
func acosh512(x archsimd.Float64x8) archsimd.Float64x8 {
	unit := vec.LoadSplat512(&Consts.One)
	t := x.Sub(unit)
	r := Log1p512(t.Mul(t.Add(vec.LoadSplat512(&Consts.two))).Sqrt().Add(t))
	return vec.LoadSplat512(&Consts.nan).Merge(r, x.Less(unit))
}

// atanh512: atanh(a) = log(1 + 2a/(1-a)) / 2, for a = |x|.
func atanh512(x archsimd.Float64x8) archsimd.Float64x8 {
	a := abs512(x)
	r := Log1p512(a.Add(a).Div(vec.LoadSplat512(&Consts.One).Sub(a))).Mul(vec.LoadSplat512(&Consts.half))
	return signed512(r, x)
}

// softplus512 is log1p(exp(-|y|)) plus y where y is positive.
func softplus512(y archsimd.Float64x8) archsimd.Float64x8 {
	l := Log1p512(exp512(negate512(abs512(y))))
	return l.Add(y.Masked(y.Greater(vec.LoadSplat512(&Consts.zero))))
}
