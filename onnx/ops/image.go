package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Images at other sizes, and at places that a tensor says.
//
// Resize goes axis by axis. An element of the result is a sum of a few elements along the axis, the taps, with weights that
// follow from the sizes alone; both are computed here and become constants. The formulas are those of the ONNX operator
// specification, https://onnx.ai/onnx/operators/onnx__Resize.html.
//
// Sizes and scales have to be known. GridSample reads at places that are known only when the model runs, so that its
// weights are tensors that rows compute.

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
func resizeOld(c *build.Call) []*build.Value {
	x := c.X(0)
	var scales []float64
	if a := c.Attr("scales"); a != nil {
		c.Room(int64(len(a.Floats)))
		for _, f := range a.Floats {
			scales = append(scales, float64(f))
		}
	} else {
		scales = build.FloatsOf(c.Look(c.X(1), "the scales"))
	}
	if len(scales) != x.Rank() {
		c.Wrong("there are %d scales for %d dimensions", len(scales), x.Rank())
	}
	mode := c.Text("mode", "nearest")
	if mode == "bilinear" {
		mode = "linear"
	}
	for axis, scale := range scales {
		s := sampling{mode: mode, coordinates: "asymmetric", nearest: "floor", n: x.Dims()[axis], scale: scale, end: 1}
		if scale < 1 && c.Node.Op == "Resize" {
			s.nearest = "ceil"
		}
		s.out = scaled(c, float64(s.n), scale)
		x = resample(c, x, axis, s, nil)
	}
	return build.One(x)
}

// scaled is a size times a scale, rounded down.
func scaled(c *build.Call, n, scale float64) int64 {
	if !(scale > 0) || n*scale > 1<<31 {
		c.Wrong("a scale is %g", scale)
	}
	return int64(math.Floor(n * scale))
}

