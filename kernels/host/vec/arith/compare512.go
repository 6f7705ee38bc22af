//go:build goexperiment.simd && amd64 && !race

package arith

import (
	"simd/archsimd"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The comparisons write a bool for each bit of a mask. What is left of a row goes to the portable loop, which gives the same answers:
// comparisons are exact. All slices have one length.

func less512(dst []uint8, a, b []float32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		storeBools512(&dst[i], archsimd.LoadFloat32x16(vec.At512(&a[i])).Less(archsimd.LoadFloat32x16(vec.At512(&b[i]))).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	lessRow(dst[whole:], a[whole:], b[whole:])
}

// lessInt32512 is LessInt32. The other comparisons of integers have no loops here: a scalar loop is as fast as memory for eight
// bytes an element, and nearly so for four.
func lessInt32512(dst []uint8, a, b []int32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		x, y := archsimd.LoadInt32x16((*[vec.Lanes512]int32)(a[i:])), archsimd.LoadInt32x16((*[vec.Lanes512]int32)(b[i:]))
		storeBools512(&dst[i], x.Less(y).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	lessInt32Row(dst[whole:], a[whole:], b[whole:])
}

func lessEqual512(dst []uint8, a, b []float32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		storeBools512(&dst[i], archsimd.LoadFloat32x16(vec.At512(&a[i])).LessEqual(archsimd.LoadFloat32x16(vec.At512(&b[i]))).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	lessEqualRow(dst[whole:], a[whole:], b[whole:])
}

func equal512(dst []uint8, a, b []float32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		storeBools512(&dst[i], archsimd.LoadFloat32x16(vec.At512(&a[i])).Equal(archsimd.LoadFloat32x16(vec.At512(&b[i]))).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	equalRow(dst[whole:], a[whole:], b[whole:])
}

func notEqual512(dst []uint8, a, b []float32) {
	whole := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < whole; i += vec.Lanes512 {
		storeBools512(&dst[i], archsimd.LoadFloat32x16(vec.At512(&a[i])).NotEqual(archsimd.LoadFloat32x16(vec.At512(&b[i]))).ToBits())
	}
	archsimd.ClearAVXUpperBits()
	notEqualRow(dst[whole:], a[whole:], b[whole:])
}

// toInt32512: the instruction drops the fraction, and answers with the smallest integer to what does not fit, which is
// right for negative numbers alone.
func toInt32512(dst []int32, src []float32) {
	beyond, most := vec.LoadNarrow512(&consts.narrowInt32), archsimd.BroadcastInt32x16(1<<31-1)
	n := len(dst) &^ (vec.Lanes512 - 1)
	for i := 0; i < n; i += vec.Lanes512 {
		x := archsimd.LoadFloat32x16(vec.At512(&src[i]))
		whole := most.Merge(x.ConvertToInt32(), x.GreaterEqual(beyond))
		whole.Masked(x.Equal(x)).Store((*[vec.Lanes512]int32)(dst[i:]))
	}
	archsimd.ClearAVXUpperBits()
	toInt32Row(dst[n:], src[n:])
}

// toFloat32512 is ToFloat32: the instruction rounds to nearest, as Go's conversion does, and makes infinities of what is too
// large.
func toFloat32512(dst []float32, src []float64) {
	for len(dst) >= vec.WideLanes512 && len(src) >= vec.WideLanes512 {
		archsimd.LoadFloat64x8Slice(src).ConvertToFloat32().StoreSlice(dst)
		dst, src = dst[vec.WideLanes512:], src[vec.WideLanes512:]
	}
	archsimd.ClearAVXUpperBits()
	toFloat32Row(dst, src)
}
