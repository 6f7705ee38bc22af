package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Operators that read images at places that other tensors name, and determinants.
//
// What is read between elements is the sum of the elements around, by weights that follow from the distances. The places are
// computed in the dtype of the tensors that name them.

var sights = []entry{
	// DeformConv: X, W, offset, B, mask.
	{"DeformConv", 19, 0, deformConv},
	// RoiAlign: X, rois, batch_indices. Coordinates were not shifted before opset 16.
	{"RoiAlign", 10, 0, func(c *build.Call) []*build.Value { return build.One(aligned(c, false)) }},
	{"RoiAlign", 16, 0, func(c *build.Call) []*build.Value {
		return build.One(aligned(c, c.Text("coordinate_transformation_mode", "half_pixel") == "half_pixel"))
	}},
	{"Det", 11, 0, func(c *build.Call) []*build.Value { return build.One(determinant(c, c.X(0))) }},
}

// listOr is an attribute with n integers; all are the same where it is not given.
func listOr(c *build.Call, name string, n int, otherwise int64) []int64 {
	if !c.Given(name) {
		return slices.Repeat([]int64{otherwise}, n)
	}
	list := c.List(name)
	if len(list) != n {
		c.Wrong("%s has %d numbers; want %d", name, len(list), n)
	}
	return list
}

// deformConv is a convolution whose kernel reads each element at a place of its own: where it would be, plus an offset, between
// the elements around. Beyond the image is 0. Offsets are [N, groups * kernel * axes, places...], masks [N, groups * kernel,
// places...]. What is read becomes a matrix, which is multiplied by the weights.
func deformConv(c *build.Call) []*build.Value {
	x, w, offset := c.X(0), c.X(1), c.X(2)
	axes := x.Rank() - 2
	if axes < 1 || axes > 3 || w.Rank() != x.Rank() || offset.Rank() != x.Rank() {
		c.Wrong("the operands have shapes %s, %s and %s; want as many dimensions, 3 to 5", &x.Shape, &w.Shape, &offset.Shape)
	}
	n, channels, kernel := x.Dims()[0], x.Dims()[1], w.Dims()[2:]
	group, parts := c.Int("group", 1), c.Int("offset_group", 1)
	points, places := build.Product(kernel), offset.Dims()[2:]
	if points < 1 || group < 1 || parts < 1 || channels%parts != 0 || w.Dims()[1]*group != channels || w.Dims()[0]%group != 0 || offset.Dims()[1] != parts*points*int64(axes) {
		c.Wrong("the operands have shapes %s, %s and %s with group %d and offset_group %d", &x.Shape, &w.Shape, &offset.Shape, group, parts)
	}
	// Each offset group of each image is an image of its own, with its channels.
	at := deformed(c, x, offset, kernel, n*parts)
	images := c.Reshape(x, slices.Concat([]int64{n * parts, channels / parts}, x.Dims()[2:])...)
	read := blend(c, images, at, 0)
	if c.Has(4) {
		read = c.Mul(read, c.Reshape(c.X(4), slices.Concat([]int64{n * parts, 1, points}, places)...))
	}
	// A column is what a place reads: all channels of a group, each with all points of the kernel.
	columns := c.Reshape(read, n, group, channels/group*points, build.Product(places))
	y := c.Matmul(c.Reshape(w, group, w.Dims()[0]/group, channels/group*points), columns)
	y = c.Reshape(y, slices.Concat([]int64{n, w.Dims()[0]}, places)...)
	if c.Has(3) {
		y = c.Add(y, alongChannels(c, c.X(3), x.Rank()))
	}
	return build.One(y)
}

// blend sums what is at the two neighbours on axis i, with weights by their distances, and on the axes behind it. It goes
// through the axes one after the other, so that there are 2 to the power of the axes reads.
func blend(c *build.Call, x *build.Value, at []*build.Value, i int) *build.Value {
	if i == len(at) {
		return sampled(c, x, at)
	}
	base := c.Unary(op.IDFloor, at[i])
	var parts [2]*build.Value
	for k := range parts {
		next := slices.Clone(at)
		next[i] = c.Add(base, build.Num(float64(k)))
		w := c.Sub(build.Num(1), c.Unary(op.IDAbs, c.Sub(at[i], next[i])))
		parts[k] = c.Mul(blend(c, x, next, i+1), c.Unsqueeze(w, 1))
	}
	return c.Add(parts[0], parts[1])
}

