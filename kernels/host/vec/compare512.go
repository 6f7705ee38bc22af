//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// The comparisons write a bool for each bit of a mask, eight with one look-up: packing masks of 32 bits into bytes would
// take as many shuffles, and other ones for each width. What is left of a row goes to the portable loop, which gives the
// same answers: comparisons are exact.

// less512 is Less.
func less512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).Less(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	lessRow(dst, a, b)
}

// lessInt32512 is LessInt32. The other comparisons of integers have no loops here: a scalar loop is as fast as memory for eight
// bytes an element, and nearly so for four.
func lessInt32512(dst []uint8, a, b []int32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadInt32x16Slice(a).Less(archsimd.LoadInt32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	lessInt32Row(dst, a, b)
}

// lessEqual512 is LessEqual.
func lessEqual512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).LessEqual(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	lessEqualRow(dst, a, b)
}

// equal512 is Equal.
func equal512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).Equal(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	equalRow(dst, a, b)
}

// notEqual512 is NotEqual.
func notEqual512(dst []uint8, a, b []float32) {
	for len(dst) >= lanes512 && len(a) >= lanes512 && len(b) >= lanes512 {
		spread512(dst, archsimd.LoadFloat32x16Slice(a).NotEqual(archsimd.LoadFloat32x16Slice(b)).ToBits())
		dst, a, b = dst[lanes512:], a[lanes512:], b[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	notEqualRow(dst, a, b)
}

// toInt32512: the instruction drops the fraction, and answers with the smallest integer to what does not fit, which is
// right for negative numbers alone.
func toInt32512(dst []int32, src []float32) {
	beyond, most := loadNarrow512(&consts.narrowInt32), archsimd.BroadcastInt32x16(1<<31-1)
	for len(dst) >= lanes512 && len(src) >= lanes512 {
		x := archsimd.LoadFloat32x16Slice(src)
		whole := most.Merge(x.ConvertToInt32(), x.GreaterEqual(beyond))
		whole.Masked(x.Equal(x)).StoreSlice(dst)
		dst, src = dst[lanes512:], src[lanes512:]
	}
	archsimd.ClearAVXUpperBits()
	toInt32Row(dst, src)
}

// toFloat32512 is ToFloat32: the instruction rounds to nearest, as Go's conversion does, and makes infinities of what is too
// large.
func toFloat32512(dst []float32, src []float64) {
	for len(dst) >= half512 && len(src) >= half512 {
		archsimd.LoadFloat64x8Slice(src).ConvertToFloat32().StoreSlice(dst)
		dst, src = dst[half512:], src[half512:]
	}
	archsimd.ClearAVXUpperBits()
	toFloat32Row(dst, src)
}
