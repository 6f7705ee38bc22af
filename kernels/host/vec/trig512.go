//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
)

// sin and cos in float32: one polynomial over half a turn, and a sign. A vector that has an element beyond the limit, infinite or
// NaN, takes these elements from the loops in float64.

// sinNarrow512 is sin(r) for |r| a little above pi/2, its sign flipped where the low bit of t is set. Roundings may lead to 1 and
// a bit, which is cut: as integers, positive floats are in order, and negative ones are as unsigned integers. NaN does not last.
func sinNarrow512(r, t narrow512) narrow512 {
	z := r.Mul(r)
	p := loadNarrow512(&consts.narrowSin[4]).
		MulAdd(z, loadNarrow512(&consts.narrowSin[3])).
		MulAdd(z, loadNarrow512(&consts.narrowSin[2])).
		MulAdd(z, loadNarrow512(&consts.narrowSin[1])).
		MulAdd(z, loadNarrow512(&consts.narrowSin[0]))
	s := p.Mul(z).MulAdd(r, r).AsInt32x16()
	s = s.Min(loadNarrow512(&consts.narrowOne).AsInt32x16()).AsUint32x16().Min(loadNarrow512(&consts.narrowMinusOne).AsUint32x16()).AsInt32x16()
	return s.Add(t.AsInt32x16().ShiftAllLeft(31)).AsFloat32x16()
}

// turnNarrow512 is x - n pi. The first product and difference are exact.
func turnNarrow512(x, n narrow512) narrow512 {
	r := n.MulAdd(loadNarrow512(&consts.narrowMinusPi), x)
	r = n.MulAdd(loadNarrow512(&consts.narrowMinusPiMid), r)
	return n.MulAdd(loadNarrow512(&consts.narrowMinusPiLow), r)
}

// far512 reports whether a lane is beyond the limit, infinite or NaN.
func far512(x narrow512) bool {
	return absNarrow512(x).LessEqual(loadNarrow512(&consts.narrowTrigLimit)).ToBits() != 1<<lanes512-1
}

// sinLoop512: sin(r + n pi) is sin(r), with the other sign for an odd n.
func sinLoop512(dst, src []float32) {
	var nought narrow512
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		magic := loadNarrow512(&consts.narrowMagic)
		t := x.MulAdd(loadNarrow512(&consts.narrowOverPi), magic)
		r := sinNarrow512(turnNarrow512(x, t.Sub(magic)), t)
		r = x.Merge(r, x.Equal(nought)) // for the sign
		if far512(x) {
			r = farTrig512(x, r, sin512, math.Sin)
		}
		r.Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// cosLoop512: cos(r + (n + 1/2) pi) = -sin(r) for an even n.
func cosLoop512(dst, src []float32) {
	for i := 0; i+lanes512 <= len(src); i += lanes512 {
		x := archsimd.LoadFloat32x16(at512(&src[i]))
		// The odd magic number flips the low bit, and with it the sign.
		minusHalf, magic := loadNarrow512(&consts.narrowMinusHalf), loadNarrow512(&consts.narrowMagicOdd)
		t := x.MulAdd(loadNarrow512(&consts.narrowOverPi), minusHalf).Add(magic)
		n := t.Sub(magic).Sub(minusHalf)
		r := sinNarrow512(turnNarrow512(x, n), t)
		if far512(x) {
			r = farTrig512(x, r, cos512, math.Cos)
		}
		r.Store(at512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// farTrig512 is near, with what belongs to an x beyond the limit replaced.
func farTrig512(x, near narrow512, wide func(wide512) wide512, scalar func(float64) float64) narrow512 {
	var row [lanes512]float32
	x.Store(&row)
	mapTrig512(row[:], row[:], wide, scalar)
	return near.Merge(archsimd.LoadFloat32x16(&row), absNarrow512(x).LessEqual(loadNarrow512(&consts.narrowTrigLimit)))
}
