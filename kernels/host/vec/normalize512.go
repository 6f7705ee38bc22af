//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// narrowAt512 is half as many float32 at an element as fill a vector: as many as there are lanes of float64.
// SAFETY: the caller has as many elements from there on.
func narrowAt512(p *float32) *[half512]float32 { return (*[half512]float32)(unsafe.Pointer(p)) }

// standardize512 is standardizeRows. What is missing of weight and bias is one vector, which all elements read. What fills no vector is
// left to the portable loop.
// SAFETY: a vector begins at each element that is read or written, and ends inside of its line. Words have the bits of floats.
func standardize512(dst, src, weight, bias []float32, length int, means, scales []float64) {
	n := length &^ (half512 - 1)
	w, b := unsafe.Pointer(&consts.narrowOne), unsafe.Pointer(&consts.narrowSign)
	weightMoves, biasMoves := 0, 0 // all bits, unless one vector is read again and again
	if weight != nil {
		w, weightMoves = unsafe.Pointer(unsafe.SliceData(weight)), -1
	}
	if bias != nil {
		b, biasMoves = unsafe.Pointer(unsafe.SliceData(bias)), -1
	}
	for j := range means {
		x, y := unsafe.Pointer(unsafe.SliceData(src[j*length:])), unsafe.Pointer(unsafe.SliceData(dst[j*length:]))
		mean := archsimd.BroadcastInt64x8(*(*int64)(unsafe.Pointer(&means[j]))).AsFloat64x8()
		scale := archsimd.BroadcastInt64x8(*(*int64)(unsafe.Pointer(&scales[j]))).AsFloat64x8()
		for i := 0; i < 4*n; i += 4 * half512 {
			v := widened512(x, i).Sub(mean).Mul(scale)
			v.MulAdd(widened512(w, i&weightMoves), widened512(b, i&biasMoves)).ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i)))
		}
		if n < length {
			archsimd.ClearAVXUpperBits()
			standardizeRow(dst[j*length:][n:length], src[j*length:][n:length], after(weight, n), after(bias, n), means[j], scales[j])
		}
	}
	archsimd.ClearAVXUpperBits()
}
