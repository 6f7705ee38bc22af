package formula

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/rows"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Images at places that other tensors say: regions, and convolutions whose kernels have offsets.

// mostRegionPoints bounds the points that are read on an axis of a region.
const mostRegionPoints = 1 << 20

// regionBins is the rule of roi_align.
func regionBins(c *op.Inference) error {
	x, boxes, batch := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape
	if x.Rank != 4 || boxes.Rank != 2 || op.Differ(boxes.Dims[1], 4) || batch.Rank != 1 || op.Differ(batch.Dims[0], boxes.Dims[0]) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, boxes %s and batch_indices %s; want [n, c, h, w], [count, 4] and [count]", c.Row.Name, x, boxes, batch)
	}
	if d := c.In[1].DType; !d.IsFloat() {
		return status.Errorf(status.Unsupported, "[%s] boxes are %s; want a floating-point tensor", c.Row.Name, d)
	}
	if d := c.In[2].DType; !d.IsInt() {
		return status.Errorf(status.Unsupported, "[%s] batch_indices are %s; want integers", c.Row.Name, d)
	}
	c.Out[0].Shape = *x
	c.Out[0].Shape.Dims[0] = boxes.Dims[0]
	each := c.Attr("sampling_ratio").I
	for i, name := range [...]string{"output_height", "output_width"} {
		bins := c.Attr(name).I
		if bins < 1 || each < 1 || bins > mostRegionPoints/each || x.Dims[i+2] == 0 {
			return status.Errorf(status.Invalid, "[%s] %s is %d and sampling_ratio %d, for an axis of %d elements; want 1 or more, and at most %d points",
				c.Row.Name, name, bins, each, x.Dims[i+2], mostRegionPoints)
		}
		c.Out[0].Shape.Dims[i+2] = bins
	}
	return oneOf(c, map[string][]string{"mode": {"avg", "max"}})
}

// reading is the places of n points on an axis, before and behind each, and the weights of what is read there.
type reading struct {
	at, weight op.Var
	n          int64
}

// alignRegions computes roi_align: the means or the largest of points that are spread evenly over each bin of a region. A point
// lies between four elements: the two of its row times the two of its column.
func alignRegions(e *evaluation, args []*quantity) *quantity {
	x, boxes := args[0].v, args[1].v
	height, width, each := args[3].value.I, args[4].value.I, args[6].value.I
	half, largest := args[7].value.I != 0, args[8].value.Str() == "max"
	s, n := e.Shape(x), e.Shape(boxes).Dims[0]
	corners := e.Cast(boxes, e.TypeOf(x).DType)
	if scale := args[5].value.F; scale != 1 {
		corners = e.Scale(corners, scale)
	}
	if half {
		corners = e.Plus(corners, -0.5)
	}
	image := permute(e.Calls, x, channelsBehind(4)) // a read copies all channels of a pixel
	number := e.ranked(e.Cast(args[2].v, dtype.Int64), n, 1, 1)
	lines := e.regionPoints(corners, 1, s.Dims[2], height, each, half)
	columns := e.regionPoints(corners, 0, s.Dims[3], width, each, half)
	total := op.NoVar // [count, points, points, channels]
	for _, row := range lines {
		for _, column := range columns {
			read := e.Do(op.IDIndex, nil, image, number, e.ranked(row.at, n, row.n, 1), e.ranked(column.at, n, 1, column.n))
			term := e.Multiply(read, e.Multiply(e.ranked(row.weight, n, row.n, 1, 1), e.ranked(column.weight, n, 1, column.n, 1)))
			switch {
			case total == op.NoVar:
				total = term
			case largest:
				total = e.Do(op.IDMaximum, nil, total, term)
			default:
				total = e.Add(total, term)
			}
		}
	}
	bins := e.ranked(total, n, height, each, width, each, s.Dims[1])
	row := op.IDMean
	if largest {
		row = op.IDMax
	}
	bins = e.Do(row, op.Attrs{{Kind: op.Ints, Ints: []int64{2, 4}}}, bins)
	return &quantity{v: permute(e.Calls, bins, channelsInFront(4))}
}

