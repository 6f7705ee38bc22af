package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Operators that make, cut, join and arrange tensors without a look at their elements. Shapes among the operands have to be
// known while the graph is built.
//
// Many of these cost nothing when a model runs: a reshape, a transpose or a slice is another layout of the same
// memory, and a shape that follows from shapes is a constant by then. Slices with negative steps, splits into parts
// and paddings are composed of the rows slice, flip and concat; a mirrored padding is a gather with indices that are
// computed here.

var arrays = []entry{
	{"Constant", 1, 0, constant},
	// ConstantOfShape: shape; attribute value has the one element.
	{"ConstantOfShape", 9, 0, constantOfShape},
	// Shape: int64; known wherever the operand comes from.
	{"Shape", 1, 0, shapeNode},
	{"Size", 1, 0, func(c *call) []*value { return one(c.tensor(nil, []int64{c.x(0).Shape.Numel()})) }},
	{"Range", 11, 0, rangeNode},
	// EyeLike: x, whose shape counts.
	{"EyeLike", 9, 0, eyeLike},
	// RandomNormal: of attribute shape; RandomNormalLike of that of the operand.
	{"RandomNormal", 1, 0, func(c *call) []*value { return one(c.normal(c.list("shape"), c.elem("dtype", dtype.Float32))) }},
	{"RandomUniform", 1, 0, func(c *call) []*value { return one(c.uniform(c.list("shape"), c.elem("dtype", dtype.Float32))) }},
	{"RandomNormalLike", 1, 0, func(c *call) []*value {
		return one(c.normal(c.x(0).dims(), c.elem("dtype", c.x(0).DType)))
	}},
	{"RandomUniformLike", 1, 0, func(c *call) []*value {
		return one(c.uniform(c.x(0).dims(), c.elem("dtype", c.x(0).DType)))
	}},
	// Bernoulli: 1 with the probability that is the element.
	{"Bernoulli", 15, 0, func(c *call) []*value {
		x := c.x(0)
		drawn := c.do(op.IDUniform, with(op.UniformShape, x.dims(), op.UniformMin, 0.0, op.UniformMax, 1.0, op.UniformDtype, x.DType))
		return one(c.cast(c.binary(op.IDLessThan, drawn, x), c.elem("dtype", x.DType)))
	}},
	// Reshape: data, shape; an attribute before opset 5.
	{"Reshape", 1, 0, func(c *call) []*value { return one(c.reshaped(c.list("shape"))) }},
	{"Reshape", 5, 0, func(c *call) []*value { return one(c.reshaped(c.ints(1, "the shape"))) }},
	{"BitCast", 26, 0, func(c *call) []*value { return one(c.bitCast(c.x(0))) }},
	{"Transpose", 1, op.IDTranspose, transpose},
	// Squeeze: data, axes; an attribute before opset 13.
	{"Squeeze", 1, 0, func(c *call) []*value { return one(c.squeezed(c.list("axes"), c.given("axes"))) }},
	{"Squeeze", 13, 0, func(c *call) []*value {
		if !c.has(1) {
			return one(c.squeezed(nil, false))
		}
		return one(c.squeezed(c.ints(1, "axes"), true))
	}},
	// Unsqueeze: data, axes; an attribute before opset 13.
	{"Unsqueeze", 1, 0, func(c *call) []*value { return one(c.unsqueezed(c.list("axes"))) }},
	{"Unsqueeze", 13, 0, func(c *call) []*value { return one(c.unsqueezed(c.ints(1, "axes"))) }},
	{"Flatten", 1, 0, func(c *call) []*value {
		x := c.x(0)
		axis := int(c.int("axis", 1))
		if axis < 0 {
			axis += x.rank()
		}
		if axis < 0 || axis > x.rank() {
			c.wrong("axis is %d; want one of the %d axes", axis, x.rank())
		}
		return one(c.flatten(x, axis))
	}},
	// Expand: data, shape; broadcasts in both directions.
	{"Expand", 8, 0, expand},
	// Slice: data, starts, ends, axes, steps.
	{"Slice", 1, 0, sliceAttributes},
	{"Slice", 10, 0, sliceNode},
	{"Split", 1, 0, splitAttribute},
	{"Split", 13, 0, splitNode},
	// Concat: of one operand or more; in opset 1 along axis 1 by default.
	{"Concat", 1, 0, func(c *call) []*value { return one(c.concatenated(c.int("axis", 1))) }},
	{"Concat", 4, 0, func(c *call) []*value { return one(c.concatenated(c.int("axis", 0))) }},
	{"Tile", 6, 0, tile},
	// Pad: data, pads, value, axes.
	{"Pad", 1, 0, func(c *call) []*value { return one(c.pad(c.list("paddings"), c.constantPad())) }},
	{"Pad", 2, 0, func(c *call) []*value { return one(c.pad(c.list("pads"), c.constantPad())) }},
	{"Pad", 11, 0, padNode},
	{"CenterCropPad", 18, 0, centerCropPad},
	{"DepthToSpace", 1, 0, depthToSpace},
	{"SpaceToDepth", 1, 0, spaceToDepth},
	// Dropout: the operand, and a mask of ones.
	{"Dropout", 1, 0, dropout},
	{"ReverseSequence", 10, 0, reverseSequence},
}

