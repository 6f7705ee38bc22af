package scan

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// The sum of exponentials is kept as its logarithm, and so is never infinite.
func init() { registerScanFloats(op.IDLogcumsumexp, 2*engine.Heavy, accumulateExp, running[float64]{}) }

// accumulateExp replaces each element of a line by log(sum(exp)) of those up to it: the largest so far, plus the log of
// a sum that is scaled by it and so at least 1 and never too large.
func accumulateExp(line []float64) {
	largest, sum := math.Inf(-1), 0.0
	for i, x := range line {
		switch {
		case x > largest || x != x:
			sum, largest = sum*math.Exp(largest-x)+1, x
			if math.IsInf(x, 0) || x != x {
				sum = 1 // in place of inf - inf
			}
		case !math.IsInf(largest, 0): // beside infinity everything is nothing
			sum += math.Exp(x - largest)
		}
		line[i] = largest + math.Log(sum)
		if largest == math.Inf(-1) {
			line[i] = largest
		}
	}
}
