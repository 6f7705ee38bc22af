//go:build goexperiment.simd && amd64 && !race

package vec

// The elementary functions on one wide vector. Max and Min are not used: the
// compiler takes them for commutative, which they are not for NaN. Nor are
// right shifts by a constant: it passes the count through a legacy SSE move.

// reduceExp512 splits exp(x) into scale * (1 + m), scale a power of two and m
// in [-0.3, 0.42]. Relative to m it is accurate down to m = 0.
func reduceExp512(x wide512) (m, scale wide512) {
	r, scale := foldExp512(x)
	return expTaylor512(r), scale
}

// foldExp512 gives r and a power of two with exp(x) = scale * exp(r).
func foldExp512(x wide512) (r, scale wide512) {
	low, high := load512(&consts.expLow), load512(&consts.expHigh)
	x = low.Merge(x, x.Less(low))
	x = high.Merge(x, x.Greater(high))
	magic := load512(&consts.expMagic)
	t := x.MulAdd(load512(&consts.log2e), magic)
	r = t.Sub(magic).MulAdd(load512(&consts.minusLn2), x)
	return r, t.AsInt64x8().ShiftAllLeft(52).AsFloat64x8()
}

// expTaylor512 is exp(r) - 1.
func expTaylor512(r wide512) wide512 {
	return load512(&consts.expTaylor[8]).
		MulAdd(r, load512(&consts.expTaylor[7])).
		MulAdd(r, load512(&consts.expTaylor[6])).
		MulAdd(r, load512(&consts.expTaylor[5])).
		MulAdd(r, load512(&consts.expTaylor[4])).
		MulAdd(r, load512(&consts.expTaylor[3])).
		MulAdd(r, load512(&consts.expTaylor[2])).
		MulAdd(r, load512(&consts.expTaylor[1])).
		MulAdd(r, load512(&consts.expTaylor[0])).
		Mul(r)
}

func exp512(x wide512) wide512 {
	m, scale := reduceExp512(x)
	return m.MulAdd(scale, scale)
}

// expm1Raw512 loses the sign of zero; its callers put the sign back.
func expm1Raw512(x wide512) wide512 {
	m, scale := reduceExp512(x)
	return m.MulAdd(scale, scale.Sub(load512(&consts.one)))
}

// Signs are handled by And and integer Add: adding the sign bit flips it. Of
// two bitwise operations on a loaded constant Go 1.26 makes a VPTERNLOGQ that
// its assembler refuses.

func abs512(x wide512) wide512 {
	return x.AsInt64x8().And(load512(&consts.absMask).AsInt64x8()).AsFloat64x8()
}

func negate512(x wide512) wide512 {
	return x.AsInt64x8().Add(load512(&consts.minusZero).AsInt64x8()).AsFloat64x8()
}

// signed512 is |y| with the sign of x.
func signed512(y, x wide512) wide512 {
	sign := x.AsInt64x8().And(load512(&consts.minusZero).AsInt64x8())
	return abs512(y).AsInt64x8().Add(sign).AsFloat64x8()
}

// sinh512: sinh(a) = (e + e/(e+1))/2 with e = expm1(a), for a = |x|.
func sinh512(x wide512) wide512 {
	e := expm1Raw512(abs512(x))
	return signed512(e.Div(e.Add(load512(&consts.one))).Add(e).Mul(load512(&consts.half)), x)
}

func cosh512(x wide512) wide512 {
	e := exp512(abs512(x))
	return load512(&consts.one).Div(e).Add(e).Mul(load512(&consts.half))
}

// gate512 is x/(1+exp(-y)), NaN for x = -Inf.
func gate512(x, y wide512) wide512 {
	r := x.Div(exp512(negate512(y)).Add(load512(&consts.one)))
	return load512(&consts.nan).Merge(r, x.Equal(negate512(load512(&consts.inf))))
}

func geluTanh512(x wide512) wide512 {
	return gate512(x, x.Mul(x).MulAdd(load512(&consts.geluThird), load512(&consts.geluLinear)).Mul(x))
}

// splitLog512 gives k as a float and f with x = 2^k (1+f), 1+f in
// [sqrt(1/2), sqrt(2)), for positive normal x. Subtracting the bits of
// sqrt(1/2) makes the exponent field count from there; the bits are musl's and
// FreeBSD's old way to do it.
func splitLog512(x wide512) (k, f wide512) {
	root := load512(&consts.rootHalf).AsUint64x8()
	unit := load512(&consts.one)
	bits := x.AsUint64x8().Add(unit.AsUint64x8()).Sub(root)
	bias := load512(&consts.fieldBias)
	k = bits.ShiftRight(load512(&consts.fieldShift).AsUint64x8()).Add(load512(&consts.two52).AsUint64x8()).AsFloat64x8().Sub(bias)
	mantissa := bits.And(load512(&consts.mantissaMask).AsUint64x8())
	return k, mantissa.Add(root).AsFloat64x8().Sub(unit)
}

