package describe

// Descriptions of the rows of core/op/formula/composites_loss.go, composites_norm.go, composites_math.go and composites_product.go. Their results are sums of many terms,
// which the suite has no rule of errors for.
const oraclesElsewhere = "tests/python/test_composite_oracles.py"

func describedCompositesLoss() []Description {
	list := []Description{
		{Name: "mse_loss", Attrs: []string{reductionDoc}, Doc: "(input - label)**2, reduced."},
		{Name: "square_error_cost", Doc: "(input - label)**2 of every element."},
		{Name: "l1_loss", Attrs: []string{reductionDoc}, Doc: "|input - label|, reduced."},
		{Name: "smooth_l1_loss", Attrs: []string{reductionDoc, "the distance up to which the loss is a square", "false for the loss divided by delta"}, Doc: "0.5 * d**2 where d = |input - label| is at most delta, delta * (d - 0.5 * delta) elsewhere, reduced."},
		{Name: "log_loss", Attrs: []string{"what is added to the arguments of logarithms"}, Doc: "-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon) of every element."},
		{Name: "kl_div", Attrs: []string{"'mean', 'sum', 'batchmean', the sum divided by the size of the first axis, or 'none'", "whether labels are logarithms of probabilities"}, Doc: "label * (log(label) - input), which is 0 where label is not above 0, reduced."},
		{Name: "poisson_nll_loss", Attrs: []string{"whether input is the logarithm of the expectation", "whether Stirling's approximation of log(label!) is added", "what is added to the arguments of logarithms", reductionDoc}, Doc: "exp(input) - label * input, reduced."},
		{Name: "gaussian_nll_loss", Attrs: []string{"whether the constant 0.5 * log(2 * pi) is added", "the least variance", reductionDoc}, Doc: "0.5 * (log(v) + (input - label)**2 / v) with v = max(variance, epsilon), reduced."},
		{Name: "margin_ranking_loss", Attrs: []string{"how far input should be from other", reductionDoc}, Doc: "max(label * (other - input) + margin, 0), reduced."},
		{Name: "hinge_embedding_loss", Attrs: []string{"the least input that has no loss where label is -1", reductionDoc}, Doc: "input where label is 1, max(margin - input, 0) where it is -1, 0 elsewhere, reduced."},
		{Name: "soft_margin_loss", Attrs: []string{reductionDoc}, Doc: "log(1 + exp(-label * input)), reduced."},
		{Name: "label_smooth", Attrs: []string{"how much of each label is spread over all classes, from 0 to 1"}, Doc: "(1 - epsilon) * label + epsilon * prior_dist, which is 1 / classes where it is left out."},
		{Name: "binary_cross_entropy_loss", Attrs: []string{"the least divisor of the gradient", reductionDoc}, Doc: "-label * log(input) - (1 - label) * log(1 - input), with logarithms of at least -100, times weight, reduced."},
		{Name: "binary_cross_entropy_with_logits", Attrs: []string{reductionDoc}, Doc: "(1 - label) * logit + (1 + label * (pos_weight - 1)) * log(1 + exp(-logit)), times weight, reduced; 0 where label is -100."},
		{Name: "sigmoid_focal_loss", Attrs: []string{"the weight of label 1; that of label 0 is 1 - alpha", "the power of the probability of the other label", reductionDoc}, Doc: "a * (1 - p)**gamma * binary_cross_entropy_with_logits, p being the probability of the label, over normalizer, reduced."},
		{Name: "multi_label_soft_margin_loss", Attrs: []string{reductionDoc}, Doc: "The mean over the last axis of binary_cross_entropy_with_logits times weight, reduced."},
		{Name: "cosine_embedding_loss", Attrs: []string{"the largest cosine that has no loss where label is -1", reductionDoc}, Doc: "1 - cos(input1, input2) where label is 1, max(cos(input1, input2) - margin, 0) where it is -1, 0 elsewhere, reduced."},
		{Name: "triplet_margin_loss", Attrs: []string{"how much farther negative should be than positive", "of the norm", "what is added to differences", "whether the distance of positive and negative counts where it is less than that of input and negative", reductionDoc}, Doc: "max(d(input, positive) - d(input, negative) + margin, 0), d being pairwise_distance, reduced."},
		{Name: "cross_entropy", Attrs: []string{"the label whose loss and weight are 0; below 0 it counts in a mean without weights", "'mean', which is divided by the sum of the weights, 'sum' or 'none'", "whether labels are probabilities of all classes", "that of the classes", "false where input has probabilities already"}, Doc: "-log(softmax(input)[label]) * weight[label], with labels of 1 element along the axis of the classes, or -sum(label * log(softmax(input))), reduced."},
		{Name: "dice_loss", Attrs: []string{"what is added to the divisor"}, Doc: "The mean over the first axis of 1 - 2 * sum(input * classes) / (sum(input) + sum(classes) + epsilon)."},
		{Name: "npair_loss", Attrs: []string{"the weight of the mean squares"}, Doc: "The cross entropy of softmax(anchor @ positive.T) and of which labels are equal, and l2_reg / 4 times the mean sums of squares."},
		{Name: "multi_margin_loss", Attrs: []string{"the power of each term", "how far the label's score should be above the others", reductionDoc}, Doc: "The mean over all other classes c of weight[label] * max(margin - input[label] + input[c], 0)**p, reduced."},
		{Name: "multi_label_margin_loss", Attrs: []string{reductionDoc}, Doc: "sum(max(1 - input[y] + input[c], 0)) / classes over the labels y of a row, which end before its first -1, and all classes c that are none, reduced."},
		{Name: "hsigmoid_loss", Attrs: []string{"the number of classes of a complete tree, from 2"}, Doc: "The sum over a label's path in a binary tree of log(1 + exp(s)) - bit * s, with s = input @ weight[node] + bias[node]; paths and bits are those of a table, or of a complete tree."},
		{Name: "softmax_with_cross_entropy", Attrs: []string{"whether labels are probabilities of all classes", "the label whose loss is 0", "of the classes"}, Doc: "The losses of cross_entropy, one of each line, and softmax(logits) along the axis of the classes."},
		{Name: "ctc_loss", Attrs: []string{"the class that stands for no label", "'mean' of the losses by the lengths of labels, 'sum' or 'none'", "whether the gradient of an example is divided by its number of times", "whether the loss of labels of probability 0 is 0, and not inf"}, Doc: "-log of the probability that softmax(log_probs), [times, batch, classes], spells labels [batch, longest label], with blanks and repetitions removed."},
		{Name: "rnnt_loss", Attrs: []string{"the class that stands for no label", "factor of a further gradient of emitted labels", "'mean', 'sum' or 'none'"}, Doc: "-log of the probability of all paths that emit label [batch, longest label], for logarithms of probabilities [batch, times, longest label + 1, classes]."},
		{Name: "nll_loss", Attrs: []string{"the label whose loss and weight are 0", "'mean', which is divided by the sum of the weights, 'sum' or 'none'"}, Doc: "-weight[label] * input[label] along axis 1, reduced."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

const (
	reductionDoc = "'mean', 'sum' or 'none'"
	keepDoc      = "whether reduced axes stay with one element"
	relativeDoc  = "the tolerance, times |y|"
	absoluteDoc  = "the tolerance that is added to it"
	equalNaNDoc  = "whether two nan are close"
	putDoc       = "'assign', of values for one place the last, or how they are joined with what is there"
	roundTypeDoc = "0 for halves to the even integer, 1 for halves away from 0"
	poolDoc      = "how they are joined: 'sum', 'mean', 'max' or 'min'"
	nodesDoc     = "how many nodes the result has; 0 for as many as x"
	messageDoc   = "'add', 'sub', 'mul' or 'div', which multiplies by 1 / (y + 1e-12)"
	diagonalDoc  = "how far the diagonal is above the main one"
	spacingDoc   = "the distance of neighbours, where it is no operand"
)

func describedCompositesNorm() []Description {
	list := []Description{
		{Name: "root", Attrs: []string{"of x; 0.5 for the square root"}, Doc: "x**power of x from 0, with a gradient of 0 at 0."},
		{Name: "p_norm", Attrs: []string{"of the norm; inf for the largest and -inf for the least magnitude, 0 for how many are not 0", "axes; all where it is left out", keepDoc}, Doc: "sum(|x|**p)**(1 / p) over axes; 0 of nothing."},
		{Name: "logsumexp", Attrs: []string{"axes; all where it is left out", keepDoc}, Doc: "log(sum(exp(x))) over axes, without overflow; -inf of nothing."},
		{Name: "normalize", Attrs: []string{"of the norm", "axes; all where it is left out", "the least divisor"}, Doc: "x / max(p_norm(x), epsilon) along axes."},
		{Name: "cosine_similarity", Attrs: []string{"the axis", "the least divisor"}, Doc: "sum(x1 * x2) / max(|x1| * |x2|, eps) along an axis."},
		{Name: "pairwise_distance", Attrs: []string{"of the norm", "what is added to differences", "whether the last axis stays with one element"}, Doc: "The p-norm of x - y + epsilon along the last axis."},
		{Name: "group_norm", Attrs: []string{"how many; a divisor of the channels", "what is added to the variance", "whether channels are the last axis, and not axis 1"}, Doc: "(x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance of each group of channels."},
		{Name: "instance_norm", Attrs: []string{"what is added to the variance"}, Doc: "(x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance of each channel of each example."},
		{Name: "batch_norm_inference", Attrs: []string{"what is added to the variance", "that of the channels"}, Doc: "(x - mean) / sqrt(variance + epsilon) * weight + bias, for a mean and a variance of each channel."},
	}
	list = append(list, []Description{
		{Name: "variance", Attrs: []string{"axes; all where it is left out", "what is taken from the number of terms", keepDoc}, Doc: "sum((x - mean(x))**2) / max(terms - correction, 0) over axes; nan of nothing."},
		{Name: "standard_deviation", Attrs: []string{"axes; all where it is left out", "what is taken from the number of terms", keepDoc}, Doc: "The square root of variance."},
		{Name: "mean_without_nan", Attrs: []string{"axes; all where it is left out", keepDoc}, Doc: "The mean over axes of the elements that are not nan; nan if there are none."},
	}...)
	list = append(list, []Description{
		{Name: "batch_norm_training", Attrs: []string{"what is added to the variance", "that of the channels"}, Doc: "(x - mean) / sqrt(variance + epsilon) * weight + bias, and the mean and the variance of each channel, of all elements, that it is computed with."},
		{Name: "moving_average", Attrs: []string{"the weight of what was"}, Doc: "running * momentum + batch * (1 - momentum)."},
		{Name: "matrix_sums_norm", Attrs: []string{"1, -1, inf or -inf", "the axis of the rows", "that of the columns", keepDoc}, Doc: "The largest or the least sum of magnitudes of the columns or rows of matrices."},
	}...)
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

func describedCompositesMath() []Description {
	list := []Description{
		{Name: "lerp", Doc: "x + weight * (y - x)."},
		{Name: "logit", Attrs: []string{"if above 0, x is lowered to 1 - eps and then raised to eps first"}, Doc: "log(x / (1 - x)); nan outside of [0, 1]."},
		{Name: "sinc", Doc: "sin(pi * x) / (pi * x), and 1 of 0."},
		{Name: "stanh", Attrs: []string{"factor of x", "factor of the result"}, Doc: "scale_b * tanh(scale_a * x)."},
		{Name: "hypot", Doc: "sqrt(x * x + y * y), which neither overflows nor underflows on the way."},
		{Name: "frac", Doc: "x - trunc(x); nan for infinities."},
		{Name: "heaviside", Doc: "0 where x < 0, y where x is 0, 1 where x > 0; 0 of nan."},
		{Name: "ldexp", Doc: "x * 2**y; y need not be whole."},
		{Name: "nan_to_num", Attrs: []string{"what nan becomes; an infinity is replaced in turn", "what infinity becomes; without it the largest finite number", "what minus infinity becomes; without it the least finite number"}, Doc: "x with numbers in place of nan and infinities."},
		{Name: "isneginf", Doc: "Whether x is minus infinity."},
		{Name: "isposinf", Doc: "Whether x is plus infinity."},
		{Name: "isclose", Attrs: []string{relativeDoc, absoluteDoc, equalNaNDoc}, Doc: "Whether |x - y| <= atol + rtol * |y|, of every element; equal infinities are close."},
		{Name: "allclose", Attrs: []string{relativeDoc, absoluteDoc, equalNaNDoc}, Doc: "Whether all elements are close, as of isclose; true of nothing."},
		{Name: "equal_all", Doc: "Whether all elements are equal; true of nothing."},
		{Name: "angle", Doc: "0 where x >= 0, pi where x < 0, nan of nan."},
		{Name: "lcm", Doc: "The least common multiple |x / gcd(x, y) * y|; 0 if x or y is. Products wrap around."},
		{Name: "signbit", Doc: "Whether x has a minus sign, as -0 has, and some nan."},
		{Name: "deg2rad", Doc: "x * pi / 180."},
		{Name: "rad2deg", Doc: "x * 180 / pi."},
	}
	list = append(list, []Description{
		{Name: "scale", Attrs: []string{"the factor, where it is no operand", "what is added, likewise", "whether it is added after the product"}, Doc: "x * scale + bias, or (x + bias) * scale, in the dtype of x, which numbers are cast to first; factor and summand have one element."},
		{Name: "shrink", Attrs: []string{"from which magnitude elements are not 0", "by which they are moved towards 0"}, Doc: "x + bias below -threshold, x - bias above threshold, and 0 between."},
		{Name: "hardmax", Attrs: []string{"the axis"}, Doc: "1 at the first of the largest elements along an axis, 0 elsewhere."},
		{Name: "standardize", Attrs: []string{"axes; all where it is left out", "what is added to the mean square", "whether the mean is subtracted"}, Doc: "(x - mean) / sqrt(mean((x - mean)**2) + epsilon) over some axes, the mean, and 1 over that root."},
		{Name: "dropout", Attrs: []string{"the probability", "whether what is kept is divided by 1 - p"}, Doc: "x with 0 where random numbers from 0 to 1 are below p."},
		{Name: "alpha_dropout", Attrs: []string{"the probability"}, Doc: "x with the lower limit of selu where random numbers from 0 to 1 are below p, scaled and shifted so that mean 0 and variance 1 stay."},
		{Name: "gumbel_softmax", Attrs: []string{"the divisor", "the axis"}, Doc: "softmax((x - log(-log(numbers))) / temperature) along an axis, with random numbers from 0 to 1."},
		{Name: "frexp", Doc: "Mantissas in [0.5, 1) with the sign of x, and exponents, in the dtype of x: x is mantissa * 2**exponent. 0 and its exponent are 0; of nan both are nan, and of infinities the exponent is 1."},
		{Name: "rrelu", Doc: "x where it is not below 0, x * slopes elsewhere, with random slopes."},
		{Name: "multigammaln", Attrs: []string{"the dimension, from 1"}, Doc: "The logarithm of the multivariate gamma function: the sum of lgamma(x - i / 2) for i < p, and p * (p - 1) / 4 * log(pi)."},
		{Name: "shard_index", Attrs: []string{"the number of indices, of which each shard has the same share, rounded up", "the number of shards", "which shard", "for indices of other shards"}, Doc: "Indices counted from the start of their shard."},
		{Name: "quantize_linear", Attrs: []string{"the least integer", "the largest integer", "of the integers; without it they are floats"}, Doc: "round(x / scale) + zero, between two integers."},
		{Name: "dequantize_linear", Doc: "(x - zero) * scale, of integers, in the dtype of scale."},
		{Name: "dynamic_quantize_linear", Doc: "quantize_linear to uint8 with the scale and the zero point that hold all elements of x, and 0, which are results too."},
		{Name: "fake_quantize_dequantize_abs_max", Attrs: []string{"of the integers, with their sign", roundTypeDoc}, Doc: "x rounded to integers between the magnitudes of its largest element, and back, with the gradient of x; and that magnitude."},
		{Name: "fake_channel_wise_quantize_dequantize_abs_max", Attrs: []string{"of the integers, with their sign", roundTypeDoc, "the axis of channels"}, Doc: "As fake_quantize_dequantize_abs_max, with a largest magnitude for each channel."},
		{Name: "bernoulli", Doc: "1 where random numbers from 0 to 1 are below the probabilities x, else 0."},
		{Name: "exponential", Attrs: []string{"1 over the mean"}, Doc: "Exponentially distributed values -log(numbers) / lam, of random numbers from 0 to 1."},
		{Name: "cauchy", Attrs: []string{"the distance of the quartiles from the median"}, Doc: "Values of Cauchy's distribution around loc, which may be a number, of random numbers from 0 to 1."},
		{Name: "geometric", Doc: "log(numbers) / log(1 - probs), of random numbers from 0 to 1: rounded up, how many trials with probability probs there are until the first success."},
		{Name: "multinomial", Attrs: []string{"how many indices; with replacement as many as numbers has", "whether an index may be drawn several times"}, Doc: "Random indices of the last axis, with probabilities in proportion to the weights x; of random numbers from 0 to 1, one for each index, or without replacement one for each weight."},
		{Name: "truncated_gaussian", Attrs: []string{"of the distribution without bounds", "its standard deviation", "the least value", "the largest value"}, Doc: "Normally distributed values between two bounds, of random numbers from 0 to 1."},
		{Name: "nansum", Attrs: []string{"axes; all where it is left out", "of the terms; without it that of sum", keepDoc}, Doc: "The sum of the elements that are not nan."},
	}...)
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

func describedCompositesProduct() []Description {
	list := []Description{
		{Name: "dot", Doc: "sum(x * y) along the last axis, in the dtype of the products."},
		{Name: "outer", Doc: "The products of all elements of x with all of y, of shape [elements of x, elements of y]."},
		{Name: "cross", Attrs: []string{"that of the three elements"}, Doc: "The cross products of vectors of three elements."},
		{Name: "addmm", Attrs: []string{"factor of input, which is not read where it is 0", "factor of the product"}, Doc: "beta * input + alpha * (x @ y)."},
		{Name: "baddbmm", Attrs: []string{"factor of input, which is not read where it is 0", "factor of the products"}, Doc: "beta * input + alpha * (x @ y), of batches."},
		{Name: "dist", Attrs: []string{"of the norm"}, Doc: "The p-norm of x - y over all elements."},
		{Name: "cdist", Attrs: []string{"of the norm", "whether the Euclidean distance is computed by a product of matrices"}, Doc: "The p-norms of the differences of all rows of x [..., n, c] and all rows of y [..., m, c], of shape [..., n, m]."},
		{Name: "trapezoid_areas", Attrs: []string{spacingDoc, "the axis"}, Doc: "(y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]) along an axis."},
		{Name: "trapezoid", Attrs: []string{spacingDoc, "the axis"}, Doc: "The integral of y along an axis by the trapezoidal rule."},
		{Name: "cumulative_trapezoid", Attrs: []string{spacingDoc, "the axis"}, Doc: "The integrals of y by the trapezoidal rule from the first value along an axis to each other one."},
		{Name: "diff", Attrs: []string{"the axis"}, Doc: "x[i + 1] - x[i] along an axis; of bools whether they differ."},
		{Name: "bilinear", Doc: "x1[n] @ weight[k] @ x2[n] + bias[k], of shape [n, k]."},
		{Name: "tril", Attrs: []string{diagonalDoc}, Doc: "x of the matrices in the last two axes on and below a diagonal, 0 above it."},
		{Name: "triu", Attrs: []string{diagonalDoc}, Doc: "x of the matrices in the last two axes on and above a diagonal, 0 below it."},
		{Name: "renorm", Attrs: []string{"of the norm", "the axis", "the largest norm"}, Doc: "x with the slices along an axis scaled down to a p-norm of at most max_norm."},
		{Name: "linear", Doc: "x @ weight + bias."},
		{Name: "inner", Doc: "The sums of products over the last axes; the product with an operand that has none."},
		{Name: "kron", Doc: "Kronecker's product: blocks x[i] * y, along all axes."},
		{Name: "trace", Attrs: []string{diagonalDoc, "that of the rows", "that of the columns"}, Doc: "The sum of the diagonal over two axes, in the dtype of x."},
		{Name: "cov", Attrs: []string{"what is taken from the number of observations"}, Doc: "The covariance of the rows of x, whose columns may have weights, and a divisor of their own."},
		{Name: "corrcoef", Doc: "Pearson's correlation coefficients of the rows of x."},
		{Name: "einsum", Attrs: []string{"labels of the axes of each operand, letters divided by commas, and perhaps -> and those of the result"}, Doc: "The sums of products of the operands over the labels that are not in the result, or, where that is not given, are in two places. A label twice in one operand takes its diagonal; ... is any number of axes that broadcast."},
		{Name: "dft", Attrs: []string{"of the signal, which is cut or ends with zeros; 0 for that of the axis", "the axis", "whether the inverse transform is computed", "whether the result is the first half of the spectrum, or of the inverse, x is"}, Doc: "The discrete Fourier transform along an axis, of numbers whose real and perhaps imaginary parts are the last axis, by a product with roots of unity; that of a onesided inverse is real."},
		{Name: "stft", Attrs: []string{"of each part that is transformed", "between the beginnings of two parts", "whether the result is the first half of each spectrum"}, Doc: "dft of parts of signals [batch, length, 1 or 2], each times window: [batch, frames, bins, 2]."},
		{Name: "maxout", Attrs: []string{"how many channels become one", "that of the channels: 1, or 3"}, Doc: "The largest of each group of neighbouring channels."},
		{Name: "frame", Attrs: []string{"of each frame", "between the beginnings of two frames", "that of the signal: -1, whose frames are columns of the last two axes, or 0, whose frames are rows of the first two"}, Doc: "Frames of a signal, which overlap where hop_length is less than frame_length; what is left at the end is dropped."},
		{Name: "overlap_add", Attrs: []string{"between the beginnings of two frames", "-1 where frames are columns of the last two axes, 0 where they are rows of the first two"}, Doc: "The signal that is the sum of frames, each at its own beginning: the inverse of frame where frames do not overlap."},
		{Name: "multi_dot", Doc: "The product of two or more matrices in the order that takes the fewest multiplications; the first may be a row and the last a column of one axis."},
		{Name: "pdist", Attrs: []string{"of the norm"}, Doc: "The p-norms of the differences of all pairs of rows, those of the first row first."},
		{Name: "reduce_as", Doc: "The sum of x over the axes along which target broadcasts to the shape of x, in the shape of target."},
		{Name: "vecdot", Attrs: []string{"the axis"}, Doc: "The sums of x * y along an axis."},
		{Name: "matrix_power", Attrs: []string{"the power, from 0"}, Doc: "The square matrices x to the power of n, by repeated squares."},
		{Name: "take_along_axis", Attrs: []string{"the axis"}, Doc: "The elements of x that indices name along an axis, each at its own place on the others."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

func describedCompositesIndex() []Description {
	list := []Description{
		{Name: "median_along", Attrs: []string{"the axis, which stays with 1 element", "whether the smaller of two middle elements counts"}, Doc: "The middle of the elements along an axis in order, nan if any is, and its place."},
		{Name: "median_without_nan", Attrs: []string{"the axis, which stays with 1 element", "whether the smaller of two middle elements counts"}, Doc: "The middle of the elements along an axis that are not nan, and its place, -1 where there are none."},
		{Name: "kthvalue", Attrs: []string{"which, from 1", "the axis, which stays with 1 element"}, Doc: "The k-th smallest element along an axis, and its place."},
		{Name: "embedding_rows", Doc: "The rows of weight that ids name, of shape [shape of ids, features]."},
		{Name: "gather_tree", Doc: "The sequence of each beam of the last step, from the choices ids [steps, batch, beams] of a beam search and the beams of the step before that they continue."},
		{Name: "put_along_axis", Attrs: []string{"the axis", putDoc + ", one after the other: 'add', 'multiply', 'mean', 'minimum', 'maximum'", "whether the elements of x count"}, Doc: "x with values where indices say along an axis, each at its own place on the others; indices and values broadcast."},
		{Name: "scatter", Attrs: []string{"false: what the slices were does not count, and those of updates for one place are added up"}, Doc: "x with the slices along its first axis that index names replaced by those of updates; of several for one place the last wins."},
		{Name: "scatter_nd", Attrs: []string{putDoc + ", one after the other: 'add', 'multiply', 'mean', 'minimum', 'maximum'"}, Doc: "x with updates in the slices x[index[..., 0], index[..., 1], ...]."},
		{Name: "reverse_sequence", Attrs: []string{"the axis of the sequences: 0 or 1", "that of their elements: the other one"}, Doc: "The first elements of each sequence, as many as lengths says, the other way round; those behind them stay."},
		{Name: "gather_nd", Attrs: []string{"how many axes of x and index are the same, batches"}, Doc: "The slices x[index[..., 0], index[..., 1], ...], within each batch."},
		{Name: "quantile", Attrs: []string{"shares from 0 to 1, of which several make a first axis; 0.5 where it is left out", "the axis, which stays with 1 element", "what is taken between two elements: 'linear', 'lower', 'higher', 'nearest' or 'midpoint'"}, Doc: "The elements below which shares q of the others along an axis lie; nan if any element is."},
		{Name: "searchsorted", Attrs: []string{"whether behind elements that are equal"}, Doc: "Where values would be inserted into the last axis of sorted sequences, of which there is one, or one for each line of values; nan goes to the end."},
		{Name: "isin", Attrs: []string{"whether it is not among them"}, Doc: "Whether each element of x is among those of test_x; a nan is not."},
		{Name: "mode", Attrs: []string{"the axis, which stays with 1 element"}, Doc: "The most frequent element along an axis, the smallest of several, and the place of the last of its equals. A nan equals nothing."},
		{Name: "roll", Attrs: []string{"how far, a number for each axis; half of it where they are left out", "axes; without them all elements are one line"}, Doc: "x with its elements moved along axes; what leaves at one end enters at the other."},
		{Name: "fftshift", Attrs: []string{"axes; all where it is left out"}, Doc: "x with the halves of axes exchanged, so that frequency 0 is in the middle."},
		{Name: "ifftshift", Attrs: []string{"axes; all where it is left out"}, Doc: "The reverse of fftshift."},
		{Name: "repeat_interleave", Attrs: []string{"how often", "the axis; without it all elements are one line"}, Doc: "Each slice of x along an axis several times."},
		{Name: "sequence_mask", Attrs: []string{"the length of a row", "of the result; int64 where it is left out"}, Doc: "For each length a row of that many ones, then zeros."},
		{Name: "multiplex", Doc: "Row i of the tensor that index[i] names, for all i; the tensors have one shape."},
		{Name: "masked_fill", Doc: "x with value, which may be a number, where mask holds."},
		{Name: "masked_scatter", Doc: "x with the elements of value, in row-major order, where mask holds."},
		{Name: "segment_pool", Attrs: []string{poolDoc, "how many; 0 for as many as x has slices"}, Doc: "The slices of x along its first axis that have the same number in segment_ids, joined; 0 for a number that none has."},
		{Name: "send_u_recv", Attrs: []string{poolDoc, nodesDoc}, Doc: "For each node the slices x[src_index] of the edges that end there, by dst_index, joined; 0 without edges."},
		{Name: "send_ue_recv", Attrs: []string{messageDoc, poolDoc, nodesDoc}, Doc: "As send_u_recv, with messages of x[src_index] and y, which has a slice or a number for each edge."},
		{Name: "send_uv", Attrs: []string{messageDoc}, Doc: "For each edge the sum, difference, product or quotient of x[src_index] and y[dst_index]."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}