// constant is the tensor of an attribute, in one of its many forms. Its elements follow from the file alone, so that
// everything made of constants is computed once for all shapes. Sparse tensors are refused.
func constant(c *call) []*value {
	if c.given("sparse_value") {
		c.refuse("attribute sparse_value is not supported")
	}
	v := c.constantValue()
	v.fixed = true
	return one(v)
}

// constantValue is the one of the attributes value, value_float, value_floats, value_int, value_ints, value_string and
// value_strings that is given.
func (c *call) constantValue() *value {
	if a := c.attr("value"); a != nil && a.T != nil {
		k, err := c.model.constant(a.T)
		c.must(err)
		return &value{Type: k.Type, elem: a.T.Elem.lacking(), data: k}
	}
	if a := c.attr("value_float"); a != nil {
		return c.reals(dtype.Float32, nil, []float64{float64(a.F)})
	}
	if a := c.attr("value_floats"); a != nil {
		c.room(int64(len(a.Floats)))
		list := make([]float64, 0, len(a.Floats))
		for _, f := range a.Floats {
			list = append(list, float64(f))
		}
		return c.reals(dtype.Float32, []int64{int64(len(list))}, list)
	}
	if a := c.attr("value_int"); a != nil {
		return c.tensor(nil, []int64{a.I})
	}
	if a := c.attr("value_ints"); a != nil {
		c.room(int64(len(a.Ints)))
		return c.vector(a.Ints...)
	}
	if a := c.attr("value_string"); a != nil {
		return c.tensor(nil, c.numbers("value_string", a.S)).as(elemString)
	}
	if a := c.attr("value_strings"); a != nil {
		return c.vector(c.numbers("value_strings", a.Texts...)...).as(elemString)
	}
	c.wrong("has no value")
	return nil
}

// constantOfShape is a tensor of one value, 0 by default, whose shape is an operand.
func constantOfShape(c *call) []*value {
	dims, d, v := c.checked(c.ints(0, "the shape")), dtype.Float32, op.Value{Kind: op.Float}
	var elem ElemType
	if a := c.attr("value"); a != nil && a.T != nil {
		k, err := c.model.constant(a.T)
		c.must(err)
		if k.Shape.Numel() != 1 {
			c.wrong("attribute value has %d elements; want 1", k.Shape.Numel())
		}
		if d = k.DType; d.IsComplex() {
			c.refuse("complex elements are not supported")
		}
		v.F, elem = floatsOf(k)[0], a.T.Elem.lacking()
		if list, ok := k.Ints(); ok {
			v = integer(list[0])
		}
	}
	return one(c.do(op.IDFull, with(op.FullShape, dims, op.FullFillValue, v, op.FullDtype, d)).as(elem))
}

