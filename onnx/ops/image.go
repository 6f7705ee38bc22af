package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Images at other sizes, and at places that a tensor says.
//
// Sizes and scales have to be known.

var images = []entry{
	{"Resize", 10, 0, resizeOld}, // X, roi, scales, sizes; X and scales in opset 10
	{"Resize", 11, 0, resize},
	{"Upsample", 7, 0, resizeOld},
	{"GridSample", 16, 0, gridSample},
	{"AffineGrid", 20, 0, affineGrid},
	{"Col2Im", 18, 0, col2im},                       // blocks, image_shape, block_shape
	{"DeformConv", 19, 0, deformConv},               // X, W, offset, B, mask
	{"RoiAlign", 10, 0, roiAlign},                   // X, rois, batch_indices
	{"NonMaxSuppression", 10, 0, nonMaxSuppression}, // boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold
}

// resizeOld is Resize-10 and Upsample: an index is divided by the scale, and the fraction dropped. In opset 10 a
// smaller image reads the index above the quotient, not the one below: this is what onnxruntime does, and files were
// written for that.
func resizeOld(c *build.Call) []*build.Value {
	x := c.X(0)
	scales := c.Floats("scales")
	if scales == nil {
		scales = build.FloatsOf(c.Look(c.X(1), "the scales"))
	}
	if len(scales) != x.Rank() {
		c.Wrong("there are %d scales for %d dimensions", len(scales), x.Rank())
	}
	// A smaller and a larger axis read other elements, so that each has a call of its own.
	for axis, scale := range scales {
		rounding := "floor"
		if scale < 1 && c.Node.Op == "Resize" {
			rounding = "ceil"
		}
		size := scaled(c, float64(x.Dims()[axis]), scale)
		x = resized(c, x, []int64{int64(axis)}, []int64{size}, []float64{scale}, op.InterpolateCoordinates, "asymmetric", op.InterpolateNearest, rounding)
	}
	return build.One(x)
}

