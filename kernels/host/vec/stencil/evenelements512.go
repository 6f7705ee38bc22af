//go:build goexperiment.simd && amd64 && !race

package stencil

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

func evenElements512(to, x []float32) {
	for len(to) >= vec.Lanes512 && len(x) >= 2*vec.Lanes512 {
		vec.EvenLanes512(archsimd.LoadFloat32x16Slice(x), archsimd.LoadFloat32x16Slice(x[vec.Lanes512:])).StoreSlice(to)
		to, x = to[vec.Lanes512:], x[2*vec.Lanes512:]
	}
	if len(to) > 0 {
		vec.EvenLanes512(archsimd.LoadFloat32x16SlicePart(x), archsimd.LoadFloat32x16SlicePart(x[min(vec.Lanes512, len(x)):])).StoreSlicePart(to)
	}
	archsimd.ClearAVXUpperBits()
}
