//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

func sumDeviations512(x []float32, mean float64) float64 {
	var s0, s1, s2, s3 wide512
	m := archsimd.BroadcastFloat64x8(mean)
	for ; len(x) >= 4*half512; x = x[4*half512:] {
		x0 := archsimd.LoadFloat32x8Slice(x).ConvertToFloat64().Sub(m)
		x1 := archsimd.LoadFloat32x8Slice(x[half512:]).ConvertToFloat64().Sub(m)
		x2 := archsimd.LoadFloat32x8Slice(x[2*half512:]).ConvertToFloat64().Sub(m)
		x3 := archsimd.LoadFloat32x8Slice(x[3*half512:]).ConvertToFloat64().Sub(m)
		s0, s1, s2, s3 = x0.MulAdd(x0, s0), x1.MulAdd(x1, s1), x2.MulAdd(x2, s2), x3.MulAdd(x3, s3)
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumDeviationsRow(x, mean)
}

// narrowAt512 is half as many float32 at an element as fill a vector: as many as there are lanes of float64.
// SAFETY: the caller has as many elements from there on.
func narrowAt512(p *float32) *[half512]float32 { return (*[half512]float32)(unsafe.Pointer(p)) }

// standardize512 has a loop for each choice of weight and bias: a choice within the loop would keep vectors in memory. What fills
// no vector is left to the portable loop.
func standardize512(dst, src, weight, bias []float32, mean, scale float64) {
	m, s := archsimd.BroadcastFloat64x8(mean), archsimd.BroadcastFloat64x8(scale)
	n := len(src) &^ (half512 - 1)
	switch {
	case weight != nil && bias != nil:
		for i := 0; i < n; i += half512 {
			y := archsimd.LoadFloat32x8(narrowAt512(&src[i])).ConvertToFloat64().Sub(m).Mul(s)
			w := archsimd.LoadFloat32x8(narrowAt512(&weight[i])).ConvertToFloat64()
			b := archsimd.LoadFloat32x8(narrowAt512(&bias[i])).ConvertToFloat64()
			y.MulAdd(w, b).ConvertToFloat32().Store(narrowAt512(&dst[i]))
		}
	case weight != nil:
		for i := 0; i < n; i += half512 {
			y := archsimd.LoadFloat32x8(narrowAt512(&src[i])).ConvertToFloat64().Sub(m).Mul(s)
			w := archsimd.LoadFloat32x8(narrowAt512(&weight[i])).ConvertToFloat64()
			y.Mul(w).ConvertToFloat32().Store(narrowAt512(&dst[i]))
		}
	case bias != nil:
		for i := 0; i < n; i += half512 {
			y := archsimd.LoadFloat32x8(narrowAt512(&src[i])).ConvertToFloat64().Sub(m).Mul(s)
			b := archsimd.LoadFloat32x8(narrowAt512(&bias[i])).ConvertToFloat64()
			y.Add(b).ConvertToFloat32().Store(narrowAt512(&dst[i]))
		}
	default:
		for i := 0; i < n; i += half512 {
			y := archsimd.LoadFloat32x8(narrowAt512(&src[i])).ConvertToFloat64().Sub(m).Mul(s)
			y.ConvertToFloat32().Store(narrowAt512(&dst[i]))
		}
	}
	archsimd.ClearAVXUpperBits()
	if n < len(src) {
		standardizeRow(dst[n:], src[n:], after(weight, n), after(bias, n), mean, scale)
	}
}
