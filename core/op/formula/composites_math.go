package formula

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Functions of elements that are formulas of others. Paddle has them as functions and as methods.
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
		id: 373, kind: op.Composed, infer: likeX, python: &op.Python{Method: true, ByHand: true},
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
	{
		id: 375, kind: op.Composed, accepts: dtype.Numbers, python: rows.ByHandInPlace,
		formula: `frac(x) = x - trunc(x)`,
	},
	{
		id: 376, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `heaviside(x, y) = where(x > 0, number(x, 1), where(x == 0, y, number(x, 0)))`,
	},
	{
		id: 377, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `ldexp(x, y) = x * pow(2, y)`,
	},
	{
		// What nan becomes is replaced in turn where it is infinite.
		id: 378, kind: op.Composed, accepts: dtype.SetOf(dtype.Float32, dtype.Float64), python: rows.ByHandInPlace,
		formula: `nan_to_num(x, nan=0.0, posinf=float, neginf=float) =
			filled = where(isnan(x), nan, x)
			below = where(filled == inf, given(posinf) ? posinf : largest(x), filled)
			where(below == -inf, given(neginf) ? neginf : -largest(x), below)`,
	},
	{
		id: 379, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `isneginf(x) = isinf(x) & x < 0`,
	},
	{
		id: 380, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `isposinf(x) = isinf(x) & x > 0`,
	},
	{
		// Paddle compares with 1e-15 to spare.
		id: 381, kind: op.Composed, python: methodByHand,
		formula: `isclose(x, y, rtol=0.00001, atol=1e-8, equal_nan=false) =
			same_shape(x, y)
			apart = abs(x - y)
			allowed = abs(y) * rtol + atol
			close = apart <= allowed | x == y | abs(apart - allowed) <= 1e-15
			equal_nan ? close | isnan(x) & isnan(y) : close`,
	},
	{
		id: 382, kind: op.Composed, python: methodByHand,
		formula: `allclose(x, y, rtol=0.00001, atol=1e-8, equal_nan=false) = all(isclose(x, y, rtol, atol, equal_nan))`,
	},
	{
		id: 383, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `equal_all(x, y) =
			same_shape(x, y)
			all(x == y)`,
	},
	{
		id: 384, kind: op.Composed, infer: likeX, python: methodByHand,
		formula: `angle(x) = where(isnan(x), x, where(x < 0, number(x, pi), number(x, 0)))`,
	},
	{
		id: 385, kind: op.Composed, accepts: dtype.SetOf(dtype.Int32, dtype.Int64), python: rows.ByHandInPlace,
		formula: `lcm(x, y) =
			common = gcd(x, y)
			abs(floor_divide(x, where(common == 0, number(common, 1), common)) * y)`,
	},
	{
		// The sign of a float is that of its bits, nan included.
		id: 386, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `signbit(x) = is_float(x) ? bits(x) < 0 : x < 0`,
	},
	{
		id: 387, kind: op.Composed, infer: likeX, python: methodByHand,
		formula: `deg2rad(x) = x * (pi / 180)`,
	},
	{
		id: 388, kind: op.Composed, infer: likeX, python: methodByHand,
		formula: `rad2deg(x) = x * (180 / pi)`,
	},
	{
		// Numbers are cast to the dtype of x first: 2.7 is 2 beside integers.
		id: 389, kind: op.Composed, accepts: dtype.All, asFirst: true, python: rows.ByHandInPlace,
		formula: `scale(x, factor?, summand?, scale=scalar, bias=scalar, bias_after_scale=true) =
			times = given(factor) ? shaped(like(factor, x), number(x, 0)) : number(x, scale)
			plus = given(summand) ? shaped(like(summand, x), number(x, 0)) : number(x, bias)
			bias_after_scale ? x * times + plus : (x + plus) * times`,
	},
	{
		id: 390, kind: op.Composed, accepts: dtype.All, narrow: true, python: methodByHand,
		formula: `nansum(x, axis=ints, dtype=dtype, keepdim=false) =
			sum(is_float(x) ? where(isnan(x), number(x, 0), x) : x, axis, dtype, keepdim)`,
	},
	{
		id: 543, kind: op.Composed, accepts: dtype.All, asFirst: true, infer: op.Rules{likeFirst, unchanged}, onnx: "Shrink-9",
		formula: `shrink(x, threshold=0.5, bias=0.0) = where(x < -threshold, x + bias, where(x > threshold, x - bias, 0))`,
	},
	{
		id: 544, kind: op.Composed, infer: op.Rules{likeFirst, unchanged}, narrow: true, onnx: "Hardmax-13",
		formula: `hardmax(x, axis=-1) = like(places(x, axis) == argmax(x, axis=axis, keepdim=true), x)`,
	},
	{
		// The last factor is log(pi).
		id: 494, kind: op.Composed, python: rows.ByHandInPlace,
		formula: `multigammaln(x, p=1) =
			below = (like(counted(p), x) - (p - 1)) * 0.5
			sum(lgamma(unsqueeze(x, [-1]) + below), axis=[-1]) + 0.25 * p * (p - 1) * 1.1447298858494002`,
	},
	{
		// Random numbers are an operand, so that a program says where they come from, and a gradient has the same ones.
		id: 496, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `dropout(x, numbers, p=0.5, upscale=true) =
			where(numbers >= single(p), upscale & p < 1 ? x * (1 / (1 - p)) : x, 0)`,
	},
	{
		// The limit of selu for large negative x.
		id: 497, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `alpha_dropout(x, numbers, p=0.5) =
			limit = -1.0507009873554805 * 1.6732632423543772
			a = 1 / ((1 - p) * (1 + p * (limit * limit))) ** 0.5
			where(numbers >= single(p), x, limit) * a - a * limit * p`,
	},
	{
		id: 498, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `gumbel_softmax(x, numbers, temperature=1.0, axis=-1) =
			softmax((x + -log(-log(numbers))) / temperature, axis)`,
	},
	{
		id: 499, kind: op.Composed, python: functionByHand,
		formula: `rrelu(x, slopes) = where(x < 0, x * slopes, x)`,
	},
	{
		// Small numbers are scaled up, so that they are normal and the power of 2 that each is multiplied by is, too: the bits of both
		// are exponents.
		id: 501, kind: op.Composed, accepts: dtype.SetOf(dtype.Float32, dtype.Float64), python: methodByHand,
		formula: `frexp(x) -> mantissa, exponent =
			usual = isfinite(x) & x != 0
			safe = where(usual, x, number(x, 0.5))
			double = is_double(x)
			small = abs(safe) < number(x, double ? 2.0 ** -900 : 2.0 ** -60)
			scaled = where(small, safe * 2.0 ** 64, safe)
			b = bits(scaled)
			all = number(b, double ? 2047 * 2 ** 52 : 255 * 2 ** 23)
			biased = bitwise_and(b, all)
			power = from_bits(all - biased, x)
			bias = double ? 1022 : 126
			exponent = like(biased, x) * (double ? 2.0 ** -52 : 2.0 ** -23) - where(small, number(x, bias + 64), number(x, bias))
			[where(usual, scaled * 0.25 * power, x), where(usual, exponent, where(isinf(x), number(x, 1), abs(x) * 0))]`,
	},
	{
		id: 495, kind: op.Composed, accepts: dtype.SetOf(dtype.Int32, dtype.Int64), narrow: true, python: functionByHand,
		formula: `shard_index(input, index_num=1, nshards=1, shard_id=0, ignore_value=-1) =
			n = number(input, -(-index_num // nshards))
			where(input // n == weak(shard_id), remainder(input, n), number(input, ignore_value))`,
	},
	{
		// Halves are rounded to the even integer; a sum with a zero point of 16 bits may be none of a half.
		id: 545, kind: op.Composed, narrow: true,
		formula: `quantize_linear(x, scale, zero?, low=0.0, high=255.0, dtype=dtype) =
			steps = wide(round(x / scale))
			kept = clip(given(zero) ? steps + like(zero, steps) : steps, low, high)
			given(dtype) ? cast(kept, dtype=dtype) : kept`,
	},
	{
		id: 606, kind: op.Composed, accepts: dtype.All, narrow: true,
		formula: `dequantize_linear(x, scale, zero?) =
			like((given(zero) ? wide(x) - wide(zero) : wide(x)) * wide(scale), scale)`,
	},
	{
		// Of zeros alone the scale is 1, as in onnxruntime: nothing can be divided by 0.
		id: 546, kind: op.Composed, narrow: true, onnx: "DynamicQuantizeLinear-11",
		formula: `dynamic_quantize_linear(x) -> out, scale, zero =
			low = numel(x) == 0 ? number(x, 0.0) : minimum(min(x), 0)
			high = numel(x) == 0 ? number(x, 0.0) : maximum(max(x), 0)
			width = high - low
			scale = where(width == 0, number(x, 1.0), width / 255)
			zero = octets(round(clip(-low / scale, 0, 255)))
			[octets(quantize_linear(x, scale, zero)), scale, zero]`,
	},
	// Random numbers from 0 to below 1 are operands of distributions. Of those with a logarithm or a pole there, 0 becomes half of the
	// distance of random numbers.
	{
		id: 598, kind: op.Composed, narrow: true, python: functionOfLinalg,
		formula: `bernoulli(x, numbers) = like(numbers < x, x)`,
	},
	{
		id: 599, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "exponential_"},
		formula: `exponential(numbers, lam=1.0) =
			u = maximum(numbers, is_double(numbers) ? 2.0 ** -54 : 2.0 ** -25)
			-log(u) / lam`,
	},
	{
		id: 600, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true, PartOf: "cauchy_"},
		formula: `cauchy(numbers, loc=number, scale=1.0) =
			u = maximum(numbers, is_double(numbers) ? 2.0 ** -54 : 2.0 ** -25)
			tan((u - 0.5) * pi) * scale + loc`,
	},
	{
		id: 601, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true, PartOf: "geometric_"},
		formula: `geometric(numbers, probs) =
			u = maximum(numbers, is_double(numbers) ? 2.0 ** -54 : 2.0 ** -25)
			log(u) / log1p(-probs)`,
	},
	{
		// With replacement numbers are searched for in the running sum of the weights, which are divided by the largest so that it does not
		// overflow. Without, the largest of log(weight) + g are taken, g having Gumbel's distribution: one index after the other with the
		// weights of those that are left (Yellott, J. Math. Psych. 15, 1977).
		id: 602, kind: op.Composed, narrow: true, python: methodByHand,
		formula: `multinomial(x, numbers, num_samples=1, replacement=false) =
			sums = cumsum(x / max(x, axis=[-1], keepdim=true), -1)
			u = maximum(numbers, is_double(numbers) ? 2.0 ** -54 : 2.0 ** -25)
			replacement ?
			searchsorted(sums / at(sums, -1, size(x, -1) - 1), numbers, true) :
			topk(log(x) - log(-log(u)), num_samples, -1, true)[1]`,
	},
	{
		// By the inverse of the distribution function, whose values at both bounds numbers are between.
		id: 603, kind: op.Composed,
		formula: `truncated_gaussian(numbers, mean=0.0, std=1.0, a=-2.0, b=2.0) =
			low = erf(number(numbers, (a - mean) / (std * 2 ** 0.5)))
			high = erf(number(numbers, (b - mean) / (std * 2 ** 0.5)))
			clip(erfinv(low + (high - low) * numbers) * (std * 2 ** 0.5) + mean, a, b)`,
	},
	{
		// The gradient passes through, as if nothing were rounded. Halves are rounded away from 0, or with round_type 0 to the even integer.
		id: 604, kind: op.Composed, asFirst: true,
		formula: `fake_quantize_dequantize_abs_max(x, bit_length=8, round_type=1) -> out, out_scale =
			y = fake_channel_wise_quantize_dequantize_abs_max(reshape(x, [1, -1]), bit_length, round_type)
			[shaped(y, x), y[1]]`,
		gradient: `given(dy) ? dy : x * 0`,
	},
	{
		id: 605, kind: op.Composed, asFirst: true,
		formula: `fake_channel_wise_quantize_dequantize_abs_max(x, bit_length=8, round_type=1, quant_axis=0) -> out, out_scale =
			scale = max(abs(x), axis=others(x, quant_axis), keepdim=true)
			steps = 2 ** (bit_length - 1) - 1
			place = x * (steps / where(scale <= 1e-30, scale + 0.000001, scale))
			nearest = round_type == 0 ? round(place) : where(abs(frac(place)) == 0.5, trunc(place) + sign(place), round(place))
			[nearest * scale / steps, reshape(scale, [size(x, quant_axis)])]`,
		gradient: `given(dy) ? dy : x * 0`,
	},
}
