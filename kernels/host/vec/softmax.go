package vec

import (
	"math"
	"sync"
)

// Softmax sets each row of dst, of a given length, to exp(x - max(x)) / sum(exp(x - max(x))) for the row x of src. It is within 2 ulp.
// A NaN anywhere, or an infinite maximum, makes all of a row NaN. What fills no row stays.
func Softmax(dst, src []float32, length int) {
	if length > 0 {
		n := min(len(dst), len(src)) / length * length
		active.softmax(dst[:n], src[:n], length)
	}
}

// In float32 the rounding of x - max(x) alone would cost dozens of ulps. These loops compute in float64 and round once; those of
// vectors do so for rows of large numbers.

// softmaxLimit is the largest magnitude of a maximum for which exponentials are computed in float32, and softmaxDepth is how much less
// the smallest element is that counts: exp(-130) is far below the least float32.
const (
	softmaxLimit = 0x1p16
	softmaxDepth = 130
)

// softmaxRows is the portable form: each row by itself.
func softmaxRows(dst, src []float32, length int) {
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		softmaxRow(dst[:length], src[:length], maxRow(src[:length]), expSumRow)
	}
}

var softmaxRooms sync.Pool // of *[]float64, the exponentials of a row

// softmaxRow is softmax of one row, whose largest element is top, with expSumRow of a level.
func softmaxRow(dst, src []float32, top float32, expSum func(dst []float64, src []float32, top float32) float64) {
	if top-top != 0 {
		for i := range dst {
			dst[i] = float32(math.NaN())
		}
		return
	}
	room, ok := softmaxRooms.Get().(*[]float64)
	if !ok || cap(*room) < len(src) {
		room = new([]float64)
		*room = make([]float64, len(src))
	}
	exps := (*room)[:len(src)]
	factor := 1 / expSum(exps, src, top)
	for i, e := range exps {
		dst[i] = float32(e * factor)
	}
	softmaxRooms.Put(room)
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
