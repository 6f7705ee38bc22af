//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// sin and cos in float32: one polynomial over half a turn, and a sign. A vector that has an element beyond the limit, infinite or
// NaN, takes these elements from the loops in float64.

// sinNarrow512 is sin(r) for |r| a little above pi/2, its sign flipped where the low bit of t is set. Roundings may lead to 1 and
// a bit, which is cut: as integers, positive floats are in order, and negative ones are as unsigned integers. NaN does not last.
func sinNarrow512(r, t archsimd.Float32x16) archsimd.Float32x16 {
	z := r.Mul(r)
	p := vec.LoadNarrow512(&Consts.narrowSin[4]).
		MulAdd(z, vec.LoadNarrow512(&Consts.narrowSin[3])).
		MulAdd(z, vec.LoadNarrow512(&Consts.narrowSin[2])).
		MulAdd(z, vec.LoadNarrow512(&Consts.narrowSin[1])).
		MulAdd(z, vec.LoadNarrow512(&Consts.narrowSin[0]))
	s := p.Mul(z).MulAdd(r, r).AsInt32x16()
	s = s.Min(vec.LoadNarrow512(&Consts.NarrowOne).AsInt32x16()).AsUint32x16().Min(vec.LoadNarrow512(&Consts.narrowMinusOne).AsUint32x16()).AsInt32x16()
	return s.Add(t.AsInt32x16().ShiftAllLeft(31)).AsFloat32x16()
}

// turnNarrow512 is x - n pi. The first product and difference are exact.
func turnNarrow512(x, n archsimd.Float32x16) archsimd.Float32x16 {
	r := n.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusPi), x)
	r = n.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusPiMid), r)
	return n.MulAdd(vec.LoadNarrow512(&Consts.narrowMinusPiLow), r)
}

// far512 reports whether a lane is beyond the limit, infinite or NaN.
func far512(x archsimd.Float32x16) bool {
	return absNarrow512(x).LessEqual(vec.LoadNarrow512(&Consts.narrowTrigLimit)).ToBits() != 1<<vec.Lanes512-1
}

// sinLoop512: sin(r + n pi) is sin(r), with the other sign for an odd n.
func sinLoop512(dst, src []float32) {
	var nought archsimd.Float32x16
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		magic := vec.LoadNarrow512(&Consts.NarrowMagic)
		t := x.MulAdd(vec.LoadNarrow512(&Consts.narrowOverPi), magic)
		r := sinNarrow512(turnNarrow512(x, t.Sub(magic)), t)
		r = x.Merge(r, x.Equal(nought)) // for the sign
		if far512(x) {
			r = farTrig512(x, r, sin512, math.Sin)
		}
		r.Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// cosLoop512: cos(r + (n + 1/2) pi) = -sin(r) for an even n.
func cosLoop512(dst, src []float32) {
	for i := 0; i+vec.Lanes512 <= len(src); i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		// The odd magic number flips the low bit, and with it the sign.
		minusHalf, magic := vec.LoadNarrow512(&Consts.narrowMinusHalf), vec.LoadNarrow512(&Consts.narrowMagicOdd)
		t := x.MulAdd(vec.LoadNarrow512(&Consts.narrowOverPi), minusHalf).Add(magic)
		n := t.Sub(magic).Sub(minusHalf)
		r := sinNarrow512(turnNarrow512(x, n), t)
		if far512(x) {
			r = farTrig512(x, r, cos512, math.Cos)
		}
		r.Store(vec.At512(&dst[i]))
	}
	archsimd.ClearAVXUpperBits()
}

// farTrig512 is near, with what belongs to an x beyond the limit replaced.
func farTrig512(x, near archsimd.Float32x16, wide func(archsimd.Float64x8) archsimd.Float64x8, scalar func(float64) float64) archsimd.Float32x16 {
	var row [vec.Lanes512]float32
	x.Store(&row)
	mapTrig512(row[:], row[:], wide, scalar)
	return near.Merge(archsimd.LoadFloat32x16(&row), absNarrow512(x).LessEqual(vec.LoadNarrow512(&Consts.narrowTrigLimit)))
}