// shapeNode is the dimensions of its operand from start to end, which count from the end if negative. It never looks
// at elements, so that it is known wherever the operand comes from.
func shapeNode(c *call) []*value {
	x := c.x(0)
	rank := int64(x.rank())
	bound := func(name string, otherwise int64) int64 {
		at := c.int(name, otherwise)
		if at < 0 {
			at += rank
		}
		return min(max(at, 0), rank)
	}
	from, to := bound("start", 0), bound("end", rank)
	v := c.vector(x.dims()[from:max(from, to)]...)
	v.fixed = x.data != nil && x.fixed
	return one(v)
}

// rangeNode counts its elements in the numbers themselves, as ONNX says. The number of elements is that of ONNX: the
// distance divided by the step, rounded up, or none. The numbers have to be known, since they decide the shape.
func rangeNode(c *call) []*value {
	start, limit, step := c.number(0, "start"), c.number(1, "limit"), c.number(2, "delta")
	if step == 0 {
		c.wrong("delta is 0")
	}
	n := max(int64(ceil((limit-start)/step)), 0)
	first, distance := op.Value{Kind: op.Float, F: start}, op.Value{Kind: op.Float, F: step}
	if d := c.x(0).DType; d.IsInt() {
		first, distance = integer(c.ints(0, "start")[0]), integer(c.ints(2, "delta")[0])
	}
	return one(c.do(op.IDRange, with(op.RangeStart, first, op.RangeStep, distance, op.RangeCount, n, op.RangeDtype, c.x(0).DType)))
}

// eyeLike has ones on diagonal k of a matrix of the shape of its operand, and zeros elsewhere.
func eyeLike(c *call) []*value {
	x := c.x(0)
	if x.rank() != 2 {
		c.wrong("the operand has %d dimensions; want 2", x.rank())
	}
	diagonal := c.sub(c.steps(x.dims()[1], 1, 2), c.steps(x.dims()[0], 0, 2))
	return one(c.cast(c.binary(op.IDEqual, diagonal, whole(c.int("k", 0))), c.elem("dtype", x.DType)))
}

// normal draws from the normal distribution with the attributes mean and scale. The seed of the file is not used:
// random numbers are those of the place.
func (c *call) normal(dims []int64, d dtype.DType) *value {
	return c.do(op.IDNormal, with(op.NormalShape, dims, op.NormalMean, c.float("mean", 0), op.NormalStd, c.float("scale", 1), op.NormalDtype, d))
}

// uniform draws from the uniform distribution between the attributes low and high.
func (c *call) uniform(dims []int64, d dtype.DType) *value {
	return c.do(op.IDUniform, with(op.UniformShape, dims, op.UniformMin, c.float("low", 0), op.UniformMax, c.float("high", 1), op.UniformDtype, d))
}

