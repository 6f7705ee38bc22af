//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The functions of bessel.go on one wide vector, by the same formulas.

// clenshaw512 is a sum of Chebyshev polynomials.
func clenshaw512(c []vec.Splat64, t archsimd.Float64x8) archsimd.Float64x8 {
	var last archsimd.Float64x8
	b, twice := vec.LoadSplat512(&c[len(c)-1]), t.Add(t)
	for k := len(c) - 2; k > 0; k-- {
		b, last = twice.MulAdd(b, vec.LoadSplat512(&c[k]).Sub(last)), b
	}
	return t.MulAdd(b, vec.LoadSplat512(&c[0]).Sub(last))
}

// bessel512 gives both forms of a function scaled by exp(-a), for a from 0 on: that up to 8 is still to be multiplied by
// what vanishes at 0.
func bessel512(a archsimd.Float64x8, nearTerms, farTerms []vec.Splat64) (near, far archsimd.Float64x8) {
	unit := vec.LoadSplat512(&Consts.One)
	near = clenshaw512(nearTerms, a.MulAdd(vec.LoadSplat512(&Consts.quarter), vec.LoadSplat512(&Consts.minusOne))).Div(unit.Add(a))
	far = clenshaw512(farTerms, vec.LoadSplat512(&Consts.sixteen).Div(a).Sub(unit)).Div(a.Sqrt())
	return near, far
}

func i0e512(x archsimd.Float64x8) archsimd.Float64x8 {
	a := abs512(x)
	near, far := bessel512(a, Consts.i0NearFitted[:], Consts.i0FarFitted[:])
	return near.Merge(far, a.LessEqual(vec.LoadSplat512(&Consts.eight)))
}

func i1e512(x archsimd.Float64x8) archsimd.Float64x8 {
	a := abs512(x)
	near, far := bessel512(a, Consts.i1NearFitted[:], Consts.i1FarFitted[:])
	return signed512(near.Mul(a).Merge(far, a.LessEqual(vec.LoadSplat512(&Consts.eight))), x)
}

func i0512(x archsimd.Float64x8) archsimd.Float64x8 { return unscaled512(i0e512(x), x) }

func i1512(x archsimd.Float64x8) archsimd.Float64x8 { return unscaled512(i1e512(x), x) }

// unscaled512 is y times exp(|x|). Infinite x has a y of 0, whose sign the result has; beyond float32 the product is
// infinite there, and exp stays finite.
func unscaled512(y, x archsimd.Float64x8) archsimd.Float64x8 {
	a, top := abs512(x), vec.LoadSplat512(&Consts.inf)
	return signed512(top, y).Merge(y.Mul(exp512(a)), a.Equal(top))
}
