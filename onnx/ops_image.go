package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// Images at other sizes, and at places that a tensor says.
//
// Sizes and scales have to be known.

var images = []entry{
	// Resize: X, roi, scales, sizes; X and scales in opset 10.
	{"Resize", 10, 0, resizeOld},
	{"Resize", 11, 0, resize},
	{"Upsample", 7, 0, resizeOld},
	{"GridSample", 16, 0, gridSample},
	{"AffineGrid", 20, 0, affineGrid},
	// Col2Im: blocks, image_shape, block_shape.
	{"Col2Im", 18, 0, col2im},
	// NonMaxSuppression: boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold.
	{"NonMaxSuppression", 10, 0, nonMaxSuppression},
}

// resizeOld is Resize-10 and Upsample: an index is divided by the scale, and the fraction dropped. In opset 10 a
// smaller image reads the index above the quotient, not the one below: this is what onnxruntime does, and files were
// written for that.
func resizeOld(c *call) []*value {
	x := c.x(0)
	var scales []float64
	if a := c.attr("scales"); a != nil {
		c.room(int64(len(a.Floats)))
		for _, f := range a.Floats {
			scales = append(scales, float64(f))
		}
	} else {
		scales = floatsOf(c.look(c.x(1), "the scales"))
	}
	if len(scales) != x.rank() {
		c.wrong("there are %d scales for %d dimensions", len(scales), x.rank())
	}
	// A smaller and a larger axis read other elements, so that each has a call of its own.
	for axis, scale := range scales {
		rounding := "floor"
		if scale < 1 && c.node.Op == "Resize" {
			rounding = "ceil"
		}
		size := c.scaled(float64(x.dims()[axis]), scale)
		x = c.resized(x, []int64{int64(axis)}, []int64{size}, []float64{scale}, op.InterpolateCoordinates, "asymmetric", op.InterpolateNearest, rounding)
	}
	return one(x)
}

// resized is x at other sizes of axes, with further attributes of the row.
func (c *call) resized(x *value, axes, sizes []int64, scales []float64, more ...any) *value {
	mode := c.text("mode", "nearest")
	switch mode {
	case "bilinear":
		mode = "linear"
	case "nearest", "linear", "cubic":
	default:
		c.refuse("mode %q is not supported; want nearest, linear or cubic", mode)
	}
	for i, n := range sizes {
		if d := x.dims()[axes[i]]; d == 0 && n != 0 || n > 1<<31 {
			c.wrong("an axis of %d elements cannot have %d", d, n)
		}
		taps := 4.0
		if c.yes("antialias", 0) {
			taps /= min(scales[i], 1)
		}
		if mode != "nearest" && taps > 4 && (taps > 1<<12 || taps*float64(n) > 1<<26) {
			c.refuse("a scale of %g with antialias is not supported", scales[i])
		}
		c.room(2, int64(min(taps, 1<<12)), n)
	}
	at := with(append([]any{op.InterpolateAxes, axes, op.InterpolateSizes, sizes, op.InterpolateScales, scales, op.InterpolateMode, mode}, more...)...)
	return c.do(op.IDInterpolate, at, x)
}

// scaled is a size times a scale, rounded down.
func (c *call) scaled(n, scale float64) int64 {
	if !(scale > 0) || n*scale > 1<<31 {
		c.wrong("a scale is %g", scale)
	}
	return int64(math.Floor(n * scale))
}

