//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Logarithms in float32. The loops compute as for positive normal numbers. A vector that has another one is given to a
// function that puts these right; it has the same bits for the rest, so that neighbors do not show.

// splitNarrow512 is splitLog512 in float32.
func splitNarrow512(x archsimd.Float32x16) (k, f archsimd.Float32x16) {
	bits := x.AsInt32x16().Sub(vec.LoadNarrow512(&Consts.narrowRoot).AsInt32x16())
	whole := bits.ShiftRight(vec.LoadNarrow512(&Consts.narrowShift).AsInt32x16())
	f = x.AsInt32x16().Sub(whole.ShiftAllLeft(23)).AsFloat32x16().Sub(vec.LoadNarrow512(&Consts.NarrowOne))
	return whole.ConvertToFloat32(), f
}

// unusual512 reports whether a lane is not a positive normal number below a top, of which it is given the bits.
func unusual512(x archsimd.Float32x16, top *vec.Splat32) bool {
	moved := x.AsInt32x16().Add(vec.LoadNarrow512(&Consts.narrowNormal).AsInt32x16())
	return moved.Greater(vec.LoadNarrow512(top).AsInt32x16()).ToBits() != 0
}

// curve512 is a polynomial of nine terms.
func curve512(c *[9]vec.Splat32, f archsimd.Float32x16) archsimd.Float32x16 {
	return curveLow512(c, f, vec.LoadNarrow512(&c[8]).
		MulAdd(f, vec.LoadNarrow512(&c[7])).
		MulAdd(f, vec.LoadNarrow512(&c[6])).
		MulAdd(f, vec.LoadNarrow512(&c[5])))
}

// curveLow512 is its second half; as one function it would be too large for the compiler to inline.
func curveLow512(c *[9]vec.Splat32, f, p archsimd.Float32x16) archsimd.Float32x16 {
	return p.
		MulAdd(f, vec.LoadNarrow512(&c[4])).
		MulAdd(f, vec.LoadNarrow512(&c[3])).
		MulAdd(f, vec.LoadNarrow512(&c[2])).
		MulAdd(f, vec.LoadNarrow512(&c[1])).
		MulAdd(f, vec.LoadNarrow512(&c[0]))
}

// naturalLog512 is k ln2 + log(1+f), given q with log(1+f) = f + f^2 q. The small terms are added first.
func naturalLog512(k, f, q archsimd.Float32x16) archsimd.Float32x16 {
	small := k.MulAdd(vec.LoadNarrow512(&Consts.narrowLn2Low), f.Mul(f).Mul(q))
	return k.MulAdd(vec.LoadNarrow512(&Consts.narrowLn2), f.Add(small))
}

// binaryLog512 is k + log2(1+f), given q with log2(1+f) = f log2(e) + f^2 q.
func binaryLog512(k, f, q archsimd.Float32x16) archsimd.Float32x16 {
	small := f.MulAdd(vec.LoadNarrow512(&Consts.narrowLog2eLow), f.Mul(f).Mul(q))
	return f.MulAdd(vec.LoadNarrow512(&Consts.NarrowLog2e), small).Add(k)
}

// edgesNarrow512 is logEdges512 in float32.
func edgesNarrow512(r, x archsimd.Float32x16) archsimd.Float32x16 {
	var nought archsimd.Float32x16
	r = r.Merge(x, x.Less(vec.LoadNarrow512(&Consts.narrowInf))) // x itself when it is +Inf or NaN
	r = vec.LoadNarrow512(&Consts.narrowMinusInf).Merge(r, x.Equal(nought))
	return vec.LoadNarrow512(&Consts.narrowNaN).Merge(r, x.Less(nought))
}

// anyLog512 is a logarithm of any numbers: subnormal ones are multiplied by a power of two, which is taken off again.
func anyLog512(x archsimd.Float32x16, c *[9]vec.Splat32, ends func(k, f, q archsimd.Float32x16) archsimd.Float32x16) archsimd.Float32x16 {
	small := x.Less(vec.LoadNarrow512(&Consts.narrowLeast))
	k, f := splitNarrow512(x.Mul(vec.LoadNarrow512(&Consts.narrowRaise)).Merge(x, small))
	k = k.Sub(vec.LoadNarrow512(&Consts.narrowRaised).Masked(small))
	return edgesNarrow512(ends(k, f, curve512(c, f)), x)
}

// logLoop512 is the natural logarithm.
func logLoop512(dst, src []float32) {
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		if unusual512(x, &Consts.narrowNormalTop) {
			anyLog512(x, &Consts.narrowLogCurve, naturalLog512).Store(vec.At512(&dst[i]))
			continue
		}
		k, f := splitNarrow512(x)
		naturalLog512(k, f, curve512(&Consts.narrowLogCurve, f)).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// log2Loop512 is the logarithm to base 2, exact for powers of two.
func log2Loop512(dst, src []float32) {
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		if unusual512(x, &Consts.narrowNormalTop) {
			anyLog512(x, &Consts.narrowLog2Curve, binaryLog512).Store(vec.At512(&dst[i]))
			continue
		}
		k, f := splitNarrow512(x)
		binaryLog512(k, f, curve512(&Consts.narrowLog2Curve, f)).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// farLog1p512 is r where u is a positive normal number below 2^126, whose inverse is one too, and else log(u).
func farLog1p512(r, u archsimd.Float32x16) archsimd.Float32x16 {
	usual := u.GreaterEqual(vec.LoadNarrow512(&Consts.narrowLeast)).And(u.Less(vec.LoadNarrow512(&Consts.narrowLog1pFar)))
	return r.Merge(anyLog512(u, &Consts.narrowLogCurve, naturalLog512), usual)
}

// log1pLoop512 splits u = 1+x into 2^k and a fraction, whose distance from 1 it computes again, from x: 2^-k x + (2^-k - 1)
// is rounded once, and has the bits of x that u has lost.
func log1pLoop512(dst, src []float32) {
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		u := x.Add(vec.LoadNarrow512(&Consts.NarrowOne))
		k, _ := splitNarrow512(u)
		// The power and one less than it are exact: k is at least -24 here, and above 24 the rounding is far below k ln2.
		s := powerNarrow512(nought.Sub(k))
		f := x.MulAdd(s, s.Sub(vec.LoadNarrow512(&Consts.NarrowOne)))
		r := naturalLog512(k, f, curve512(&Consts.narrowLogCurve, f))
		r = x.Merge(r, x.Equal(nought)) // for the sign
		if unusual512(u, &Consts.narrowLog1pTop) {
			r = farLog1p512(r, u)
		}
		r.Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// expm1Loop512: exp(x) - 1 = 2^n g + (2^n - 1) with g = exp(r) - 1. It is computed as half of that, because 2^n alone may be
// infinite.
func expm1Loop512(dst, src []float32) {
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		n, r := SplitExpNarrow512(clampNarrow512(x, vec.LoadNarrow512(&Consts.narrowExpm1Least), vec.LoadNarrow512(&Consts.narrowHighest)))
		g := Expm1Narrow512(r)
		s := powerNarrow512(n.Sub(vec.LoadNarrow512(&Consts.NarrowOne)))
		y := g.MulAdd(s, s.Sub(vec.LoadNarrow512(&Consts.narrowHalf)))
		y = y.Add(y)
		y = g.Merge(y, n.Equal(nought)) // half of a subnormal number may be none
		x.Merge(y, x.Equal(nought)).Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}
