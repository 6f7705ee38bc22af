package rownorm

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// Normalize sets dst to (x - mean) * scale * weight + bias for x = src, and answers scale = 1 / sqrt(mean((x - mean)**2) +
// epsilon); weight and bias may be nil. Without centered the mean counts as 0. All is computed in float64 and rounded once,
// so that a mean which is large beside the deviation does no harm.
func Normalize(dst, src, weight, bias []float32, epsilon float64, centered bool) (scale float64) {
	n := min(len(dst), len(src))
	for _, line := range [2][]float32{weight, bias} {
		if line != nil {
			n = min(n, len(line))
		}
	}
	if n == 0 {
		return 1 / math.Sqrt(epsilon)
	}
	dst, src = dst[:n], src[:n]
	if weight != nil {
		weight = weight[:n]
	}
	if bias != nil {
		bias = bias[:n]
	}
	NormalizeRows(dst, src, weight, bias, n, epsilon, centered, func(s float64) { scale = s })
	return scale
}

// NormalizeRows is Normalize for each row of dst, of a given length, and gives each scale to next. What fills no row stays. Weight
// and bias have that length, if they are not nil. A row's result does not depend on the others.
func NormalizeRows(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64)) {
	if length > 0 {
		n := min(len(dst), len(src)) / length * length
		active.normalize(dst[:n], src[:n], weight, bias, length, epsilon, centered, next)
	}
}

// normalizeRows is the portable form: each row by itself.
func normalizeRows(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64)) {
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		x, mean := src[:length], 0.0
		if centered {
			mean = reduction.PortableSumRow(x) / float64(length)
		}
		scale := 1 / math.Sqrt(sumDeviationsRow(x, mean)/float64(length)+epsilon)
		standardizeRow(dst[:length], x, weight, bias, mean, scale)
		next(scale)
	}
}

// sumDeviationsRow adds up (x - mean)**2.
func sumDeviationsRow(x []float32, mean float64) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		d0, d1, d2, d3 := float64(x[0])-mean, float64(x[1])-mean, float64(x[2])-mean, float64(x[3])-mean
		s[0] += d0 * d0
		s[1] += d1 * d1
		s[2] += d2 * d2
		s[3] += d3 * d3
	}
	for _, v := range x {
		d := float64(v) - mean
		s[0] += d * d
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// standardizeRows is standardizeRow for as many rows as there are means.
func standardizeRows(dst, src, weight, bias []float32, length int, means, scales []float64) {
	for j := range means {
		standardizeRow(dst[j*length:][:length], src[j*length:][:length], weight, bias, means[j], scales[j])
	}
}

// standardizeRow sets dst to (x - mean) * scale * weight + bias. The last two are fused, as in vectors. A missing bias counts
// as -0, which changes nothing: a sum with 0 would turn -0 into 0.
func standardizeRow(dst, src, weight, bias []float32, mean, scale float64) {
	nothing := math.Copysign(0, -1)
	for i, x := range src {
		y := (float64(x) - mean) * scale
		w, b := 1.0, nothing
		if weight != nil {
			w = float64(weight[i])
		}
		if bias != nil {
			b = float64(bias[i])
		}
		dst[i] = float32(math.FMA(y, w, b))
	}
}
