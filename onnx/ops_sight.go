package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators that read images at places that other tensors name, and determinants.
//
// What is read between elements is the sum of the elements around, by weights that follow from the distances. The places are
// computed in the dtype of the tensors that name them.

var sights = []entry{
	// DeformConv: X, W, offset, B, mask.
	{"DeformConv", 19, 0, deformConv},
	// RoiAlign: X, rois, batch_indices. Coordinates were not shifted before opset 16.
	{"RoiAlign", 10, 0, func(c *call) []*value { return one(c.aligned(false)) }},
	{"RoiAlign", 16, 0, func(c *call) []*value {
		return one(c.aligned(c.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"))
	}},
	{"Det", 11, 0, func(c *call) []*value { return one(c.determinant(c.x(0))) }},
}

// listOr is an attribute with n integers; all are the same where it is not given.
func (c *call) listOr(name string, n int, otherwise int64) []int64 {
	if !c.given(name) {
		return slices.Repeat([]int64{otherwise}, n)
	}
	list := c.list(name)
	if len(list) != n {
		c.wrong("%s has %d numbers; want %d", name, len(list), n)
	}
	return list
}

// deformConv is a convolution whose kernel reads each element at a place of its own: where it would be, plus an offset, between
// the elements around. Beyond the image is 0. Offsets are [N, groups * kernel * axes, places...], masks [N, groups * kernel,
// places...]. What is read becomes a matrix, which is multiplied by the weights.
func deformConv(c *call) []*value {
	x, w, offset := c.x(0), c.x(1), c.x(2)
	axes := x.rank() - 2
	if axes < 1 || axes > 3 || w.rank() != x.rank() || offset.rank() != x.rank() {
		c.wrong("the operands have shapes %s, %s and %s; want as many dimensions, 3 to 5", &x.Shape, &w.Shape, &offset.Shape)
	}
	n, channels, kernel := x.dims()[0], x.dims()[1], w.dims()[2:]
	group, parts := c.int("group", 1), c.int("offset_group", 1)
	points, places := product(kernel), offset.dims()[2:]
	if points < 1 || group < 1 || parts < 1 || channels%parts != 0 || w.dims()[1]*group != channels || w.dims()[0]%group != 0 || offset.dims()[1] != parts*points*int64(axes) {
		c.wrong("the operands have shapes %s, %s and %s with group %d and offset_group %d", &x.Shape, &w.Shape, &offset.Shape, group, parts)
	}
	// Each offset group of each image is an image of its own, with its channels.
	at := c.deformed(x, offset, kernel, n*parts)
	images := c.reshape(x, slices.Concat([]int64{n * parts, channels / parts}, x.dims()[2:])...)
	read := c.blend(images, at, 0)
	if c.has(4) {
		read = c.mul(read, c.reshape(c.x(4), slices.Concat([]int64{n * parts, 1, points}, places)...))
	}
	// A column is what a place reads: all channels of a group, each with all points of the kernel.
	columns := c.reshape(read, n, group, channels/group*points, product(places))
	y := c.matmul(c.reshape(w, group, w.dims()[0]/group, channels/group*points), columns)
	y = c.reshape(y, slices.Concat([]int64{n, w.dims()[0]}, places)...)
	if c.has(3) {
		y = c.add(y, c.channels(c.x(3), x.rank()))
	}
	return one(y)
}

// blend sums what is at the two neighbours on axis i, with weights by their distances, and on the axes behind it. It goes
// through the axes one after the other, so that there are 2 to the power of the axes reads.
func (c *call) blend(x *value, at []*value, i int) *value {
	if i == len(at) {
		return c.sampled(x, at)
	}
	base := c.unary(op.IDFloor, at[i])
	var parts [2]*value
	for k := range parts {
		next := slices.Clone(at)
		next[i] = c.add(base, num(float64(k)))
		w := c.sub(num(1), c.unary(op.IDAbs, c.sub(at[i], next[i])))
		parts[k] = c.mul(c.blend(x, next, i+1), c.unsqueeze(w, 1))
	}
	return c.add(parts[0], parts[1])
}

// sampled is x at coordinates that are whole numbers, [N, places...] for each axis: [N, C, places...]; 0 outside.
func (c *call) sampled(x *value, at []*value) *value {
	rank := at[0].rank() + 1
	in := []*value{x, c.steps(x.dims()[0], 0, rank), c.steps(x.dims()[1], 1, rank)}
	var inside *value
	for i, v := range at {
		clipped := c.clamp(v, 0, float64(x.dims()[i+2])-1)
		same := c.binary(op.IDEqual, v, clipped)
		if inside == nil {
			inside = same
		} else {
			inside = c.binary(op.IDLogicalAnd, inside, same)
		}
		in = append(in, c.unsqueeze(c.cast(clipped, dtype.Int64), 1))
	}
	y := c.do(op.IDIndex, nil, in...)
	return c.where(c.unsqueeze(inside, 1), y, c.zero(y.DType))
}

// deformed is the coordinates on each axis of what a kernel reads: [lead, points of the kernel, places...].
func (c *call) deformed(x, offset *value, kernel []int64, lead int64) []*value {
	axes, places := len(kernel), offset.dims()[2:]
	stride, dilation, pads := c.listOr("strides", axes, 1), c.listOr("dilations", axes, 1), c.listOr("pads", 2*axes, 0)
	points := product(kernel)
	split := c.reshape(offset, slices.Concat([]int64{lead, points, int64(axes)}, places)...)
	at, inner := make([]*value, axes), points
	for i, k := range kernel {
		if stride[i] < 1 || (x.dims()[i+2]+pads[i]+pads[i+axes]-dilation[i]*(k-1)-1)/stride[i]+1 != places[i] {
			c.wrong("the offsets are for %d places on axis %d, which strides, dilations and pads do not make of %d elements", places[i], i, x.dims()[i+2])
		}
		inner /= k
		c.room(points)
		list := make([]float64, points) // where the points of the kernel are on the axis
		for p := range list {
			list[p] = float64(int64(p)/inner%k*dilation[i] - pads[i])
		}
		dims := slices.Repeat([]int64{1}, axes+2)
		dims[1] = points
		base := c.reals(offset.DType, dims, list)
		way := c.cast(c.mul(c.steps(places[i], i+2, axes+2), whole(stride[i])), offset.DType)
		at[i] = c.add(c.pick(split, 2, int64(i)), c.add(base, way))
	}
	return at
}

// aligned is regions of images, each as a grid of bins: the mean or the largest of what is read at points spread evenly over a
// bin, between the elements around. Regions are [count, 4]: x and y of two corners. Points more than an element beyond the
// image read 0, and others the elements at its edge. half says that the corners are at the centers of elements. Mode max takes
// the largest of the elements by their weights, as onnxruntime does.
func (c *call) aligned(half bool) *value {
	x, regions := c.x(0), c.x(1)
	each := c.int("sampling_ratio", 0)
	if each < 1 {
		c.refuse("sampling_ratio is %d, which makes the number of points depend on elements; want 1 or more", each)
	}
	if x.rank() != 4 || regions.rank() != 2 || regions.dims()[1] != 4 {
		c.wrong("the operands have shapes %s and %s; want [N, C, H, W] and [count, 4]", &x.Shape, &regions.Shape)
	}
	d, n := precise(x.DType), regions.dims()[0]
	corners := c.mul(c.cast(regions, d), num(c.float("spatial_scale", 1)))
	if half {
		corners = c.sub(corners, num(0.5))
	}
	// The channels are last, because index reads all of an axis only behind the axes that it has indices for.
	image := c.transpose(c.cast(x, d), 0, 2, 3, 1)
	number := c.reshape(c.fromStart(c.x(2), x.dims()[0]), n, 1, 1)
	rows := c.points(corners, 1, x.dims()[2], c.int("output_height", 1), each, half)
	columns := c.points(corners, 0, x.dims()[3], c.int("output_width", 1), each, half)
	// Each point lies between four elements: the two of its row times the two of its column.
	var parts []*value // [count, points, points, channels]
	for _, row := range rows {
		for _, column := range columns {
			read := c.do(op.IDIndex, nil, image, number, c.reshape(row.at, n, row.n, 1), c.reshape(column.at, n, 1, column.n))
			parts = append(parts, c.mul(read, c.mul(c.reshape(row.weight, n, row.n, 1, 1), c.reshape(column.weight, n, 1, column.n, 1))))
		}
	}
	largest := c.text("mode", "avg") == "max"
	all := parts[0]
	for _, p := range parts[1:] {
		if largest {
			all = c.binary(op.IDMaximum, all, p)
		} else {
			all = c.add(all, p)
		}
	}
	bins := c.reshape(all, n, rows[0].n/each, each, columns[0].n/each, each, x.dims()[1])
	if largest {
		bins = c.highest(bins, false, 2, 4)
	} else {
		bins = c.mean(bins, false, 2, 4)
	}
	return c.cast(c.transpose(bins, 0, 3, 1, 2), x.DType)
}

// reading is the places of n points on an axis, and the weights of what is read there: [count, n].
type reading struct {
	at, weight *value
	n          int64
}

// points are the elements before and behind each point on an axis of size elements.
func (c *call) points(corners *value, axis int, size, bins, each int64, half bool) [2]reading {
	if bins < 1 || size < 1 {
		c.wrong("an axis of %d elements becomes %d bins; want 1 or more of both", size, bins)
	}
	c.room(bins, each)
	n := bins * each
	from := c.slice(corners, 1, int64(axis), int64(axis)+1)
	length := c.sub(c.slice(corners, 1, int64(axis)+2, int64(axis)+3), from)
	if !half {
		length = c.binary(op.IDMaximum, length, num(1))
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = (float64(i) + 0.5) / float64(n)
	}
	// The points of all bins are evenly spread over the whole region, whatever the bins are.
	at := c.add(from, c.mul(length, c.reals(corners.DType, []int64{1, n}, list)))
	seen := c.binary(op.IDLogicalAnd, c.binary(op.IDGreaterEqual, at, num(-1)), c.binary(op.IDLessEqual, at, num(float64(size))))
	at = c.clamp(at, 0, float64(size-1))
	before := c.unary(op.IDFloor, at)
	far := c.sub(at, before)
	weight := func(v *value) *value { return c.where(seen, v, c.zero(v.DType)) }
	place := func(v *value) *value { return c.cast(c.clamp(v, 0, float64(size-1)), dtype.Int64) }
	return [2]reading{{place(before), weight(c.sub(num(1), far)), n}, {place(c.add(before, num(1))), weight(far), n}}
}

// largestDet is the most rows of a matrix whose determinant is computed: each takes a step of the elimination.
const largestDet = 128

// determinant eliminates a row and a column after the other. The row with the largest element in the first column changes
// places with the first row, which changes the sign. The determinant is the product of these elements.
//
// Batches choose different rows, so that nothing is moved by indices: a mask of one row reads it as a sum, and writes over it.
// Where a column has nothing but zeros, the determinant is 0, and what is eliminated further does not matter.
func (c *call) determinant(x *value) *value {
	last := x.rank() - 1
	if last < 1 || x.dims()[last] != x.dims()[last-1] {
		c.wrong("the operand has shape %s; want square matrices", &x.Shape)
	}
	if x.dims()[last] > largestDet {
		c.refuse("the matrices have %d rows; want at most %d", x.dims()[last], largestDet)
	}
	d := x.DType
	a := c.cast(x, precise(d))
	det := c.full(a.DType, integer(1), x.dims()[:last-1]...)
	for n := x.dims()[last]; n > 0; n-- {
		first := c.pick(a, last, 0)
		best := c.do(op.IDArgmax, with(op.ArgmaxAxis, last-1), c.unary(op.IDAbs, first))
		places := c.steps(n, last-1, last+1) // of rows
		chosen := c.binary(op.IDEqual, places, c.unsqueeze(best, int64(last-1), int64(last)))
		row := c.sum(c.where(chosen, a, c.zero(a.DType)), false, int64(last-1))
		head := c.pick(row, last-1, 0)
		sign := c.where(c.binary(op.IDEqual, best, whole(0)), c.reals(a.DType, nil, []float64{1}), c.reals(a.DType, nil, []float64{-1}))
		det = c.mul(det, c.mul(head, sign))
		if n == 1 {
			break
		}
		a = c.where(chosen, c.slice(a, last-1, 0, 1), a) // the first row is where the other was, and is dropped at its own place
		a = c.slice(a, last-1, 1, n)
		safe := c.where(c.binary(op.IDEqual, head, num(0)), c.reals(a.DType, nil, []float64{1}), head)
		ratio := c.div(c.slice(a, last, 0, 1), c.unsqueeze(safe, int64(last-1), int64(last)))
		a = c.sub(c.slice(a, last, 1, n), c.mul(ratio, c.unsqueeze(c.slice(row, last-1, 1, n), int64(last-1))))
	}
	return c.cast(det, d)
}
