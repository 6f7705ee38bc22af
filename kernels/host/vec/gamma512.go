//go:build goexperiment.simd && amd64 && !race

package vec

// The functions of gamma.go on one wide vector, by the same formulas. Positive arguments keep their digits, beside zeros of
// the functions too.
//
// Below 0 a reflection subtracts two terms. Each has an error of some 1e-11 of itself, which float32 does not show unless
// nearly all digits cancel. A lane of which less than 2^-8 of the terms is left goes to the scalar function, which has all
// digits of float64: one in some hundred random negative numbers.

// horner512 is a polynomial, from the constant term on.
func horner512(c []splat8, x wide512) wide512 {
	p := load512(&c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = p.MulAdd(x, load512(&c[i]))
	}
	return p
}

// fraction512 is what rounding to an integer takes off, times pi: the functions have poles where it is 0.
func fraction512(x wide512) wide512 {
	return x.Sub(x.RoundToEvenScaled(0)).Mul(load512(&consts.halfTurn))
}

// lessens512 tells where a difference of a and b has lost digits.
func lessens512(difference, a, b wide512) mask512 {
	return abs512(difference).Less(abs512(a).Add(abs512(b)).Mul(load512(&consts.gammaDoubt)))
}

// lgamma512 reflects negative numbers.
func lgamma512(x wide512) (r wide512, unsure mask512) {
	a := abs512(x)
	r = lgammaOfSize512(a)
	negative := x.Less(load512(&consts.zero))
	if negative.ToBits() == 0 {
		return r, negative
	}
	top := load512(&consts.inf)
	l := log512(load512(&consts.halfTurn).Div(a.Mul(abs512(sin512(fraction512(a))))))
	reflected := l.Sub(r)
	unsure = lessens512(reflected, l, r).And(negative)
	return top.Merge(reflected, a.Equal(top)).Merge(r, negative), unsure
}

// lgammaOfSize512 is lgamma of numbers from 0 on. Six steps of the recurrence take those below 8 to [1, 2]: t is where they
// end, p the product of the numbers passed. One logarithm serves all lanes: of p, of x below 1, and of x in Stirling's series.
func lgammaOfSize512(x wide512) wide512 {
	unit, two := load512(&consts.one), load512(&consts.two)
	t, p := x, unit
	for range 6 {
		s, over := t.Sub(unit), t.Greater(two)
		t, p = s.Merge(t, over), p.Mul(s).Merge(p, over)
	}
	small, usual := x.Less(unit), x.Less(load512(&consts.eight))
	l := log512(x.Merge(p, small).Merge(x, usual))
	y := t.Sub(unit)
	y = x.Merge(y, small)
	near := horner512(consts.lgammaFitted[:], y.MulAdd(two, load512(&consts.minusOne))).Mul(y).Mul(y.Sub(unit))
	near = near.Add(negate512(l).Merge(l, small))
	z := unit.Div(x)
	far := x.Sub(load512(&consts.half)).MulAdd(l.Sub(unit), load512(&consts.lgammaShift))
	far = horner512(consts.stirlingTerms[:], z.Mul(z)).MulAdd(z, far)
	return near.Merge(far, usual)
}

// digamma512 reflects negative numbers.
func digamma512(x wide512) (r wide512, unsure mask512) {
	nought := load512(&consts.zero)
	negative := x.Less(nought)
	if negative.ToBits() == 0 {
		return digammaOfSize512(x), negative
	}
	rest := fraction512(x)
	r = digammaOfSize512(load512(&consts.one).Sub(x).Merge(x, negative))
	cot := load512(&consts.halfTurn).Div(tan512(rest))
	reflected := load512(&consts.nan).Merge(r.Sub(cot), rest.Equal(nought))
	unsure = lessens512(reflected, r, cot).And(negative)
	return reflected.Merge(r, negative), unsure
}

// digammaOfSize512 is digamma of numbers from 0 on. The reciprocals that the recurrence adds up are one quotient n/d, because
// a division takes as long as a dozen products; -1/x below 1 and -1/(2x) of the series take its place.
func digammaOfSize512(x wide512) wide512 {
	unit, two := load512(&consts.one), load512(&consts.two)
	var n wide512
	t, d := x, unit
	for range 6 {
		s, over := t.Sub(unit), t.Greater(two)
		t, n, d = s.Merge(t, over), n.MulAdd(s, d).Merge(n, over), d.Mul(s).Merge(d, over)
	}
	small, usual := x.Less(unit), x.Less(load512(&consts.eight))
	t = x.Add(unit).Merge(t, small)
	n = load512(&consts.minusOne).Merge(n, small).Merge(load512(&consts.minusHalf), usual)
	d = x.Merge(d, small).Merge(x, usual)
	q := n.Div(d)
	near := t.Sub(load512(&consts.digammaRoot)).Sub(load512(&consts.digammaRootLow))
	near = horner512(consts.digammaFitted[:], t.MulAdd(two, negate512(load512(&consts.three)))).MulAdd(near, q)
	if usual.ToBits() == 1<<half512-1 {
		return near
	}
	w := q.Add(q)
	w = w.Mul(w)
	return near.Merge(log512(x).Add(q).Sub(horner512(consts.digammaTerms[:], w).Mul(w)), usual)
}
