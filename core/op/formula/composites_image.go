package formula

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
)

// Images: at other sizes, at points between pixels, surrounded by more of them, and with channels that become pixels. What follows
// from sizes alone, indices and weights, is computed by the functions of image.go.
var imageFormulas = []composite{
	{
		// Of a channel, the number in its square is the last part, or with blocks_first the first one.
		id: 450, kind: op.Composed, accepts: dtype.Movable, narrow: true, infer: op.Rules{rows.Same, shuffledPixels}, python: functionByHand,
		formula: `pixel_shuffle(x, upscale_factor=1, channels_last=false, blocks_first=false) =
			r = upscale_factor
			n = size(x, 0)
			h = size(x, channels_last ? 1 : 2)
			w = size(x, channels_last ? 2 : 3)
			c = size(x, channels_last ? 3 : 1) / (r * r)
			front = blocks_first ? transpose(reshape(x, [n, r, r, c, h, w]), [0, 3, 4, 1, 5, 2]) :
				transpose(reshape(x, [n, c, r, r, h, w]), [0, 1, 4, 2, 5, 3])
			last = blocks_first ? transpose(reshape(x, [n, h, w, r, r, c]), [0, 1, 3, 2, 4, 5]) :
				transpose(reshape(x, [n, h, w, c, r, r]), [0, 1, 4, 2, 5, 3])
			channels_last ? reshape(last, [n, h * r, w * r, c]) : reshape(front, [n, c, h * r, w * r])`,
	},
	{
		id: 451, kind: op.Composed, accepts: dtype.Movable, narrow: true, infer: op.Rules{rows.Same, gatheredPixels}, python: functionByHand,
		formula: `pixel_unshuffle(x, downscale_factor=1, channels_last=false, blocks_first=false) =
			r = downscale_factor
			n = size(x, 0)
			h = size(x, channels_last ? 1 : 2) / r
			w = size(x, channels_last ? 2 : 3) / r
			c = size(x, channels_last ? 3 : 1)
			front = transpose(reshape(x, [n, c, h, r, w, r]), blocks_first ? [0, 3, 5, 1, 2, 4] : [0, 1, 3, 5, 2, 4])
			last = transpose(reshape(x, [n, h, r, w, r, c]), blocks_first ? [0, 1, 3, 2, 4, 5] : [0, 1, 3, 5, 2, 4])
			channels_last ? reshape(last, [n, h, w, c * r * r]) : reshape(front, [n, c * r * r, h, w])`,
	},
	{
		id: 452, kind: op.Composed, accepts: dtype.Movable, narrow: true, infer: op.Rules{rows.Same, dealtChannels}, python: functionByHand,
		formula: `channel_shuffle(x, groups=1, channels_last=false) =
			n = size(x, 0)
			h = size(x, channels_last ? 1 : 2)
			w = size(x, channels_last ? 2 : 3)
			c = size(x, channels_last ? 3 : 1) / groups
			front = transpose(reshape(x, [n, groups, c, h, w]), [0, 2, 1, 3, 4])
			last = transpose(reshape(x, [n, h, w, groups, c]), [0, 1, 2, 4, 3])
			shaped(channels_last ? last : front, x)`,
	},
	{
		// A pixel outside is 0, where padding_mode does not say another one.
		id: 453, kind: op.Composed, accepts: dtype.All, asFirst: true, infer: op.Rules{likeFirst, sampledImages}, python: functionByHand,
		formula: `grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=true, padded_pixels=false) =
			sampled(x, grid, mode, padding_mode, align_corners, padded_pixels)`,
	},
	{
		id: 454, kind: op.Composed, narrow: true, infer: op.Rules{rows.FloatOnly, mappedGrid}, python: functionByHand,
		formula: `affine_grid(theta, out_shape=ints, align_corners=true, centered=false) =
			mapped(theta, out_shape, align_corners, centered)`,
	},
	{
		// Without sizes they follow from scales.
		id: 455, kind: op.Composed, accepts: dtype.All, narrow: true, infer: op.Rules{likeFirst, resizedAxes}, python: functionByHand,
		formula: `interpolate(x, axes=ints, sizes=ints, scales=floats, region=floats, mode="nearest", coordinates="half_pixel", nearest="round_prefer_floor", cubic=-0.75, exclude_outside=false, antialias=false, extrapolation=0.0, single=false) =
			resized(x, axes, sizes, scales, region, mode, coordinates, nearest, cubic, exclude_outside, antialias, extrapolation, single)`,
	},
	{
		id: 456, kind: op.Composed, infer: op.Rules{rows.FloatOnly, nearChannels}, python: functionByHand,
		formula: `local_response_norm(x, size=5, alpha=0.0001, beta=0.75, k=1.0, axis=1, more_behind=false) =
			near = near_sum(square(x), size, axis, more_behind) / size
			x / pow(near * alpha + k, beta)`,
	},
	{
		id: 428, kind: op.Composed, accepts: dtype.Numbers, infer: op.Rules{rows.Same, rows.Folded}, python: functionByHand,
		gradient: `unfold(dy, kernel_size, stride, padding, dilation)`,
		formula: `fold(x, size=ints, kernel_size=ints, stride=ints, padding=ints, dilation=ints) =
			folded(x, size, kernel_size, stride, padding, dilation)`,
	},
	{
		// Without absolute values, as in Paddle. The mean counts what windows have within the padding alone; its factor is all of a window.
		id: 429, kind: op.Composed, python: functionByHand,
		formula: `lp_pool(x, norm_type=2.0, kernel_size=ints, stride=ints, padding=ints, ceil_mode=false, channels_last=false) =
			means = avg_pool(pow(x, norm_type), kernel_size, stride, padding, ceil_mode, false, false, channels_last)
			norm_type == inf ? max_pool(x, kernel_size, stride, padding, ceil_mode, false, channels_last) :
				pow(means * product(kernel_size), 1 / norm_type)`,
	},
	{
		id: 430, kind: op.Composed, accepts: dtype.Movable, narrow: true, infer: op.Rules{rows.Same, shiftedFrames}, python: functionByHand,
		formula: `temporal_shift(x, seg_num=1, shift_ratio=0.25, channels_last=false) =
			shifted(x, seg_num, shift_ratio, channels_last)`,
	},
	{
		// A point between elements is the mean of the four around it, by its distances; with mode max the largest of them by these
		// weights, as in onnxruntime.
		id: 533, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, regionBins},
		formula: `roi_align(x, boxes, batch_indices, output_height=1, output_width=1, spatial_scale=1.0, sampling_ratio=1, half_pixel=true, mode="avg") =
			regions(x, boxes, checked(batch_indices, size(x, 0)), output_height, output_width, spatial_scale, sampling_ratio, half_pixel, mode)`,
	},
	{
		id: 534, kind: op.Composed, asFirst: true, infer: op.Rules{likeFirst, deformedPlaces},
		formula: `deform_conv(x, offset, weight, bias?, mask?, stride=ints, padding=ints, dilation=ints, groups=1, deformable_groups=1) =
			affine(deformed(x, offset, weight, bias, mask, stride, padding, dilation, groups, deformable_groups), none, bias, 1)`,
	},
	{
		id: 548, kind: op.Composed, accepts: dtype.All, narrow: true, infer: op.Rules{pooledWindows},
		formula: `window_pool(x, kernel_size=ints, stride=ints, padding=ints, dilation=ints, windows=ints, mode="max", exclusive=true) =
			pooled(x, kernel_size, stride, padding, dilation, windows, mode, exclusive)`,
	},
	{
		id: 549, kind: op.Composed, accepts: dtype.All, narrow: true, infer: op.Rules{pooledWindows},
		formula: `window_pool_places(x, kernel_size=ints, stride=ints, padding=ints, dilation=ints, windows=ints) =
			pooled_places(x, kernel_size, stride, padding, dilation, windows)`,
	},
}