// sampled is x at coordinates that are whole numbers, [N, places...] for each axis: [N, C, places...]; 0 outside.
func sampled(c *build.Call, x *build.Value, at []*build.Value) *build.Value {
	rank := at[0].Rank() + 1
	in := []*build.Value{x, c.Steps(x.Dims()[0], 0, rank), c.Steps(x.Dims()[1], 1, rank)}
	var inside *build.Value
	for i, v := range at {
		clipped := c.Clamp(v, 0, float64(x.Dims()[i+2])-1)
		same := c.Binary(op.IDEqual, v, clipped)
		if inside == nil {
			inside = same
		} else {
			inside = c.Binary(op.IDLogicalAnd, inside, same)
		}
		in = append(in, c.Unsqueeze(c.Cast(clipped, dtype.Int64), 1))
	}
	y := c.Do(op.IDIndex, nil, in...)
	return c.Where(c.Unsqueeze(inside, 1), y, zero(c, y.DType))
}

// deformed is the coordinates on each axis of what a kernel reads: [lead, points of the kernel, places...].
func deformed(c *build.Call, x, offset *build.Value, kernel []int64, lead int64) []*build.Value {
	axes, places := len(kernel), offset.Dims()[2:]
	stride, dilation, pads := listOr(c, "strides", axes, 1), listOr(c, "dilations", axes, 1), listOr(c, "pads", 2*axes, 0)
	points := build.Product(kernel)
	split := c.Reshape(offset, slices.Concat([]int64{lead, points, int64(axes)}, places)...)
	at, inner := make([]*build.Value, axes), points
	for i, k := range kernel {
		if stride[i] < 1 || (x.Dims()[i+2]+pads[i]+pads[i+axes]-dilation[i]*(k-1)-1)/stride[i]+1 != places[i] {
			c.Wrong("the offsets are for %d places on axis %d, which strides, dilations and pads do not make of %d elements", places[i], i, x.Dims()[i+2])
		}
		inner /= k
		c.Room(points)
		list := make([]float64, points) // where the points of the kernel are on the axis
		for p := range list {
			list[p] = float64(int64(p)/inner%k*dilation[i] - pads[i])
		}
		dims := slices.Repeat([]int64{1}, axes+2)
		dims[1] = points
		base := c.Reals(offset.DType, dims, list)
		way := c.Cast(c.Mul(c.Steps(places[i], i+2, axes+2), build.Whole(stride[i])), offset.DType)
		at[i] = c.Add(c.Pick(split, 2, int64(i)), c.Add(base, way))
	}
	return at
}

// aligned is regions of images, each as a grid of bins: the mean or the largest of what is read at points spread evenly over a
// bin, between the elements around. Regions are [count, 4]: x and y of two corners. Points more than an element beyond the
// image read 0, and others the elements at its edge. half says that the corners are at the centers of elements. Mode max takes
// the largest of the elements by their weights, as onnxruntime does.
func aligned(c *build.Call, half bool) *build.Value {
	x, regions := c.X(0), c.X(1)
	each := c.Int("sampling_ratio", 0)
	if each < 1 {
		c.Refuse("sampling_ratio is %d, which makes the number of points depend on elements; want 1 or more", each)
	}
	if x.Rank() != 4 || regions.Rank() != 2 || regions.Dims()[1] != 4 {
		c.Wrong("the operands have shapes %s and %s; want [N, C, H, W] and [count, 4]", &x.Shape, &regions.Shape)
	}
	d, n := precise(x.DType), regions.Dims()[0]
	corners := c.Mul(c.Cast(regions, d), build.Num(c.Float("spatial_scale", 1)))
	if half {
		corners = c.Sub(corners, build.Num(0.5))
	}
	// The channels are last, because index reads all of an axis only behind the axes that it has indices for.
	image := c.Transpose(c.Cast(x, d), 0, 2, 3, 1)
	number := c.Reshape(fromStart(c, c.X(2), x.Dims()[0]), n, 1, 1)
	rows := points(c, corners, 1, x.Dims()[2], c.Int("output_height", 1), each, half)
	columns := points(c, corners, 0, x.Dims()[3], c.Int("output_width", 1), each, half)
	// Each point lies between four elements: the two of its row times the two of its column.
	var parts []*build.Value // [count, points, points, channels]
	for _, row := range rows {
		for _, column := range columns {
			read := c.Do(op.IDIndex, nil, image, number, c.Reshape(row.at, n, row.n, 1), c.Reshape(column.at, n, 1, column.n))
			parts = append(parts, c.Mul(read, c.Mul(c.Reshape(row.weight, n, row.n, 1, 1), c.Reshape(column.weight, n, 1, column.n, 1))))
		}
	}
	largest := c.Text("mode", "avg") == "max"
	all := parts[0]
	for _, p := range parts[1:] {
		if largest {
			all = c.Binary(op.IDMaximum, all, p)
		} else {
			all = c.Add(all, p)
		}
	}
	bins := c.Reshape(all, n, rows[0].n/each, each, columns[0].n/each, each, x.Dims()[1])
	if largest {
		bins = c.Highest(bins, false, 2, 4)
	} else {
		bins = c.Mean(bins, false, 2, 4)
	}
	return c.Cast(c.Transpose(bins, 0, 3, 1, 2), x.DType)
}

