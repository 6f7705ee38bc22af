package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Losses over the classes of axis 1.
//
// They are here because exporters of trained models leave them in, and because they are part of the tests of ONNX.

var losses = []entry{
	// NegativeLogLikelihoodLoss: logarithms, targets, weights.
	{"NegativeLogLikelihoodLoss", 12, 0, func(c *build.Call) []*build.Value { return build.One(likelihood(c, c.X(0))) }},
	// SoftmaxCrossEntropyLoss: scores, targets, weights; and the logarithms.
	{"SoftmaxCrossEntropyLoss", 12, 0, func(c *build.Call) []*build.Value {
		logs := logSoftmax(c, c.X(0), 1)
		return []*build.Value{likelihood(c, logs), logs}
	}},
}

// likelihood is minus the logarithm at the class of each target, times the weight of the class. Targets that are to
// be ignored have weight 0. Operands behind the first are the targets [N, d...] and the weights of the classes. A
// mean is over the weights, not over the number of targets.
func likelihood(c *build.Call, logs *build.Value) *build.Value {
	target := c.Cast(c.X(1), dtype.Int64)
	if logs.Rank() < 2 || target.Rank() != logs.Rank()-1 {
		c.Wrong("the operands have shapes %s and %s; want the second without the classes", &logs.Shape, &target.Shape)
	}
	var weights *build.Value
	if c.Has(2) {
		weights = c.X(2)
	}
	var kept *build.Value
	if c.Given("ignore_index") {
		ignored := c.Binary(op.IDEqual, target, build.Whole(c.Int("ignore_index", 0)))
		kept = c.Cast(c.Unary(op.IDLogicalNot, ignored), logs.DType)
		target = c.Where(ignored, build.Whole(0), target)
	}
	index := c.Unsqueeze(target, 1)
	loss := c.Neg(c.Squeeze(c.Do(op.IDTakeAlongAxis, build.With(op.TakeAlongAxisAxis, 1), logs, index), 1))
	var each *build.Value
	if weights != nil {
		each = gathered(c, weights, target, 0)
	}
	switch {
	case each == nil:
		each = kept
	case kept != nil:
		each = c.Mul(each, kept)
	}
	if each != nil {
		loss = c.Mul(loss, each)
	}
	all := build.Count(loss.Rank())
	switch reduction := c.Text("reduction", "mean"); {
	case reduction == "none":
		return loss
	case reduction == "sum":
		return c.Sum(loss, false, all...)
	case reduction != "mean":
		c.Wrong("reduction is %q; want none, sum or mean", reduction)
	case each == nil:
		return c.Mean(loss, false, all...)
	}
	return c.Div(c.Sum(loss, false, all...), c.Sum(each, false, slices.Clone(all)...))
}
