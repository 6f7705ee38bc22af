//go:build goexperiment.simd && amd64 && !race

package float16

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Narrowing to 16 bits is there for AVX-512 alone: it needs the truncating
// stores that vec.AVX2 lacks. Each loop is its namesake in convert.go with every
// branch taken and the results merged; the tails are convert.go's own.

func f32ToF16Row512(dst []uint16, src []float32) {
	magnitude, top := archsimd.BroadcastInt32x16(0x7fffffff), archsimd.BroadcastInt32x16(0x477ff000-1)
	small, unit := archsimd.BroadcastInt32x16(0x38800000), archsimd.BroadcastInt32x16(1)
	rebias := archsimd.BroadcastInt32x16(0xfff - (127-15)<<23)
	half := archsimd.BroadcastFloat32x16(0.5)
	infinite, quiet := archsimd.BroadcastInt32x16(0x7c00), archsimd.BroadcastInt32x16(0x7e00)
	for len(src) >= vec.Lanes512 && len(dst) >= vec.Lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		b := x.AsInt32x16()
		a := b.And(magnitude)
		h := a.Add(rebias).Add(a.ShiftAllRight(13).And(unit)).ShiftAllRight(13)
		h = a.AsFloat32x16().Add(half).AsInt32x16().Sub(half.AsInt32x16()).Merge(h, a.Less(small))
		h = infinite.Merge(h, a.Greater(top))
		h = quiet.Merge(h, x.IsNaN())
		sign := b.Xor(a).ShiftAllRight(16) // its copies above bit 15 are cut off
		h.Or(sign).AsUint32x16().TruncateToUint16().StoreSlice(dst)
		src, dst = src[vec.Lanes512:], dst[vec.Lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	f32ToF16Row(dst, src)
}

func f32ToBF16Row512(dst []uint16, src []float32) {
	r := BF16Rounding()
	for len(src) >= vec.Lanes512 && len(dst) >= vec.Lanes512 {
		r.Round(archsimd.LoadFloat32x16Slice(src)).StoreSlice(dst)
		src, dst = src[vec.Lanes512:], dst[vec.Lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	f32ToBF16Row(dst, src)
}

// BF16Round has the constants of a rounding to bfloat16.
type BF16Round struct{ rounding, unit, quiet archsimd.Int32x16 }

// BF16Rounding broadcasts them.
func BF16Rounding() BF16Round {
	return BF16Round{archsimd.BroadcastInt32x16(0x7fff), archsimd.BroadcastInt32x16(1), archsimd.BroadcastInt32x16(0x40)}
}

// Round rounds to nearest, ties to even.
func (r BF16Round) Round(x archsimd.Float32x16) archsimd.Uint16x16 {
	b := x.AsInt32x16()
	high := b.ShiftAllRight(16)
	h := b.Add(r.rounding).Add(high.And(r.unit)).ShiftAllRight(16)
	return high.Or(r.quiet).Merge(h, x.IsNaN()).AsUint32x16().TruncateToUint16()
}
