//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// The two passes of layer_norm for vec.AVX2. Those for AVX-512 are in moments_amd64.s.

// narrowAt256 is half as many float32 at an element as fill a vector: as many as there are lanes of float64.
// SAFETY: the caller has as many elements from there on.
func narrowAt256(p *float32) *[vec.WideLanes256]float32 {
	return (*[vec.WideLanes256]float32)(unsafe.Pointer(p))
}

// add sets the sums of the first rows, and asks for what the next passes take from memory. Lanes beyond a row have its origin, which adds nothing.
func (s *momentsState256) add(dst, src []float32, length, rows int) {
	reduction.Prefetch(dst[:rows*length])
	ending := endingMask256(length)
	for j := range rows {
		x := src[j*length:][:length]
		first := archsimd.BroadcastUint32x8(s.origin[j&(vec.Lanes256-1)]).AsFloat32x8()
		origin := first.GetLo().ConvertToFloat64()
		var sum0, sum1, squares0, squares1 archsimd.Float64x4
		i := 0
		for ; i+vec.Lanes256 <= len(x); i += vec.Lanes256 {
			d0 := archsimd.LoadFloat32x4(narrowAt256(&x[i])).ConvertToFloat64().Sub(origin)
			d1 := archsimd.LoadFloat32x4(narrowAt256(&x[i+vec.WideLanes256])).ConvertToFloat64().Sub(origin)
			sum0, sum1 = sum0.Add(d0), sum1.Add(d1)
			squares0, squares1 = d0.MulAdd(d0, squares0), d1.MulAdd(d1, squares1)
		}
		if i < len(x) {
			v := archsimd.LoadMaskedFloat32x8(vec.At256(&x[i]), ending).Merge(first, ending)
			d0, d1 := v.GetLo().ConvertToFloat64().Sub(origin), v.GetHi().ConvertToFloat64().Sub(origin)
			sum0, sum1 = sum0.Add(d0), sum1.Add(d1)
			squares0, squares1 = d0.MulAdd(d0, squares0), d1.MulAdd(d1, squares1)
		}
		origin.Store(&s.origins[j/vec.WideLanes256&1][j&(vec.WideLanes256-1)])
		sum0.Add(sum1).Store(&s.sums[j/vec.WideLanes256&1][j&(vec.WideLanes256-1)])
		squares0.Add(squares1).Store(&s.squares[j/vec.WideLanes256&1][j&(vec.WideLanes256-1)])
	}
	archsimd.ClearAVXUpperBits()
	reduction.Prefetch(reduction.NextPart(src, rows*length))
}

// standardizeFour256 is standardizeOne256 for four rows, each step bytes behind the one before.
// SAFETY: see standardize256.
//
//go:noinline
func standardizeFour256(s *standardizing, y, x unsafe.Pointer, n, step int, means, scales *[4]float64) {
	m0, m1, m2, m3 := wideEverywhere256(&means[0]), wideEverywhere256(&means[1]), wideEverywhere256(&means[2]), wideEverywhere256(&means[3])
	f0, f1, f2, f3 := wideEverywhere256(&scales[0]), wideEverywhere256(&scales[1]), wideEverywhere256(&scales[2]), wideEverywhere256(&scales[3])
	w, b, weightMoves, biasMoves := s.weight, s.bias, s.weightMoves, s.biasMoves
	for i := 0; i < 4*n; i += 4 * vec.WideLanes256 {
		by, and := vec.LoadWidened256(w, i&weightMoves), vec.LoadWidened256(b, i&biasMoves)
		v0, v1 := vec.LoadWidened256(x, i).Sub(m0).Mul(f0).MulAdd(by, and), vec.LoadWidened256(x, i+step).Sub(m1).Mul(f1).MulAdd(by, and)
		v0.ConvertToFloat32().Store((*[vec.WideLanes256]float32)(unsafe.Add(y, i)))
		v1.ConvertToFloat32().Store((*[vec.WideLanes256]float32)(unsafe.Add(y, i+step)))
		v2, v3 := vec.LoadWidened256(x, i+2*step).Sub(m2).Mul(f2).MulAdd(by, and), vec.LoadWidened256(x, i+3*step).Sub(m3).Mul(f3).MulAdd(by, and)
		v2.ConvertToFloat32().Store((*[vec.WideLanes256]float32)(unsafe.Add(y, i+2*step)))
		v3.ConvertToFloat32().Store((*[vec.WideLanes256]float32)(unsafe.Add(y, i+3*step)))
	}
}
