package formula

import "github.com/paddle-mps/paddle-mps/core/op"

// Steps of optimizers: from a weight, its gradient and the states of the optimizer to the next weight and states.
//
// Rates and counts of steps are tensors of one element, so that they may change without another program. A decay is a part of the
// weight that is added to the gradient.
var stepComposites = composites(stepFormulas)

var stepFormulas = []composite{
	{
		// The means are corrected for their first values by the powers of both factors, which follow from the number of this step,
		// from 1 on, or are given. A power of 1 corrects nothing. With scaled_epsilon the divisor is corrected as a whole, as in
		// Paddle, and not the root alone, as in ONNX. AdamW has a decoupled_decay.
		id: 530, kind: op.Composed, asFirst: true, python: op.Python{Internal: true},
		formula: `adam_step(x, grad, mean, square_mean, learning_rate, step?, beta1_power?, beta2_power?, beta1=0.9, beta2=0.999, epsilon=1e-8, scaled_epsilon=false, decay=0.0, decoupled_decay=0.0, decay_after=0.0) -> out, mean, square_mean =
			g = decay == 0 ? grad : x * decay + grad
			m = mean * beta1 + g * (1 - beta1)
			v = square_mean * beta2 + square(g) * (1 - beta2)
			first = given(step) ? beta1 ** like(step, x) : beta1_power
			second = given(step) ? beta2 ** like(step, x) : beta2_power
			corrected = given(step) | given(beta1_power) & given(beta2_power)
			root = sqrt(1 - second)
			rate = corrected ? where(first == 1, learning_rate, learning_rate * root / (1 - first)) : learning_rate
			size = sqrt(v) + (corrected & scaled_epsilon ? root * epsilon : epsilon)
			kept = decoupled_decay == 0 ? x : x * (1 - learning_rate * decoupled_decay)
			moved = kept - rate * (m / size)
			[decay_after == 0 ? moved : moved * (1 - decay_after), m, v]`,
	},
	{
		// The rate falls with the number of steps before this one.
		id: 531, kind: op.Composed, asFirst: true, python: op.Python{Internal: true},
		formula: `adagrad_step(x, grad, square_sum, learning_rate, step?, epsilon=0.000001, decay=0.0, rate_decay=0.0) -> out, square_sum =
			g = decay == 0 ? grad : x * decay + grad
			total = square_sum + g * g
			rate = given(step) & rate_decay != 0 ? learning_rate / (like(step, x) * rate_decay + 1) : learning_rate
			[x - rate * g / (sqrt(total) + epsilon), total]`,
	},
	{
		// The first gradient counts whole, whatever its factor is: step is the number of steps before this one.
		id: 532, kind: op.Composed, asFirst: true, python: op.Python{Internal: true},
		formula: `momentum_step(x, grad, velocity, learning_rate, step?, momentum=0.9, gradient_factor=1.0, nesterov=false, decay=0.0) -> out, velocity =
			g = decay == 0 ? grad : x * decay + grad
			factor = given(step) ? where(step > 0, number(x, gradient_factor), number(x, 1.0)) : gradient_factor
			v = velocity * momentum + (gradient_factor == 1 ? g : g * factor)
			[x - learning_rate * (nesterov ? g + v * momentum : v), v]`,
	},
}
