//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// choose512 is Choose: a vector of conditions is widened to the elements, so that a comparison with 0 is their mask. What is left
// of a row goes to the portable loop. All slices have one length.
func choose512(dst []uint32, condition []uint8, a, b []uint32) {
	var nought archsimd.Uint32x16
	whole := len(dst) &^ (lanes512 - 1)
	for i := 0; i < whole; i += lanes512 {
		fails := bools512(&condition[i]).Equal(nought)
		x, y := archsimd.LoadUint32x16((*[lanes512]uint32)(a[i:])), archsimd.LoadUint32x16((*[lanes512]uint32)(b[i:]))
		y.Merge(x, fails).Store((*[lanes512]uint32)(dst[i:]))
	}
	archsimd.ClearAVXUpperBits()
	ChooseRow(dst[whole:], condition[whole:], a[whole:], b[whole:])
}
