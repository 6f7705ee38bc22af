//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// Logarithms in float32. The loops compute as for positive normal numbers. A vector that has another one is given to a
// function that puts these right; it has the same bits for the rest, so that neighbors do not show.

// splitNarrow512 is splitLog512 in float32.
func splitNarrow512(x narrow512) (k, f narrow512) {
	bits := x.AsInt32x16().Sub(loadNarrow512(&consts.narrowRoot).AsInt32x16())
	whole := bits.ShiftRight(loadNarrow512(&consts.narrowShift).AsInt32x16())
	f = x.AsInt32x16().Sub(whole.ShiftAllLeft(23)).AsFloat32x16().Sub(loadNarrow512(&consts.narrowOne))
	return whole.ConvertToFloat32(), f
}

// unusual512 reports whether a lane is not a positive normal number below a top, of which it is given the bits.
func unusual512(x narrow512, top *splatNarrow16) bool {
	moved := x.AsInt32x16().Add(loadNarrow512(&consts.narrowNormal).AsInt32x16())
	return moved.Greater(loadNarrow512(top).AsInt32x16()).ToBits() != 0
}

// curve512 is a polynomial of nine terms.
func curve512(c *[9]splatNarrow16, f narrow512) narrow512 {
	return curveLow512(c, f, loadNarrow512(&c[8]).
		MulAdd(f, loadNarrow512(&c[7])).
		MulAdd(f, loadNarrow512(&c[6])).
		MulAdd(f, loadNarrow512(&c[5])))
}

// curveLow512 is its second half; as one function it would be too large for the compiler to inline.
func curveLow512(c *[9]splatNarrow16, f, p narrow512) narrow512 {
	return p.
		MulAdd(f, loadNarrow512(&c[4])).
		MulAdd(f, loadNarrow512(&c[3])).
		MulAdd(f, loadNarrow512(&c[2])).
		MulAdd(f, loadNarrow512(&c[1])).
		MulAdd(f, loadNarrow512(&c[0]))
}

// naturalLog512 is k ln2 + log(1+f), given q with log(1+f) = f + f^2 q. The small terms are added first.
func naturalLog512(k, f, q narrow512) narrow512 {
	small := k.MulAdd(loadNarrow512(&consts.narrowLn2Low), f.Mul(f).Mul(q))
	return k.MulAdd(loadNarrow512(&consts.narrowLn2), f.Add(small))
}

// binaryLog512 is k + log2(1+f), given q with log2(1+f) = f log2(e) + f^2 q.
func binaryLog512(k, f, q narrow512) narrow512 {
	small := f.MulAdd(loadNarrow512(&consts.narrowLog2eLow), f.Mul(f).Mul(q))
	return f.MulAdd(loadNarrow512(&consts.narrowLog2e), small).Add(k)
}

// edgesNarrow512 is logEdges512 in float32.
func edgesNarrow512(r, x narrow512) narrow512 {
	var nought narrow512
	r = r.Merge(x, x.Less(loadNarrow512(&consts.narrowInf))) // x itself when it is +Inf or NaN
	r = loadNarrow512(&consts.narrowMinusInf).Merge(r, x.Equal(nought))
	return loadNarrow512(&consts.narrowNaN).Merge(r, x.Less(nought))
}

// anyLog512 is a logarithm of any numbers: subnormal ones are multiplied by a power of two, which is taken off again.
func anyLog512(x narrow512, c *[9]splatNarrow16, ends func(k, f, q narrow512) narrow512) narrow512 {
	small := x.Less(loadNarrow512(&consts.narrowLeast))
	k, f := splitNarrow512(x.Mul(loadNarrow512(&consts.narrowRaise)).Merge(x, small))
	k = k.Sub(loadNarrow512(&consts.narrowRaised).Masked(small))
	return edgesNarrow512(ends(k, f, curve512(c, f)), x)
}

// logLoop512 is the natural logarithm.
func logLoop512(dst, src []float32) {
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		if unusual512(x, &consts.narrowNormalTop) {
			anyLog512(x, &consts.narrowLogCurve, naturalLog512).Store(at512(&dst[i]))
			continue
		}
		k, f := splitNarrow512(x)
		naturalLog512(k, f, curve512(&consts.narrowLogCurve, f)).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// log2Loop512 is the logarithm to base 2, exact for powers of two.
func log2Loop512(dst, src []float32) {
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		if unusual512(x, &consts.narrowNormalTop) {
			anyLog512(x, &consts.narrowLog2Curve, binaryLog512).Store(at512(&dst[i]))
			continue
		}
		k, f := splitNarrow512(x)
		binaryLog512(k, f, curve512(&consts.narrowLog2Curve, f)).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// farLog1p512 is r where u is a positive normal number below 2^126, whose inverse is one too, and else log(u).
func farLog1p512(r, u narrow512) narrow512 {
	usual := u.GreaterEqual(loadNarrow512(&consts.narrowLeast)).And(u.Less(loadNarrow512(&consts.narrowLog1pFar)))
	return r.Merge(anyLog512(u, &consts.narrowLogCurve, naturalLog512), usual)
}

// log1pLoop512 splits u = 1+x into 2^k and a fraction, whose distance from 1 it computes again, from x: 2^-k x + (2^-k - 1)
// is rounded once, and has the bits of x that u has lost.
func log1pLoop512(dst, src []float32) {
	var nought narrow512
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		u := x.Add(loadNarrow512(&consts.narrowOne))
		k, _ := splitNarrow512(u)
		// The power and one less than it are exact: k is at least -24 here, and above 24 the rounding is far below k ln2.
		s := powerNarrow512(nought.Sub(k))
		f := x.MulAdd(s, s.Sub(loadNarrow512(&consts.narrowOne)))
		r := naturalLog512(k, f, curve512(&consts.narrowLogCurve, f))
		r = x.Merge(r, x.Equal(nought)) // for the sign
		if unusual512(u, &consts.narrowLog1pTop) {
			r = farLog1p512(r, u)
		}
		r.Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// expm1Loop512: exp(x) - 1 = 2^n g + (2^n - 1) with g = exp(r) - 1. It is computed as half of that, because 2^n alone may be
// infinite.
func expm1Loop512(dst, src []float32) {
	var nought narrow512
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		n, r := foldNarrow512(clampNarrow512(x, loadNarrow512(&consts.narrowExpm1Least), loadNarrow512(&consts.narrowHighest)))
		g := growthNarrow512(r)
		s := powerNarrow512(n.Sub(loadNarrow512(&consts.narrowOne)))
		y := g.MulAdd(s, s.Sub(loadNarrow512(&consts.narrowHalf)))
		y = y.Add(y)
		y = g.Merge(y, n.Equal(nought)) // half of a subnormal number may be none
		x.Merge(y, x.Equal(nought)).Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}
