package ops

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Steps of optimizers, and operators as they are during training. Gradients are given to them: nothing here makes any.
//
// A step reads the tensors of one weight and returns those that the next step reads. Rates and counts are tensors, which may
// change from run to run without another compilation. Everything is computed in the dtype of the weight.

var optimizers = []entry{
	// Adagrad: rate, count, then all weights, gradients, and sums of squares.
	{"ai.onnx.preview.training:Adagrad", 1, 0, func(c *build.Call) []*build.Value { return optimized(c, 3, adagrad) }},
	// Adam: rate, count, then all weights, gradients, means, and means of squares.
	{"ai.onnx.preview.training:Adam", 1, 0, func(c *build.Call) []*build.Value { return optimized(c, 4, adam) }},
	// Momentum: rate, count, then all weights, gradients, and momenta.
	{"ai.onnx.preview.training:Momentum", 1, 0, func(c *build.Call) []*build.Value { return optimized(c, 3, momentum) }},
}

// optimized steps each of the weights. The operands behind rate and count are lists of equal lengths, a list for each of the
// roles that step takes; the results are the new weights, and the lists behind the gradients, likewise. Gradients come with the
// term of regularization added.
func optimized(c *build.Call, roles int, step func(c *build.Call, rate, count *build.Value, of []*build.Value) []*build.Value) []*build.Value {
	n := (len(c.In) - 2) / roles
	if n < 1 || len(c.In) != 2+n*roles {
		c.Wrong("has %d operands; want 2 and %d for each tensor", len(c.In), roles)
	}
	out := make([]*build.Value, n*(roles-1))
	for i := range n {
		of := make([]*build.Value, roles)
		for j := range of {
			of[j] = c.X(2 + j*n + i)
		}
		d := of[0].DType
		of[1] = c.Add(c.Mul(of[0], build.Num(c.Float("norm_coefficient", 0))), of[1])
		for j, v := range step(c, c.Cast(c.X(0), d), c.Cast(c.X(1), d), of) {
			out[j*n+i] = v
		}
	}
	return out
}

// adagrad divides by the root of the sum of squares, so that weights that rarely have a gradient move further. The rate
// decreases with the count.
func adagrad(c *build.Call, rate, count *build.Value, of []*build.Value) []*build.Value {
	x, g, h := of[0], of[1], of[2]
	rate = c.Div(rate, c.Add(c.Mul(count, build.Num(c.Float("decay_factor", 0))), build.Num(1)))
	h = c.Add(h, c.Mul(g, g))
	size := c.Add(c.Unary(op.IDSqrt, h), build.Num(c.Float("epsilon", 1e-6)))
	return []*build.Value{c.Sub(x, c.Div(c.Mul(rate, g), size)), h}
}

// adam divides the mean of gradients by the root of the mean of their squares. Both are corrected for their first values,
// unless nothing was counted.
func adam(c *build.Call, rate, count *build.Value, of []*build.Value) []*build.Value {
	x, g, v, h := of[0], of[1], of[2], of[3]
	alpha, beta := c.Float("alpha", 0.9), c.Float("beta", 0.999)
	mean := func(old, now *build.Value, part float64) *build.Value {
		return c.Add(c.Mul(old, build.Num(part)), c.Mul(now, build.Num(1-part)))
	}
	v, h = mean(v, g, alpha), mean(h, c.Mul(g, g), beta)
	left := func(part float64) *build.Value {
		return c.Sub(build.Num(1), c.Binary(op.IDPow, build.Num(part), count))
	}
	rate = c.Where(counting(c, count), c.Div(c.Mul(rate, c.Unary(op.IDSqrt, left(beta))), left(alpha)), rate)
	size := c.Add(c.Unary(op.IDSqrt, h), build.Num(c.Float("epsilon", 1e-6)))
	x = c.Sub(x, c.Mul(rate, c.Div(v, size)))
	return []*build.Value{c.Mul(x, build.Num(1-c.Float("norm_coefficient_post", 0))), v, h}
}

// momentum adds up gradients that fade. The first gradient counts whole, whatever beta is.
func momentum(c *build.Call, rate, count *build.Value, of []*build.Value) []*build.Value {
	x, g, v := of[0], of[1], of[2]
	alpha := build.Num(c.Float("alpha", 0.9))
	beta := c.Where(counting(c, count), c.Reals(x.DType, nil, []float64{c.Float("beta", 1)}), c.Reals(x.DType, nil, []float64{1}))
	v = c.Add(c.Mul(v, alpha), c.Mul(g, beta))
	way := v
	switch mode := c.Text("mode", "standard"); mode {
	case "standard":
	case "nesterov":
		way = c.Add(g, c.Mul(v, alpha))
	default:
		c.Wrong("mode is %q; want standard or nesterov", mode)
	}
	return []*build.Value{c.Sub(x, c.Mul(rate, way)), v}
}

// counting reports whether this is a later step than the first.
func counting(c *build.Call, count *build.Value) *build.Value {
	return c.Binary(op.IDGreaterThan, count, build.Num(0))
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
	axes := append([]int64{0}, build.Count(x.Rank())[2:]...) // all but the channels
	mean := c.Mean(x, true, axes...)
	apart := c.Sub(x, mean)
	variance := c.Mean(c.Mul(apart, apart), true, axes...)
	share := c.Float("momentum", 0.9) // of what was given
	moved := func(i int, now *build.Value) *build.Value {
		old := c.X(i)
		return c.Add(c.Mul(old, build.Num(share)), c.Mul(c.Cast(c.Reshape(now, old.Dims()...), old.DType), build.Num(1-share)))
	}
	wide := func(i int) *build.Value { return c.Cast(alongChannels(c, c.X(i), x.Rank()), x.DType) }
	factor := c.Div(wide(1), c.Unary(op.IDSqrt, c.Add(variance, build.Num(c.Float("epsilon", 1e-5)))))
	return []*build.Value{c.Add(c.Mul(apart, factor), wide(2)), moved(3, mean), moved(4, variance)}
}
