package vec

import "math"

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
	var mean, squares float64
	if centered {
		mean = active.sum(src) / float64(n)
		squares = active.sumDeviations(src, mean)
	} else {
		squares = active.sumSquares(src)
	}
	scale = 1 / math.Sqrt(squares/float64(n)+epsilon)
	active.standardize(dst, src, weight, bias, mean, scale)
	return scale
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