// reshaped resolves 0, the size that x has there unless allowzero is set, and -1, what is left. Products are kept
// below 2**50 on the way, because a file may have any numbers; the comparison with the elements of x then says what
// is wrong.
func (c *call) reshaped(want []int64) *value {
	if len(want) > shape.MaxRank {
		c.refuse("the shape has %d dimensions; want at most %d", len(want), shape.MaxRank)
	}
	x, dims, free := c.x(0), slices.Clone(want), -1
	rest := int64(1)
	for i, d := range dims {
		switch {
		case d == 0 && !c.yes("allowzero", 0):
			if i >= x.rank() {
				c.wrong("the shape is %v and the operand has %d dimensions; want no 0 behind them", want, x.rank())
			}
			dims[i] = x.dims()[i]
		case d == -1 && free < 0:
			free = i
			continue
		case d < 0:
			c.wrong("the shape is %v; want one -1 at most and no other negative dimension", want)
		}
		if dims[i] > 1<<40 {
			c.wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
		if rest *= dims[i]; rest > 1<<50 {
			c.wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
	}
	if free >= 0 {
		if rest == 0 || x.Shape.Numel()%rest != 0 {
			c.wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
		dims[free] = x.Shape.Numel() / rest
	}
	return c.reshape(x, dims...)
}

// transpose permutes the axes; without attribute perm it reverses their order.
func transpose(c *call) []*value {
	x, perm := c.any(0), c.list("perm")
	if perm == nil {
		perm = count(x.rank())
		slices.Reverse(perm)
	}
	if q := x.quanta; q != nil {
		t := &quanta{c.transpose(q.ints, perm...), q.scale, q.zero, slices.Index(perm, int64(q.axis))}
		return one(t.value())
	}
	return one(c.transpose(c.x(0), perm...))
}

// squeezed drops axes of one element: those that are named, or all. An axis that is named and has more than one
// element is an error of the model.
func (c *call) squeezed(list []int64, named bool) *value {
	x := c.x(0)
	axes := c.axes(list, x.rank())
	if !named {
		for i, d := range x.dims() {
			if d == 1 {
				axes = append(axes, int64(i))
			}
		}
	}
	for _, a := range axes {
		if x.dims()[a] != 1 {
			c.wrong("axis %d has %d elements; want 1", a, x.dims()[a])
		}
	}
	if len(axes) == 0 {
		return x
	}
	return c.squeeze(x, axes...)
}

// unsqueezed adds axes of one element, which are counted in the result. The names of axes may be in any order.
func (c *call) unsqueezed(list []int64) *value {
	x := c.x(0)
	rank := x.rank() + len(list)
	if rank > shape.MaxRank {
		c.refuse("the result has %d dimensions; want at most %d", rank, shape.MaxRank)
	}
	dims := slices.Clone(x.dims())
	for _, a := range c.axes(list, rank) {
		dims = slices.Insert(dims, int(a), 1)
	}
	return c.reshape(x, dims...)
}

// flatten makes two axes: those before one and those from it on. Both may be empty products, which are 1.
func (c *call) flatten(x *value, axis int) *value {
	return c.reshape(x, product(x.dims()[:axis]), product(x.dims()[axis:]))
}

// expand broadcasts in both directions. A dimension of 1 in the wanted shape keeps that of x, other than in NumPy.
func expand(c *call) []*value {
	x := c.x(0)
	want := shapeOf(c.checked(c.ints(1, "the shape")))
	s, err := shape.Broadcast("expand", &x.Shape, &want)
	c.must(err)
	return one(c.expand(x, s.Slice()...))
}

// sliceAttributes is Slice before opset 10: starts, ends and axes are attributes, and there are no steps.
func sliceAttributes(c *call) []*value {
	starts, ends, axes := c.list("starts"), c.list("ends"), c.list("axes")
	return one(c.sliced(starts, ends, axes, nil))
}

// sliceNode has the operands data, starts, ends, axes and steps, the last two optional.
func sliceNode(c *call) []*value {
	starts, ends := c.ints(1, "starts"), c.ints(2, "ends")
	var axes, steps []int64
	if c.has(3) {
		axes = c.ints(3, "axes")
	}
	if c.has(4) {
		steps = c.ints(4, "steps")
	}
	return one(c.sliced(starts, ends, axes, steps))
}

// sliced cuts ranges. Bounds beyond the ends are the ends. Axes that are not named stay whole. Steps may be
// negative: the axis is reversed first.
func (c *call) sliced(starts, ends, axes, steps []int64) *value {
	x := c.x(0)
	c.room(2, int64(len(starts)))
	if axes == nil {
		axes = count(len(starts))
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.wrong("there are %d starts, %d ends, %d axes and %d steps; want as many of each", len(starts), len(ends), len(axes), len(steps))
	}
	for i := range starts {
		x = c.ranged(x, c.axis(axes[i], x.rank()), starts[i], ends[i], steps[i])
	}
	return x
}

// ranged is every step-th index of an axis from start on, up to end. The rules are those of Python with two exceptions, both
// for a negative step: a start before the first element is the first, and an end before it is written as a number below minus
// the size.
func (c *call) ranged(x *value, axis int, start, end, step int64) *value {
	n := x.dims()[axis]
	clip := func(at, low, high int64) int64 {
		if at < 0 {
			at = max(at, -n-1) + n
		}
		return min(max(at, low), high)
	}
	switch {
	case step == 0:
		c.wrong("a step is 0")
	case step < 0:
		from, to := clip(start, 0, n-1), clip(end, -1, n-1)
		if end < -n {
			to = -1
		}
		return c.strided(c.flip(x, int64(axis)), axis, n-1-from, n-1-to, -max(step, -n-1))
	}
	return c.strided(x, axis, clip(start, 0, n), clip(end, 0, n), min(step, n+1))
}

// strided is every step-th index of an axis from start to end, which lie within it, upwards. A result without
// elements is a constant, whatever x is.
func (c *call) strided(x *value, axis int, start, end, step int64) *value {
	if step == 1 && start <= end {
		return c.slice(x, axis, start, end)
	}
	if start >= end {
		dims := slices.Clone(x.dims())
		dims[axis] = 0
		return c.constant(x.DType, dims, nil)
	}
	return c.do(op.IDSlice, with(op.SliceAxes, []int64{int64(axis)}, op.SliceStarts, []int64{start}, op.SliceEnds, []int64{end}, op.SliceSteps, []int64{step}), x)
}

// splitAttribute is Split before opset 13: sizes are an attribute, or in opset 1 perhaps an operand.
func splitAttribute(c *call) []*value {
	sizes := c.list("split")
	if c.has(1) { // opset 1
		sizes = c.ints(1, "split")
	}
	return c.splitInto(sizes)
}

// splitNode has sizes as an operand; from opset 18 on there may be attribute num_outputs instead.
func splitNode(c *call) []*value {
	if c.has(1) {
		return c.splitInto(c.ints(1, "split"))
	}
	return c.splitInto(nil)
}

// splitInto cuts an axis into parts of these sizes; without sizes into as many as there are outputs, the last
// perhaps smaller. Parts of no elements are allowed. All parts together have to be the whole axis.
func (c *call) splitInto(sizes []int64) []*value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.rank())
	if sizes == nil {
		n, left := c.int("num_outputs", int64(len(c.node.Out))), x.dims()[axis]
		if n < 1 || n > longestLoop {
			c.wrong("num_outputs is %d; want 1 or more", n)
		}
		each := (left + n - 1) / n
		for range n {
			sizes = append(sizes, min(each, left))
			left -= min(each, left)
		}
	}
	return c.parts(x, axis, sizes)
}

// parts are ranges of an axis one after the other.
func (c *call) parts(x *value, axis int, sizes []int64) []*value {
	c.room(int64(len(sizes)))
	out, at, n := make([]*value, len(sizes)), int64(0), x.dims()[axis]
	shown := sizes[:min(len(sizes), 16)]
	for i, size := range sizes {
		if size < 0 || size > n-at {
			c.wrong("parts of %v do not add up to the %d elements of axis %d", shown, n, axis)
		}
		out[i] = c.slice(x, axis, at, at+size)
		at += size
	}
	if at != n {
		c.wrong("parts of %v do not add up to the %d elements of axis %d", shown, n, axis)
	}
	return out
}

// concatenated joins all operands along an axis, which may count from the end.
func (c *call) concatenated(axis int64) *value {
	list := make([]*value, len(c.in))
	for i := range c.in {
		list[i] = c.x(i)
	}
	a := c.axis(axis, c.x(0).rank())
	for _, v := range list[1:] { // empty vectors join anything in files of old exporters
		if v.rank() != list[0].rank() {
			c.wrong("operands have %d and %d dimensions; want as many", list[0].rank(), v.rank())
		}
	}
	return c.concat(a, list...)
}

// tile repeats its operand; there is a number for each axis.
func tile(c *call) []*value {
	x, times := c.x(0), c.ints(1, "repeats")
	if len(times) != x.rank() {
		c.wrong("there are %d repeats for %d dimensions", len(times), x.rank())
	}
	if x.rank() == 0 {
		return one(x)
	}
	return one(c.do(op.IDTile, with(op.TileRepeatTimes, times), x))
}

// constantPad is the value of Pad before opset 11.
func (c *call) constantPad() *value { return num(c.float("value", 0)) }

// padNode has the operands data, pads, constant_value and axes. pads has first all numbers before the axes, then all
// behind them.
func padNode(c *call) []*value {
	x, pads, axes := c.x(0), c.ints(1, "pads"), []int64(nil)
	if c.has(3) {
		list := c.ints(3, "axes")
		axes = make([]int64, len(list))
		for i, a := range list {
			axes[i] = int64(c.axis(a, x.rank()))
		}
	} else {
		axes = count(x.rank())
	}
	if len(pads) != 2*len(axes) {
		c.wrong("there are %d pads for %d axes; want two for each", len(pads), len(axes))
	}
	all := make([]int64, 2*x.rank())
	for i, a := range axes {
		all[a], all[int(a)+x.rank()] = pads[i], pads[len(axes)+i]
	}
	fill := num(0)
	if c.has(2) {
		fill = c.reshape(c.x(2))
	}
	return one(c.pad(all, fill))
}

// pad adds elements before and behind the axes, or with negative numbers drops them. The mode is an attribute in all
// opsets: constant, edge, reflect, and from opset 19 on wrap.
func (c *call) pad(pads []int64, fill *value) *value {
	x, mode := c.x(0), c.text("mode", "constant")
	if len(pads) != 2*x.rank() {
		c.wrong("there are %d pads for %d dimensions; want two for each", len(pads), x.rank())
	}
	for axis := range x.rank() {
		before, behind, n := pads[axis], pads[axis+x.rank()], x.dims()[axis]
		if limit := int64(1) << 31; before > limit || behind > limit || before < -limit || behind < -limit {
			c.wrong("pads are %v", pads)
		}
		switch {
		case before == 0 && behind == 0:
		case mode == "constant":
			x = c.padAxis(x, axis, before, behind, fill)
		default:
			x = c.take(x, axis, c.mirrored(mode, n, before, behind))
		}
	}
	return x
}

// padAxis pads one axis with an element. Numbers below 0 drop elements. fill is a number or a tensor of one element.
func (c *call) padAxis(x *value, axis int, before, behind int64, fill *value) *value {
	n := x.dims()[axis]
	from, to := max(-before, 0), n-max(-behind, 0)
	if from > to {
		from, to = min(from, n), min(from, n)
	}
	x = c.slice(x, axis, from, to)
	edge := func(size int64) *value {
		dims := slices.Clone(x.dims())
		dims[axis] = size
		if fill.number != nil {
			return c.full(x.DType, *fill.number, dims...)
		}
		return c.expand(c.cast(fill, x.DType), dims...)
	}
	list := []*value{x}
	if before > 0 {
		list = slices.Insert(list, 0, edge(before))
	}
	if behind > 0 {
		list = append(list, edge(behind))
	}
	return c.concat(axis, list...)
}

// mirrored are the indices of an axis of n elements that a padded one reads. In mode reflect the element at the end
// is not repeated; pads may be longer than the axis.
func (c *call) mirrored(mode string, n, before, behind int64) []int64 {
	if n == 0 {
		c.wrong("mode %q has nothing to repeat", mode)
	}
	size := max(n+before+behind, 0)
	c.room(size)
	list := make([]int64, 0, size)
	for i := -before; i < n+behind; i++ {
		at := i
		switch mode {
		case "edge":
			at = min(max(i, 0), n-1)
		case "wrap":
			at = ((i % n) + n) % n
		case "reflect":
			if period := 2 * (n - 1); period > 0 {
				if at = ((i % period) + period) % period; at >= n {
					at = period - at
				}
			} else {
				at = 0
			}
		default:
			c.refuse("mode %q is not supported; want constant, edge, reflect or wrap", mode)
		}
		list = append(list, at)
	}
	return list
}

// centerCropPad cuts or pads axes evenly on both sides; what is odd goes to the end. Where a size is cut, the first
// index is the floor of half of what is too much.
func centerCropPad(c *call) []*value {
	x, want := c.x(0), c.ints(1, "the shape")
	axes := count(x.rank())
	if list := c.list("axes"); list != nil {
		c.room(int64(len(list)))
		axes = axes[:0]
		for _, a := range list {
			axes = append(axes, int64(c.axis(a, x.rank())))
		}
	}
	if len(want) != len(axes) {
		c.wrong("the shape has %d dimensions; want %d", len(want), len(axes))
	}
	for i, a := range axes {
		axis, n := int(a), x.dims()[a]
		if want[i] < n {
			from := (n - want[i]) / 2
			x = c.slice(x, axis, from, from+max(want[i], 0))
			continue
		}
		before := (want[i] - n) / 2
		x = c.padAxis(x, axis, before, want[i]-n-before, num(0))
	}
	return one(x)
}

// depthToSpace moves channels into blocks of pixels. In mode DCR the place in the block is the slower part of the
// channel, in CRD the faster one.
func depthToSpace(c *call) []*value {
	at := with(op.PixelShuffleUpscaleFactor, c.int("blocksize", 0), op.PixelShuffleBlocksFirst, c.text("mode", "DCR") != "CRD")
	return one(c.do(op.IDPixelShuffle, at, c.x(0)))
}

// spaceToDepth is its inverse in mode DCR.
func spaceToDepth(c *call) []*value {
	at := with(op.PixelUnshuffleDownscaleFactor, c.int("blocksize", 0), op.PixelUnshuffleBlocksFirst, true)
	return one(c.do(op.IDPixelUnshuffle, at, c.x(0)))
}

// dropout is its operand, except in training mode. The mask says that everything is kept. Where the mask is wanted, it
// is of bool from opset 10 on and of the dtype of x before.
func dropout(c *call) []*value {
	x := c.x(0)
	if c.has(2) && c.number(2, "training_mode") != 0 {
		return c.dropped(x)
	}
	if len(c.node.Out) < 2 {
		return one(x)
	}
	d := dtype.Bool
	if c.opset < 10 {
		d = x.DType
	}
	return []*value{x, c.full(d, integer(1), x.dims()...)}
}

// reverseSequence reverses the first elements of each sequence: index i of one of n elements reads n-1-i. Elements
// behind the length of a sequence stay where they are.
func reverseSequence(c *call) []*value {
	x, batch, time := c.x(0), int(c.int("batch_axis", 1)), int(c.int("time_axis", 0))
	if x.rank() < 2 || batch+time != 1 || batch*time != 0 {
		c.wrong("batch_axis is %d and time_axis %d; want 0 and 1", batch, time)
	}
	return one(c.reversed(x, c.x(1), batch, time))
}

// reversed is reverseSequence of x with its axes 0 and 1. Each batch reads through two index tensors: its own
// number, and the places in its reversed order.
func (c *call) reversed(x, lengths *value, batch, time int) *value {
	n, b := x.dims()[time], x.dims()[batch]
	dims := []int64{1, 1}
	dims[batch] = b
	size, at := c.reshape(c.cast(lengths, dtype.Int64), dims...), c.steps(n, time, 2)
	from := c.where(c.binary(op.IDLessThan, at, size), c.sub(c.sub(size, at), whole(1)), at)
	which := c.steps(b, batch, 2)
	if batch == 0 {
		return c.do(op.IDIndex, nil, x, which, from)
	}
	return c.do(op.IDIndex, nil, x, from, which)
}

// ceil is the smallest integer that is not below f, as a float; of what is no number it is 0.
func ceil(f float64) float64 {
	switch {
	case f != f || f < 0:
		return 0
	case f > 1<<40:
		return 1 << 40
	}
	n := float64(int64(f))
	if n < f {
		n++
	}
	return n
}
