package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
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

// likelihood is minus the logarithm at the class of each target, times the weight of the class. Targets that are to
// be ignored have weight 0. Operands behind the first are the targets [N, d...] and the weights of the classes. A
// mean is over the weights, not over the number of targets.
func (c *call) likelihood(logs *value) *value {
	target := c.cast(c.x(1), dtype.Int64)
	if logs.rank() < 2 || target.rank() != logs.rank()-1 {
		c.wrong("the operands have shapes %s and %s; want the second without the classes", &logs.Shape, &target.Shape)
	}
	var weights *value
	if c.has(2) {
		weights = c.x(2)
	}
	var kept *value
	if c.given("ignore_index") {
		ignored := c.binary(op.IDEqual, target, whole(c.int("ignore_index", 0)))
		kept = c.cast(c.unary(op.IDLogicalNot, ignored), logs.DType)
		target = c.where(ignored, whole(0), target)
	}
	index := c.unsqueeze(target, 1)
	loss := c.neg(c.squeeze(c.do(op.IDIndex, nil, append([]*value{logs}, c.grid(index.dims(), 1, index)...)...), 1))
	var each *value
	if weights != nil {
		each = c.gathered(weights, target, 0)
	}
	switch {
	case each == nil:
		each = kept
	case kept != nil:
		each = c.mul(each, kept)
	}
	if each != nil {
		loss = c.mul(loss, each)
	}
	all := count(loss.rank())
	switch reduction := c.text("reduction", "mean"); {
	case reduction == "none":
		return loss
	case reduction == "sum":
		return c.sum(loss, false, all...)
	case reduction != "mean":
		c.wrong("reduction is %q; want none, sum or mean", reduction)
	case each == nil:
		return c.mean(loss, false, all...)
	}
	return c.div(c.sum(loss, false, all...), c.sum(each, false, slices.Clone(all)...))
}
