package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Norms, distances and normalizations. Statistics are computed from differences to the mean: the difference of the mean of
// squares and the square of the mean would cancel.
var normFormulas = []composite{
	{
		// A root whose gradient at 0 is 0, as that of a norm, and not infinite.
		id: 350, infer: likeX,
		formula: `root(x, power=0.5) = power == 0.5 ? sqrt(x) : pow(x, power)`,
		gradient: `
			safe = where(x == 0, 1, x)
			slope = power == 0.5 ? 0.5 / sqrt(safe) : power * pow(safe, power - 1)
			where(x == 0, 0, dy * slope)`,
		tolerance: rows.Accurate.OnMetal(17),
	},
	{
		// The norm of no elements is 0.
		id: 351, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "norm"},
		formula: `p_norm(x, p=2.0, axis=ints, keepdim=false) =
			infinite = (p == inf | p == -inf) & numel(x) > 0
			p == 2 ? root(square_sum(x, axis=axis, keepdim=keepdim)) :
			p == 0 ? sum(where(x != 0, 1, x * 0), axis=axis, keepdim=keepdim) :
			infinite & p > 0 ? max(abs(x), axis=axis, keepdim=keepdim) :
			infinite ? min(abs(x), axis=axis, keepdim=keepdim) :
			p == 1 | p == inf | p == -inf ? sum(abs(x), axis=axis, keepdim=keepdim) :
			root(sum(pow(abs(x), p), axis=axis, keepdim=keepdim), 1 / p)`,
	},
	{
		// An infinite largest element is not subtracted: inf - inf would be nan.
		id: 352, kind: op.Composed, python: &op.Python{ByHand: true, Method: true}, onnx: "ReduceLogSumExp-18",
		formula: `logsumexp(x, axis=ints, keepdim=false) =
			empty = numel(x) == 0
			most = empty ? 0 : max(x, axis=axis, keepdim=true)
			top = empty ? 0 : where(isfinite(most), most, 0)
			total = log(sum(empty ? x : exp(x - top), axis=axis, keepdim=true)) + top
			keepdim ? total : squeeze(total, axis=axis)`,
	},
	{
		id: 353, kind: op.Composed, python: functionByHand,
		formula: `normalize(x, p=2.0, axis=ints, epsilon=1e-12) = x / maximum(p_norm(x, p, axis, true), epsilon)`,
	},
	{
		// An axis of one element stands for as many equal ones as the other operand has.
		id: 354, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `cosine_similarity(x1, x2, axis=1, eps=1e-8) =
			n1 = size(x1, axis)
			n2 = size(x2, axis)
			most = n1 > n2 ? n1 : n2
			both = sum(x1 * x2, axis=[axis])
			l1 = n1 == most ? p_norm(x1, 2.0, [axis]) : p_norm(x1, 2.0, [axis]) * (most / n1) ** 0.5
			l2 = n2 == most ? p_norm(x2, 2.0, [axis]) : p_norm(x2, 2.0, [axis]) * (most / n2) ** 0.5
			n1 == 0 | n2 == 0 ? both : both / maximum(l1 * l2, eps)`,
	},
	{
		id: 355, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `pairwise_distance(x, y, p=2.0, epsilon=0.000001, keepdim=false) =
			p_norm(epsilon == 0 ? x - y : x - y + epsilon, p, [-1], keepdim)`,
	},
	{
		// Mean and variance are those of each group of channels of each example. Channels are axis 1, or the last one.
		id: 356, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `group_norm(x, weight?, bias?, num_groups=1, epsilon=0.00001, channels_last=false) =
			lines = reshape(x, [size(x, 0), num_groups, -1])
			last = reshape(x, [size(x, 0), -1, num_groups, size(x, -1) / num_groups])
			centered = last - mean(last, axis=[1, 3], keepdim=true)
			scale = rsqrt(mean(square(centered), axis=[1, 3], keepdim=true) + epsilon)
			normal = numel(x) == 0 ? x : channels_last ? centered * scale : layer_norm(lines, none, none, epsilon)
			affine(shaped(normal, x), weight, bias, channels_last ? -1 : 1)`,
	},
	{
		// A channel of one element is its own mean.
		id: 357, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `instance_norm(x, weight?, bias?, epsilon=0.00001) =
			lines = reshape(x, [size(x, 0), size(x, 1), -1])
			normal = rank(x) == 2 | numel(x) == 0 ? x - x : shaped(layer_norm(lines, none, none, epsilon), x)
			affine(normal, weight, bias, 1)`,
	},
	{
		// By statistics that are known. The weight goes into the scale: a pass over x less.
		id: 358, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true, PartOf: "batch_norm"},
		formula: `batch_norm_inference(x, mean, variance, weight?, bias?, epsilon=0.00001, axis=1) =
			root = rsqrt(along(variance, x, axis) + epsilon)
			scale = given(weight) ? root * along(weight, x, axis) : root
			normal = (x - along(mean, x, axis)) * scale
			affine(normal, none, bias, axis)`,
	},
	{
		// The mean is rounded, so that the differences have a mean of their own, which the second term takes out (Chan, Golub and
		// LeVeque, Algorithms for Computing the Sample Variance, 1983). The divisor is the number of terms less correction, at least 0.
		id: 359, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "var"},
		formula: `variance(x, axis=ints, correction=1.0, keepdim=false) =
			difference = x - mean(x, axis=axis, keepdim=true)
			squares = sum(square(difference), axis=axis, keepdim=keepdim)
			shift = sum(difference, axis=axis, keepdim=keepdim)
			terms = numel(x) / numel(squares)
			divisor = terms > correction ? terms - correction : 0
			numel(x) == 0 ? squares / 0 : (squares - square(shift) / terms) / divisor`,
	},
	{
		id: 360, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "std"},
		formula: `standard_deviation(x, axis=ints, correction=1.0, keepdim=false) = root(variance(x, axis, correction, keepdim))`,
	},
	{
		// The mean of what is not nan.
		id: 361, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "nanmean"},
		formula: `mean_without_nan(x, axis=ints, keepdim=false) =
			there = like(!isnan(x), x)
			sum(where(isnan(x), 0, x), axis=axis, keepdim=keepdim) / sum(there, axis=axis, keepdim=keepdim)`,
	},
	{
		// By the statistics of each channel of a batch, which are results, too. The weight goes into the scale: a pass over x less.
		id: 413, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true, PartOf: "batch_norm"},
		formula: `batch_norm_training(x, weight?, bias?, epsilon=0.00001, axis=1) -> out, mean, variance =
			center = mean(x, axis=others(x, axis), keepdim=true)
			centered = x - center
			spread = square_sum(centered, axis=others(x, axis), keepdim=true) / (numel(x) / size(x, axis))
			root = rsqrt(spread + epsilon)
			normal = centered * (given(weight) ? root * along(weight, x, axis) : root)
			[affine(normal, none, bias, axis), reshape(center, [-1]), reshape(spread, [-1])]`,
	},
	{
		// A running statistic after another batch.
		id: 414, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true, PartOf: "batch_norm"},
		formula: `moving_average(running, batch, momentum=0.9) = running * momentum + batch * (1 - momentum)`,
	},
	{
		// The largest sum of magnitudes of a column (1) or of a row (inf), the least of them (-1, -inf), or the root of the summed
		// squares (2), of matrices over two axes.
		id: 415, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "norm"},
		formula: `matrix_sums_norm(x, p=1.0, rows=-2, columns=-1, keepdim=false) =
			by_column = p == 1 | p == -1
			sums = sum(abs(x), axis=[by_column ? rows : columns], keepdim=true)
			kept = by_column ? columns : rows
			found = p > 0 ? max(sums, axis=[kept], keepdim=true) : min(sums, axis=[kept], keepdim=true)
			keepdim ? found : squeeze(found, [rows, columns])`,
	},
	{
		// By a mean square of 1 over some axes.
		id: 542, kind: op.Composed, asFirst: true,
		formula: `standardize(x, axis=ints, epsilon=0.00001, centered=true) -> out, mean, inverse =
			center = mean(x, axis=axis, keepdim=true)
			apart = centered ? x - center : x
			inverse = rsqrt(mean(square(apart), axis=axis, keepdim=true) + epsilon)
			[apart * inverse, center, inverse]`,
	},
}