// resize has the operands X, roi, scales and sizes. Attribute axes says which axes the numbers are for; the others
// stay.
func resize(c *call) []*value {
	x := c.x(0)
	axes := count(x.rank())
	if list := c.list("axes"); list != nil {
		c.room(int64(len(list)))
		axes = axes[:0]
		for _, a := range list {
			axes = append(axes, int64(c.axis(a, x.rank())))
		}
	}
	given := func(i int) bool { return c.has(i) && c.in[i].Shape.Numel() > 0 }
	coordinates := c.text("coordinate_transformation_mode", "half_pixel")
	region := slices.Concat(make([]float64, len(axes)), slices.Repeat([]float64{1}, len(axes)))
	if coordinates == "tf_crop_and_resize" && given(1) {
		region = floatsOf(c.look(c.x(1), "the region of interest"))
	}
	if len(region) != 2*len(axes) {
		c.wrong("the region of interest has %d numbers; want two for each axis", len(region))
	}
	scales, sizes := c.targets(x, axes, region, given)
	return one(c.resized(x, axes, sizes, scales,
		op.InterpolateRegion, region, op.InterpolateCoordinates, coordinates, op.InterpolateNearest, c.text("nearest_mode", "round_prefer_floor"),
		op.InterpolateCubic, c.float("cubic_coeff_a", -0.75), op.InterpolateExcludeOutside, c.yes("exclude_outside", 0), op.InterpolateAntialias, c.yes("antialias", 0),
		op.InterpolateExtrapolation, c.float("extrapolation_value", 0)))
}

// targets are scales and sizes, of which one is given. A policy that keeps the aspect ratio makes all scales the
// smallest or the largest of them. region is that of the image which is read: all of it, unless the mode crops.
func (c *call) targets(x *value, axes []int64, region []float64, given func(int) bool) (scales []float64, sizes []int64) {
	switch {
	case given(2):
		scales = floatsOf(c.look(c.x(2), "the scales"))
		if len(scales) != len(axes) {
			c.wrong("there are %d scales for %d axes", len(scales), len(axes))
		}
		for i, a := range axes {
			sizes = append(sizes, c.scaled(float64(x.dims()[a])*(region[len(axes)+i]-region[i]), scales[i]))
		}
	case given(3):
		sizes = slices.Clone(c.checked(c.ints(3, "the sizes")))
		if len(sizes) != len(axes) {
			c.wrong("there are %d sizes for %d axes", len(sizes), len(axes))
		}
		for i, a := range axes {
			scales = append(scales, float64(sizes[i])/float64(x.dims()[a]))
		}
		if policy := c.text("keep_aspect_ratio_policy", "stretch"); policy != "stretch" {
			scale := slices.Min(scales)
			if policy == "not_smaller" {
				scale = slices.Max(scales)
			}
			for i, a := range axes {
				scales[i], sizes[i] = scale, int64(math.Floor(scale*float64(x.dims()[a])+0.5))
			}
		}
	default:
		c.wrong("neither scales nor sizes are given")
	}
	return scales, sizes
}

// affineGrid are the places that affine maps send the pixels of an image to. Operands: theta [N, axes, axes + 1] and
// the size [N, C, size...]. Result: [N, size..., axes].
func affineGrid(c *call) []*value {
	theta, size := c.x(0), c.checked(c.ints(1, "the size"))
	if len(size) < 2 || product(size[2:]) > 1<<24 {
		c.wrong("the size is %v; want 4 or 5 dimensions", size)
	}
	c.room(product(size[2:]), int64(len(size)))
	at := with(op.AffineGridOutShape, size, op.AffineGridAlignCorners, c.yes("align_corners", 0), op.AffineGridCentered, true)
	return one(c.do(op.IDAffineGrid, at, theta))
}

