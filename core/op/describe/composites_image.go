package describe

// Descriptions of the rows of composites_image.go.

const channelsLastDoc = "whether channels are the last axis, and not axis 1"

func describedCompositesImage() []Description {
	list := []Description{
		{Name: "pixel_shuffle", Attrs: []string{"of height and width", channelsLastDoc, "whether the place in a square is the first part of the number of a channel, and not the last"}, Doc: "Images [n, c * r * r, h, w] as [n, c, h * r, w * r]: channels become squares of r by r pixels."},
		{Name: "pixel_unshuffle", Attrs: []string{"of height and width", channelsLastDoc, "whether the place in a square is the first part of the number of a channel, and not the last"}, Doc: "The reverse of pixel_shuffle: squares of r by r pixels become channels."},
		{Name: "channel_shuffle", Attrs: []string{"how many; a divisor of the channels", channelsLastDoc}, Doc: "The channels of images, dealt from groups in turn."},
		{Name: "grid_sample", Attrs: []string{
			"'nearest', 'bilinear' or 'bicubic'", "what is outside: 'zeros', 'border', the nearest pixel, or 'reflection'",
			"whether -1 and 1 are the centres of the first and last pixels, or their outer edges",
			"whether padding_mode says which pixels around a point are read, as in onnxruntime, and not where the point is, as in Paddle; 'bicubic' always does the former",
		}, Doc: "Images [n, c, size...] of 1 to 3 axes at the points of a grid [n, points..., axes], whose first coordinate is for the last axis, from -1 to 1: [n, c, points...]."},
		{Name: "affine_grid", Attrs: []string{
			"the shape of the images, [n, c, size...]", "whether -1 and 1 are the centres of the first and last pixels, or their outer edges",
			"whether the only pixel of an axis is at 0 with align_corners, as in ONNX; else at nan, as in Paddle",
		}, Doc: "Where the pixels of images come from under affine maps [n, axes, axes + 1] of [-1, 1] on each of 2 or 3 axes: the points [n, size..., axes] of grid_sample."},
		{Name: "interpolate", Attrs: []string{
			"which are resized", "of these axes; without any, they follow from the scales", "of these axes; without any, they follow from the sizes",
			"for coordinates 'tf_crop_and_resize', where what is read begins on each of these axes, as a part of it, and then where it ends", "'nearest', 'linear' or 'cubic'",
			"where an element of the result lies: coordinate_transformation_mode of ONNX", "how a coordinate becomes an index in mode 'nearest': nearest_mode of ONNX", "the coefficient of Keys' kernel",
			"whether elements outside have no weight, and are not those at the ends", "whether the kernel becomes wider where an axis becomes shorter",
			"of elements that lie outside of x, for coordinates 'tf_crop_and_resize'", "whether coordinates and weights are computed in float32, as in Paddle, and not in float64, as in ONNX",
		}, Doc: "x at other sizes of some axes: each element of the result is read at its place in x, between elements as a sum of those around it."},
		{Name: "local_response_norm", Attrs: []string{"how many neighbours count", "factor of the mean of their squares", "a power", "what is added", "that of the neighbours", "whether an even size has one neighbour more behind, as in ONNX, and not before, as in Paddle"}, Doc: "x / (k + alpha * mean(squares of size neighbours along an axis))**beta, with 0 beyond its ends."},
		{Name: "fold", Attrs: []string{"of the images", "size of the window on each axis", "distance of neighbouring windows on each axis; none for 1", "elements before and behind each axis that are dropped, two numbers an axis; none for 0", "distance of neighbours in a window on each axis; none for 1"}, Doc: "Columns [N, C * kernel..., windows...] as images [N, C, size...]: each is added to the elements under its window, of which unfold makes it. Known as col2im."},
		{Name: "lp_pool", Attrs: []string{"the power, not 0; infinity for the largest element", "size of the window on each axis", "distance of neighbouring windows on each axis; none for kernel_size", "elements added before and behind each axis, two numbers an axis; none for 0", "the number of windows is rounded up, so that the last may reach beyond the padding", channelsLastDoc}, Doc: "sum(x**p)**(1/p) of each window for p = norm_type, without absolute values."},
		{Name: "temporal_shift", Attrs: []string{"how many frames are one sequence", "the part of the channels that comes from the frame before, and as many from the frame behind; below 0.5", channelsLastDoc}, Doc: "Frames [n * seg_num, channels, height, width] with the first channels of the frame before and the next channels of the frame behind; 0 where there is none."},
		{Name: "window_pool", Attrs: []string{"of each axis", "of each axis", "before and behind each axis", "the distance of neighbours in a window, of each axis", "how many there are on each axis", "'max', 'sum' or 'mean'", "whether the padding does not count in a mean"}, Doc: "The largest, the sum or the mean of windows of images [n, c, size...], of which a caller says how many there are: with gaps between their elements, beyond the end, or of integers."},
		{Name: "window_pool_places", Attrs: []string{"of each axis", "of each axis", "before and behind each axis", "the distance of neighbours in a window, of each axis", "how many there are on each axis"}, Doc: "Where window_pool finds the first of the largest elements, counted within each image and channel."},
		{Name: "roi_align", Attrs: []string{"of a region", "of a region", "factor of the corners", "how many points of a bin are read on each axis", "whether corners are at the centres of pixels; else a region has a size of 1 or more", "'avg' or 'max' of the points of a bin"}, Doc: "Regions of images [n, c, h, w] as [count, c, output_height, output_width]: boxes [count, 4] are x and y of two corners, and batch_indices the image of each."},
		{Name: "deform_conv", Attrs: []string{"of each axis; 1 where it is left out", "two numbers for each axis; 0 where it is left out", "of each axis; 1 where it is left out", "of channels, with weights of their own", "of channels, with offsets of their own"}, Doc: "A convolution whose kernel reads each element at its place plus an offset [n, deformable_groups * kernel * axes, places...], between elements as bilinear interpolation and 0 outside, times a mask [n, deformable_groups * kernel, places...]."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

// Descriptions of the steps of optimizers in composites_loss.go.
func describedCompositesStep() []Description {
	const decay, epsilon = "of x, which is added to the gradient", "what is added to the divisor"
	const first, second = "factor of the mean of gradients", "factor of the mean of their squares"
	list := []Description{
		{Name: "adam_step", Attrs: []string{first, second, epsilon, "whether epsilon is multiplied by the correction, as in Paddle", decay, "part of x times the rate that the step takes away, as in AdamW", "part of the result that is taken away"}, Doc: "A step of Adam: out = x - learning_rate * mean / (sqrt(square_mean) + epsilon), of means of this gradient too, which are corrected by the number of this step from 1 on, or by powers that are given."},
		{Name: "adagrad_step", Attrs: []string{epsilon, decay, "factor of the number of earlier steps, plus 1 the divisor of the rate"}, Doc: "A step of Adagrad: out = x - learning_rate * grad / (sqrt(square_sum) + epsilon), of a sum of the square of this gradient too."},
		{Name: "momentum_step", Attrs: []string{"factor of the velocity", "factor of the gradient, but for that of step 0", "whether Nesterov's momentum is taken", decay}, Doc: "A step of gradient descent with momentum: velocity = momentum * velocity + grad, out = x - learning_rate * velocity."},
		{Name: "sgd_step", Doc: "A step of gradient descent: x - learning_rate * grad."},
		{Name: "adamw_step", Attrs: []string{first, second, epsilon, "part of x times the rate that the step takes away", "factor of the rate"}, Doc: "A step of AdamW: as adam_step, with powers of both factors for this step and a decay apart from the gradient. With max_square_mean (AMSGrad) the largest mean of squares so far takes the place of square_mean; without it, that result is 0."},
		{Name: "adamax_step", Attrs: []string{first, "factor of the norm", "what is added to the norm of before"}, Doc: "A step of Adamax: norm = max(beta2 * norm + epsilon, |grad|), out = x - learning_rate / (1 - beta1_power) * mean / norm."},
		{Name: "adadelta_step", Attrs: []string{"what is added to both means", "factor of both means"}, Doc: "A step of Adadelta: out = x - learning_rate * change, change = sqrt((square_change + epsilon) / (square_mean + epsilon)) * grad, of means of the squares of gradients and changes."},
		{Name: "rmsprop_step", Attrs: []string{"factor of the means", "what is added to the mean of squares", "factor of the velocity"}, Doc: "A step of RMSProp: velocity = momentum * velocity + learning_rate * grad / sqrt(square_mean + epsilon), out = x - velocity. With a mean of gradients its square is taken from square_mean (centered); without it, that result is 0."},
		{Name: "lamb_step", Attrs: []string{"part of x that is added to the change", first, second, epsilon, "whether the rate is adapted without a decay too"}, Doc: "A step of LAMB: the change of adam_step and the decay of x, with the length of x, where both have one above 0."},
		{Name: "nadam_step", Attrs: []string{first, second, epsilon, "the power of 0.96**step with which the momentum grows to beta1"}, Doc: "A step of NAdam, Adam with Nesterov's momentum. decay_power, beta2_power and momentum_product are 1 before the first step, and results for the next one."},
		{Name: "radam_step", Attrs: []string{first, second, epsilon}, Doc: "A step of rectified Adam, which divides by sqrt(square_mean) from when its variance is known. beta1_power and beta2_power are 1 before the first step and rho is 0; they are results for the next one."},
		{Name: "rprop_step", Attrs: []string{"the least rate", "the largest rate", "factor of a rate where the gradient has changed its sign", "factor of a rate where it has not"}, Doc: "A step of Rprop: out = x - sign(grad) * learning_rate, with a rate for each element; where the gradient has changed its sign since previous, it counts as 0."},
		{Name: "asgd_step", Doc: "A step of averaged gradient descent: gradient_sum = gradient_sum - oldest + grad, out = x - learning_rate / n * gradient_sum, of the last n gradients, of which grad takes the place of the oldest."},
		{Name: "lars_momentum_step", Attrs: []string{"factor of the velocity", "factor of the rate", decay, "what is added to the divisor of the rate"}, Doc: "A step of momentum with the rate learning_rate * lars_coeff * |x| / (|grad| + lars_weight_decay * |x| + epsilon), where both lengths are above 0."},
		{Name: "clip_by_norm", Attrs: []string{"the largest norm, above 0"}, Doc: "x, shortened to a Euclidean norm of max_norm where it is longer."},
		{Name: "check_finite_and_unscale", Doc: "x / scale, and whether an element of x is infinite or nan."},
		{Name: "update_loss_scaling", Attrs: []string{"how many good steps in a row make the scale larger", "how many bad ones make it smaller", "factor of a scale that becomes larger, and stays finite", "factor of one that becomes smaller, to 1 at least"}, Doc: "The scale of a loss after a step, which is bad where found_infinite holds, and the counts of good and bad steps since."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}

// Descriptions of the rows of composites_attention.go.
func describedCompositesAttention() []Description {
	masks := []string{"factor of the scores", "a bound of the scores, which tanh bends; 0 for none", "whether a query sees the keys up to its position alone", "the position of the first query among the keys", "how many keys before its position a query sees; -1 for all", "how many behind it; -1 for all", "whether each query is known to see a key; the result of one that sees none is 0"}
	list := []Description{
		{Name: "masked_attention", Attrs: masks, Doc: "softmax(scale * query @ key.T + mask) @ value for query [batch, heads, length, size] and key and value [batch, n, keys, size]; mask has bools for keys that are seen or is added, and of each batch the first lengths keys count, of which the last ones are at the positions of the queries."},
		{Name: "masked_attention_scores", Attrs: append(masks, "of the scores: 0 for the products, 1 after the cap, 2 after the masks, 3 for the weights", "of the softmax; without it that of query"), Doc: "masked_attention, and the scores [batch, heads, length, keys] at one of its stages."},
		{Name: "fused_softmax_mask", Doc: "The softmax of x + mask along the last axis."},
		{Name: "fused_softmax_mask_upper_triangle", Doc: "The softmax along the last axis of x without the elements above the diagonal of the last two axes, which become 0."},
		{Name: "rotary_embedding", Attrs: []string{"how much of each head is turned; 0 for all of it", "whether pairs are neighbours, and not elements of two halves"}, Doc: "x [batch, heads, length, size] with its pairs of elements turned by angles, whose cosines and sines are [batch, length, size / 2], or have a row for each of positions [batch, length], or for the places from one position on."},
		{Name: "recurrent", Attrs: []string{"'rnn', 'gru' or 'lstm'", "of the gates, divided by commas: relu, tanh, sigmoid, softplus, softsign, affine, leakyrelu, thresholdedrelu, scaledtanh, hardsigmoid or elu", "a parameter of each activation; its default where it is nan or left out", "another one", "the bound of what activations get; 0 for none", "GRU: whether the reset gate multiplies the product with its bias, and not h", "LSTM: whether the forget gate is 1 less the input gate", "the last step of x comes first; results are in the order of x"}, Doc: "A recurrent layer as ONNX defines it, over products x [steps, batch, gates * hidden] of the inputs with their weights: all states, and the last ones. weight may be of 8 bits, with a scale and a zero point."},
		{Name: "linear_attention", Attrs: []string{"factor of the query"}, Doc: "Attention through a state [batch, n, key size, value size], token by token: state = state * exp(decay) + outer(key, value), out = query @ state; with beta the value is beta * (value - key @ state). Returns the last state too."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}
