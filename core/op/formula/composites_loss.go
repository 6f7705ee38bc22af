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
	{
		id: 555, kind: op.Composed, narrow: true, python: functionByHand,
		formula: `softmax_with_cross_entropy(logits, label, soft_label=false, ignore_index=-100, axis=-1) -> loss, softmax =
			[cross_entropy(logits, label, none, ignore_index, "none", soft_label, axis), softmax(logits, axis)]`,
	},
	{
		// A. Graves et al., Connectionist Temporal Classification, 2006, 4.1. Targets are the labels with blanks around each; a path may
		// skip the blank between two labels, unless they are equal. The logarithm of 0 is finite, so that the difference of two is no nan,
		// and so large that no path with it is possible. Labels that are too long have no loss, as in Paddle. With norm_by_times the
		// gradient of an example is divided by its number of times, and the loss is not.
		id: 556, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, lossOfSequences}, python: functionByHand,
		formula: `ctc_loss(log_probs, labels, input_lengths, label_lengths, blank=0, reduction="mean", norm_by_times=false, zero_infinity=false) =
			n = size(labels, 0)
			times = reshape(whole(input_lengths), [n])
			lengths = reshape(whole(label_lengths), [n])
			inside = places(labels, 1) < unsqueeze(lengths, [1])
			spelled = where(inside, checked(labels, size(log_probs, 2)), number(lengths, blank))
			targets = pad(reshape(stack([spelled * weak(0) + weak(blank), spelled], 2), [n, 2 * size(labels, 1)]), [0, 0, 0, 1], "constant", blank)
			logs = log_softmax(log_probs, -1)
			scores = clip(index(logs, [places(logs, 0), places(logs, 1), unsqueeze(targets, [0])]), -1e30, none)
			skip = where(targets == pad(targets, [0, 0, 2, -2], "constant", blank), number(scores, -1e30), number(scores, 0))
			paths = scan(p, where(counted(size(targets, 1)) < 2, row(scores, 0), -1e30), t, size(scores, 0) - 1, before=pad(p, [0, 0, 2, 0], "constant", -1e30),
				logaddexp(logaddexp(p, part(before, 1, 1, -1)), part(before, 1, 0, -2) + skip) + row(scores, t + 1))
			batch = counted(n)
			end = lengths * weak(2)
			last = times - weak(1)
			ends = logaddexp(index(paths, [last, batch, end]), where(lengths > 0, index(paths, [last, batch, end - weak(1)]), -1e30))
			blanks = sum(whole(part(spelled, 1, 1, none) == part(spelled, 1, 0, -1) & part(inside, 1, 1, none)), axis=[1])
			each = where(times >= lengths + blanks, where(ends > -5e29, -ends, zero_infinity ? 0 : inf), 0)
			loss = norm_by_times ? (each - fixed(each)) / like(times, each) + fixed(each) : each
			reduction == "mean" ? mean(loss / like(lengths, loss)) : reduced(loss, reduction)`,
	},
	{
		// A. Graves, Sequence Transduction with Recurrent Neural Networks, 2012, 2.4, by diagonals of constant time and labels: a path waits
		// for the next time, or emits a label. The gradient of emitting is multiplied by 1 + fastemit_lambda, and the loss is not.
		id: 558, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, lossOfSequences}, python: functionByHand,
		formula: `rnnt_loss(input, label, input_lengths, label_lengths, blank=0, fastemit_lambda=0.001, reduction="mean") =
			count = size(label, 0)
			times = reshape(whole(input_lengths), [count])
			lengths = reshape(whole(label_lengths), [count])
			labels = pad(where(places(label, 1) < unsqueeze(lengths, [1]), checked(label, size(input, 3)), number(lengths, blank)), [0, 0, 0, 1], "constant", blank)
			behind = counted(size(input, 2))
			moments = reshape(counted(size(input, 1) + size(input, 2) - 1), [-1, 1, 1]) - behind
			there = moments >= 0 & moments < size(input, 1)
			time = clip(moments, weak(0), weak(size(input, 1) - 1))
			batch = reshape(counted(count), [-1, 1])
			waiting = where(there, clip(index(input, [batch, time, behind, number(behind, blank)]), -1e30, none), -1e30)
			scores = where(there, clip(index(input, [batch, time, behind, labels]), -1e30, none), -1e30)
			emitting = fastemit_lambda == 0 ? scores : (scores - fixed(scores)) * (1 + fastemit_lambda) + fixed(scores)
			begin = expand(where(behind == 0, number(waiting, 0), number(waiting, -1e30)), sizes(waiting, 1, none))
			paths = scan(p, begin, d, size(waiting, 0) - 1, logaddexp(p + row(waiting, d), pad(p + row(emitting, d), [0, 0, 1, -1], "constant", -1e30)))
			ends = [times - weak(1) + lengths, counted(count), lengths]
			loss = -(index(paths, ends) + index(waiting, ends))
			reduction == "mean" ? sum(loss) / count : reduced(loss, reduction)`,
	},
}

