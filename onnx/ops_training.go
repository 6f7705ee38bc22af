package onnx

import "github.com/paddle-mps/paddle-mps/core/op"

// Optimizers: one step for any number of tensors. Operands are the learning rate R and the number T of steps that were made,
// and then by kind: the tensors X, their gradients, and the states that the optimizer keeps. Results are the new tensors and
// the new states, likewise. A regularization norm_coefficient * X is a part of the gradient.

var training = []entry{
	// Adagrad: states H, the sums of squares.
	{"ai.onnx.preview.training:Adagrad", 1, 0, func(c *call) []*value { return c.optimized(1, adagrad) }},
	// Adam: states V and H, the moving averages of gradients and of their squares.
	{"ai.onnx.preview.training:Adam", 1, 0, func(c *call) []*value { return c.optimized(2, adam) }},
	// Momentum: states V; attribute mode is standard or nesterov.
	{"ai.onnx.preview.training:Momentum", 1, 0, func(c *call) []*value { return c.optimized(1, momentum) }},
}

// update is what an optimizer knows of one of the tensors.
type update struct {
	rate, steps, x, gradient *value
	states                   []*value
}

// optimized makes a step for each of the tensors. f returns the new tensor and its new states.
func (c *call) optimized(states int, f func(c *call, s *update) []*value) []*value {
	kinds := 2 + states
	n := (len(c.in) - 2) / kinds
	if n < 1 || len(c.in) != 2+n*kinds {
		c.wrong("has %d operands; want 2 and %d for each tensor", len(c.in), kinds)
	}
	c.room(int64(n), int64(kinds))
	out := make([]*value, n*(1+states))
	for i := range n {
		x := c.x(2 + i)
		s := &update{rate: c.cast(c.reshape(c.x(0)), x.DType), steps: c.reshape(c.x(1)), x: x}
		s.gradient = c.add(c.mul(x, num(c.float("norm_coefficient", 0))), c.x(2+n+i))
		for k := range states {
			s.states = append(s.states, c.x(2+(2+k)*n+i))
		}
		for k, v := range f(c, s) {
			out[k*n+i] = v
		}
	}
	return out
}

// started is x from the second step on, and y in the first one.
func (c *call) started(s *update, x, y *value) *value {
	return c.where(c.do(op.IDGreaterThan, nil, s.steps, whole(0)), x, y)
}

// blended is share * x + (1 - share) * y.
func (c *call) blended(share float64, x, y *value) *value {
	return c.add(c.mul(x, num(share)), c.mul(y, num(1-share)))
}

// adagrad divides the gradient by the root of the sum of all squares. The rate decays with the number of steps.
func adagrad(c *call, s *update) []*value {
	decay := c.add(c.mul(c.cast(s.steps, s.x.DType), num(c.float("decay_factor", 0))), num(1))
	sum := c.add(s.states[0], c.mul(s.gradient, s.gradient))
	root := c.add(c.do(op.IDSqrt, nil, sum), num(c.float("epsilon", 1e-6)))
	return []*value{c.sub(s.x, c.div(c.mul(c.div(s.rate, decay), s.gradient), root)), sum}
}

// adam divides the average of gradients by the root of that of squares. Both begin at 0; from the second step on the rate
// makes up for it.
func adam(c *call, s *update) []*value {
	alpha, beta := c.float("alpha", 0.9), c.float("beta", 0.999)
	mean := c.blended(alpha, s.states[0], s.gradient)
	square := c.blended(beta, s.states[1], c.mul(s.gradient, s.gradient))
	root := c.add(c.do(op.IDSqrt, nil, square), num(c.float("epsilon", 1e-6)))
	steps := c.cast(s.steps, s.x.DType)
	lacks := func(share float64) *value { return c.sub(num(1), c.do(op.IDPow, nil, num(share), steps)) }
	rate := c.div(c.mul(s.rate, c.do(op.IDSqrt, nil, lacks(beta))), lacks(alpha))
	x := c.sub(s.x, c.mul(c.started(s, rate, s.rate), c.div(mean, root)))
	return []*value{c.mul(x, num(1-c.float("norm_coefficient_post", 0))), mean, square}
}

// momentum adds gradients up, and looks one step ahead in mode nesterov. The first gradient counts in full.
func momentum(c *call, s *update) []*value {
	alpha := num(c.float("alpha", 0))
	beta := c.started(s, c.reals(s.x.DType, nil, []float64{c.float("beta", 0)}), num(1))
	sum := c.add(c.mul(s.states[0], alpha), c.mul(s.gradient, beta))
	way := sum
	switch mode := c.text("mode", ""); mode {
	case "standard":
	case "nesterov":
		way = c.add(s.gradient, c.mul(sum, alpha))
	default:
		c.wrong("mode is %q; want standard or nesterov", mode)
	}
	return []*value{c.sub(s.x, c.mul(s.rate, way)), sum}
}
