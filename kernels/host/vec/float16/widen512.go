//go:build goexperiment.simd && amd64 && !race

package float16

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// What follows is convert.go in integer vectors; the tails are convert.go's own.

func f16ToF32Row512(dst []float32, src []uint16) {
	sign, magnitude := archsimd.BroadcastUint32x16(0x8000), archsimd.BroadcastUint32x16(0x7fff<<13)
	special := archsimd.BroadcastUint32x16(0x1f<<23 - 1)
	exponent := archsimd.BroadcastUint32x16(0x7f800000)
	rebias := archsimd.BroadcastFloat32x16(0x1p112)
	for len(src) >= vec.Lanes512 && len(dst) >= vec.Lanes512 {
		h := archsimd.LoadUint16x16Slice(src).ExtendToUint32()
		m := h.ShiftAllLeft(13).And(magnitude)
		x := m.AsFloat32x16().Mul(rebias).AsUint32x16()
		x = m.Or(exponent).Merge(x, m.AsInt32x16().Greater(special.AsInt32x16()))
		x.Or(h.And(sign).ShiftAllLeft(16)).AsFloat32x16().StoreSlice(dst)
		src, dst = src[vec.Lanes512:], dst[vec.Lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	f16ToF32Row(dst, src)
}

func bf16ToF32Row512(dst []float32, src []uint16) {
	for len(src) >= vec.Lanes512 && len(dst) >= vec.Lanes512 {
		h := archsimd.LoadUint16x16Slice(src).ExtendToUint32()
		h.ShiftAllLeft(16).AsFloat32x16().StoreSlice(dst)
		src, dst = src[vec.Lanes512:], dst[vec.Lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	bf16ToF32Row(dst, src)
}
