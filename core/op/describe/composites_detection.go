package describe

// Descriptions of the rows of composites_detection.go.
func describedCompositesDetection() []Description {
	list := []Description{
		{Name: "box_coder", Attrs: []string{"'encode_center_size' or 'decode_center_size'", "whether corners are not pixels, of which a box has one more than their difference", "which axis of the targets is that of the prior boxes, to decode: 0 for the second one, 1 for the first"}, Doc: "Boxes [targets, 4] as offsets of prior boxes, in their sizes: the distance of the centers and the logarithms of the ratios of widths and heights, [targets, boxes, 4]; or the reverse. prior_box_var, [4] or [boxes, 4], divides what is encoded."},
		{Name: "prior_box", Attrs: []string{"the least sizes of boxes", "the largest ones, which make a square of sqrt(min_size * max_size) each; none for no such squares", "widths by heights, all of them: Paddle's have 1 in front, and with flip 1 / ratio behind each", "4 numbers that stand beside each box", "whether corners are cut to [0, 1]", "the distance of cells in the image; 0 for width of image by width of input", "likewise, of heights", "of the center in a cell", "whether that square is the second box of a size, and not the last one"}, Doc: "Prior boxes of each cell of input [n, c, h, w], as parts of image: [h, w, boxes, 4], with their variances."},
		{Name: "yolo_box", Attrs: []string{"widths and heights of the anchors, in turn", "the number of classes", "the least score; boxes below it are 0, with their scores", "pixels of the network's input for a cell", "whether boxes are cut to the image", "factor of the place in a cell", "whether x has scores of the overlap, too, in front", "the power of the overlap in the score, of 1 less it that of the object"}, Doc: "Boxes [n, anchors * h * w, 4] in pixels and scores of classes [n, anchors * h * w, class_num] of predictions x [n, anchors * (5 + class_num), h, w] of YOLOv3, for images of height and width img_size [n, 2]."},
		{Name: "roi_pool", Attrs: []string{"how many bins a region has on its height", "and on its width", "factor of the corners"}, Doc: "The largest elements of the bins of regions of images [n, c, h, w], 0 of none: [count, c, output_height, output_width]. Boxes [count, 4] are x and y of two corners; the first boxes_num[0] are of the first image, and so on."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}
