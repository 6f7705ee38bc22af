package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Functions of elements that are formulas of others. Paddle has them as functions and as methods.
var mathComposites = composites(mathFormulas)

var mathFormulas = []composite{
	{
		id: 370, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `lerp(x, y, weight) = x + weight * (y - x)`,
	},
	{
		// x is lowered to 1 - eps and then raised to eps first, if that is above 0. Around 0.5, where the quotient is near 1 and its
		// rounding would be all that is left, x - 0.5 is exact, and x / (1 - x) is 1 + 2 * (x - 0.5) / (1 - x). log1p of -1 would have an
		// infinite slope.
		id: 371, kind: op.Composed, infer: likeX, python: rows.ByHandInPlace,
		formula: `logit(x, eps=0.0) =
			below = where(x > 1 - eps, 1 - eps, x)
			inside = eps > 0 ? where(below < eps, eps, below) : x
			rest = 1 - inside
			middle = abs(inside - 0.5) <= 0.25
			offset = where(middle, inside - 0.5, 0)
			where(middle, log1p(offset * 2 / rest), log(inside / rest))`,
	},
	{
		// The gradient of a quotient of zeros would be nan.
		id: 372, kind: op.Composed, infer: likeX, python: rows.ByHandInPlace,
		formula: `sinc(x) =
			angle = where(x == 0, 1, x * pi)
			where(x == 0, 1, sin(angle) / angle)`,
	},
	{
		id: 373, kind: op.Composed, infer: likeX, python: op.Python{Method: true, ByHand: true},
		formula: `stanh(x, scale_a=0.67, scale_b=1.7159) = tanh(x * scale_a) * scale_b`,
	},
	{
		// Numbers whose squares would overflow or underflow are scaled by a power of 2 first.
		id: 374, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `hypot(x, y) =
			most = maximum(abs(x), abs(y))
			wide = is_double(most)
			low = wide ? 2.0 ** -450 : 2.0 ** -40
			high = wide ? 2.0 ** 500 : 2.0 ** 60
			up = where(most < low, number(most, wide ? 2.0 ** 600 : 2.0 ** 100), number(most, 1))
			scale = where(most > high, number(most, wide ? 2.0 ** -600 : 2.0 ** -70), up)
			root(square(x * scale) + square(y * scale)) / scale`,
	},
}
