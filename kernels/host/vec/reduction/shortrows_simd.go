//go:build goexperiment.simd && amd64 && !race

package reduction

import (
	"simd/archsimd"
	"unsafe"
)

// sumLines256 is SumLines at both levels: longer vectors would not fill with rows this short. Element i of a row goes to lane i
// modulo 4, and the lanes are added in pairs, whichever rows are beside it.
func sumLines256(sums []float64, x []float32, stride, length int) {
	for ; len(sums) >= 4; sums = sums[4:] {
		addLines256((*[4]float64)(sums), x, stride, length)
		x = x[min(4*stride, len(x)):]
	}
	for i := range sums { // the same row four times
		sum := [4]float64{sums[i]}
		addLines256(&sum, x[i*stride:], 0, length)
		sums[i] = sum[0]
	}
}

// addLines256 adds a row to each sum.
// SAFETY: the rows have one length, which the loop stays below.
func addLines256(sums *[4]float64, x []float32, stride, length int) {
	a, b, c, d := x[:length], x[stride:][:length], x[2*stride:][:length], x[3*stride:][:length]
	var s0, s1, s2, s3 archsimd.Float64x4
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 = s0.Add(archsimd.LoadFloat32x4((*[4]float32)(unsafe.Pointer(&a[i]))).ConvertToFloat64())
		s1 = s1.Add(archsimd.LoadFloat32x4((*[4]float32)(unsafe.Pointer(&b[i]))).ConvertToFloat64())
		s2 = s2.Add(archsimd.LoadFloat32x4((*[4]float32)(unsafe.Pointer(&c[i]))).ConvertToFloat64())
		s3 = s3.Add(archsimd.LoadFloat32x4((*[4]float32)(unsafe.Pointer(&d[i]))).ConvertToFloat64())
	}
	if i < len(a) {
		s0 = s0.Add(archsimd.LoadFloat32x4SlicePart(a[i:]).ConvertToFloat64())
		s1 = s1.Add(archsimd.LoadFloat32x4SlicePart(b[i:]).ConvertToFloat64())
		s2 = s2.Add(archsimd.LoadFloat32x4SlicePart(c[i:]).ConvertToFloat64())
		s3 = s3.Add(archsimd.LoadFloat32x4SlicePart(d[i:]).ConvertToFloat64())
	}
	s0, s2 = s0.AddPairsGrouped(s1), s2.AddPairsGrouped(s3)
	s0 = s0.Select128FromPair(0, 2, s2).Add(s0.Select128FromPair(1, 3, s2))
	archsimd.LoadFloat64x4(sums).Add(s0).Store(sums)
	archsimd.ClearAVXUpperBits()
}
