package onnx

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Steps of optimizers, and operators as they are during training. Gradients are given to them: nothing here makes any.
//
// A step reads the tensors of one weight and returns those that the next step reads. Rates and counts are tensors, which may
// change from run to run without another compilation. Everything is computed in the dtype of the weight.

var optimizers = []entry{
	// Adagrad: rate, count, then all weights, gradients, and sums of squares.
	{"ai.onnx.preview.training:Adagrad", 1, 0, func(c *call) []*value { return c.optimized(3, adagrad) }},
	// Adam: rate, count, then all weights, gradients, means, and means of squares.
	{"ai.onnx.preview.training:Adam", 1, 0, func(c *call) []*value { return c.optimized(4, adam) }},
	// Momentum: rate, count, then all weights, gradients, and momenta.
	{"ai.onnx.preview.training:Momentum", 1, 0, func(c *call) []*value { return c.optimized(3, momentum) }},
}

// optimized steps each of the weights. The operands behind rate and count are lists of equal lengths, a list for each of the
// roles that step takes; the results are the new weights, and the lists behind the gradients, likewise. Gradients come with the
// term of regularization added.
func (c *call) optimized(roles int, step func(c *call, rate, count *value, of []*value) []*value) []*value {
	n := (len(c.in) - 2) / roles
	if n < 1 || len(c.in) != 2+n*roles {
		c.wrong("has %d operands; want 2 and %d for each tensor", len(c.in), roles)
	}
	out := make([]*value, n*(roles-1))
	for i := range n {
		of := make([]*value, roles)
		for j := range of {
			of[j] = c.x(2 + j*n + i)
		}
		d := of[0].DType
		of[1] = c.add(c.mul(of[0], num(c.float("norm_coefficient", 0))), of[1])
		for j, v := range step(c, c.cast(c.x(0), d), c.cast(c.x(1), d), of) {
			out[j*n+i] = v
		}
	}
	return out
}

// adagrad divides by the root of the sum of squares, so that weights that rarely have a gradient move further. The rate
// decreases with the count.
func adagrad(c *call, rate, count *value, of []*value) []*value {
	x, g, h := of[0], of[1], of[2]
	rate = c.div(rate, c.add(c.mul(count, num(c.float("decay_factor", 0))), num(1)))
	h = c.add(h, c.mul(g, g))
	size := c.add(c.unary(op.IDSqrt, h), num(c.float("epsilon", 1e-6)))
	return []*value{c.sub(x, c.div(c.mul(rate, g), size)), h}
}

// adam divides the mean of gradients by the root of the mean of their squares. Both are corrected for their first values,
// unless nothing was counted.
func adam(c *call, rate, count *value, of []*value) []*value {
	x, g, v, h := of[0], of[1], of[2], of[3]
	alpha, beta := c.float("alpha", 0.9), c.float("beta", 0.999)
	mean := func(old, now *value, part float64) *value {
		return c.add(c.mul(old, num(part)), c.mul(now, num(1-part)))
	}
	v, h = mean(v, g, alpha), mean(h, c.mul(g, g), beta)
	left := func(part float64) *value { return c.sub(num(1), c.binary(op.IDPow, num(part), count)) }
	rate = c.where(c.counting(count), c.div(c.mul(rate, c.unary(op.IDSqrt, left(beta))), left(alpha)), rate)
	size := c.add(c.unary(op.IDSqrt, h), num(c.float("epsilon", 1e-6)))
	x = c.sub(x, c.mul(rate, c.div(v, size)))
	return []*value{c.mul(x, num(1-c.float("norm_coefficient_post", 0))), v, h}
}

// momentum adds up gradients that fade. The first gradient counts whole, whatever beta is.
func momentum(c *call, rate, count *value, of []*value) []*value {
	x, g, v := of[0], of[1], of[2]
	alpha := num(c.float("alpha", 0.9))
	beta := c.where(c.counting(count), c.reals(x.DType, nil, []float64{c.float("beta", 1)}), c.reals(x.DType, nil, []float64{1}))
	v = c.add(c.mul(v, alpha), c.mul(g, beta))
	way := v
	switch mode := c.text("mode", "standard"); mode {
	case "standard":
	case "nesterov":
		way = c.add(g, c.mul(v, alpha))
	default:
		c.wrong("mode is %q; want standard or nesterov", mode)
	}
	return []*value{c.sub(x, c.mul(rate, way)), v}
}

// counting reports whether this is a later step than the first.
func (c *call) counting(count *value) *value { return c.binary(op.IDGreaterThan, count, num(0)) }

// dropped is x with elements set to 0 at random, each with the probability that operand 1 says, and the others enlarged so that
// the sum remains. The mask is of those that are kept.
func (c *call) dropped(x *value) []*value {
	ratio := c.reals(dtype.Float32, nil, []float64{0.5})
	if c.has(1) {
		ratio = c.reshape(c.cast(c.x(1), dtype.Float32))
	}
	// A draw is at least 0 and less than 1: a ratio of 0 keeps all, and one of 1 nothing.
	mask := c.binary(op.IDGreaterEqual, c.uniform(x.dims(), dtype.Float32), ratio)
	scaled := c.mul(x, c.cast(c.div(num(1), c.sub(num(1), ratio)), x.DType))
	return []*value{c.where(mask, scaled, c.zero(x.DType)), mask}
}

// trainedNorm is batchNormalization by the mean and the variance of x itself. Further results are the given ones, moved
// towards these.
func (c *call) trainedNorm(x *value) []*value {
	axes := append([]int64{0}, count(x.rank())[2:]...) // all but the channels
	mean := c.mean(x, true, axes...)
	apart := c.sub(x, mean)
	variance := c.mean(c.mul(apart, apart), true, axes...)
	share := c.float("momentum", 0.9) // of what was given
	moved := func(i int, now *value) *value {
		old := c.x(i)
		return c.add(c.mul(old, num(share)), c.mul(c.cast(c.reshape(now, old.dims()...), old.DType), num(1-share)))
	}
	wide := func(i int) *value { return c.cast(c.channels(c.x(i), x.rank()), x.DType) }
	factor := c.div(wide(1), c.unary(op.IDSqrt, c.add(variance, num(c.float("epsilon", 1e-5)))))
	return []*value{c.add(c.mul(apart, factor), wide(2)), moved(3, mean), moved(4, variance)}
}