// reading is the places of n points on an axis, and the weights of what is read there: [count, n].
type reading struct {
	at, weight *build.Value
	n          int64
}

// points are the elements before and behind each point on an axis of size elements.
func points(c *build.Call, corners *build.Value, axis int, size, bins, each int64, half bool) [2]reading {
	if bins < 1 || size < 1 {
		c.Wrong("an axis of %d elements becomes %d bins; want 1 or more of both", size, bins)
	}
	c.Room(bins, each)
	n := bins * each
	from := c.Slice(corners, 1, int64(axis), int64(axis)+1)
	length := c.Sub(c.Slice(corners, 1, int64(axis)+2, int64(axis)+3), from)
	if !half {
		length = c.Binary(op.IDMaximum, length, build.Num(1))
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = (float64(i) + 0.5) / float64(n)
	}
	// The points of all bins are evenly spread over the whole region, whatever the bins are.
	at := c.Add(from, c.Mul(length, c.Reals(corners.DType, []int64{1, n}, list)))
	seen := c.Binary(op.IDLogicalAnd, c.Binary(op.IDGreaterEqual, at, build.Num(-1)), c.Binary(op.IDLessEqual, at, build.Num(float64(size))))
	at = c.Clamp(at, 0, float64(size-1))
	before := c.Unary(op.IDFloor, at)
	far := c.Sub(at, before)
	weight := func(v *build.Value) *build.Value { return c.Where(seen, v, zero(c, v.DType)) }
	place := func(v *build.Value) *build.Value { return c.Cast(c.Clamp(v, 0, float64(size-1)), dtype.Int64) }
	return [2]reading{{place(before), weight(c.Sub(build.Num(1), far)), n}, {place(c.Add(before, build.Num(1))), weight(far), n}}
}

// largestDet is the most rows of a matrix whose determinant is computed: each takes a step of the elimination.
const largestDet = 128

// determinant eliminates a row and a column after the other. The row with the largest element in the first column changes
// places with the first row, which changes the sign. The determinant is the product of these elements.
//
// Batches choose different rows, so that nothing is moved by indices: a mask of one row reads it as a sum, and writes over it.
// Where a column has nothing but zeros, the determinant is 0, and what is eliminated further does not matter.
func determinant(c *build.Call, x *build.Value) *build.Value {
	last := x.Rank() - 1
	if last < 1 || x.Dims()[last] != x.Dims()[last-1] {
		c.Wrong("the operand has shape %s; want square matrices", &x.Shape)
	}
	if x.Dims()[last] > largestDet {
		c.Refuse("the matrices have %d rows; want at most %d", x.Dims()[last], largestDet)
	}
	d := x.DType
	a := c.Cast(x, precise(d))
	det := c.Full(a.DType, build.Integer(1), x.Dims()[:last-1]...)
	for n := x.Dims()[last]; n > 0; n-- {
		first := c.Pick(a, last, 0)
		best := c.Do(op.IDArgmax, build.With(op.ArgmaxAxis, last-1), c.Unary(op.IDAbs, first))
		places := c.Steps(n, last-1, last+1) // of rows
		chosen := c.Binary(op.IDEqual, places, c.Unsqueeze(best, int64(last-1), int64(last)))
		row := c.Sum(c.Where(chosen, a, zero(c, a.DType)), false, int64(last-1))
		head := c.Pick(row, last-1, 0)
		sign := c.Where(c.Binary(op.IDEqual, best, build.Whole(0)), c.Reals(a.DType, nil, []float64{1}), c.Reals(a.DType, nil, []float64{-1}))
		det = c.Mul(det, c.Mul(head, sign))
		if n == 1 {
			break
		}
		a = c.Where(chosen, c.Slice(a, last-1, 0, 1), a) // the first row is where the other was, and is dropped at its own place
		a = c.Slice(a, last-1, 1, n)
		safe := c.Where(c.Binary(op.IDEqual, head, build.Num(0)), c.Reals(a.DType, nil, []float64{1}), head)
		ratio := c.Div(c.Slice(a, last, 0, 1), c.Unsqueeze(safe, int64(last-1), int64(last)))
		a = c.Sub(c.Slice(a, last, 1, n), c.Mul(ratio, c.Unsqueeze(c.Slice(row, last-1, 1, n), int64(last-1))))
	}
	return c.Cast(det, d)
}
