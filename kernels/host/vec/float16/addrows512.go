//go:build goexperiment.simd && amd64 && !race

package float16

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// addBF16Rows512 takes four rows in one pass over sums.
func addBF16Rows512(sums, a []float32, b []uint16, step int) {
	for ; len(a) >= 4; a, b = a[4:], b[min(4*step, len(b)):] {
		x0, x1 := archsimd.BroadcastFloat32x16(a[0]), archsimd.BroadcastFloat32x16(a[1])
		x2, x3 := archsimd.BroadcastFloat32x16(a[2]), archsimd.BroadcastFloat32x16(a[3])
		b0, b1, b2, b3 := b[:len(sums)], b[step:][:len(sums)], b[2*step:][:len(sums)], b[3*step:][:len(sums)]
		j := 0
		for ; j+vec.Lanes512 <= len(sums); j += vec.Lanes512 {
			y := archsimd.LoadFloat32x16Slice(sums[j:])
			y = x0.MulAdd(archsimd.LoadUint16x16Slice(b0[j:]).ExtendToUint32().ShiftAllLeft(16).AsFloat32x16(), y)
			y = x1.MulAdd(archsimd.LoadUint16x16Slice(b1[j:]).ExtendToUint32().ShiftAllLeft(16).AsFloat32x16(), y)
			y = x2.MulAdd(archsimd.LoadUint16x16Slice(b2[j:]).ExtendToUint32().ShiftAllLeft(16).AsFloat32x16(), y)
			y = x3.MulAdd(archsimd.LoadUint16x16Slice(b3[j:]).ExtendToUint32().ShiftAllLeft(16).AsFloat32x16(), y)
			y.StoreSlice(sums[j:])
		}
		addBF16Rows(sums[j:], a[:4], b[j:], step)
	}
	archsimd.ClearAVXUpperBits()
	addBF16Rows(sums, a, b, step)
}