// resize has the operands X, roi, scales and sizes. Attribute axes says which axes the numbers are for; the others
// stay. Integers are interpolated in float32 and lose their fraction.
func resize(c *build.Call) []*build.Value {
	x := c.X(0)
	axes := build.Count(x.Rank())
	if list := c.List("axes"); list != nil {
		c.Room(int64(len(list)))
		axes = axes[:0]
		for _, a := range list {
			axes = append(axes, int64(c.Axis(a, x.Rank())))
		}
	}
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
	var outside *build.Value
	if coordinates == "tf_crop_and_resize" {
		outside = c.Reals(dtype.Float32, nil, []float64{c.Float("extrapolation_value", 0)})
	}
	whole := x.DType.IsInt()
	d := x.DType
	if whole && c.Text("mode", "nearest") != "nearest" {
		x = float32Of(c, x)
	}
	for i, a := range axes {
		s := sampling{
			mode: c.Text("mode", "nearest"), coordinates: coordinates, nearest: c.Text("nearest_mode", "round_prefer_floor"),
			n: x.Dims()[a], out: sizes[i], scale: scales[i], start: region[i], end: region[len(axes)+i],
			cubic: c.Float("cubic_coeff_a", -0.75), antialias: c.Yes("antialias", 0), exclude: c.Yes("exclude_outside", 0),
		}
		x = resample(c, x, int(a), s, outside)
	}
	return build.One(c.Cast(x, d))
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

// resample is one axis at another size. outside is what coordinates beyond the ends become, if not the element at
// the end. An axis that stays as it is costs nothing.
func resample(c *build.Call, x *build.Value, axis int, s sampling, outside *build.Value) *build.Value {
	if s.out == s.n && s.scale == 1 && s.start == 0 && s.end == 1 {
		return x
	}
	if s.n == 0 || s.out > 1<<31 {
		c.Wrong("an axis of %d elements cannot have %d", s.n, s.out)
	}
	c.Room(s.out)
	indices, weights := interpolation(c, &s)
	var y *build.Value
	switch {
	case weights == nil:
		y = c.Take(x, axis, indices[0])
	case len(indices) > 4: // too many to gather: a matrix with a row for each element of the result
		y = weighted(c, x, axis, s, indices, weights)
	default:
		dims := slices.Repeat([]int64{1}, x.Rank())
		dims[axis] = s.out
		for k := range indices {
			part := c.Mul(c.Take(x, axis, indices[k]), c.Reals(x.DType, dims, weights[k]))
			if y == nil {
				y = part
			} else {
				y = c.Add(y, part)
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
	dims := slices.Repeat([]int64{1}, x.Rank())
	dims[axis] = s.out
	return c.Where(c.Constant(dtype.Bool, dims, beyond), c.Cast(outside, y.DType), y)
}

// weighted is a product with a matrix of the weights. Shrinking with antialias reads many elements for each of the
// result.
func weighted(c *build.Call, x *build.Value, axis int, s sampling, indices [][]int64, weights [][]float64) *build.Value {
	if s.n*s.out > 1<<26 {
		c.Refuse("an axis of %d elements to %d with %d taps is not supported", s.n, s.out, len(indices))
	}
	c.Room(s.n, s.out)
	matrix := make([]float64, s.n*s.out)
	for k := range indices {
		for o, i := range indices[k] {
			matrix[i*s.out+int64(o)] += weights[k][o]
		}
	}
	last := x.Rank() - 1
	y := c.Matmul(c.Swap(x, axis, last), c.Reals(x.DType, []int64{s.n, s.out}, matrix))
	return c.Swap(y, axis, last)
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
func interpolation(c *build.Call, s *sampling) (indices [][]int64, weights [][]float64) {
	inside := func(f float64) int64 { return int64(min(max(f, 0), float64(s.n-1))) }
	if s.mode == "nearest" {
		list := make([]int64, s.out)
		for o := range list {
			list[o] = inside(rounded(c, s.nearest, s.coordinate(int64(o))))
		}
		return [][]int64{list}, nil
	}
	first, kernel := -1.0, triangle
	switch s.mode {
	case "linear":
	case "cubic":
		first, kernel = -2, s.cubicKernel
	default:
		c.Refuse("mode %q is not supported; want nearest, linear or cubic", s.mode)
	}
	narrow := 1.0
	if s.antialias {
		narrow = min(s.scale, 1)
	}
	low := math.Floor(first/narrow) + 1
	n := int(2 - 2*low) // from low to 1 - low
	if n > 1<<12 || float64(n)*float64(s.out) > 1<<26 {
		c.Refuse("a scale of %g with antialias is not supported", s.scale)
	}
	c.Room(2, int64(n), s.out)
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
func rounded(c *build.Call, mode string, at float64) float64 {
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
	c.Wrong("nearest_mode is %q", mode)
	return 0
}

// affineGrid are the places that affine maps send the pixels of an image to. Operands: theta [N, axes, axes + 1] and
// the size [N, C, size...]. Result: [N, size..., axes]. The places of pixels are computed here, in double precision,
// and multiplied by the maps when the model runs.
func affineGrid(c *build.Call) []*build.Value {
	theta, size := c.X(0), c.Checked(c.Ints(1, "the size"))
	axes := len(size) - 2
	if axes < 2 || axes > 3 || theta.Rank() != 3 || build.Product(size[2:]) > 1<<24 {
		c.Wrong("the size is %v and the maps have shape %s; want 4 or 5 dimensions, and 3", size, &theta.Shape)
	}
	pixels := build.Product(size[2:])
	c.Room(pixels, int64(axes+1))
	list := make([]float64, 0, pixels*int64(axes+1))
	for p := range pixels {
		rest, point := p, make([]float64, axes+1)
		for i := range axes { // the last axis of the image is the first coordinate
			n := size[len(size)-1-i]
			at := float64(rest % n)
			rest /= n
			switch {
			case !c.Yes("align_corners", 0):
				point[i] = (2*at+1)/float64(n) - 1
			case n > 1:
				point[i] = 2*at/float64(n-1) - 1
			default:
				point[i] = 0
			}
		}
		point[axes] = 1
		list = append(list, point...)
	}
	base := c.Reals(theta.DType, []int64{pixels, int64(axes + 1)}, list)
	grid := c.Matmul(base, c.Swap(theta, 1, 2))
	return build.One(c.Reshape(grid, append(append([]int64{size[0]}, size[2:]...), int64(axes))...))
}

// col2im adds up blocks that overlap: what a transposed convolution does with a kernel of ones at one place each.
// Operands: blocks [N, C * block, windows], the size of the image and that of the block. Result: [N, C, size...].
// Elements that fall into the padding are added to a place behind the image, which is cut off.
func col2im(c *build.Call) []*build.Value {
	x, size, kernel := c.X(0), c.Checked(c.Ints(1, "image_shape")), c.Checked(c.Ints(2, "block_shape"))
	if x.Rank() != 3 || len(size) != len(kernel) || len(kernel) < 1 {
		c.Wrong("the operand has %d dimensions, the image %d and the block %d", x.Rank(), len(size), len(kernel))
	}
	axes := len(kernel)
	get := func(name string, n int, otherwise int64) []int64 {
		if list := c.List(name); len(list) == n {
			return list
		}
		return slices.Repeat([]int64{otherwise}, n)
	}
	stride, dilation, pads := get("strides", axes, 1), get("dilations", axes, 1), get("pads", 2*axes, 0)
	block := build.Product(kernel)
	channels := x.Dims()[1] / max(block, 1)
	// The place in the image of each element of each window; what is in the padding goes behind the image.
	places, total := []int64{0}, int64(1)
	ow, ok := int64(1), int64(1)
	for i, n := range size {
		out := (n+pads[i]+pads[i+axes]-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
		if out < 1 {
			c.Wrong("an axis has %d windows", out)
		}
		c.Room(out, ow, ok, kernel[i])
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
	lead := x.Dims()[0] * channels
	flat := c.Reshape(x, lead, int64(len(places)))
	sum := c.Do(op.IDIndexReduce, build.With(op.IndexReduceReduce, "add"),
		c.Full(x.DType, build.Integer(0), lead, total+1), flat, c.Steps(lead, 0, 2), c.Vector(places...))
	return build.One(c.Reshape(c.Slice(sum, 1, 0, total), append([]int64{x.Dims()[0], channels}, size...)...))
}

// gridSample reads images at the places of a grid, from -1 to 1 on each axis. Operands: X [N, C, size...] and the
// grid [N, places..., axes], whose first coordinate is for the last axis. Result: [N, C, places...].
func gridSample(c *build.Call) []*build.Value {
	x, grid := c.X(0), c.X(1)
	axes := x.Rank() - 2
	if axes < 1 || axes > 3 || grid.Rank() != x.Rank() || grid.Dims()[grid.Rank()-1] != int64(axes) {
		c.Wrong("the operands have shapes %s and %s", &x.Shape, &grid.Shape)
	}
	corners := c.Yes("align_corners", 0)
	at := make([]*build.Value, axes) // coordinates on each axis of x: [N, places...]
	for i := range axes {
		g, n := c.Pick(grid, grid.Rank()-1, int64(axes-1-i)), float64(x.Dims()[i+2])
		if corners {
			at[i] = c.Mul(c.Add(g, build.Num(1)), build.Num((n-1)/2))
		} else {
			at[i] = c.Sub(c.Mul(c.Add(g, build.Num(1)), build.Num(n/2)), build.Num(0.5))
		}
	}
	switch mode := c.Text("mode", "linear"); mode {
	case "nearest":
		for i := range at {
			at[i] = c.Unary(op.IDRound, at[i])
		}
		return build.One(sampled(c, x, at, corners))
	case "linear", "bilinear":
		return build.One(blend(c, x, at, 0, 2, corners, linearWeight))
	case "cubic", "bicubic":
		return build.One(blend(c, x, at, 0, 4, corners, cubicWeight))
	default:
		c.Refuse("mode %q is not supported", mode)
	}
	return nil
}

// linearWeight is the kernel of linear interpolation at distances below 1.
func linearWeight(c *build.Call, d *build.Value) *build.Value {
	return c.Sub(build.Num(1), c.Unary(op.IDAbs, d))
}

// cubicWeight is the kernel of cubic interpolation with -0.75 at distances below 2.
func cubicWeight(c *build.Call, d *build.Value) *build.Value {
	const a = -0.75
	d = c.Unary(op.IDAbs, d)
	poly := func(k3, k2, k1, k0 float64) *build.Value {
		v := c.Add(c.Mul(d, build.Num(k3)), build.Num(k2))
		v = c.Add(c.Mul(v, d), build.Num(k1))
		return c.Add(c.Mul(v, d), build.Num(k0))
	}
	near, far := poly(a+2, -(a+3), 0, 1), poly(a, -5*a, 8*a, -4*a)
	return c.Where(c.Binary(op.IDLessEqual, d, build.Num(1)), near, far)
}

// blend sums what is at n neighbours on axis i, with weights by their distances, and on the axes behind it. It goes
// through the axes one after the other, so that there are n to the power of the axes reads.
func blend(c *build.Call, x *build.Value, at []*build.Value, i, n int, corners bool, weight func(c *build.Call, d *build.Value) *build.Value) *build.Value {
	if i == len(at) {
		return sampled(c, x, at, corners)
	}
	base := c.Unary(op.IDFloor, at[i])
	var total *build.Value
	for k := range n {
		place := c.Add(base, build.Num(float64(k-n/2+1)))
		w := weight(c, c.Sub(at[i], place))
		next := slices.Clone(at)
		next[i] = place
		part := c.Mul(blend(c, x, next, i+1, n, corners, weight), c.Unsqueeze(w, 1))
		if total == nil {
			total = part
		} else {
			total = c.Add(total, part)
		}
	}
	return total
}

// sampled is x at coordinates that are whole numbers, [N, places...] for each axis: [N, C, places...]. What is
// outside is 0, the element at the end, or a mirror image, as attribute padding_mode says.
func sampled(c *build.Call, x *build.Value, at []*build.Value, corners bool) *build.Value {
	mode := c.Text("padding_mode", "zeros")
	rank := at[0].Rank() + 1
	in := []*build.Value{x, c.Steps(x.Dims()[0], 0, rank), c.Steps(x.Dims()[1], 1, rank)}
	var inside *build.Value
	for i, v := range at {
		n := float64(x.Dims()[i+2])
		if mode == "reflection" {
			v = reflected(c, v, n, corners)
		}
		clipped := c.Clamp(v, 0, n-1)
		if mode == "zeros" {
			same := c.Binary(op.IDEqual, v, clipped)
			if inside == nil {
				inside = same
			} else {
				inside = c.Binary(op.IDLogicalAnd, inside, same)
			}
		}
		in = append(in, c.Unsqueeze(c.Cast(clipped, dtype.Int64), 1))
	}
	y := c.Do(op.IDIndex, nil, in...)
	if inside == nil {
		return y
	}
	return c.Where(c.Unsqueeze(inside, 1), y, zero(c, y.DType))
}

// reflected brings coordinates within an axis by mirrors at its ends: at the elements there, or half an element
// beyond. The distance from the lower end is folded at the length of the axis: a triangle wave.
func reflected(c *build.Call, v *build.Value, n float64, corners bool) *build.Value {
	low, high := -0.5, n-0.5
	if corners {
		low, high = 0, n-1
	}
	span := high - low
	if span <= 0 {
		return c.Mul(v, build.Num(0))
	}
	d := c.Binary(op.IDRemainder, c.Sub(v, build.Num(low)), build.Num(2*span))
	d = c.Where(c.Binary(op.IDGreaterThan, d, build.Num(span)), c.Sub(build.Num(2*span), d), d)
	return c.Add(d, build.Num(low))
}

// nonMaxSuppression is rows of batch, class and box for the boxes that are chosen, those of a class from the best on. The row
// has as many places for each class, and -1 in those that are left.
func nonMaxSuppression(c *build.Call) []*build.Value {
	most, limit, least := int64(0), 0.0, math.Inf(-1)
	if c.Has(2) {
		most = int64(min(max(c.Number(2, "max_output_boxes_per_class"), 0), math.MaxInt32)) // exporters write the largest int64
	}
	if c.Has(3) {
		limit = c.Number(3, "iou_threshold")
	}
	if c.Has(4) {
		least = c.Number(4, "score_threshold")
	}
	at := build.With(op.NmsMaxOutputSize, most, op.NmsIouThreshold, limit, op.NmsScoreThreshold, least, op.NmsCenter, c.Yes("center_point_box", 0))
	// Places that hold a box are counted; index reads their boxes. The two first columns of a place are its batch and its class.
	boxes := c.Do(op.IDNms, at, c.X(0), c.X(1))
	places := c.Counted(op.IDNonzero, nil, c.Binary(op.IDGreaterEqual, boxes, build.Whole(0)))
	chosen := c.Do(op.IDIndex, nil, boxes, c.Pick(places, 1, 0), c.Pick(places, 1, 1), c.Pick(places, 1, 2))
	return build.One(c.Concat(1, c.Slice(places, 1, 0, 2), c.Unsqueeze(chosen, 1)))
}
