package float16

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Rows of the 16-bit floats, whose conversions one by one are in dtype.

// F16ToF32Row sets dst[i] to src[i] widened.
func F16ToF32Row(dst []float32, src []uint16) {
	n := min(len(dst), len(src))
	active.f16ToF32(dst[:n], src[:n])
}

// F32ToF16Row sets dst[i] to src[i] narrowed.
func F32ToF16Row(dst []uint16, src []float32) {
	n := min(len(dst), len(src))
	active.f32ToF16(dst[:n], src[:n])
}

// F64ToF16Row sets dst[i] to src[i] narrowed with one rounding.
func F64ToF16Row(dst []uint16, src []float64) { vec.Convert(dst, src, dtype.F64ToF16) }

// BF16ToF32Row sets dst[i] to src[i] widened.
func BF16ToF32Row(dst []float32, src []uint16) {
	n := min(len(dst), len(src))
	active.bf16ToF32(dst[:n], src[:n])
}

// F32ToBF16Row sets dst[i] to src[i] narrowed.
func F32ToBF16Row(dst []uint16, src []float32) {
	n := min(len(dst), len(src))
	active.f32ToBF16(dst[:n], src[:n])
}

// F64ToBF16Row sets dst[i] to src[i] narrowed with one rounding.
func F64ToBF16Row(dst []uint16, src []float64) { vec.Convert(dst, src, dtype.F64ToBF16) }

func f16ToF32Row(dst []float32, src []uint16) { vec.Convert(dst, src, dtype.F16ToF32) }

func f32ToF16Row(dst []uint16, src []float32) { vec.Convert(dst, src, dtype.F32ToF16) }

func bf16ToF32Row(dst []float32, src []uint16) { vec.Convert(dst, src, dtype.BF16ToF32) }

func f32ToBF16Row(dst []uint16, src []float32) { vec.Convert(dst, src, dtype.F32ToBF16) }
