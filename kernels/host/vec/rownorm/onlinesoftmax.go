package rownorm

import "math"

// maxScaling is the largest scaling of OnlineSoftmaxColumns.
const maxScaling = 60

// OnlineSoftmaxColumns is a step of an online softmax along columns. s is rows of as many scores as tops has; tops are the largest scores
// of the columns before and become those with s, and sums become those of exp(score - top) * 2^-scaling. The scores become these
// weights, and factors what all earlier ones have to be multiplied by. A column whose largest score is -Inf has the weights 0;
// with NaN, or +Inf, one of its weights is NaN. The other slices are at least as long as tops, and scaling is from 0 to 60.
//
// Weights below 2^-125 may be 0.
func OnlineSoftmaxColumns(s, tops, sums, factors []float32, scaling int) {
	if n := len(tops); n > 0 && len(sums) >= n && len(factors) >= n {
		active.onlineSoftmax(s[:len(s)/n*n], tops, sums[:n], factors[:n], min(max(scaling, 0), maxScaling))
	}
}

// onlineSoftmaxPortable is the portable form.
func onlineSoftmaxPortable(s, tops, sums, factors []float32, scaling int) {
	n := len(tops)
	for c, before := range tops {
		top := before
		for at := c; at < len(s); at += n {
			top = max(top, s[at])
		}
		tops[c] = top
		if math.IsInf(float64(top), -1) {
			top = 0
		}
		down, sum := math.Ldexp(1, -scaling), float32(0)
		for at := c; at < len(s); at += n {
			s[at] = float32(math.Exp(float64(s[at])-float64(top)) * down)
			sum += s[at]
		}
		factors[c] = float32(math.Exp(float64(before) - float64(top)))
		sums[c] = sums[c]*factors[c] + sum
	}
}
