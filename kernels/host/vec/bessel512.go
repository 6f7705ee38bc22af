//go:build goexperiment.simd && amd64 && !race

package vec

// The functions of bessel.go on one wide vector, by the same formulas.

// clenshaw512 is a sum of Chebyshev polynomials.
func clenshaw512(c []splat8, t wide512) wide512 {
	var last wide512
	b, twice := load512(&c[len(c)-1]), t.Add(t)
	for k := len(c) - 2; k > 0; k-- {
		b, last = twice.MulAdd(b, load512(&c[k]).Sub(last)), b
	}
	return t.MulAdd(b, load512(&c[0]).Sub(last))
}

// bessel512 gives both forms of a function scaled by exp(-a), for a from 0 on: that up to 8 is still to be multiplied by
// what vanishes at 0.
func bessel512(a wide512, nearTerms, farTerms []splat8) (near, far wide512) {
	unit := load512(&consts.one)
	near = clenshaw512(nearTerms, a.MulAdd(load512(&consts.quarter), load512(&consts.minusOne))).Div(unit.Add(a))
	far = clenshaw512(farTerms, load512(&consts.sixteen).Div(a).Sub(unit)).Div(a.Sqrt())
	return near, far
}

func i0e512(x wide512) wide512 {
	a := abs512(x)
	near, far := bessel512(a, consts.i0NearFitted[:], consts.i0FarFitted[:])
	return near.Merge(far, a.LessEqual(load512(&consts.eight)))
}

func i1e512(x wide512) wide512 {
	a := abs512(x)
	near, far := bessel512(a, consts.i1NearFitted[:], consts.i1FarFitted[:])
	return signed512(near.Mul(a).Merge(far, a.LessEqual(load512(&consts.eight))), x)
}

func i0512(x wide512) wide512 { return unscaled512(i0e512(x), x) }
func i1512(x wide512) wide512 { return unscaled512(i1e512(x), x) }

// unscaled512 is y times exp(|x|). Infinite x has a y of 0, whose sign the result has; beyond float32 the product is
// infinite there, and exp stays finite.
func unscaled512(y, x wide512) wide512 {
	a, top := abs512(x), load512(&consts.inf)
	return signed512(top, y).Merge(y.Mul(exp512(a)), a.Equal(top))
}
