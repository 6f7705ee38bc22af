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
		id: 332, kind: op.Composed, python: &op.Python{Internal: true, PartOf: "binary_cross_entropy"},
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
	{
		// Labels have 1 element along the axis of the classes, and so have the losses of "none"; with soft_label both are
		// probabilities of all classes. The loss of a label that is ignored is 0, and without weights it counts in the mean where it
		// is below 0, as in Paddle. A probability of 0 has no loss, not even beside the logarithm of another 0. A loss is 0 less a
		// logarithm, because -0 would be -0.
		id: 408, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `cross_entropy(input, label, weight?, ignore_index=-100, reduction="mean", soft_label=false, axis=-1, use_softmax=true) =
			classes = size(input, axis)
			hard = whole(label)
			kept = hard != ignore_index
			safe = class_of(hard, kept, classes)
			chosen = use_softmax & numel(input) > 0 ? pick(log_softmax(input, axis), safe, axis) : log(pick(input, safe, axis))
			logarithms = use_softmax ? log_softmax(input, axis) : log(input)
			some = where(label == 0 & logarithms == -inf, 0, logarithms)
			loss = soft_label ? -sum(some * label, axis=[axis], keepdim=true) : where(kept, 0 - chosen, 0)
			own = soft_label ? sum(label * along(weight, input, axis), axis=[axis], keepdim=true) : where(kept, index(weight, [safe]), 0)
			weights = given(weight) ? own : like(kept, loss)
			weighed = given(weight) ? loss * own : loss
			total = sum(weights)
			partial = given(weight) | ignore_index >= 0 & !soft_label & numel(label) > 0
			partial & reduction == "mean" ? sum(weighed) / where(total == 0, 1, total) : reduced(weighed, reduction)`,
	},
	{
		// Labels come as a 1 among zeros along the last axis.
		id: 409, kind: op.Composed, python: functionByHand,
		formula: `dice_loss(input, classes, epsilon=0.00001) =
			common = sum(input * classes, axis=others(input, 0))
			total = sum(input, axis=others(input, 0)) + sum(classes, axis=others(input, 0))
			mean(1 - common * 2 / (total + epsilon))`,
	},
	{
		id: 410, kind: op.Composed, python: functionByHand,
		formula: `npair_loss(anchor, positive, labels, l2_reg=0.002) =
			same = like(reshape(labels, [-1, 1]) == reshape(labels, [1, -1]), anchor)
			target = same / sum(same, axis=[1], keepdim=true)
			penalty = mean(sum(square(anchor), axis=[1])) + mean(sum(square(positive), axis=[1]))
			loss = cross_entropy(matmul(anchor, positive, false, true), target, none, -100, "none", true, 1)
			penalty * (l2_reg * 0.25) + mean(sum(target * loss, axis=[0]))`,
	},
	{
		// The label's own term is margin**p, and no loss.
		id: 411, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `multi_margin_loss(input, label, weight?, p=1.0, margin=1.0, reduction="mean") =
			rows = reshape(whole(label), [-1, 1])
			safe = checked(rows, size(input, 1))
			short = relu(input - pick(input, safe, 1) + margin)
			loss = mean(p == 1 ? short : short ** p, axis=[1]) - margin ** p / size(input, 1)
			reduced(given(weight) ? loss * index(weight, [reshape(safe, [-1])]) : loss, reduction)`,
	},
	{
		// Labels end before the first -1 of their row. Classes that no label names are the others.
		id: 412, kind: op.Composed, asFirst: true, python: functionByHand,
		formula: `multi_label_margin_loss(input, label, reduction="mean") =
			valid = cumprod(like(whole(label) != -1, whole(label)), 1)
			safe = class_of(whole(label), valid != 0, size(input, 1))
			named = unsqueeze(safe, [-1]) == places(input, 1) & unsqueeze(valid, [-1]) != 0
			other = like(!any(named, axis=[1], keepdim=true), input)
			short = relu(1 - unsqueeze(pick(input, safe, 1), [-1]) + unsqueeze(input, [1]))
			loss = sum(short * other * like(unsqueeze(valid, [-1]), input), axis=[1, 2]) / size(input, 1)
			reduced(loss, reduction)`,
	},
	{
		// Without a table the tree is complete: counted in rows from 1, the parent of node c is c // 2, and the bit is whether c is odd. A
		// label that is no class becomes a node that is out of range. A path of a table ends before its first node below 0. Scores are cut
		// to a range, and nodes behind the end of a path count as log(2), as in Paddle.
		id: 500, kind: op.Composed, python: functionByHand,
		formula: `hsigmoid_loss(input, label, weight, bias?, path_table?, path_code?, num_classes=2) =
			n = num_classes
			leaves = reshape(whole(label), [-1, 1])
			here = bitwise_right_shift(leaves + weak(n), counted(bit_length(2 * n - 1) - 1))
			inner = where(here > 1, bitwise_right_shift(here, weak(1)) - weak(1), number(here, 0))
			known = where(leaves < 0 | leaves >= n, number(here, n), inner)
			valid = given(path_table) ? cumprod(whole(path_table >= 0), 1) > 0 : here > 1
			nodes = given(path_table) ? where(valid, path_table, number(path_table, 0)) : known
			bits = given(path_table) ? path_code : remainder(here, weak(2))
			products = sum(index(weight, [nodes]) * unsqueeze(input, [1]), axis=[-1])
			scores = given(bias) ? products + index(reshape(bias, [-1]), [nodes]) : products
			cut = clip(scores * like(valid, input), -40, 40)
			sum(softplus(cut, 1, 40) - like(bits, input) * cut, axis=[1], keepdim=true)`,
	},
}

// Steps of optimizers: from a weight, its gradient and the states of the optimizer to the next weight and states.
//
// Rates and counts of steps are tensors of one element, so that they may change without another program. A decay is a part of the
// weight that is added to the gradient.
var stepFormulas = []composite{
	{
		// The means are corrected for their first values by the powers of both factors, which follow from the number of this step,
		// from 1 on, or are given. A power of 1 corrects nothing. With scaled_epsilon the divisor is corrected as a whole, as in
		// Paddle, and not the root alone, as in ONNX. AdamW has a decoupled_decay.
		id: 530, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
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
		id: 531, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `adagrad_step(x, grad, square_sum, learning_rate, step?, epsilon=0.000001, decay=0.0, rate_decay=0.0) -> out, square_sum =
			g = decay == 0 ? grad : x * decay + grad
			total = square_sum + g * g
			rate = given(step) & rate_decay != 0 ? learning_rate / (like(step, x) * rate_decay + 1) : learning_rate
			[x - rate * g / (sqrt(total) + epsilon), total]`,
	},
	{
		// The first gradient counts whole, whatever its factor is: step is the number of steps before this one.
		id: 532, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `momentum_step(x, grad, velocity, learning_rate, step?, momentum=0.9, gradient_factor=1.0, nesterov=false, decay=0.0) -> out, velocity =
			g = decay == 0 ? grad : x * decay + grad
			factor = given(step) ? where(step > 0, number(x, gradient_factor), number(x, 1.0)) : gradient_factor
			v = velocity * momentum + (gradient_factor == 1 ? g : g * factor)
			[x - learning_rate * (nesterov ? g + v * momentum : v), v]`,
	},
}
