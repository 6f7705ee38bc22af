package rownorm

import (
	"math"
	"sync"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// Softmax sets each row of dst, of a given length, to exp(x - max(x)) / sum(exp(x - max(x))) for the row x of src. It is within 2 ulp.
// A NaN anywhere, or an infinite maximum, makes all of a row NaN. What fills no row stays.
func Softmax(dst, src []float32, length int) {
	if length > 0 {
		n := min(len(dst), len(src)) / length * length
		active.softmax(dst[:n], src[:n], length)
	}
}

// LogSoftmax sets each row of dst, of a given length, to x - max(x) - log(sum(exp(x - max(x)))) for the row x of src. It is within 2 ulp,
// also where the largest element is far above the others and its result nearly 0. A NaN anywhere, or an infinite maximum, makes all of
// a row NaN. What fills no row stays.
func LogSoftmax(dst, src []float32, length int) {
	if length > 0 {
		n := min(len(dst), len(src)) / length * length
		active.logSoftmax(dst[:n], src[:n], length)
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
		softmaxRow(dst[:length], src[:length], reduction.PortableMaxRow(src[:length]))
	}
}

var softmaxRooms sync.Pool // of *[]float64, the exponentials of a row

// softmaxRow is softmax of one row, whose largest element is top.
func softmaxRow(dst, src []float32, top float32) {
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
	factor := 1 / expSumRow(exps, src, top)
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

// logSoftmaxRows is the portable form of LogSoftmax. The exponential of the largest element, 1, is left out of the sum, in which it
// would take the last digits of small ones.
func logSoftmaxRows(dst, src []float32, length int) {
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		row, top, sum, tops := src[:length], float64(reduction.PortableMaxRow(src[:length])), 0.0, -1.0
		for _, x := range row {
			if d := float64(x) - top; d == 0 {
				tops++
			} else {
				sum += math.Exp(d)
			}
		}
		log := math.Log1p(tops + sum)
		for i, x := range row {
			dst[i] = float32(float64(x) - top - log)
		}
	}
}