// atanhLog512 is log(1+f) for f in [sqrt(1/2)-1, sqrt(2)-1), accurate relative
// to the result.
func atanhLog512(f wide512) wide512 {
	s := f.Div(f.Add(load512(&consts.two)))
	z := s.Mul(s)
	p := load512(&consts.atanhTaylor[5]).
		MulAdd(z, load512(&consts.atanhTaylor[4])).
		MulAdd(z, load512(&consts.atanhTaylor[3])).
		MulAdd(z, load512(&consts.atanhTaylor[2])).
		MulAdd(z, load512(&consts.atanhTaylor[1])).
		MulAdd(z, load512(&consts.atanhTaylor[0]))
	s = s.Add(s)
	return p.Mul(z).MulAdd(s, s)
}

// logEdges512 puts the values outside (0, inf) into r, a logarithm of x.
func logEdges512(r, x wide512) wide512 {
	top, nought := load512(&consts.inf), load512(&consts.zero)
	r = r.Merge(x, x.Less(top)) // x itself when it is +Inf or NaN
	r = negate512(top).Merge(r, x.Equal(nought))
	return load512(&consts.nan).Merge(r, x.Less(nought))
}

func log512(x wide512) wide512 {
	k, f := splitLog512(x)
	return logEdges512(k.MulAdd(load512(&consts.ln2), atanhLog512(f)), x)
}

// log1p512 takes x itself as the fraction where 1+x needs no scaling: that is
// exact where 1+x would drop bits of x. Elsewhere 1+x is far enough from 1 for
// its rounding not to matter.
func log1p512(x wide512) wide512 {
	u := x.Add(load512(&consts.one))
	k, f := splitLog512(u)
	f = x.Merge(f, k.Equal(load512(&consts.zero)))
	r := k.MulAdd(load512(&consts.ln2), atanhLog512(f))
	return signed512(logEdges512(r, u), x)
}

// reduceTrig512 gives r in [-pi/4, pi/4] and q with x = q pi/2 + r, for |x| up
// to trigLimit; q sits in the low bits of the integer.
func reduceTrig512(x wide512) (r wide512, q int512) {
	magic := load512(&consts.trigMagic)
	t := x.MulAdd(load512(&consts.twoOverPi), magic)
	n := t.Sub(magic)
	r = n.MulAdd(load512(&consts.minusHalfPi), x)
	return n.MulAdd(load512(&consts.minusHalfPiLow), r), t.AsInt64x8()
}

// sinCos512 is sin and cos for |r| <= pi/4.
func sinCos512(r wide512) (sin, cos wide512) {
	z := r.Mul(r)
	sin = load512(&consts.sinTaylor[5]).
		MulAdd(z, load512(&consts.sinTaylor[4])).
		MulAdd(z, load512(&consts.sinTaylor[3])).
		MulAdd(z, load512(&consts.sinTaylor[2])).
		MulAdd(z, load512(&consts.sinTaylor[1])).
		MulAdd(z, load512(&consts.sinTaylor[0])).
		Mul(r)
	cos = load512(&consts.cosTaylor[6]).
		MulAdd(z, load512(&consts.cosTaylor[5])).
		MulAdd(z, load512(&consts.cosTaylor[4])).
		MulAdd(z, load512(&consts.cosTaylor[3])).
		MulAdd(z, load512(&consts.cosTaylor[2])).
		MulAdd(z, load512(&consts.cosTaylor[1])).
		MulAdd(z, load512(&consts.cosTaylor[0]))
	return sin, cos
}

// flip512 changes the sign of x where bit 1 of q is set.
func flip512(x wide512, q int512) wide512 {
	sign := q.ShiftAllLeft(62).And(load512(&consts.minusZero).AsInt64x8())
	return x.AsInt64x8().Add(sign).AsFloat64x8()
}

// odd512 tells where bit 0 of q is set.
func odd512(q int512) mask512 {
	return q.ShiftAllLeft(63).Equal(load512(&consts.minusZero).AsInt64x8())
}

func sin512(x wide512) wide512 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	return flip512(cos.Merge(sin, odd512(q)), q)
}

// cos512 is sin a quarter turn on.
func cos512(x wide512) wide512 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	next := q.Add(load512(&consts.lowBit).AsInt64x8())
	return flip512(cos.Merge(sin, odd512(next)), next)
}

