package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Images at other sizes, and at places that a tensor says.
//
// Resize goes axis by axis. An element of the result is a sum of a few elements along the axis, the taps, with weights that
// follow from the sizes alone; both are computed here and become constants. The formulas are those of the ONNX operator
// specification, https://onnx.ai/onnx/operators/onnx__Resize.html.
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

// sampling is how one axis is resized.
type sampling struct {
	mode, coordinates, nearest string
	n, out                     int64
	scale, start, end          float64 // end and start are those of the region of interest
	cubic                      float64
	antialias, exclude         bool
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
	mode := c.text("mode", "nearest")
	if mode == "bilinear" {
		mode = "linear"
	}
	for axis, scale := range scales {
		s := sampling{mode: mode, coordinates: "asymmetric", nearest: "floor", n: x.dims()[axis], scale: scale, end: 1}
		if scale < 1 && c.node.Op == "Resize" {
			s.nearest = "ceil"
		}
		s.out = c.scaled(float64(s.n), scale)
		x = c.resample(x, axis, s, nil)
	}
	return one(x)
}

// scaled is a size times a scale, rounded down.
func (c *call) scaled(n, scale float64) int64 {
	if !(scale > 0) || n*scale > 1<<31 {
		c.wrong("a scale is %g", scale)
	}
	return int64(math.Floor(n * scale))
}

// resize has the operands X, roi, scales and sizes. Attribute axes says which axes the numbers are for; the others
// stay. Integers are interpolated in float32 and lose their fraction.
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
	var outside *value
	if coordinates == "tf_crop_and_resize" {
		outside = c.reals(dtype.Float32, nil, []float64{c.float("extrapolation_value", 0)})
	}
	whole := x.DType.IsInt()
	d := x.DType
	if whole && c.text("mode", "nearest") != "nearest" {
		x = c.float32Of(x)
	}
	for i, a := range axes {
		s := sampling{
			mode: c.text("mode", "nearest"), coordinates: coordinates, nearest: c.text("nearest_mode", "round_prefer_floor"),
			n: x.dims()[a], out: sizes[i], scale: scales[i], start: region[i], end: region[len(axes)+i],
			cubic: c.float("cubic_coeff_a", -0.75), antialias: c.yes("antialias", 0), exclude: c.yes("exclude_outside", 0),
		}
		x = c.resample(x, int(a), s, outside)
	}
	return one(c.cast(x, d))
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

// resample is one axis at another size. outside is what coordinates beyond the ends become, if not the element at
// the end. An axis that stays as it is costs nothing.
func (c *call) resample(x *value, axis int, s sampling, outside *value) *value {
	if s.out == s.n && s.scale == 1 && s.start == 0 && s.end == 1 {
		return x
	}
	if s.n == 0 || s.out > 1<<31 {
		c.wrong("an axis of %d elements cannot have %d", s.n, s.out)
	}
	c.room(s.out)
	indices, weights := c.interpolation(&s)
	var y *value
	switch {
	case weights == nil:
		y = c.take(x, axis, indices[0])
	case len(indices) > 4: // too many to gather: a matrix with a row for each element of the result
		y = c.weighted(x, axis, s, indices, weights)
	default:
		dims := slices.Repeat([]int64{1}, x.rank())
		dims[axis] = s.out
		for k := range indices {
			part := c.mul(c.take(x, axis, indices[k]), c.reals(x.DType, dims, weights[k]))
			if y == nil {
				y = part
			} else {
				y = c.add(y, part)
			}
		}
	}
	if outside == nil {
		return y
	}
	beyond, any := make([]byte, s.out), false
	for o := range s.out {
		if at := s.coordinate(o); at < 0 || at > float64(s.n-1) {
			beyond[o], any = 1, true
		}
	}
	if !any {
		return y
	}
	dims := slices.Repeat([]int64{1}, x.rank())
	dims[axis] = s.out
	return c.where(c.constant(dtype.Bool, dims, beyond), c.cast(outside, y.DType), y)
}

// weighted is a product with a matrix of the weights. Shrinking with antialias reads many elements for each of the
// result.
func (c *call) weighted(x *value, axis int, s sampling, indices [][]int64, weights [][]float64) *value {
	if s.n*s.out > 1<<26 {
		c.refuse("an axis of %d elements to %d with %d taps is not supported", s.n, s.out, len(indices))
	}
	c.room(s.n, s.out)
	matrix := make([]float64, s.n*s.out)
	for k := range indices {
		for o, i := range indices[k] {
			matrix[i*s.out+int64(o)] += weights[k][o]
		}
	}
	last := x.rank() - 1
	y := c.matmul(c.swap(x, axis, last), c.reals(x.DType, []int64{s.n, s.out}, matrix))
	return c.swap(y, axis, last)
}

