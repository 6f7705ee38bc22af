//go:build cgo && !race

package rownorm

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon.
func (t *table) use(level vec.Level) {
	t.level = level
	t.softmax, t.onlineSoftmax = neon.Softmax, onlineSoftmaxInC(t.onlineSoftmax)
	t.normalize, t.standardize = normalizeInC, standardizeInC
}

// normalizeInC is normalizeRows with C's loops, where rows are long enough for calls.
func normalizeInC(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64)) {
	if length < vec.ShortRow {
		normalizeRows(dst, src, weight, bias, length, epsilon, centered, next)
		return
	}
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		x, mean := src[:length], 0.0
		if centered {
			mean = neon.Sum(x) / float64(length)
		}
		scale := 1 / math.Sqrt(neon.SumDeviations(x, mean)/float64(length)+epsilon)
		neon.Standardize(dst[:length], x, weight, bias, mean, scale)
		next(scale)
	}
}

// standardizeInC is standardizeRows, likewise.
func standardizeInC(dst, src, weight, bias []float32, length int, means, scales []float64) {
	if length < vec.ShortRow {
		standardizeRows(dst, src, weight, bias, length, means, scales)
		return
	}
	for j := range means {
		neon.Standardize(dst[j*length:][:length], src[j*length:][:length], weight, bias, means[j], scales[j])
	}
}

// onlineSoftmaxInC leaves columns that fill no vectors to the portable loop, as tiles do not have them.
func onlineSoftmaxInC(portable func(s, tops, sums, factors []float32, scaling int)) func(s, tops, sums, factors []float32, scaling int) {
	return func(s, tops, sums, factors []float32, scaling int) {
		if len(tops)%4 != 0 {
			portable(s, tops, sums, factors, scaling)
			return
		}
		neon.Weigh(s, tops, sums, factors, scaling)
	}
}