// regionPoints are the elements before and behind each point on an axis of so many elements. Points more than an element beyond
// the image read 0, and others the elements at its edge. half says that corners are at the centers of elements; else a region has
// a size of 1 or more.
func (e *evaluation) regionPoints(corners op.Var, axis, size, bins, each int64, half bool) [2]reading {
	n, last := bins*each, float64(size-1)
	from := between(e.Calls, corners, 1, axis, axis+1)
	length := e.Subtract(between(e.Calls, corners, 1, axis+2, axis+3), from)
	if !half {
		length = e.Do(op.IDMaximum, nil, length, e.Float(1))
	}
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = (float64(i) + 0.5) / float64(n)
	}
	line := rows.Line(n, 2, 1)
	at := e.Add(from, e.Multiply(length, e.Reshape(constant(e.Calls, parts, e.dtypeOf(corners)), &line)))
	known := e.Do(op.IDLogicalAnd, nil, e.Do(op.IDGreaterEqual, nil, at, e.Float(-1)), e.Do(op.IDLessEqual, nil, at, e.Float(float64(size))))
	within := func(v op.Var) op.Var { return e.Do(op.IDClip, nil, v, e.Float(0), e.Float(last)) }
	at = within(at)
	before := e.Do(op.IDFloor, nil, at)
	far := e.Subtract(at, before)
	weight := func(v op.Var) op.Var { return e.Where(known, v, e.Zero()) }
	place := func(v op.Var) op.Var { return e.Cast(within(v), dtype.Int64) }
	return [2]reading{{place(before), weight(e.Subtract(e.Float(1), far)), n}, {place(e.Plus(before, 1)), weight(far), n}}
}

// dtypeOf is the dtype of a value; after an error any.
func (e *evaluation) dtypeOf(v op.Var) dtype.DType {
	if e.Err != nil {
		return dtype.Float32
	}
	return e.TypeOf(v).DType
}

// listOf is an attribute with n numbers; all are the same where it is not given.
func listOf(list []int64, n int, otherwise int64) []int64 {
	if len(list) == 0 {
		return slices.Repeat([]int64{otherwise}, n)
	}
	return list
}

// deformedPlaces is the rule of deform_conv.
func deformedPlaces(c *op.Inference) error {
	x, offset, w := &c.In[0].Shape, &c.In[1].Shape, &c.In[2].Shape
	axes := x.Rank - 2
	if axes < 1 || axes > 3 || w.Rank != x.Rank || offset.Rank != x.Rank {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, offset %s and weight %s; want as many axes of each, 3 to 5", c.Row.Name, x, offset, w)
	}
	stride, padding, dilation := c.Attr("stride").Ints, c.Attr("padding").Ints, c.Attr("dilation").Ints
	if len(stride) != 0 && len(stride) != axes || len(padding) != 0 && len(padding) != 2*axes || len(dilation) != 0 && len(dilation) != axes {
		return status.Errorf(status.Invalid, "[%s] stride is %v, padding %v and dilation %v for %d axes; want a number an axis, and two for padding", c.Row.Name, stride, padding, dilation, axes)
	}
	groups, parts, points := c.Attr("groups").I, c.Attr("deformable_groups").I, int64(1)
	for i, k := range w.Slice()[2:] {
		points = c.Times(points, k)
		if s, p, d := listOf(stride, axes, 1)[i], listOf(padding, 2*axes, 0)[2*i:], listOf(dilation, axes, 1)[i]; !shape.IsSymbol(x.Dims[i+2]) && !shape.IsSymbol(k) && !shape.IsSymbol(offset.Dims[i+2]) &&
			(s < 1 || k < 1 || (x.Dims[i+2]+p[0]+p[1]-d*(k-1)-1)/s+1 != offset.Dims[i+2]) {
			return status.Errorf(status.Invalid, "[%s] offset has %d places on axis %d; want those that stride, dilation and padding make of %d elements for a kernel of %d", c.Row.Name, offset.Dims[i+2], i, x.Dims[i+2], k)
		}
	}
	channels := x.Dims[1]
	if groups < 1 || parts < 1 || !shape.IsSymbol(channels) && channels%parts != 0 || op.Differ(c.Times(w.Dims[1], groups), channels) ||
		!shape.IsSymbol(w.Dims[0]) && w.Dims[0]%groups != 0 || op.Differ(c.Times(points, parts*int64(axes)), offset.Dims[1]) || op.Differ(x.Dims[0], offset.Dims[0]) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s, offset %s and weight %s with groups %d and deformable_groups %d; want [n, c, size...], [n, deformable_groups * kernel * axes, places...] and [o, c / groups, kernel...]",
			c.Row.Name, x, offset, w, groups, parts)
	}
	c.Out[0].Shape = *offset
	c.Out[0].Shape.Dims[1] = w.Dims[0]
	return nil
}

