package ops

import (
	"math"

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

// likelihood is the row nll_loss. Operands behind the first are the targets [N, d...] and the weights of the classes. Without
// attribute ignore_index no target is ignored.
func likelihood(c *build.Call, logs *build.Value) *build.Value {
	if target := c.X(1); logs.Rank() < 2 || target.Rank() != logs.Rank()-1 {
		c.Wrong("the operands have shapes %s and %s; want the second without the classes", &logs.Shape, &target.Shape)
	}
	return c.Do(op.IDNllLoss, build.With(op.NllLossIgnoreIndex, c.Int("ignore_index", math.MinInt64), op.NllLossReduction, c.Text("reduction", "mean")),
		logs, c.X(1), c.Optional(2))
}
