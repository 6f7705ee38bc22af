package formula

import (
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Detection of objects: boxes as offsets of others, as networks predict them, and regions of images. Paddle has them in vision.ops.
// A box is x and y of two corners.
var detectionFormulas = []composite{
	{
		// Without box_normalized corners are pixels, and a box has one more than their difference. A variance divides codes, and
		// multiplies them before they are decoded.
		id: 550, kind: op.Composed, infer: op.Rules{codeTypes, op.InferFromCalls}, python: &op.Python{Internal: true},
		formula: `box_coder(prior_box, prior_box_var?, target_box, code_type="encode_center_size", box_normalized=true, axis=0) =
			encodes = code_type == "encode_center_size"
			new = [encodes ? 0 : axis]
			prior = unsqueeze(reshape(prior_box, [size(prior_box, 0), 4]), new)
			span = part(prior, -1, 2, 4) - part(prior, -1, 0, 2)
			size = box_normalized ? span : span + 1
			center = part(prior, -1, 0, 2) + size * 0.5
			target = unsqueeze(target_box, [1])
			extent = part(target, -1, 2, 4) - part(target, -1, 0, 2)
			middle = (part(target, -1, 2, 4) + part(target, -1, 0, 2)) * 0.5
			codes = concat([(middle - center) / size, log(abs((box_normalized ? extent : extent + 1) / size))], 2)
			variance = rank(prior_box_var) == 1 ? prior_box_var : unsqueeze(prior_box_var, new)
			code = given(prior_box_var) ? target_box * variance : target_box
			at = part(code, -1, 0, 2) * size + center
			half = exp(part(code, -1, 2, 4)) * size * 0.5
			encodes ? (given(prior_box_var) ? codes / variance : codes) :
				concat([at - half, box_normalized ? at + half : at + half - 1], 2)`,
	},
	{
		// A least size has a box of each ratio, and with a largest size a square of the mean size.
		id: 551, kind: op.Composed, python: &op.Python{Internal: true},
		formula: `prior_box(input, image, min_sizes=floats, max_sizes=floats, aspect_ratios=floats, variance=floats, clip=false, step_w=0.0, step_h=0.0, offset=0.5, min_max_aspect_ratios_order=false) -> boxes, variances =
			least = numbers(min_sizes, input)
			roots = sqrt(numbers(aspect_ratios, input))
			size = unsqueeze(least, [1])
			all = stack([size * roots, size / roots], 2)
			square = unsqueeze(sqrt(least * numbers(max_sizes, input)), [1, 2]) * numbers([1, 1], input)
			n = min_max_aspect_ratios_order ? 1 : numel(roots)
			half = reshape(given(max_sizes) ? concat([part(all, 1, 0, n), square, part(all, 1, n, none)], 1) : all, [1, 1, -1, 2]) * 0.5
			h = size(input, 2)
			w = size(input, 3)
			cells = like(reshape(counted(w), [1, -1, 1, 1]), input) * numbers([1, 0], input) + like(reshape(counted(h), [-1, 1, 1, 1]), input) * numbers([0, 1], input)
			extent = numbers([size(image, 3), size(image, 2)], input)
			center = (cells + offset) * (step_w > 0 & step_h > 0 ? numbers([1, 0], input) * step_w + numbers([0, 1], input) * step_h : extent / numbers([w, h], input))
			found = concat([(center - half) / extent, (center + half) / extent], 3)
			[clip ? clip(found, 0, 1) : found, expand(numbers(variance, input), sizes(found, 0, none))]`,
	},
	{
		// Of an anchor and a cell there are the place in the cell, the logarithms of what multiplies the anchor, the score of an object
		// and those of the classes; all anchors' scores of the overlap are in front, with iou_aware.
		id: 552, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `yolo_box(x, img_size, anchors=ints, class_num=1, conf_thresh=0.01, downsample_ratio=32, clip_bbox=true, scale_x_y=1.0, iou_aware=false, iou_aware_factor=0.5) -> boxes, scores =
			sizes = reshape(numbers(anchors, x), [1, -1, 1, 1, 2])
			s = size(sizes, 1)
			n = size(x, 0)
			h = size(x, 2)
			w = size(x, 3)
			cells = transpose(reshape(part(x, 1, iou_aware ? s : 0, none), [n, s, class_num + 5, h, w]), [0, 1, 3, 4, 2])
			object = sigmoid(part(cells, 4, 4, 5))
			overlap = reshape(part(x, 1, 0, s), [n, s, h, w, 1])
			chance = iou_aware ? object ** (1 - iou_aware_factor) * sigmoid(overlap) ** iou_aware_factor : object
			kept = chance >= conf_thresh
			image = reshape(flip(like(img_size, x), [-1]), [n, 1, 1, 1, 2])
			grid = numbers([w, h], x)
			cell = like(places(cells, 3), x) * numbers([1, 0], x) + like(places(cells, 2), x) * numbers([0, 1], x)
			center = (sigmoid(part(cells, 4, 0, 2)) * scale_x_y - (scale_x_y - 1) * 0.5 + cell) * image / grid
			half = exp(part(cells, 4, 2, 4)) * sizes * image / (grid * downsample_ratio) * 0.5
			low = center - half
			high = center + half
			boxes = concat(clip_bbox ? [maximum(low, 0), minimum(high, image - 1)] : [low, high], 4)
			scores = chance * sigmoid(part(cells, 4, 5, none))
			[reshape(where(kept, boxes, 0), [n, s * h * w, 4]), reshape(where(kept, scores, 0), [n, s * h * w, class_num])]`,
	},
	{
		// Corners are rounded to pixels, which both count, and bins may overlap. Two overlapping runs of 2**a lines and of 2**b columns
		// cover a bin; the maxima of all such runs are a table (Bender and Farach-Colton, The LCA Problem Revisited, 2000).
		id: 553, kind: op.Composed, asFirst: true, python: &op.Python{Internal: true},
		formula: `roi_pool(x, boxes, boxes_num, output_height=1, output_width=1, spatial_scale=1.0) =
			h = size(x, 2)
			w = size(x, 3)
			at = reshape(boxes, [size(boxes, 0), 4]) * spatial_scale
			box = sign(at) * floor(abs(at) + 0.5)
			length = maximum(part(box, 1, 2, 4) - part(box, 1, 0, 2) + 1, 1)
			high = part(length, 1, 1, 2) / output_height
			wide = part(length, 1, 0, 1) / output_width
			lines = like(counted(output_height), x)
			across = like(counted(output_width), x)
			top = unsqueeze(whole(clip(floor(high * lines) + part(box, 1, 1, 2), 0, h)), [2])
			end = unsqueeze(whole(clip(ceil(high * (lines + 1)) + part(box, 1, 1, 2), 0, h)), [2])
			left = unsqueeze(whole(clip(floor(wide * across) + part(box, 1, 0, 1), 0, w)), [1])
			side = unsqueeze(whole(clip(ceil(wide * (across + 1)) + part(box, 1, 0, 1), 0, w)), [1])
			a = sum(whole(unsqueeze(end - top, [3]) >= bitwise_left_shift(weak(2), counted(bit_length(h) - 1))), axis=[3])
			b = sum(whole(unsqueeze(side - left, [3]) >= bitwise_left_shift(weak(2), counted(bit_length(w) - 1))), axis=[3])
			y1 = clip(top, none, weak(h - 1))
			y2 = end - bitwise_left_shift(weak(1), a)
			x1 = clip(left, none, weak(w - 1))
			x2 = side - bitwise_left_shift(weak(1), b)
			n = unsqueeze(sum(whole(places(boxes, 0) >= reshape(cumsum(boxes_num, 0), [1, size(x, 0)])), axis=[1]), [1, 2])
			runs = scan(r, transpose(x, [0, 2, 3, 1]), i, bit_length(w) - 1, maximum(r, pad(r, [0, 0, 0, 0, -2 ** i, 2 ** i, 0, 0], "constant", -inf)))
			table = scan(r, runs, i, bit_length(h) - 1, maximum(r, pad(r, [0, 0, 0, 0, -2 ** i, 2 ** i, 0, 0, 0, 0], "constant", -inf)))
			upper = maximum(index(table, [a, b, n, y1, x1]), index(table, [a, b, n, y1, x2]))
			lower = maximum(index(table, [a, b, n, y2, x1]), index(table, [a, b, n, y2, x2]))
			transpose(where(unsqueeze(end > top & side > left, [3]), maximum(upper, lower), 0), [0, 3, 1, 2])`,
	},
}

// codeTypes is a rule of box_coder.
func codeTypes(c *op.Inference) error {
	return oneOf(c, map[string][]string{"code_type": {"encode_center_size", "decode_center_size"}})
}

// lineOfNumbers is a list of numbers in the dtype of an operand.
func lineOfNumbers(e *evaluation, args []*quantity) *quantity {
	list := args[0].value.Floats()
	for _, n := range args[0].value.Ints {
		list = append(list, float64(n))
	}
	return &quantity{v: constant(e.Calls, list, e.dtypeOf(args[1].v))}
}