// deformConv computes deform_conv: a convolution whose kernel reads each element at a place of its own. What is read becomes a
// matrix, which is multiplied by the weights. Each group of offsets of each image is an image of its own, with its channels.
func deformConv(e *evaluation, args []*quantity) *quantity {
	x, offset, w := args[0].v, args[1].v, args[2].v
	s, places, kernel := e.Shape(x), e.Shape(offset), e.Shape(w)
	axes, groups, parts := s.Rank-2, args[8].value.I, args[9].value.I
	n, channels, points, where := s.Dims[0], s.Dims[1], int64(1), places.Slice()[2:]
	for _, k := range kernel.Slice()[2:] {
		points *= k
	}
	image := e.ranked(x, slices.Concat([]int64{n * parts, channels / parts}, s.Slice()[2:])...)
	r := sampling{
		evaluation: e, sizes: s.Slice()[2:], padding: "zeros", image: permute(e.Calls, image, channelsBehind(s.Rank)),
		batch: rows.Column(e.Calls, n*parts, axes+2, 0),
	}
	at := e.deformed(e.ranked(offset, slices.Concat([]int64{n * parts, points, int64(axes)}, where)...), &kernel, [3][]int64{
		listOf(args[5].value.Ints, axes, 1), listOf(args[6].value.Ints, 2*axes, 0), listOf(args[7].value.Ints, axes, 1),
	})
	read := r.blended(at, false) // [n * parts, points, places..., channels / parts]
	if mask := args[4]; isGiven(e, []*quantity{mask}).value.I != 0 {
		read = e.Multiply(read, e.ranked(mask.v, slices.Concat([]int64{n * parts, points}, where, []int64{1})...))
	}
	// A column is what a place reads: all channels of a group, each with all points of the kernel.
	area := int64(1)
	for _, d := range where {
		area *= d
	}
	columns := permute(e.Calls, e.ranked(read, n*parts, points, area, channels/parts), []int64{0, 3, 1, 2})
	columns = e.ranked(columns, n, groups, channels/groups*points, area)
	y := rows.Product(e.Calls, e.ranked(w, groups, kernel.Dims[0]/groups, channels/groups*points), columns, false, false)
	return &quantity{v: e.ranked(y, slices.Concat([]int64{n, kernel.Dims[0]}, where)...)}
}

// deformed is the coordinates on each axis of what a kernel reads: [images, points of the kernel, places...].
func (e *evaluation) deformed(offset op.Var, kernel *shape.Shape, windows [3][]int64) []op.Var {
	stride, padding, dilation := windows[0], windows[1], windows[2]
	s, points := e.Shape(offset), int64(1)
	for _, k := range kernel.Slice()[2:] {
		points *= k
	}
	at, inner := make([]op.Var, len(stride)), points
	for i, k := range kernel.Slice()[2:] {
		inner /= max(k, 1)
		within := make([]float64, points) // where the points of the kernel are on the axis
		for p := range within {
			within[p] = float64(int64(p)/inner%k*dilation[i] - padding[2*i])
		}
		steps := make([]float64, s.Dims[3+i])
		for o := range steps {
			steps[o] = float64(int64(o) * stride[i])
		}
		d, line, way := e.dtypeOf(offset), rows.Line(points, s.Rank-1, 1), rows.Line(s.Dims[3+i], s.Rank-1, 2+i)
		base := e.Add(e.Reshape(constant(e.Calls, within, d), &line), e.Reshape(constant(e.Calls, steps, d), &way))
		own := s
		own.Rank--
		copy(own.Dims[2:], s.Dims[3:])
		at[i] = e.Add(e.Reshape(between(e.Calls, offset, 2, int64(i), int64(i)+1), &own), base)
	}
	return at
}
