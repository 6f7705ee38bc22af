//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math/bits"
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// pow for vec.AVX2, in float64: its permutations have no room for the tables of powers_simd.go.

// powLoop256 computes vectors of positive normal bases and finite powers, and of squares: these are products, which all paths round
// alike. It gives other vectors to signedPow256, and those with some squares too: a choice by lanes would slow all others down.
// SAFETY: dst has whole vectors, x and y as many elements or more.
func powLoop256(dst, x, y []float32) {
	for i := 0; i < len(dst); i += vec.Lanes256 {
		a, b := archsimd.LoadFloat32x8(vec.At256(&x[i])), archsimd.LoadFloat32x8(vec.At256(&y[i]))
		squares := b.Equal(vec.LoadNarrow256(&Consts.narrowTwo)).ToBits()
		if squares == 1<<vec.Lanes256-1 {
			a.Mul(a).Store(vec.At256(&dst[i]))
			continue
		}
		finite := absNarrow256(b).Less(vec.LoadNarrow256(&Consts.narrowInf)).ToBits()
		if squares != 0 || finite != 1<<vec.Lanes256-1 || unusual256(a, &Consts.narrowNormalTop) {
			signedPow256(octo256(&dst[i]), octo256(&x[i]), octo256(&y[i]))
			signedPow256(octo256(&dst[i+vec.WideLanes256]), octo256(&x[i+vec.WideLanes256]), octo256(&y[i+vec.WideLanes256]))
			continue
		}
		k, f := splitNarrow256(a)
		low := wideLog2256(k.GetLo().ConvertToFloat64(), f.GetLo().ConvertToFloat64())
		low = low.Mul(archsimd.LoadFloat32x4(octo256(&y[i])).ConvertToFloat64())
		high := wideLog2256(k.GetHi().ConvertToFloat64(), f.GetHi().ConvertToFloat64())
		high = high.Mul(archsimd.LoadFloat32x4(octo256(&y[i+vec.WideLanes256])).ConvertToFloat64())
		wideExp2256(low).ConvertToFloat32().Store(octo256(&dst[i]))
		wideExp2256(high).ConvertToFloat32().Store(octo256(&dst[i+vec.WideLanes256]))
	}
	archsimd.ClearAVXUpperBits()
}

// wideLog2256 is log2 of 2^k (1+f) for f from sqrt(1/2)-1 to sqrt(2)-1, within 1.1e-10 of itself; k of f = 0. The polynomial is one
// of pairs of terms, in f^4: a product waits for few others.
func wideLog2256(k, f archsimd.Float64x4) archsimd.Float64x4 {
	z := f.Mul(f)
	z2 := z.Mul(z)
	return log2High256(f, z).MulAdd(z2, log2Middle256(f, z)).MulAdd(z2, log2Low256(f, z)).MulAdd(f, k)
}

// log2High256 has the coefficients of the highest four powers, given f and its square z.
func log2High256(f, z archsimd.Float64x4) archsimd.Float64x4 {
	low := vec.LoadSplat256(&Consts.log2Fitted[9]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[8]))
	return vec.LoadSplat256(&Consts.log2Fitted[11]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[10])).MulAdd(z, low)
}

// log2Middle256 has the next four.
func log2Middle256(f, z archsimd.Float64x4) archsimd.Float64x4 {
	low := vec.LoadSplat256(&Consts.log2Fitted[5]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[4]))
	return vec.LoadSplat256(&Consts.log2Fitted[7]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[6])).MulAdd(z, low)
}

// log2Low256 has the lowest four.
func log2Low256(f, z archsimd.Float64x4) archsimd.Float64x4 {
	low := vec.LoadSplat256(&Consts.log2Fitted[1]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[0]))
	return vec.LoadSplat256(&Consts.log2Fitted[3]).MulAdd(f, vec.LoadSplat256(&Consts.log2Fitted[2])).MulAdd(z, low)
}

// wideExp2256 is 2^t within 2.4e-10 of itself, 2^t of an integer; any t beyond 1000 counts as that, which float32 does not show. It is
// not for NaN, of which Max and Min may or may not make a number.
func wideExp2256(t archsimd.Float64x4) archsimd.Float64x4 {
	t = t.Min(vec.LoadSplat256(&Consts.exp2High)).Max(vec.LoadSplat256(&Consts.exp2Low))
	shifted := t.Add(vec.LoadSplat256(&Consts.trigMagic)) // the integer beside t in the low bits
	p := exp2Fraction256(t.Sub(shifted.Sub(vec.LoadSplat256(&Consts.trigMagic))))
	return p.AsInt64x4().Add(shifted.AsInt64x4().ShiftAllLeft(52)).AsFloat64x4()
}

// exp2Fraction256 is 2^r for |r| <= 1/2.
func exp2Fraction256(r archsimd.Float64x4) archsimd.Float64x4 {
	z := r.Mul(r)
	even := vec.LoadSplat256(&Consts.exp2Fitted[5]).
		MulAdd(z, vec.LoadSplat256(&Consts.exp2Fitted[3])).
		MulAdd(z, vec.LoadSplat256(&Consts.exp2Fitted[1])).
		MulAdd(z, vec.LoadSplat256(&Consts.One))
	return vec.LoadSplat256(&Consts.exp2Fitted[6]).
		MulAdd(z, vec.LoadSplat256(&Consts.exp2Fitted[4])).
		MulAdd(z, vec.LoadSplat256(&Consts.exp2Fitted[2])).
		MulAdd(z, vec.LoadSplat256(&Consts.exp2Fitted[0])).
		MulAdd(r, even)
}

// signedPow256 computes a vector of any elements: 2^(y log2|x|), negative for odd powers of negative numbers. The scalar
// function computes elements whose base is 0 or not finite, whose power is not finite, or whose power is a fraction while the
// base is negative.
func signedPow256(dst, x, y *[vec.WideLanes256]float32) {
	bases, powers := *x, *y // dst may be either
	a, b := archsimd.LoadFloat32x4(x).ConvertToFloat64(), archsimd.LoadFloat32x4(y).ConvertToFloat64()
	nought := vec.LoadSplat256(&Consts.zero)
	base, integral, h := abs256(a), b.Trunc().Equal(b), b.Mul(vec.LoadSplat256(&Consts.half))
	// The same steps as in powLoop256: an element has the same bits in either.
	p := wideExp2256(wideLog2256(splitLog256(base)).Mul(b))
	// An integer is odd if its half has a fraction; of 2^53 and above all are even.
	odd := h.Trunc().NotEqual(h)
	p = negate256(p).Merge(p, a.Less(nought).And(odd))
	finite := a.Sub(a).Add(b.Sub(b)).Equal(nought)
	usual := base.Greater(nought).And(finite).And(a.Greater(nought).Or(integral)).ToBits()
	a.Mul(a).Merge(p, b.Equal(vec.LoadSplat256(&Consts.two))).ConvertToFloat32().Store(dst)
	archsimd.ClearAVXUpperBits()
	for left := usual ^ (1<<vec.WideLanes256 - 1); left != 0; left &= left - 1 {
		i := bits.TrailingZeros8(left)
		dst[i] = power(bases[i], powers[i])
	}
}
