package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Activations that are formulas of other rows. Paddle has them in nn.functional, for floats alone.
//
// At edges the formulas are Paddle's, with its gradients there: elu has that of its left side at 0, and what is clipped has
// none at either bound.
//
// Tolerances follow from those of the calls. k units in the last place are a relative error of up to k * 2**-23, and a relative
// error of k * 2**-23 is up to 2 k units: errors of factors add up as relative errors. Halves are rounded once, from float32.
var activationFormulas = []composite{
	{
		// expm1 and a product: 2 (2 + 0.5); on Metal 2 (15 + 0.5). Above zero the exponential would overflow.
		id: 300, infer: likeX, python: functionInPlace, onnx: "Elu-6",
		formula:   `elu(x, alpha=1.0) = where(x > 0, x, alpha * expm1(clip(x, none, 0)))`,
		tolerance: &op.Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 31},
	},
	{
		// As elu. The rounding of x / alpha changes expm1 of what is below zero by as much at most.
		id: 301, infer: likeX, python: functionByHand, onnx: "Celu-12",
		formula:   `celu(x, alpha=1.0) = where(x > 0, x, alpha * expm1(clip(x, none, 0) / alpha))`,
		tolerance: &op.Tolerance{Float32: 6, Float64: 10, Half: 1, Metal: 32},
	},
	{
		// expm1 and two products.
		id: 302, infer: likeX, python: functionByHand, onnx: "Selu-6",
		formula: `selu(x, scale=1.0507009873554805, alpha=1.6732632423543772) =
			where(x > 0, x, single(alpha) * expm1(clip(x, none, 0))) * single(scale)`,
		tolerance: &op.Tolerance{Float32: 6, Float64: 10, Half: 1, Metal: 32},
	},
	{
		// Bounds that have changed places leave the upper one.
		id: 303, infer: likeX, python: functionInPlace,
		formula:  `hardtanh(x, min=-1.0, max=1.0) = clip(x, min, max)`,
		gradient: `where((x > min) & (x < max), dy, 0)`,
	},
	{
		id: 304, infer: likeX, python: rows.Function,
		formula: `relu6(x) = hardtanh(x, 0, 6)`,
	},
	{
		// A product and a sum, in which terms may cancel.
		id: 305, infer: likeX, python: rows.Function, onnx: "HardSigmoid-6",
		formula:   `hardsigmoid(x, slope=0.1666667, offset=0.5) = hardtanh(x * single(slope) + single(offset), 0, 1)`,
		tolerance: rows.Rounded.Plus(op.Roundings{Once: 2}),
	},
	{
		// A sum, which is exact where it cancels, a quotient and a product: 2 (0.5 + 0.5 + 0.5).
		id: 306, infer: likeX, python: rows.Function, onnx: "HardSwish-14",
		formula:   `hardswish(x) = x * (hardtanh(x + 3, 0, 6) / 6)`,
		tolerance: &op.Tolerance{Float32: 3, Float64: 3, Half: 1},
	},
	{
		// nan times 0 is nan, with a gradient of 0.
		id: 307, infer: likeX, python: rows.Function,
		formula: `hardshrink(x, threshold=0.5) = where((x <= -threshold) | (x >= threshold), x, x * 0)`,
	},
	{
		id: 308, infer: likeX, python: functionByHand,
		formula: `softshrink(x, threshold=0.5) =
			near = (x >= -threshold) & (x <= threshold)
			lowered = where(x > threshold, x + -threshold, where(near, 0, x * 0))
			where(x < -threshold, x + threshold, lowered)`,
		tolerance: rows.Rounded,
	},
	{
		// A sum and a quotient: 2 (0.5 + 0.5). The gradient is 0 at infinities, as in Paddle.
		id: 309, infer: likeX, python: rows.Function, onnx: "Softsign-1",
		formula:   `softsign(x) = x / (abs(x) + 1)`,
		gradient:  `dy / square(abs(x) + 1)`,
		tolerance: &op.Tolerance{Float32: 2, Float64: 2, Half: 1},
	},
	{
		// An error of tanh, which has 4 units in float64 and 5 on Metal, relative to terms that cancel near 0. Metal may take a tanh
		// for 0 that is hardly normal, which the domain leaves out.
		id: 310, domain: op.Ordinary, infer: likeX, python: rows.Function,
		formula:   `tanhshrink(x) = x - tanh(x)`,
		tolerance: rows.Rounded.Plus(op.Roundings{Once: 8, Metal: 10}),
	},
	{
		id: 311, infer: likeX, python: functionInPlace, onnx: "ThresholdedRelu-10",
		formula: `thresholded_relu(x, threshold=1.0, value=0.0) =
			where(x > threshold, x, where(x <= threshold, value, x * 0))`,
	},
	{
		// At 1 it is silu, which has a kernel.
		id: 510, domain: op.Ordinary, infer: likeX, python: &op.Python{Internal: true}, onnx: "Swish-24",
		formula: `swish(x, beta=1.0) = beta == 1 ? silu(x) : x * sigmoid(x * beta)`,
	},
	{
		// x itself to the last digit below -40.
		id: 312, infer: likeX, python: &op.Python{Module: "nn.functional", Alias: []string{"logsigmoid"}},
		formula:   `log_sigmoid(x) = -softplus(-x, threshold=40.0)`,
		tolerance: rows.Accurate.OnMetal(14),
	},
	{
		// With w = exp(x) (exp(x) + 2), tanh(log(1 + exp(x))) is w / (w + 2), which from 20 on is 1. The second term of the gradient is
		// x * 0 there: nan at infinity, as in Paddle.
		//
		// An error of exp, and those of a sum, a product, a sum, a quotient and a product, none of which cancels: 2 (2 + 2.5). Where exp
		// is subnormal its error is absolute, which the domain leaves out.
		id: 313, domain: op.Ordinary, infer: likeX, python: rows.Function, onnx: "Mish-18",
		formula: `mish(x) =
			e = exp(clip(x, none, 20))
			w = e * (e + 2)
			x * (w / (w + 2))`,
		gradient: `
			e = exp(clip(x, none, 20))
			w = e * (e + 2)
			bend = e * 4 * (e + 1) / square(w + 2)
			dy * (w / (w + 2) + x * where(x > 20, 0, bend))`,
		tolerance: &op.Tolerance{Float32: 9, Float64: 13, Half: 1, Metal: 13},
	},
	{
		id: 314, kind: op.Binary, infer: op.Rules{rows.Identical, rows.Broadcast}, python: functionByHand, onnx: "PRelu-16",
		formula:   `prelu(x, weight) = where(x > 0, x, x * weight)`,
		tolerance: rows.Rounded,
	},
	{
		// sigmoid and a product: 2 (2 + 0.5); on Metal 2 (10 + 0.5). Where one of them is subnormal its error is absolute, which the
		// domain leaves out.
		id: 315, domain: op.Ordinary, python: functionByHand,
		formula:   `glu(x, axis=-1) = split(x, [2], axis)[0] * sigmoid(split(x, [2], axis)[1])`,
		tolerance: &op.Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 21},
	},
	{
		// As glu, with silu.
		id: 316, kind: op.Binary, domain: op.Ordinary, python: functionByHand,
		formula: `swiglu(x, y?) =
			given(y) ? silu(x) * y : silu(split(x, [2], -1)[0]) * split(x, [2], -1)[1]`,
		tolerance: &op.Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 23},
	},
}

var (
	functionByHand   = &op.Python{Module: "nn.functional", ByHand: true}
	methodByHand     = &op.Python{Method: true, ByHand: true}
	functionOfLinalg = &op.Python{ByHand: true}
	functionInPlace  = &op.Python{Module: "nn.functional", InPlace: true}

	// likeX is the rule of composites of one operand, whose result is like it.
	likeX = op.Rules{rows.FloatOnly, rows.LikeInput}
)
