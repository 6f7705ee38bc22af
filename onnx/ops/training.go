package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Losses, steps of optimizers, and operators as they are during training. Gradients are given to them: nothing here makes any. Losses,
// over the classes of axis 1, are here because exporters of trained models leave them in, and because the tests of ONNX have them.
//
// A step is a row, which reads the tensors of one weight and returns those that the next step reads. Rates and counts are
// tensors, which may change from run to run without another compilation.

var trainings = []entry{
	// NegativeLogLikelihoodLoss: logarithms, targets, weights.
	{"NegativeLogLikelihoodLoss", 12, 0, func(c *build.Call) []*build.Value { return build.One(likelihood(c, c.X(0))) }},
	// SoftmaxCrossEntropyLoss: scores, targets, weights; and the logarithms.
	{"SoftmaxCrossEntropyLoss", 12, 0, func(c *build.Call) []*build.Value {
		logs := logSoftmax(c, c.X(0), 1)
		return []*build.Value{likelihood(c, logs), logs}
	}},
	// Adagrad: rate, count, then all weights, gradients, and sums of squares.
	{"ai.onnx.preview.training:Adagrad", 1, op.IDAdagradStep, func(c *build.Call) []*build.Value {
		return optimized(c, 1, build.With(op.AdagradStepEpsilon, c.Float("epsilon", 1e-6), op.AdagradStepDecay, c.Float("norm_coefficient", 0),
			op.AdagradStepRateDecay, c.Float("decay_factor", 0)))
	}},
	// Adam: rate, count, then all weights, gradients, means, and means of squares.
	{"ai.onnx.preview.training:Adam", 1, op.IDAdamStep, func(c *build.Call) []*build.Value {
		return optimized(c, 2, build.With(op.AdamStepBeta1, c.Float("alpha", 0.9), op.AdamStepBeta2, c.Float("beta", 0.999), op.AdamStepEpsilon, c.Float("epsilon", 1e-6),
			op.AdamStepDecay, c.Float("norm_coefficient", 0), op.AdamStepDecayAfter, c.Float("norm_coefficient_post", 0)))
	}},
	// Momentum: rate, count, then all weights, gradients, and momenta.
	{"ai.onnx.preview.training:Momentum", 1, op.IDMomentumStep, func(c *build.Call) []*build.Value {
		mode := c.Text("mode", "standard")
		if mode != "standard" && mode != "nesterov" {
			c.Wrong("mode is %q; want standard or nesterov", mode)
		}
		return optimized(c, 1, build.With(op.MomentumStepMomentum, c.Float("alpha", 0.9), op.MomentumStepGradientFactor, c.Float("beta", 1),
			op.MomentumStepNesterov, mode == "nesterov", op.MomentumStepDecay, c.Float("norm_coefficient", 0)))
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

// optimized steps each of the weights by the row of the entry. The operands behind rate and count are lists of equal lengths:
// weights, gradients, and states of the optimizer; the results are the new weights and states, likewise.
func optimized(c *build.Call, states int, at op.Attrs) []*build.Value {
	roles := 2 + states
	n := (len(c.In) - 2) / roles
	if n < 1 || len(c.In) != 2+n*roles {
		c.Wrong("has %d operands; want 2 and %d for each tensor", len(c.In), roles)
	}
	out := make([]*build.Value, n*(1+states))
	for i := range n {
		var in []*build.Value
		for j := range roles {
			in = append(in, c.X(2+j*n+i))
		}
		in = append(in, c.Cast(c.X(0), in[0].DType), c.X(1))
		for len(in) < len(op.ByID(c.Row).In) {
			in = append(in, build.Absent())
		}
		for j, v := range c.All(c.Row, at, in...) {
			out[j*n+i] = c.Cast(v, in[0].DType)
		}
	}
	return out
}

// dropped is x with elements set to 0 at random, each with the probability that operand 1 says, and the others enlarged so that
// the sum remains. The mask is of those that are kept.
func dropped(c *build.Call, x *build.Value) []*build.Value {
	ratio := c.Reals(dtype.Float32, nil, []float64{0.5})
	if c.Has(1) {
		ratio = c.Reshape(c.Cast(c.X(1), dtype.Float32))
	}
	// A draw is at least 0 and less than 1: a ratio of 0 keeps all, and one of 1 nothing.
	mask := c.Binary(op.IDGreaterEqual, uniform(c, x.Dims(), dtype.Float32), ratio)
	scaled := c.Mul(x, c.Cast(c.Div(build.Num(1), c.Sub(build.Num(1), ratio)), x.DType))
	return []*build.Value{c.Where(mask, scaled, zero(c, x.DType)), mask}
}

// trainedNorm is batchNormalization by the mean and the variance of x itself. Further results are the given ones, moved
// towards these.
func trainedNorm(c *build.Call, x *build.Value) []*build.Value {
	out := c.All(op.IDBatchNormTraining, build.With(op.BatchNormTrainingEpsilon, c.Float("epsilon", 1e-5)), x, c.X(1), c.X(2))
	moved := func(i int, now *build.Value) *build.Value {
		return c.Do(op.IDMovingAverage, build.With(op.MovingAverageMomentum, c.Float("momentum", 0.9)), c.X(i), now)
	}
	return []*build.Value{out[0], moved(3, out[1]), moved(4, out[2])}
}