// resized is x at other sizes of axes, with further attributes of the row.
func resized(c *build.Call, x *build.Value, axes, sizes []int64, scales []float64, more ...any) *build.Value {
	mode, ok := map[string]string{"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}[c.Text("mode", "nearest")]
	if !ok {
		c.Refuse("mode %q is not supported; want nearest, linear or cubic", c.Text("mode", ""))
	}
	for i, n := range sizes {
		if d := x.Dims()[axes[i]]; d == 0 && n != 0 || n > 1<<31 {
			c.Wrong("an axis of %d elements cannot have %d", d, n)
		}
		taps := 4.0
		if c.Yes("antialias", 0) {
			taps /= min(scales[i], 1)
		}
		if mode != "nearest" && taps > 4 && (taps > 1<<12 || taps*float64(n) > 1<<26) {
			c.Refuse("a scale of %g with antialias is not supported", scales[i])
		}
		c.Room(2, int64(min(taps, 1<<12)), n)
	}
	at := build.With(append([]any{op.InterpolateAxes, axes, op.InterpolateSizes, sizes, op.InterpolateScales, scales, op.InterpolateMode, mode}, more...)...)
	return c.Do(op.IDInterpolate, at, x)
}

// scaled is a size times a scale, rounded down.
func scaled(c *build.Call, n, scale float64) int64 {
	if !(scale > 0) || n*scale > 1<<31 {
		c.Wrong("a scale is %g", scale)
	}
	return int64(math.Floor(n * scale))
}

// resize has the operands X, roi, scales and sizes. Attribute axes says which axes the numbers are for; the others
// stay.
func resize(c *build.Call) []*build.Value {
	x := c.X(0)
	axes := c.InOrder(c.List("axes"), x.Rank())
	given := func(i int) bool { return c.Has(i) && c.In[i].Shape.Numel() > 0 }
	coordinates := c.Text("coordinate_transformation_mode", "half_pixel")
	region := slices.Concat(make([]float64, len(axes)), slices.Repeat([]float64{1}, len(axes)))
	if coordinates == "tf_crop_and_resize" && given(1) {
		region = build.FloatsOf(c.Look(c.X(1), "the region of interest"))
	}
	if len(region) != 2*len(axes) {
		c.Wrong("the region of interest has %d numbers; want two for each axis", len(region))
	}
	scales, sizes := targets(c, x, axes, region, given)
	return build.One(resized(c, x, axes, sizes, scales,
		op.InterpolateRegion, region, op.InterpolateCoordinates, coordinates, op.InterpolateNearest, c.Text("nearest_mode", "round_prefer_floor"),
		op.InterpolateCubic, c.Float("cubic_coeff_a", -0.75), op.InterpolateExcludeOutside, c.Yes("exclude_outside", 0), op.InterpolateAntialias, c.Yes("antialias", 0),
		op.InterpolateExtrapolation, c.Float("extrapolation_value", 0)))
}

// targets are scales and sizes, of which one is given. A policy that keeps the aspect ratio makes all scales the
// smallest or the largest of them. region is that of the image which is read: all of it, unless the mode crops.
func targets(c *build.Call, x *build.Value, axes []int64, region []float64, given func(int) bool) (scales []float64, sizes []int64) {
	switch {
	case given(2):
		scales = build.FloatsOf(c.Look(c.X(2), "the scales"))
		if len(scales) != len(axes) {
			c.Wrong("there are %d scales for %d axes", len(scales), len(axes))
		}
		for i, a := range axes {
			sizes = append(sizes, scaled(c, float64(x.Dims()[a])*(region[len(axes)+i]-region[i]), scales[i]))
		}
	case given(3):
		sizes = slices.Clone(c.Checked(c.Ints(3, "the sizes")))
		if len(sizes) != len(axes) {
			c.Wrong("there are %d sizes for %d axes", len(sizes), len(axes))
		}
		for i, a := range axes {
			scales = append(scales, float64(sizes[i])/float64(x.Dims()[a]))
		}
		if policy := c.Text("keep_aspect_ratio_policy", "stretch"); policy != "stretch" {
			scale := slices.Min(scales)
			if policy == "not_smaller" {
				scale = slices.Max(scales)
			}
			for i, a := range axes {
				scales[i], sizes[i] = scale, int64(math.Floor(scale*float64(x.Dims()[a])+0.5))
			}
		}
	default:
		c.Wrong("neither scales nor sizes are given")
	}
	return scales, sizes
}

// affineGrid are the places that affine maps send the pixels of an image to. Operands: theta [N, axes, axes + 1] and
// the size [N, C, size...]. Result: [N, size..., axes].
func affineGrid(c *build.Call) []*build.Value {
	theta, size := c.X(0), c.Checked(c.Ints(1, "the size"))
	if len(size) < 2 || build.Product(size[2:]) > 1<<24 {
		c.Wrong("the size is %v; want 4 or 5 dimensions", size)
	}
	c.Room(build.Product(size[2:]), int64(len(size)))
	at := build.With(op.AffineGridOutShape, size, op.AffineGridAlignCorners, c.Yes("align_corners", 0), op.AffineGridCentered, true)
	return build.One(c.Do(op.IDAffineGrid, at, theta))
}

// col2im adds up blocks that overlap. Operands: blocks [N, C * block, windows], the size of the image and that of the block.
// Result: [N, C, size...].
func col2im(c *build.Call) []*build.Value {
	x, size, kernel := c.X(0), c.Checked(c.Ints(1, "image_shape")), c.Checked(c.Ints(2, "block_shape"))
	axes := len(size)
	at := build.With(op.FoldSize, size, op.FoldKernelSize, kernel, op.FoldStride, perAxis(c, "strides", axes, 1),
		op.FoldPadding, paired(perAxis(c, "pads", 2*axes, 0)), op.FoldDilation, perAxis(c, "dilations", axes, 1))
	return build.One(c.Do(op.IDFold, at, x))
}

// gridSample reads images at the places of a grid, from -1 to 1 on each axis. Operands: X [N, C, size...] and the
// grid [N, places..., axes], whose first coordinate is for the last axis. Result: [N, C, places...].
func gridSample(c *build.Call) []*build.Value {
	modes := map[string]string{"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest", "bilinear": "bilinear", "bicubic": "bicubic"}
	mode, ok := modes[c.Text("mode", "linear")]
	if !ok {
		c.Refuse("mode %q is not supported", c.Text("mode", ""))
	}
	at := build.With(op.GridSampleMode, mode, op.GridSamplePaddingMode, c.Text("padding_mode", "zeros"),
		op.GridSampleAlignCorners, c.Yes("align_corners", 0), op.GridSamplePaddedPixels, true)
	return build.One(c.Do(op.IDGridSample, at, c.X(0), c.X(1)))
}

// nonMaxSuppression is rows of batch, class and box for the boxes that are chosen, those of a class from the best on. The row
// has as many places for each class, and -1 in those that are left.
func nonMaxSuppression(c *build.Call) []*build.Value {
	most := int64(min(max(c.NumberOr(2, "max_output_boxes_per_class", 0), 0), math.MaxInt32)) // exporters write the largest int64
	at := build.With(op.NmsMaxOutputSize, most, op.NmsIouThreshold, c.NumberOr(3, "iou_threshold", 0),
		op.NmsScoreThreshold, c.NumberOr(4, "score_threshold", math.Inf(-1)), op.NmsCenter, c.Yes("center_point_box", 0))
	// Places that hold a box are counted; index reads their boxes. The two first columns of a place are its batch and its class.
	boxes := c.Do(op.IDNms, at, c.X(0), c.X(1))
	places := c.Counted(op.IDNonzero, nil, c.Binary(op.IDGreaterEqual, boxes, build.Whole(0)))
	chosen := c.Do(op.IDIndex, nil, boxes, c.Pick(places, 1, 0), c.Pick(places, 1, 1), c.Pick(places, 1, 2))
	return build.One(c.Concat(1, c.Slice(places, 1, 0, 2), c.Unsqueeze(chosen, 1)))
}

// deformConv has the padding of all axes before, and then behind.
func deformConv(c *build.Call) []*build.Value {
	c.Room(c.X(1).Shape.Numel(), 2)
	at := build.With(op.DeformConvStride, c.List("strides"), op.DeformConvPadding, paired(c.List("pads")), op.DeformConvDilation, c.List("dilations"),
		op.DeformConvGroups, c.Int("group", 1), op.DeformConvDeformableGroups, c.Int("offset_group", 1))
	return build.One(c.Do(op.IDDeformConv, at, c.X(0), c.X(2), c.X(1), c.Optional(3), c.Optional(4)))
}

// roiAlign is regions of images, each as a grid of bins. Corners are at the centers of elements from opset 16 on, unless an attribute
// says otherwise.
func roiAlign(c *build.Call) []*build.Value {
	half := c.Opset >= 16 && c.Text("coordinate_transformation_mode", "half_pixel") == "half_pixel"
	each := c.Int("sampling_ratio", 0)
	if each < 1 {
		c.Refuse("sampling_ratio is %d, which makes the number of points depend on elements; want 1 or more", each)
	}
	height, width := c.Int("output_height", 1), c.Int("output_width", 1)
	c.Room(max(height, width, 1), each)
	at := build.With(op.RoiAlignOutputHeight, height, op.RoiAlignOutputWidth, width, op.RoiAlignSpatialScale, c.Float("spatial_scale", 1),
		op.RoiAlignSamplingRatio, each, op.RoiAlignHalfPixel, half, op.RoiAlignMode, c.Text("mode", "avg"))
	return build.One(c.Do(op.IDRoiAlign, at, c.X(0), c.X(1), c.X(2)))
}
