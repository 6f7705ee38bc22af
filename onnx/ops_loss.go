package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// Losses over the classes of axis 1.
//
// They are here because exporters of trained models leave them in, and because they are part of the tests of ONNX.

var losses = []entry{
	// NegativeLogLikelihoodLoss: logarithms, targets, weights.
	{"NegativeLogLikelihoodLoss", 12, 0, func(c *call) []*value { return one(c.likelihood(c.x(0))) }},
	// SoftmaxCrossEntropyLoss: scores, targets, weights; and the logarithms.
	{"SoftmaxCrossEntropyLoss", 12, 0, func(c *call) []*value {
		logs := c.logSoftmax(c.x(0), 1)
		return []*value{c.likelihood(logs), logs}
	}},
}

// likelihood is minus the logarithm at the class of each target, times the weight of the class. Operands behind the first are the
// targets [N, d...] and the weights of the classes. A mean is over the weights, not over the number of targets.
func (c *call) likelihood(logs *value) *value {
	target, weights := c.x(1), absent()
	if logs.rank() < 2 || target.rank() != logs.rank()-1 {
		c.wrong("the operands have shapes %s and %s; want the second without the classes", &logs.Shape, &target.Shape)
	}
	if c.has(2) {
		weights = c.x(2)
	}
	ignored := c.int("ignore_index", math.MinInt64) // no class is that
	at := with(op.NllLossIgnoreIndex, ignored, op.NllLossReduction, c.text("reduction", "mean"))
	return c.do(op.IDNllLoss, at, logs, target, weights)
}
