//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// standardize512 is standardizeRows.
func standardize512(dst, src, weight, bias []float32, length int, means, scales []float64) {
	standardizeBy(vec.WideLanes512, dst, src, weight, bias, length, means, scales)
	archsimd.ClearAVXUpperBits()
}

// wideEverywhere512 has a number in all lanes. It is read as a word, because a legacy instruction for floats would wait for the vectors.
// SAFETY: a word has the bits of a float64.
func wideEverywhere512(x *float64) archsimd.Float64x8 {
	return archsimd.BroadcastInt64x8(*(*int64)(unsafe.Pointer(x))).AsFloat64x8()
}

// standardizeOne512 standardizes n elements of a row, as many as fill vectors. It is a function of its own, so that what the loop needs stays in registers.
// SAFETY: see standardize512.
//
//go:noinline
func standardizeOne512(s *standardizing, y, x unsafe.Pointer, n int, mean, scale *float64) {
	m, f := wideEverywhere512(mean), wideEverywhere512(scale)
	w, b, weightMoves, biasMoves := s.weight, s.bias, s.weightMoves, s.biasMoves
	for i := 0; i < 4*n; i += 4 * vec.WideLanes512 {
		v := vec.LoadWidened512(x, i).Sub(m).Mul(f).MulAdd(vec.LoadWidened512(w, i&weightMoves), vec.LoadWidened512(b, i&biasMoves))
		v.ConvertToFloat32().Store((*[vec.WideLanes512]float32)(unsafe.Add(y, i)))
	}
}
