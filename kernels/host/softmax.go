package host

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Lines are shifted by their maximum, so that no exponential overflows.
func init() { registerScanFloats(op.IDSoftmax, 3*heavy, normalise) }

// normalise replaces a line by its softmax, exp(x - max(x)) / sum(exp(x - max(x))). In float32 the rounding of
// x - max(x) alone would cost dozens of ulps. A nan anywhere, or an infinite maximum, makes all of it nan.
func normalise(line []float64) {
	top := math.Inf(-1)
	for _, x := range line {
		top = larger(top, x)
	}
	for i := range line {
		line[i] -= top
	}
	vec.Exp.Row64(line, line)
	var sum twofold // any other sum would cost more ulps than there are to spare in float64
	for _, x := range line {
		sum = sum.plus(x)
	}
	for i := range line {
		line[i] /= sum.value()
	}
}
