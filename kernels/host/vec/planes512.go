//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

func takeEvens512(to, x []float32) {
	for len(to) >= lanes512 && len(x) >= 2*lanes512 {
		evens512(archsimd.LoadFloat32x16Slice(x), archsimd.LoadFloat32x16Slice(x[lanes512:])).StoreSlice(to)
		to, x = to[lanes512:], x[2*lanes512:]
	}
	if len(to) > 0 {
		evens512(archsimd.LoadFloat32x16SlicePart(x), archsimd.LoadFloat32x16SlicePart(x[min(lanes512, len(x)):])).StoreSlicePart(to)
	}
	archsimd.ClearAVXUpperBits()
}
