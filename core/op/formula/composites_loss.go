package formula

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Losses: formulas of the difference of predictions and labels, reduced to their mean or sum. Paddle has them in nn.functional.
//
// Where an operand meets a logarithm or a root at the end of its domain, where() puts a harmless number in its place in front of
// the call and not only behind it, because the gradient of the call would be infinite there, and 0 times that is nan.
var lossComposites = composites(lossFormulas)

var lossFormulas = []composite{
	{
		id: 320, kind: op.Composed, accepts: dtype.Numbers, python: functionByHand,
		formula: `mse_loss(input, label, reduction="mean") = reduced(square(input - label), reduction)`,
	},
	{
		id: 321, kind: op.Composed, accepts: dtype.Numbers, python: rows.Function,
		formula: `square_error_cost(input, label) = square(input - label)`,
	},
	{
		id: 322, kind: op.Composed, accepts: dtype.Numbers, python: functionByHand,
		formula: `l1_loss(input, label, reduction="mean") = reduced(abs(input - label), reduction)`,
	},
	{
		// The nearer part of the distance has the square, what is beyond delta the line.
		id: 323, kind: op.Composed, python: functionByHand,
		formula: `smooth_l1_loss(input, label, reduction="mean", delta=1.0, is_huber=true) =
			same_shape(input, label)
			distance = abs(input - label)
			near = minimum(distance, delta)
			loss = near * (distance - near * 0.5)
			reduced(is_huber ? loss : loss / delta, reduction)`,
	},
	{
		id: 324, kind: op.Composed, python: functionByHand,
		formula: `log_loss(input, label, epsilon=0.0001) =
			same_shape(input, label)
			hit = label * log(input + epsilon)
			miss = (1 - label) * log(1 - input + epsilon)
			-hit - miss`,
	},
	{
		id: 325, kind: op.Composed, python: functionByHand,
		formula: `kl_div(input, label, reduction="mean", log_target=false) =
			same_shape(input, label)
			kept = label > 0
			safe = where(kept, label, 1)
			loss = log_target ? exp(label) * (label - input) : where(kept, safe * (log(safe) - input), 0)
			total = reduction == "batchmean" & rank(input) > 0 ? sum(loss) / size(input, 0) : loss
			known = reduction == "mean" | reduction == "sum"
			reduced(total, known ? reduction : "none")`,
	},
	{
		// With full, Stirling's approximation of log(label!) where the label is above 1.
		id: 326, kind: op.Composed, python: functionByHand,
		formula: `poisson_nll_loss(input, label, log_input=true, full=false, epsilon=1e-8, reduction="mean") =
			same_shape(input, label)
			loss = log_input ? exp(input) - label * input : input - label * log(input + epsilon)
			above = label > 1
			safe = where(above, label, 1)
			stirling = safe * log(safe) - safe + 0.5 * log(safe * (2 * pi))
			reduced(full ? loss + where(above, stirling, 0) : loss, reduction)`,
	},
	{
		// That a variance is not negative, only the elements say.
		id: 327, kind: op.Composed, python: functionByHand,
		formula: `gaussian_nll_loss(input, label, variance, full=false, epsilon=0.000001, reduction="mean") =
			spread = clip(variance, epsilon)
			log_of_2_pi = 1.8378770664093453
			loss = (log(spread) + square(input - label) / spread) * 0.5
			reduced(full ? loss + 0.5 * log_of_2_pi : loss, reduction)`,
	},
	{
		id: 328, kind: op.Composed, python: functionByHand,
		formula: `margin_ranking_loss(input, other, label, margin=0.0, reduction="mean") =
			reduced(relu((other - input) * label + margin), reduction)`,
	},
	{
		id: 329, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `hinge_embedding_loss(input, label, margin=1.0, reduction="mean") =
			apart = where(label == -1, relu(margin - input), 0)
			reduced(where(label == 1, input, 0) + apart, reduction)`,
	},
	{
		// log(1 + exp(-label * input)), which beyond 40 is -label * input to the last digit of float64.
		id: 330, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `soft_margin_loss(input, label, reduction="mean") =
			same_shape(input, label)
			reduced(softplus(-like(label, input) * input, threshold=40.0), reduction)`,
	},
	{
		id: 331, kind: op.Composed, python: functionByHand,
		formula: `label_smooth(label, prior_dist?, epsilon=0.1) =
			classes = rank(label) == 0 ? 1 : size(label, -1)
			prior = given(prior_dist) ? reshape(prior_dist, [-1]) * epsilon : epsilon / classes
			label * (1 - epsilon) + prior`,
	},
	{
		// The logarithms are at least -100, and least is the bound of the gradient's divisor.
		id: 332, kind: op.Composed, python: op.Python{Internal: true},
		formula: `binary_cross_entropy_loss(input, label, weight?, least=1e-12, reduction="mean") =
			same_shape(input, label)
			loss = binary_cross_entropy(input, label, least)
			reduced(given(weight) ? loss * weight : loss, reduction)`,
	},
	{
		// The loss of a label -100 is 0.
		id: 333, kind: op.Composed, python: functionByHand,
		formula: `binary_cross_entropy_with_logits(logit, label, weight?, pos_weight?, reduction="mean") =
			same_shape(logit, label)
			bent = softplus(-logit, threshold=40.0)
			weighed = given(pos_weight) ? bent * (label * (pos_weight - 1) + 1) : bent
			loss = where(label == -100, 0, (1 - label) * logit + weighed)
			reduced(given(weight) ? loss * weight : loss, reduction)`,
	},
	{
		// A power between 0 and 1 has an infinite slope at 0, where the loss is 0.
		id: 334, kind: op.Composed, python: functionByHand,
		formula: `sigmoid_focal_loss(logit, label, normalizer?, alpha=0.25, gamma=2.0, reduction="sum") =
			same_shape(logit, label)
			chance = sigmoid(logit)
			other = 1 - label
			missed = chance * other + (1 - chance) * label
			steep = gamma > 0 & gamma < 1
			focus = steep ? where(missed == 0, 0, where(missed == 0, 1, missed) ** gamma) : missed ** gamma
			entropy = other * logit + softplus(-logit, threshold=40.0)
			loss = focus * (label * (2 * alpha - 1) + (1 - alpha)) * entropy
			reduced(given(normalizer) ? loss / normalizer : loss, reduction)`,
	},
	{
		id: 335, kind: op.Composed, python: functionByHand,
		formula: `multi_label_soft_margin_loss(input, label, weight?, reduction="mean") =
			same_shape(input, label)
			loss = (1 - label) * input + softplus(-input, threshold=40.0)
			reduced(mean(given(weight) ? loss * weight : loss, [-1]), reduction)`,
	},
	{
		id: 336, kind: op.Composed, python: functionByHand,
		formula: `cosine_embedding_loss(input1, input2, label, margin=0.0, reduction="mean") =
			same_shape(input1, input2)
			product = sum(input1 * input2, [-1])
			lengths = (sum(square(input1), [-1]) + 1e-11) * (sum(square(input2), [-1]) + 1e-11)
			cosine = product / sqrt(lengths)
			apart = where(label == -1, relu(cosine - margin), 0)
			reduced(where(label == 1, 1 - cosine, 0) + apart, reduction)`,
	},
	{
		id: 337, kind: op.Composed, python: functionByHand,
		formula: `triplet_margin_loss(input, positive, negative, margin=1.0, p=2.0, epsilon=0.000001, swap=false, reduction="mean") =
			same_shape(input, positive, negative)
			near = p_norm(input - positive + epsilon, p, [-1])
			far = p_norm(input - negative + epsilon, p, [-1])
			nearest = swap ? minimum(far, p_norm(positive - negative + epsilon, p, [-1])) : far
			reduced(relu(near - nearest + margin), reduction)`,
	},
	{
		id: 338, kind: op.Composed, python: functionByHand,
		formula: `nll_loss(input, label, weight?, ignore_index=-100, reduction="mean") =
			rows = unsqueeze(whole(label), [1])
			kept = rows != ignore_index
			class = class_of(rows, kept, size(input, 1))
			weights = given(weight) ? where(kept, index(weight, class), 0) : like(kept, input)
			loss = where(kept, -(pick(input, class, 1) * weights), 0)
			total = sum(weights)
			reduction == "mean" ? sum(loss) / where(total == 0, 1, total) : reduced(squeeze(loss, [1]), reduction)`,
	},
}
