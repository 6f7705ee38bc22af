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
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}