// col2im adds up blocks that overlap: what a transposed convolution does with a kernel of ones at one place each.
// Operands: blocks [N, C * block, windows], the size of the image and that of the block. Result: [N, C, size...].
// Elements that fall into the padding are added to a place behind the image, which is cut off.
func col2im(c *call) []*value {
	x, size, kernel := c.x(0), c.checked(c.ints(1, "image_shape")), c.checked(c.ints(2, "block_shape"))
	if x.rank() != 3 || len(size) != len(kernel) || len(kernel) < 1 {
		c.wrong("the operand has %d dimensions, the image %d and the block %d", x.rank(), len(size), len(kernel))
	}
	axes := len(kernel)
	get := func(name string, n int, otherwise int64) []int64 {
		if list := c.list(name); len(list) == n {
			return list
		}
		return slices.Repeat([]int64{otherwise}, n)
	}
	stride, dilation, pads := get("strides", axes, 1), get("dilations", axes, 1), get("pads", 2*axes, 0)
	block := product(kernel)
	channels := x.dims()[1] / max(block, 1)
	// The place in the image of each element of each window; what is in the padding goes behind the image.
	places, total := []int64{0}, int64(1)
	ow, ok := int64(1), int64(1)
	for i, n := range size {
		out := (n+pads[i]+pads[i+axes]-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
		if out < 1 {
			c.wrong("an axis has %d windows", out)
		}
		c.room(out, ow, ok, kernel[i])
		next := make([]int64, 0, out*ow*ok*kernel[i])
		for b := range ok {
			for k := range kernel[i] {
				for a := range ow {
					for o := range out {
						before, at := places[b*ow+a], o*stride[i]+k*dilation[i]-pads[i]
						if before < 0 || at < 0 || at >= n {
							next = append(next, -1)
						} else {
							next = append(next, before*n+at)
						}
					}
				}
			}
		}
		places, ow, ok, total = next, ow*out, ok*kernel[i], total*n
	}
	for i, at := range places {
		if at < 0 {
			places[i] = total
		}
	}
	lead := x.dims()[0] * channels
	flat := c.reshape(x, lead, int64(len(places)))
	sum := c.do(op.IDIndexReduce, with(op.IndexReduceReduce, "add"),
		c.full(x.DType, integer(0), lead, total+1), flat, c.steps(lead, 0, 2), c.vector(places...))
	return one(c.reshape(c.slice(sum, 1, 0, total), append([]int64{x.dims()[0], channels}, size...)...))
}

// gridSample reads images at the places of a grid, from -1 to 1 on each axis. Operands: X [N, C, size...] and the
// grid [N, places..., axes], whose first coordinate is for the last axis. Result: [N, C, places...].
func gridSample(c *call) []*value {
	mode := c.text("mode", "linear")
	switch mode {
	case "linear":
		mode = "bilinear"
	case "cubic":
		mode = "bicubic"
	case "nearest", "bilinear", "bicubic":
	default:
		c.refuse("mode %q is not supported", mode)
	}
	at := with(op.GridSampleMode, mode, op.GridSamplePaddingMode, c.text("padding_mode", "zeros"),
		op.GridSampleAlignCorners, c.yes("align_corners", 0), op.GridSamplePaddedPixels, true)
	return one(c.do(op.IDGridSample, at, c.x(0), c.x(1)))
}

// nonMaxSuppression is rows of batch, class and box for the boxes that are chosen, those of a class from the best on. The row
// has as many places for each class, and -1 in those that are left.
func nonMaxSuppression(c *call) []*value {
	most, limit, least := int64(0), 0.0, math.Inf(-1)
	if c.has(2) {
		most = int64(min(max(c.number(2, "max_output_boxes_per_class"), 0), math.MaxInt32)) // exporters write the largest int64
	}
	if c.has(3) {
		limit = c.number(3, "iou_threshold")
	}
	if c.has(4) {
		least = c.number(4, "score_threshold")
	}
	at := with(op.NmsMaxOutputSize, most, op.NmsIouThreshold, limit, op.NmsScoreThreshold, least, op.NmsCenter, c.yes("center_point_box", 0))
	// Places that hold a box are counted; index reads their boxes. The two first columns of a place are its batch and its class.
	boxes := c.do(op.IDNms, at, c.x(0), c.x(1))
	places := c.counted(op.IDNonzero, nil, c.binary(op.IDGreaterEqual, boxes, whole(0)))
	chosen := c.do(op.IDIndex, nil, boxes, c.pick(places, 1, 0), c.pick(places, 1, 1), c.pick(places, 1, 2))
	return one(c.concat(1, c.slice(places, 1, 0, 2), c.unsqueeze(chosen, 1)))
}
