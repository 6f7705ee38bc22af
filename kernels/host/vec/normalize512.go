//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// narrowAt512 is half as many float32 at an element as fill a vector: as many as there are lanes of float64.
// SAFETY: the caller has as many elements from there on.
func narrowAt512(p *float32) *[half512]float32 { return (*[half512]float32)(unsafe.Pointer(p)) }

// standardizing512 is what standardize512 multiplies and adds: vectors of weight and bias, and of whichever is missing one vector that all
// elements read.
type standardizing512 struct {
	weight, bias           unsafe.Pointer
	weightMoves, biasMoves int // the bits of an offset that count: all, or none
}

// standardize512 is standardizeRows. Four rows at a time share the conversions of weight and bias, which take half of the time. What
// fills no vector is left to the portable loop.
// SAFETY: a vector begins at each element that is read or written, and ends inside of its line.
func standardize512(dst, src, weight, bias []float32, length int, means, scales []float64) {

	s := standardizing512{weight: unsafe.Pointer(&consts.narrowOne), bias: unsafe.Pointer(&consts.narrowSign)}
	if weight != nil {
		s.weight, s.weightMoves = unsafe.Pointer(unsafe.SliceData(weight)), -1
	}
	if bias != nil {
		s.bias, s.biasMoves = unsafe.Pointer(unsafe.SliceData(bias)), -1
	}
	n := length &^ (half512 - 1)
	j := 0
	for ; n > 0 && j+4 <= len(means); j += 4 {
		s.four(unsafe.Pointer(&dst[j*length]), unsafe.Pointer(&src[j*length]), n, 4*length, (*[4]float64)(means[j:]), (*[4]float64)(scales[j:]))
	}
	for ; n > 0 && j < len(means); j++ {
		s.one(unsafe.Pointer(&dst[j*length]), unsafe.Pointer(&src[j*length]), n, &means[j], &scales[j])
	}
	archsimd.ClearAVXUpperBits()
	for j := 0; n < length && j < len(means); j++ {
		standardizeRow(dst[j*length:][n:length], src[j*length:][n:length], after(weight, n), after(bias, n), means[j], scales[j])
	}
}

// wideEverywhere512 has a number in all lanes. It is read as a word, because a legacy instruction for floats would wait for the vectors.
// SAFETY: a word has the bits of a float64.
func wideEverywhere512(x *float64) wide512 {
	return archsimd.BroadcastInt64x8(*(*int64)(unsafe.Pointer(x))).AsFloat64x8()
}

// one standardizes n elements of a row, as many as fill vectors. It is a function of its own, so that what the loop needs stays in registers.
// SAFETY: see standardize512.
//
//go:noinline
func (s *standardizing512) one(y, x unsafe.Pointer, n int, mean, scale *float64) {
	m, f := wideEverywhere512(mean), wideEverywhere512(scale)
	w, b, weightMoves, biasMoves := s.weight, s.bias, s.weightMoves, s.biasMoves
	for i := 0; i < 4*n; i += 4 * half512 {
		v := widened512(x, i).Sub(m).Mul(f).MulAdd(widened512(w, i&weightMoves), widened512(b, i&biasMoves))
		v.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i)))
	}
}

// four is one for four rows, each so many bytes behind the one before.
// SAFETY: see standardize512.
//
//go:noinline
func (s *standardizing512) four(y, x unsafe.Pointer, n, step int, means, scales *[4]float64) {
	m0, m1, m2, m3 := wideEverywhere512(&means[0]), wideEverywhere512(&means[1]), wideEverywhere512(&means[2]), wideEverywhere512(&means[3])
	f0, f1, f2, f3 := wideEverywhere512(&scales[0]), wideEverywhere512(&scales[1]), wideEverywhere512(&scales[2]), wideEverywhere512(&scales[3])
	w, b, weightMoves, biasMoves := s.weight, s.bias, s.weightMoves, s.biasMoves
	for i := 0; i < 4*n; i += 4 * half512 {
		by, and := widened512(w, i&weightMoves), widened512(b, i&biasMoves)
		v0, v1 := widened512(x, i).Sub(m0).Mul(f0).MulAdd(by, and), widened512(x, i+step).Sub(m1).Mul(f1).MulAdd(by, and)
		v0.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i)))
		v1.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i+step)))
		v2, v3 := widened512(x, i+2*step).Sub(m2).Mul(f2).MulAdd(by, and), widened512(x, i+3*step).Sub(m3).Mul(f3).MulAdd(by, and)
		v2.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i+2*step)))
		v3.ConvertToFloat32().Store((*[half512]float32)(unsafe.Add(y, i+3*step)))
	}
}