// lossOfSequences is the rule of ctc_loss and rnnt_loss, whose calls are many: a loss for each of the labels, or one number.
func lossOfSequences(c *op.Inference) error {
	if c.Attr("reduction").Str() == "none" {
		c.Out[0].Shape = rows.Line(c.In[1].Shape.Dims[0], 1, 0)
	}
	return nil
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
		id: 530, kind: op.Composed, asFirst: true,
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
		id: 531, kind: op.Composed, asFirst: true,
		formula: `adagrad_step(x, grad, square_sum, learning_rate, step?, epsilon=0.000001, decay=0.0, rate_decay=0.0) -> out, square_sum =
			g = decay == 0 ? grad : x * decay + grad
			total = square_sum + g * g
			rate = given(step) & rate_decay != 0 ? learning_rate / (like(step, x) * rate_decay + 1) : learning_rate
			[x - rate * g / (sqrt(total) + epsilon), total]`,
	},
	{
		// The first gradient counts whole, whatever its factor is: step is the number of steps before this one.
		id: 532, kind: op.Composed, asFirst: true,
		formula: `momentum_step(x, grad, velocity, learning_rate, step?, momentum=0.9, gradient_factor=1.0, nesterov=false, decay=0.0) -> out, velocity =
			g = decay == 0 ? grad : x * decay + grad
			factor = given(step) ? where(step > 0, number(x, gradient_factor), number(x, 1.0)) : gradient_factor
			v = velocity * momentum + (gradient_factor == 1 ? g : g * factor)
			[x - learning_rate * (nesterov ? g + v * momentum : v), v]`,
	},
	{
		id: 580, kind: op.Composed, asFirst: true,
		formula: `sgd_step(x, grad, learning_rate) = x - learning_rate * grad`,
	},
	{
		// adam_step as Paddle's operator has it: the powers of both factors are operands, and with max_square_mean the divisor never falls.
		id: 581, kind: op.Composed, asFirst: true,
		formula: `adamw_step(x, grad, mean, square_mean, learning_rate, beta1_power, beta2_power, max_square_mean?, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01, lr_ratio=1.0) -> out, mean, square_mean, max_square_mean =
			rate = learning_rate * lr_ratio
			m = mean * beta1 + grad * (1 - beta1)
			v = square_mean * beta2 + square(grad) * (1 - beta2)
			most = given(max_square_mean) ? maximum(max_square_mean, v) : number(x, 0.0)
			root = sqrt(1 - beta2_power)
			size = sqrt(given(max_square_mean) ? most : v) + root * epsilon
			[x * (1 - rate * weight_decay) - rate * root / (1 - beta1_power) * (m / size), m, v, most]`,
	},
	{
		id: 582, kind: op.Composed, asFirst: true,
		formula: `adamax_step(x, grad, mean, norm, learning_rate, beta1_power, beta1=0.9, beta2=0.999, epsilon=1e-8) -> out, mean, norm =
			m = mean * beta1 + grad * (1 - beta1)
			n = maximum(norm * beta2 + epsilon, abs(grad))
			[x - learning_rate / (1 - beta1_power) * (m / n), m, n]`,
	},
	{
		id: 583, kind: op.Composed, asFirst: true,
		formula: `adadelta_step(x, grad, square_mean, square_change, learning_rate, epsilon=0.000001, rho=0.95) -> out, square_mean, square_change =
			v = square_mean * rho + square(grad) * (1 - rho)
			change = sqrt((square_change + epsilon) / (v + epsilon)) * grad
			[x - learning_rate * change, v, square_change * rho + square(change) * (1 - rho)]`,
	},
	{
		// With a mean of gradients their variance takes the place of the mean of squares: Paddle calls it centered.
		id: 584, kind: op.Composed, asFirst: true,
		formula: `rmsprop_step(x, grad, square_mean, velocity, learning_rate, mean?, rho=0.95, epsilon=0.000001, momentum=0.0) -> out, square_mean, velocity, mean =
			v = square_mean * rho + square(grad) * (1 - rho)
			m = given(mean) ? mean * rho + grad * (1 - rho) : number(x, 0.0)
			moved = velocity * momentum + learning_rate * grad / sqrt((given(mean) ? v - square(m) : v) + epsilon)
			[x - moved, v, moved, m]`,
	},
	{
		id: 585, kind: op.Composed, asFirst: true,
		formula: `lamb_step(x, grad, mean, square_mean, learning_rate, beta1_power, beta2_power, lamb_weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=0.000001, always_adapt=false) -> out, mean, square_mean =
			m = mean * beta1 + grad * (1 - beta1)
			v = square_mean * beta2 + square(grad) * (1 - beta2)
			change = m / (1 - beta1_power) / (sqrt(v / (1 - beta2_power)) + epsilon) + x * lamb_weight_decay
			own = p_norm(x)
			length = p_norm(change)
			adapted = where(own > 0 & length > 0, learning_rate * own / length, learning_rate)
			[x - (lamb_weight_decay > 0 | always_adapt ? adapted : learning_rate) * change, m, v]`,
	},
	{
		// The momentum grows from step to step, as a power of 0.96 that decays becomes smaller; powers and products are of the steps before.
		id: 586, kind: op.Composed, asFirst: true,
		formula: `nadam_step(x, grad, mean, square_mean, learning_rate, decay_power, beta2_power, momentum_product, beta1=0.9, beta2=0.999, epsilon=1e-8, momentum_decay=0.004) -> out, mean, square_mean, decay_power, beta2_power, momentum_product =
			m = mean * beta1 + grad * (1 - beta1)
			v = square_mean * beta2 + square(grad) * (1 - beta2)
			power = decay_power * 0.96
			second = beta2_power * beta2
			decayed = power ** momentum_decay * (beta1 * 0.5)
			product = momentum_product * (beta1 - decayed)
			next = beta1 - decayed * 0.96 ** momentum_decay
			change = next * m / (1 - product * next) + (1 - beta1 + decayed) * grad / (1 - product)
			[x - learning_rate * change / (sqrt(v / (1 - second)) + epsilon), m, v, power, second, product]`,
	},
	{
		// The variance of the divisor is known from a length above 5 on; before, the step is that of the mean alone. Powers and rho are of
		// the steps before.
		id: 587, kind: op.Composed, asFirst: true,
		formula: `radam_step(x, grad, mean, square_mean, learning_rate, beta1_power, beta2_power, rho, beta1=0.9, beta2=0.999, epsilon=1e-8) -> out, mean, square_mean, beta1_power, beta2_power, rho =
			m = mean * beta1 + grad * (1 - beta1)
			v = square_mean * beta2 + square(grad) * (1 - beta2)
			first = beta1_power * beta1
			second = beta2_power * beta2
			r = (rho * (beta2 - second) + second) / (1 - second)
			end = 2 / (1 - beta2) - 1
			length = end - r * 2
			known = maximum(length, 5)
			bent = sqrt((known - 4) * (known - 2) / known * (end / ((end - 4) * (end - 2)))) * sqrt(1 - second)
			[x - learning_rate / (1 - first) * m * where(length > 5, bent / (sqrt(v) + epsilon), 1), m, v, first, second, r]`,
	},
	{
		// Each element has a rate of its own, which grows while the sign of its gradient stays.
		id: 588, kind: op.Composed, asFirst: true,
		formula: `rprop_step(x, grad, previous, learning_rate, learning_rate_min=0.00001, learning_rate_max=50.0, eta_negative=0.5, eta_positive=1.2) -> out, previous, learning_rate =
			product = grad * previous
			eta = where(product > 0, number(x, eta_positive), where(product < 0, number(x, eta_negative), number(x, 1.0)))
			rate = clip(learning_rate * eta, learning_rate_min, learning_rate_max)
			g = where(product < 0, 0, grad)
			[x - sign(g) * rate, g, rate]`,
	},
	{
		id: 589, kind: op.Composed, asFirst: true,
		formula: `asgd_step(x, grad, gradient_sum, oldest, learning_rate, n) -> out, gradient_sum =
			total = gradient_sum - oldest + grad
			[x - learning_rate / n * total, total]`,
	},
	{
		id: 590, kind: op.Composed, asFirst: true,
		formula: `lars_momentum_step(x, grad, velocity, learning_rate, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0005, epsilon=0.0) -> out, velocity =
			own = p_norm(x)
			length = p_norm(grad)
			adapted = learning_rate * lars_coeff * own / (length + own * lars_weight_decay + epsilon)
			rate = lars_weight_decay > 0 ? where(own > 0 & length > 0, adapted, learning_rate) : learning_rate
			v = velocity * momentum + rate * (grad + x * lars_weight_decay)
			[x - v, v]`,
	},
	{
		id: 591, kind: op.Composed, asFirst: true,
		formula: `clip_by_norm(x, max_norm=1.0) = x * (max_norm / maximum(p_norm(x), max_norm))`,
	},
	{
		id: 592, kind: op.Composed, asFirst: true,
		formula: `check_finite_and_unscale(x, scale) -> out, found_infinite = [x * (1 / scale), !all(isfinite(x))]`,
	},
	{
		// Counts of steps since the scale has changed, good ones and bad ones in a row.
		id: 593, kind: op.Composed, accepts: dtype.All, narrow: true,
		formula: `update_loss_scaling(found_infinite, loss_scaling, good_steps, bad_steps, incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, incr_ratio=2.0, decr_ratio=0.5) -> loss_scaling, good_steps, bad_steps =
			good = where(found_infinite, number(good_steps, 0), good_steps + weak(1))
			bad = where(found_infinite, bad_steps + weak(1), number(bad_steps, 0))
			grows = good == weak(incr_every_n_steps)
			falls = bad == weak(decr_every_n_nan_or_inf)
			raised = loss_scaling * incr_ratio
			up = where(grows & isfinite(raised), raised, loss_scaling)
			scale = where(falls, maximum(loss_scaling * decr_ratio, 1), up)
			[scale, where(grows, number(good, 0), good), where(falls, number(bad, 0), bad)]`,
	},
}