// tan512: tan(r + pi/2) = -cos(r)/sin(r).
func tan512(x wide512) wide512 {
	r, q := reduceTrig512(x)
	sin, cos := sinCos512(r)
	odd := odd512(q)
	return flip512(cos.Merge(sin, odd).Div(sin.Merge(cos, odd)), q.Add(q))
}

func log10512(x wide512) wide512 { return log512(x).Mul(load512(&consts.log10e)) }

// angle512 is the angle of the point (x, y) for x, y >= 0, at most pi/2. It
// divides the smaller by the larger; what does not compare, with NaN, is y/x.
func angle512(y, x wide512) wide512 {
	steep := y.Greater(x)
	q := x.Merge(y, steep).Div(y.Merge(x, steep))
	u := q.Mul(q).MulAdd(load512(&consts.two), load512(&consts.minusOne))
	r := load512(&consts.atanFitted[10]).
		MulAdd(u, load512(&consts.atanFitted[9])).
		MulAdd(u, load512(&consts.atanFitted[8])).
		MulAdd(u, load512(&consts.atanFitted[7])).
		MulAdd(u, load512(&consts.atanFitted[6])).
		MulAdd(u, load512(&consts.atanFitted[5])).
		MulAdd(u, load512(&consts.atanFitted[4])).
		MulAdd(u, load512(&consts.atanFitted[3])).
		MulAdd(u, load512(&consts.atanFitted[2])).
		MulAdd(u, load512(&consts.atanFitted[1])).
		MulAdd(u, load512(&consts.atanFitted[0])).
		Mul(q)
	return load512(&consts.rightPi).Sub(r).Merge(r, steep)
}

func atan512(x wide512) wide512 { return signed512(angle512(abs512(x), load512(&consts.one)), x) }

// asin512 keeps the factors of 1 - x^2 apart, which cancels near 1.
func asin512(x wide512) wide512 { return signed512(angle512(abs512(x), cosine512(x)), x) }

func acos512(x wide512) wide512 {
	r := angle512(cosine512(x), abs512(x))
	return load512(&consts.halfTurn).Sub(r).Merge(r, x.Less(load512(&consts.zero)))
}

// cosine512 is sqrt(1-x^2), NaN where |x| > 1.
func cosine512(x wide512) wide512 {
	unit := load512(&consts.one)
	return unit.Sub(x).Mul(unit.Add(x)).Sqrt()
}

// atan2512 takes the point (1, 1) for one with two infinities and (1, 0) for
// the origin; the signs tell the quadrant, those of zeros too.
func atan2512(y, x wide512) wide512 {
	unit, top, nought := load512(&consts.one), load512(&consts.inf), load512(&consts.zero)
	a, b := abs512(y), abs512(x)
	both := a.Equal(top).And(b.Equal(top))
	a, b = unit.Merge(a, both), unit.Merge(b, both)
	b = unit.Merge(b, a.Equal(nought).And(b.Equal(nought)))
	r := angle512(a, b)
	return signed512(load512(&consts.halfTurn).Sub(r).Merge(r, signed512(unit, x).Less(nought)), y)
}

// asinh512: asinh(a) = log(1 + a + (sqrt(1+a^2) - 1)), for a = |x|.
func asinh512(x wide512) wide512 {
	a, unit := abs512(x), load512(&consts.one)
	z := a.Mul(a)
	more := z.Mul(load512(&consts.half)).Merge(z.Add(unit).Sqrt().Sub(unit), a.Less(load512(&consts.asinhSplit)))
	return signed512(log1p512(a.Add(more)), x)
}

// acosh512: acosh(1+t) = log(1 + t + sqrt(t(t+2))).
func acosh512(x wide512) wide512 {
	unit := load512(&consts.one)
	t := x.Sub(unit)
	r := log1p512(t.Mul(t.Add(load512(&consts.two))).Sqrt().Add(t))
	return load512(&consts.nan).Merge(r, x.Less(unit))
}

// atanh512: atanh(a) = log(1 + 2a/(1-a)) / 2, for a = |x|.
func atanh512(x wide512) wide512 {
	a := abs512(x)
	r := log1p512(a.Add(a).Div(load512(&consts.one).Sub(a))).Mul(load512(&consts.half))
	return signed512(r, x)
}

// softplus512 is log1p(exp(-|y|)) plus y where y is positive.
func softplus512(y wide512) wide512 {
	l := log1p512(exp512(negate512(abs512(y))))
	return l.Add(y.Masked(y.Greater(load512(&consts.zero))))
}
