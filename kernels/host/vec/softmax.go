package vec

import "math"

// Softmax sets dst to exp(x - max(x)) / sum(exp(x - max(x))) for x = src, computed in float64 and rounded once: in
// float32 the rounding of x - max(x) alone would cost dozens of ulps. A NaN anywhere, or an infinite maximum, makes all
// of it NaN. room has the length of the row.
func Softmax(dst, src []float32, room []float64) {
	n := min(len(dst), len(src), len(room))
	dst, src, room = dst[:n], src[:n], room[:n]
	top := MaxRow(src)
	if top-top != 0 {
		for i := range dst {
			dst[i] = float32(math.NaN())
		}
		return
	}
	factor := 1 / active.expSum(room, src, top)
	for i, e := range room {
		dst[i] = float32(e * factor)
	}
}

// The factor is a product instead of a division for each element: in float64 its rounding does not show.

// expSumRow sets dst to exp(x - top) for x = src and returns the sum.
func expSumRow(dst []float64, src []float32, top float32) float64 {
	var sum float64
	for i, x := range src {
		e := math.Exp(float64(x) - float64(top))
		dst[i] = e
		sum += e
	}
	return sum
}
