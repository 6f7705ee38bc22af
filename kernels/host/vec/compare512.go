//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

func less512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).Less(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	lessRow(dst, a, b)
}

func lessEqual512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).LessEqual(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	lessEqualRow(dst, a, b)
}

func equal512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).Equal(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	equalRow(dst, a, b)
}

func notEqual512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).NotEqual(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	notEqualRow(dst, a, b)
}
