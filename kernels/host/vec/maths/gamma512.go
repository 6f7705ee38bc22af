//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The functions of gamma.go on one wide vector, by the same formulas. Positive arguments keep their digits, beside zeros of
// the functions too.
//
// Below 0 a reflection subtracts two terms. Each has an error of some 1e-11 of itself, which float32 does not show unless
// nearly all digits cancel. A lane of which less than 2^-8 of the terms is left goes to the scalar function, which has all
// digits of float64: one in some hundred random negative numbers.

// horner512 is a polynomial, from the constant term on.
func horner512(c []vec.Splat64, x archsimd.Float64x8) archsimd.Float64x8 {
	p := vec.LoadSplat512(&c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = p.MulAdd(x, vec.LoadSplat512(&c[i]))
	}
	return p
}

// fraction512 is what rounding to an integer takes off, times pi: the functions have poles where it is 0.
func fraction512(x archsimd.Float64x8) archsimd.Float64x8 {
	return x.Sub(x.RoundToEvenScaled(0)).Mul(vec.LoadSplat512(&Consts.halfTurn))
}

// lessens512 tells where a difference of a and b has lost digits.
func lessens512(difference, a, b archsimd.Float64x8) archsimd.Mask64x8 {
	return abs512(difference).Less(abs512(a).Add(abs512(b)).Mul(vec.LoadSplat512(&Consts.gammaDoubt)))
}

// lgamma512 reflects negative numbers.
func lgamma512(x archsimd.Float64x8) (r archsimd.Float64x8, unsure archsimd.Mask64x8) {
	a := abs512(x)
	r = lgammaOfSize512(a)
	negative := x.Less(vec.LoadSplat512(&Consts.zero))
	if negative.ToBits() == 0 {
		return r, negative
	}
	top := vec.LoadSplat512(&Consts.inf)
	l := log512(vec.LoadSplat512(&Consts.halfTurn).Div(a.Mul(abs512(sin512(fraction512(a))))))
	reflected := l.Sub(r)
	unsure = lessens512(reflected, l, r).And(negative)
	return top.Merge(reflected, a.Equal(top)).Merge(r, negative), unsure
}

// lgammaOfSize512 is lgamma of numbers from 0 on. Six steps of the recurrence take those below 8 to [1, 2]: t is where they
// end, p the product of the numbers passed. One logarithm serves all lanes: of p, of x below 1, and of x in Stirling's series.
func lgammaOfSize512(x archsimd.Float64x8) archsimd.Float64x8 {
	unit, two := vec.LoadSplat512(&Consts.One), vec.LoadSplat512(&Consts.two)
	t, p := x, unit
	for range 6 {
		s, over := t.Sub(unit), t.Greater(two)
		t, p = s.Merge(t, over), p.Mul(s).Merge(p, over)
	}
	small, usual := x.Less(unit), x.Less(vec.LoadSplat512(&Consts.eight))
	l := log512(x.Merge(p, small).Merge(x, usual))
	y := t.Sub(unit)
	y = x.Merge(y, small)
	near := horner512(Consts.lgammaFitted[:], y.MulAdd(two, vec.LoadSplat512(&Consts.minusOne))).Mul(y).Mul(y.Sub(unit))
	near = near.Add(negate512(l).Merge(l, small))
	z := unit.Div(x)
	far := x.Sub(vec.LoadSplat512(&Consts.half)).MulAdd(l.Sub(unit), vec.LoadSplat512(&Consts.lgammaShift))
	far = horner512(Consts.stirlingTerms[:], z.Mul(z)).MulAdd(z, far)
	return near.Merge(far, usual)
}

// digamma512 reflects negative numbers.
func digamma512(x archsimd.Float64x8) (r archsimd.Float64x8, unsure archsimd.Mask64x8) {
	nought := vec.LoadSplat512(&Consts.zero)
	negative := x.Less(nought)
	if negative.ToBits() == 0 {
		return digammaOfSize512(x), negative
	}
	rest := fraction512(x)
	r = digammaOfSize512(vec.LoadSplat512(&Consts.One).Sub(x).Merge(x, negative))
	cot := vec.LoadSplat512(&Consts.halfTurn).Div(tan512(rest))
	reflected := vec.LoadSplat512(&Consts.nan).Merge(r.Sub(cot), rest.Equal(nought))
	unsure = lessens512(reflected, r, cot).And(negative)
	return reflected.Merge(r, negative), unsure
}

// digammaOfSize512 is digamma of numbers from 0 on. The reciprocals that the recurrence adds up are one quotient n/d, because
// a division takes as long as a dozen products; -1/x below 1 and -1/(2x) of the series take its place.
func digammaOfSize512(x archsimd.Float64x8) archsimd.Float64x8 {
	unit, two := vec.LoadSplat512(&Consts.One), vec.LoadSplat512(&Consts.two)
	var n archsimd.Float64x8
	t, d := x, unit
	for range 6 {
		s, over := t.Sub(unit), t.Greater(two)
		t, n, d = s.Merge(t, over), n.MulAdd(s, d).Merge(n, over), d.Mul(s).Merge(d, over)
	}
	small, usual := x.Less(unit), x.Less(vec.LoadSplat512(&Consts.eight))
	t = x.Add(unit).Merge(t, small)
	n = vec.LoadSplat512(&Consts.minusOne).Merge(n, small).Merge(vec.LoadSplat512(&Consts.minusHalf), usual)
	d = x.Merge(d, small).Merge(x, usual)
	q := n.Div(d)
	near := t.Sub(vec.LoadSplat512(&Consts.digammaRoot)).Sub(vec.LoadSplat512(&Consts.digammaRootLow))
	near = horner512(Consts.digammaFitted[:], t.MulAdd(two, negate512(vec.LoadSplat512(&Consts.three)))).MulAdd(near, q)
	if usual.ToBits() == 1<<vec.WideLanes512-1 {
		return near
	}
	w := q.Add(q)
	w = w.Mul(w)
	return near.Merge(log512(x).Add(q).Sub(horner512(Consts.digammaTerms[:], w).Mul(w)), usual)
}