// coordinate is where an element of the result lies in the operand. It may lie outside of the operand, where the
// elements at the ends count. The modes are those of attribute coordinate_transformation_mode. For pytorch_half_pixel with one element
// the text of ONNX says 0, which onnxruntime follows, and the code of ONNX's reference -0.5.
func (s *sampling) coordinate(o int64) float64 {
	x, n, out := float64(o), float64(s.n), s.scale*float64(s.n)
	switch s.coordinates {
	case "align_corners":
		if out == 1 {
			return 0
		}
		return x * (n - 1) / (out - 1)
	case "asymmetric":
		return x / s.scale
	case "tf_crop_and_resize":
		if s.out == 1 {
			return (s.start + s.end) / 2 * (n - 1)
		}
		return s.start*(n-1) + x*(s.end-s.start)*(n-1)/float64(s.out-1)
	case "pytorch_half_pixel":
		if s.out == 1 {
			return 0
		}
	case "half_pixel_symmetric":
		return n/2*(1-float64(s.out)/out) + (x+0.5)/s.scale - 0.5
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / s.scale
	}
	return (x+0.5)/s.scale - 0.5
}

// interpolation is for each tap the indices along the axis that the elements of the result read, and their weights; without
// weights there is one tap. With antialias the kernel is as much wider as the image becomes smaller. Weights add up
// to 1, also where exclude_outside has dropped some. Each tap is an index for each element of the result, so that a
// tap is one gather and one product, whatever the scale is. Linear interpolation has two taps, cubic four.
func (c *call) interpolation(s *sampling) (indices [][]int64, weights [][]float64) {
	inside := func(f float64) int64 { return int64(min(max(f, 0), float64(s.n-1))) }
	if s.mode == "nearest" {
		list := make([]int64, s.out)
		for o := range list {
			list[o] = inside(c.rounded(s.nearest, s.coordinate(int64(o))))
		}
		return [][]int64{list}, nil
	}
	first, kernel := -1.0, triangle
	switch s.mode {
	case "linear":
	case "cubic":
		first, kernel = -2, s.cubicKernel
	default:
		c.refuse("mode %q is not supported; want nearest, linear or cubic", s.mode)
	}
	narrow := 1.0
	if s.antialias {
		narrow = min(s.scale, 1)
	}
	low := math.Floor(first/narrow) + 1
	n := int(2 - 2*low) // from low to 1 - low
	if n > 1<<12 || float64(n)*float64(s.out) > 1<<26 {
		c.refuse("a scale of %g with antialias is not supported", s.scale)
	}
	c.room(2, int64(n), s.out)
	indices, weights = make([][]int64, n), make([][]float64, n)
	for k := range n {
		indices[k], weights[k] = make([]int64, s.out), make([]float64, s.out)
	}
	for o := range s.out {
		at := s.coordinate(o)
		base, total := math.Floor(at), 0.0
		for k := range n {
			place := base + low + float64(k)
			w := kernel((place - at) * narrow)
			if s.exclude && (place < 0 || place > float64(s.n-1)) {
				w = 0
			}
			indices[k][o], weights[k][o] = inside(place), w
			total += w
		}
		for k := range n {
			weights[k][o] /= total
		}
	}
	return indices, weights
}

// triangle is the kernel of linear interpolation.
func triangle(d float64) float64 { return max(1-math.Abs(d), 0) }

// cubicKernel is Keys' kernel with the coefficient that the attribute says.
func (s *sampling) cubicKernel(d float64) float64 {
	d = math.Abs(d)
	switch a := s.cubic; {
	case d <= 1:
		return (a+2)*d*d*d - (a+3)*d*d + 1
	case d < 2:
		return a*d*d*d - 5*a*d*d + 8*a*d - 4*a
	}
	return 0
}

// rounded is a coordinate as an index. The names say what happens to halves.
func (c *call) rounded(mode string, at float64) float64 {
	switch mode {
	case "round_prefer_floor":
		return math.Ceil(at - 0.5)
	case "round_prefer_ceil":
		return math.Floor(at + 0.5)
	case "floor":
		return math.Floor(at)
	case "ceil":
		return math.Ceil(at)
	}
	c.wrong("nearest_mode is %q", mode)
	return 0
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
