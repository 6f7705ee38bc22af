package ops

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
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
	{"Size", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Tensor(nil, []int64{c.X(0).Shape.Numel()})) }},
	{"Range", 11, 0, rangeNode},
	// EyeLike: x, whose shape counts.
	{"EyeLike", 9, 0, eyeLike},
	// RandomNormal: of attribute shape; RandomNormalLike of that of the operand.
	{"RandomNormal", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(normal(c, c.List("shape"), c.Elem("dtype", dtype.Float32)))
	}},
	{"RandomUniform", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(uniform(c, c.List("shape"), c.Elem("dtype", dtype.Float32)))
	}},
	{"RandomNormalLike", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(normal(c, c.X(0).Dims(), c.Elem("dtype", c.X(0).DType)))
	}},
	{"RandomUniformLike", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(uniform(c, c.X(0).Dims(), c.Elem("dtype", c.X(0).DType)))
	}},
	// Bernoulli: 1 with the probability that is the element.
	{"Bernoulli", 15, op.IDBernoulli, func(c *build.Call) []*build.Value {
		x := c.X(0)
		return build.One(c.Cast(c.Do(c.Row, nil, x, uniform(c, x.Dims(), x.DType)), c.Elem("dtype", x.DType)))
	}},
	// Multinomial: logarithms of weights [batch, classes]; classes are drawn with replacement.
	{"Multinomial", 7, op.IDMultinomial, func(c *build.Call) []*build.Value {
		x, n := c.X(0), c.Int("sample_size", 1)
		if x.Rank() != 2 || n < 1 {
			c.Wrong("the operand has %d axes and sample_size is %d; want 2 axes, and a number from 1", x.Rank(), n)
		}
		weights := c.Softmax(x, -1)
		drawn := c.Do(c.Row, build.With(op.MultinomialNumSamples, n, op.MultinomialReplacement, true), weights, uniform(c, []int64{x.Dims()[0], n}, x.DType))
		return build.One(c.Cast(drawn, c.Elem("dtype", dtype.Int32)))
	}},
	// Reshape: data, shape; an attribute before opset 5.
	{"Reshape", 1, 0, func(c *build.Call) []*build.Value { return build.One(reshaped(c, c.List("shape"))) }},
	{"Reshape", 5, 0, func(c *build.Call) []*build.Value { return build.One(reshaped(c, c.Ints(1, "the shape"))) }},
	{"BitCast", 26, 0, func(c *build.Call) []*build.Value { return build.One(c.BitCast(c.X(0))) }},
	{"Transpose", 1, op.IDTranspose, transpose},
	// Squeeze: data, axes; an attribute before opset 13.
	{"Squeeze", 1, 0, func(c *build.Call) []*build.Value { return build.One(squeezed(c, c.List("axes"), c.Given("axes"))) }},
	{"Squeeze", 13, 0, func(c *build.Call) []*build.Value {
		if !c.Has(1) {
			return build.One(squeezed(c, nil, false))
		}
		return build.One(squeezed(c, c.Ints(1, "axes"), true))
	}},
	// Unsqueeze: data, axes; an attribute before opset 13.
	{"Unsqueeze", 1, 0, func(c *build.Call) []*build.Value { return build.One(unsqueezed(c, c.List("axes"))) }},
	{"Unsqueeze", 13, 0, func(c *build.Call) []*build.Value { return build.One(unsqueezed(c, c.Ints(1, "axes"))) }},
	{"Flatten", 1, 0, func(c *build.Call) []*build.Value {
		x := c.X(0)
		axis := int(c.Int("axis", 1))
		if axis < 0 {
			axis += x.Rank()
		}
		if axis < 0 || axis > x.Rank() {
			c.Wrong("axis is %d; want one of the %d axes", axis, x.Rank())
		}
		return build.One(flatten(c, x, axis))
	}},
	// Expand: data, shape; broadcasts in both directions.
	{"Expand", 8, 0, expand},
	// Slice: data, starts, ends, axes, steps.
	{"Slice", 1, 0, sliceAttributes},
	{"Slice", 10, 0, sliceNode},
	{"Split", 1, 0, splitAttribute},
	{"Split", 13, 0, splitNode},
	// Concat: of one operand or more; in opset 1 along axis 1 by default.
	{"Concat", 1, 0, func(c *build.Call) []*build.Value { return build.One(concatenated(c, c.Int("axis", 1))) }},
	{"Concat", 4, 0, func(c *build.Call) []*build.Value { return build.One(concatenated(c, c.Int("axis", 0))) }},
	{"Tile", 6, 0, tile},
	// Pad: data, pads, value, axes.
	{"Pad", 1, 0, func(c *build.Call) []*build.Value { return build.One(pad(c, c.List("paddings"), constantPad(c))) }},
	{"Pad", 2, 0, func(c *build.Call) []*build.Value { return build.One(pad(c, c.List("pads"), constantPad(c))) }},
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
func constant(c *build.Call) []*build.Value {
	if c.Given("sparse_value") {
		c.Refuse("attribute sparse_value is not supported")
	}
	v := constantValue(c)
	v.Fixed = true
	return build.One(v)
}

// constantValue is the one of the attributes value, value_float, value_floats, value_int, value_ints, value_string and
// value_strings that is given.
func constantValue(c *build.Call) *build.Value {
	if a := c.Attr("value"); a != nil && a.T != nil {
		k, err := c.Model.Constant(a.T)
		c.Must(err)
		return &build.Value{Type: k.Type, Elem: a.T.Elem.Lacking(), Data: k}
	}
	if a := c.Attr("value_float"); a != nil {
		return c.Reals(dtype.Float32, nil, []float64{float64(a.F)})
	}
	if a := c.Attr("value_floats"); a != nil {
		c.Room(int64(len(a.Floats)))
		list := make([]float64, 0, len(a.Floats))
		for _, f := range a.Floats {
			list = append(list, float64(f))
		}
		return c.Reals(dtype.Float32, []int64{int64(len(list))}, list)
	}
	if a := c.Attr("value_int"); a != nil {
		return c.Tensor(nil, []int64{a.I})
	}
	if a := c.Attr("value_ints"); a != nil {
		c.Room(int64(len(a.Ints)))
		return c.Vector(a.Ints...)
	}
	if a := c.Attr("value_string"); a != nil {
		return c.Tensor(nil, c.Numbers("value_string", a.S)).As(file.ElemString)
	}
	if a := c.Attr("value_strings"); a != nil {
		return c.Vector(c.Numbers("value_strings", a.Texts...)...).As(file.ElemString)
	}
	c.Wrong("has no value")
	return nil
}

// constantOfShape is a tensor of one value, 0 by default, whose shape is an operand.
func constantOfShape(c *build.Call) []*build.Value {
	dims, d, v := c.Checked(c.Ints(0, "the shape")), dtype.Float32, op.Value{Kind: op.Float}
	var elem file.ElemType
	if a := c.Attr("value"); a != nil && a.T != nil {
		k, err := c.Model.Constant(a.T)
		c.Must(err)
		if k.Shape.Numel() != 1 {
			c.Wrong("attribute value has %d elements; want 1", k.Shape.Numel())
		}
		if d = k.DType; d.IsComplex() {
			c.Refuse("complex elements are not supported")
		}
		v.F, elem = build.FloatsOf(k)[0], a.T.Elem.Lacking()
		if list, ok := k.Ints(); ok {
			v = build.Integer(list[0])
		}
	}
	return build.One(c.Do(op.IDFull, build.With(op.FullShape, dims, op.FullFillValue, v, op.FullDtype, d)).As(elem))
}

// shapeNode is the dimensions of its operand from start to end, which count from the end if negative. It never looks
// at elements, so that it is known wherever the operand comes from.
func shapeNode(c *build.Call) []*build.Value {
	x := c.X(0)
	rank := int64(x.Rank())
	bound := func(name string, otherwise int64) int64 {
		at := c.Int(name, otherwise)
		if at < 0 {
			at += rank
		}
		return min(max(at, 0), rank)
	}
	from, to := bound("start", 0), bound("end", rank)
	v := c.Vector(x.Dims()[from:max(from, to)]...)
	v.Fixed = x.Data != nil && x.Fixed
	return build.One(v)
}

// rangeNode counts its elements in the numbers themselves, as ONNX says. The number of elements is that of ONNX: the
// distance divided by the step, rounded up, or none. The numbers have to be known, since they decide the shape.
func rangeNode(c *build.Call) []*build.Value {
	start, limit, step := c.Number(0, "start"), c.Number(1, "limit"), c.Number(2, "delta")
	if step == 0 {
		c.Wrong("delta is 0")
	}
	n := max(int64(ceil((limit-start)/step)), 0)
	first, distance := op.Value{Kind: op.Float, F: start}, op.Value{Kind: op.Float, F: step}
	if d := c.X(0).DType; d.IsInt() {
		first, distance = build.Integer(c.Ints(0, "start")[0]), build.Integer(c.Ints(2, "delta")[0])
	}
	return build.One(c.Do(op.IDRange, build.With(op.RangeStart, first, op.RangeStep, distance, op.RangeCount, n, op.RangeDtype, c.X(0).DType)))
}

// eyeLike has ones on diagonal k of a matrix of the shape of its operand, and zeros elsewhere.
func eyeLike(c *build.Call) []*build.Value {
	x := c.X(0)
	if x.Rank() != 2 {
		c.Wrong("the operand has %d dimensions; want 2", x.Rank())
	}
	return build.One(c.Created(op.IDEye, build.With(op.EyeNumRows, x.Dims()[0], op.EyeNumColumns, x.Dims()[1], op.EyeOffset, c.Int("k", 0), op.EyeDtype, c.Elem("dtype", x.DType))))
}

// normal draws from the normal distribution with the attributes mean and scale. The seed of the file is not used:
// random numbers are those of the place.
func normal(c *build.Call, dims []int64, d dtype.DType) *build.Value {
	return c.Do(op.IDNormal, build.With(op.NormalShape, dims, op.NormalMean, c.Float("mean", 0), op.NormalStd, c.Float("scale", 1), op.NormalDtype, d))
}

// uniform draws from the uniform distribution between the attributes low and high.
func uniform(c *build.Call, dims []int64, d dtype.DType) *build.Value {
	return c.Do(op.IDUniform, build.With(op.UniformShape, dims, op.UniformMin, c.Float("low", 0), op.UniformMax, c.Float("high", 1), op.UniformDtype, d))
}

// reshaped resolves 0, the size that x has there unless allowzero is set, and -1, what is left. Products are kept
// below 2**50 on the way, because a file may have any numbers; the comparison with the elements of x then says what
// is wrong.
func reshaped(c *build.Call, want []int64) *build.Value {
	if len(want) > shape.MaxRank {
		c.Refuse("the shape has %d dimensions; want at most %d", len(want), shape.MaxRank)
	}
	x, dims, free := c.X(0), slices.Clone(want), -1
	rest := int64(1)
	for i, d := range dims {
		switch {
		case d == 0 && !c.Yes("allowzero", 0):
			if i >= x.Rank() {
				c.Wrong("the shape is %v and the operand has %d dimensions; want no 0 behind them", want, x.Rank())
			}
			dims[i] = x.Dims()[i]
		case d == -1 && free < 0:
			free = i
			continue
		case d < 0:
			c.Wrong("the shape is %v; want one -1 at most and no other negative dimension", want)
		}
		if dims[i] > 1<<40 {
			c.Wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
		if rest *= dims[i]; rest > 1<<50 {
			c.Wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
	}
	if free >= 0 {
		if rest == 0 || x.Shape.Numel()%rest != 0 {
			c.Wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
		dims[free] = x.Shape.Numel() / rest
	}
	return c.Reshape(x, dims...)
}

// transpose permutes the axes; without attribute perm it reverses their order.
func transpose(c *build.Call) []*build.Value {
	x, perm := c.Any(0), c.List("perm")
	if perm == nil {
		perm = build.Count(x.Rank())
		slices.Reverse(perm)
	}
	if q := x.Quanta; q != nil {
		t := &build.Quanta{Ints: c.Transpose(q.Ints, perm...), Scale: q.Scale, Zero: q.Zero, Axis: slices.Index(perm, int64(q.Axis))}
		return build.One(t.Value())
	}
	return build.One(c.Transpose(c.X(0), perm...))
}

// squeezed drops axes of one element: those that are named, or all. An axis that is named and has more than one
// element is an error of the model.
func squeezed(c *build.Call, list []int64, named bool) *build.Value {
	x := c.X(0)
	axes := c.Axes(list, x.Rank())
	if !named {
		for i, d := range x.Dims() {
			if d == 1 {
				axes = append(axes, int64(i))
			}
		}
	}
	for _, a := range axes {
		if x.Dims()[a] != 1 {
			c.Wrong("axis %d has %d elements; want 1", a, x.Dims()[a])
		}
	}
	if len(axes) == 0 {
		return x
	}
	return c.Squeeze(x, axes...)
}

// unsqueezed adds axes of one element, which are counted in the result. The names of axes may be in any order.
func unsqueezed(c *build.Call, list []int64) *build.Value {
	x := c.X(0)
	rank := x.Rank() + len(list)
	if rank > shape.MaxRank {
		c.Refuse("the result has %d dimensions; want at most %d", rank, shape.MaxRank)
	}
	dims := slices.Clone(x.Dims())
	for _, a := range c.Axes(list, rank) {
		dims = slices.Insert(dims, int(a), 1)
	}
	return c.Reshape(x, dims...)
}

// flatten makes two axes: those before one and those from it on. Both may be empty products, which are 1.
func flatten(c *build.Call, x *build.Value, axis int) *build.Value {
	return c.Reshape(x, build.Product(x.Dims()[:axis]), build.Product(x.Dims()[axis:]))
}

// expand broadcasts in both directions. A dimension of 1 in the wanted shape keeps that of x, other than in NumPy.
func expand(c *build.Call) []*build.Value {
	x := c.X(0)
	want := build.ShapeOf(c.Checked(c.Ints(1, "the shape")))
	s, err := shape.Broadcast("expand", &x.Shape, &want)
	c.Must(err)
	return build.One(c.Expand(x, s.Slice()...))
}

// sliceAttributes is Slice before opset 10: starts, ends and axes are attributes, and there are no steps.
func sliceAttributes(c *build.Call) []*build.Value {
	starts, ends, axes := c.List("starts"), c.List("ends"), c.List("axes")
	return build.One(sliced(c, starts, ends, axes, nil))
}

// sliceNode has the operands data, starts, ends, axes and steps, the last two optional.
func sliceNode(c *build.Call) []*build.Value {
	starts, ends := c.Ints(1, "starts"), c.Ints(2, "ends")
	var axes, steps []int64
	if c.Has(3) {
		axes = c.Ints(3, "axes")
	}
	if c.Has(4) {
		steps = c.Ints(4, "steps")
	}
	return build.One(sliced(c, starts, ends, axes, steps))
}

// sliced cuts ranges. Bounds beyond the ends are the ends. Axes that are not named stay whole. Steps may be
// negative: the axis is reversed first.
func sliced(c *build.Call, starts, ends, axes, steps []int64) *build.Value {
	x := c.X(0)
	c.Room(2, int64(len(starts)))
	if axes == nil {
		axes = build.Count(len(starts))
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.Wrong("there are %d starts, %d ends, %d axes and %d steps; want as many of each", len(starts), len(ends), len(axes), len(steps))
	}
	for i := range starts {
		x = ranged(c, x, c.Axis(axes[i], x.Rank()), starts[i], ends[i], steps[i])
	}
	return x
}

// ranged is every step-th index of an axis from start on, up to end. The rules are those of Python with two exceptions, both
// for a negative step: a start before the first element is the first, and an end before it is written as a number below minus
// the size.
func ranged(c *build.Call, x *build.Value, axis int, start, end, step int64) *build.Value {
	n := x.Dims()[axis]
	clip := func(at, low, high int64) int64 {
		if at < 0 {
			at = max(at, -n-1) + n
		}
		return min(max(at, low), high)
	}
	switch {
	case step == 0:
		c.Wrong("a step is 0")
	case step < 0:
		from, to := clip(start, 0, n-1), clip(end, -1, n-1)
		if end < -n {
			to = -1
		}
		return strided(c, c.Flip(x, int64(axis)), axis, n-1-from, n-1-to, -max(step, -n-1))
	}
	return strided(c, x, axis, clip(start, 0, n), clip(end, 0, n), min(step, n+1))
}

// strided is every step-th index of an axis from start to end, which lie within it, upwards. A result without
// elements is a constant, whatever x is.
func strided(c *build.Call, x *build.Value, axis int, start, end, step int64) *build.Value {
	if step == 1 && start <= end {
		return c.Slice(x, axis, start, end)
	}
	if start >= end {
		dims := slices.Clone(x.Dims())
		dims[axis] = 0
		return c.Constant(x.DType, dims, nil)
	}
	return c.Do(op.IDSlice, build.With(op.SliceAxes, []int64{int64(axis)}, op.SliceStarts, []int64{start}, op.SliceEnds, []int64{end}, op.SliceSteps, []int64{step}), x)
}

// splitAttribute is Split before opset 13: sizes are an attribute, or in opset 1 perhaps an operand.
func splitAttribute(c *build.Call) []*build.Value {
	sizes := c.List("split")
	if c.Has(1) { // opset 1
		sizes = c.Ints(1, "split")
	}
	return splitInto(c, sizes)
}

// splitNode has sizes as an operand; from opset 18 on there may be attribute num_outputs instead.
func splitNode(c *build.Call) []*build.Value {
	if c.Has(1) {
		return splitInto(c, c.Ints(1, "split"))
	}
	return splitInto(c, nil)
}

// splitInto cuts an axis into parts of these sizes; without sizes into as many as there are outputs, the last
// perhaps smaller. Parts of no elements are allowed. All parts together have to be the whole axis.
func splitInto(c *build.Call, sizes []int64) []*build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	if sizes == nil {
		n, left := c.Int("num_outputs", int64(len(c.Node.Out))), x.Dims()[axis]
		if n < 1 || n > longestLoop {
			c.Wrong("num_outputs is %d; want 1 or more", n)
		}
		each := (left + n - 1) / n
		for range n {
			sizes = append(sizes, min(each, left))
			left -= min(each, left)
		}
	}
	return parts(c, x, axis, sizes)
}

// parts are ranges of an axis one after the other.
func parts(c *build.Call, x *build.Value, axis int, sizes []int64) []*build.Value {
	c.Room(int64(len(sizes)))
	out, at, n := make([]*build.Value, len(sizes)), int64(0), x.Dims()[axis]
	shown := sizes[:min(len(sizes), 16)]
	for i, size := range sizes {
		if size < 0 || size > n-at {
			c.Wrong("parts of %v do not add up to the %d elements of axis %d", shown, n, axis)
		}
		out[i] = c.Slice(x, axis, at, at+size)
		at += size
	}
	if at != n {
		c.Wrong("parts of %v do not add up to the %d elements of axis %d", shown, n, axis)
	}
	return out
}

// concatenated joins all operands along an axis, which may count from the end.
func concatenated(c *build.Call, axis int64) *build.Value {
	list := make([]*build.Value, len(c.In))
	for i := range c.In {
		list[i] = c.X(i)
	}
	a := c.Axis(axis, c.X(0).Rank())
	for _, v := range list[1:] { // empty vectors join anything in files of old exporters
		if v.Rank() != list[0].Rank() {
			c.Wrong("operands have %d and %d dimensions; want as many", list[0].Rank(), v.Rank())
		}
	}
	return c.Concat(a, list...)
}

// tile repeats its operand; there is a number for each axis.
func tile(c *build.Call) []*build.Value {
	x, times := c.X(0), c.Ints(1, "repeats")
	if len(times) != x.Rank() {
		c.Wrong("there are %d repeats for %d dimensions", len(times), x.Rank())
	}
	if x.Rank() == 0 {
		return build.One(x)
	}
	return build.One(c.Do(op.IDTile, build.With(op.TileRepeatTimes, times), x))
}

// constantPad is the value of Pad before opset 11.
func constantPad(c *build.Call) *build.Value { return build.Num(c.Float("value", 0)) }

// padNode has the operands data, pads, constant_value and axes. pads has first all numbers before the axes, then all
// behind them.
func padNode(c *build.Call) []*build.Value {
	x, pads, axes := c.X(0), c.Ints(1, "pads"), []int64(nil)
	if c.Has(3) {
		list := c.Ints(3, "axes")
		axes = make([]int64, len(list))
		for i, a := range list {
			axes[i] = int64(c.Axis(a, x.Rank()))
		}
	} else {
		axes = build.Count(x.Rank())
	}
	if len(pads) != 2*len(axes) {
		c.Wrong("there are %d pads for %d axes; want two for each", len(pads), len(axes))
	}
	all := make([]int64, 2*x.Rank())
	for i, a := range axes {
		all[a], all[int(a)+x.Rank()] = pads[i], pads[len(axes)+i]
	}
	fill := build.Num(0)
	if c.Has(2) {
		fill = c.Reshape(c.X(2))
	}
	return build.One(pad(c, all, fill))
}

// padModes are ONNX's words for what is added, and those of the row.
var padModes = map[string]string{"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}

// pad adds elements before and behind the axes, or with negative numbers drops them. The mode is an attribute in all
// opsets: constant, edge, reflect, and from opset 19 on wrap.
func pad(c *build.Call, pads []int64, fill *build.Value) *build.Value {
	x := c.X(0)
	if len(pads) != 2*x.Rank() {
		c.Wrong("there are %d pads for %d dimensions; want two for each", len(pads), x.Rank())
	}
	mode, ok := padModes[c.Text("mode", "constant")]
	if !ok {
		c.Refuse("mode %q is not supported; want constant, edge, reflect or wrap", c.Text("mode", ""))
	}
	return padded(c, x, paired(pads), mode, fill)
}

// paired are the numbers before all axes and then those behind them as two numbers an axis.
func paired(pads []int64) []int64 {
	pairs := make([]int64, 0, len(pads))
	for i := range len(pads) / 2 {
		pairs = append(pairs, pads[i], pads[i+len(pads)/2])
	}
	return pairs
}

// padded is padWith for a value that is a number or a tensor of one element, which may be known when the model runs.
func padded(c *build.Call, x *build.Value, pairs []int64, mode string, fill *build.Value) *build.Value {
	switch {
	case fill.Number != nil:
		return padWith(c, x, pairs, mode, *fill.Number)
	case fill.Data != nil:
		known := c.Look(fill, "the value")
		if whole, ok := known.Ints(); ok {
			return padWith(c, x, pairs, mode, build.Integer(whole[0]))
		}
		return padWith(c, x, pairs, mode, op.Value{Kind: op.Float, F: build.FloatsOf(known)[0]})
	}
	inside := padWith(c, c.Full(dtype.Bool, op.Value{Kind: op.Bool, I: 1}, x.Dims()...), pairs, mode, op.Value{Kind: op.Bool})
	return c.Where(inside, padWith(c, x, pairs, mode, build.Integer(0)), c.Cast(fill, x.DType))
}

// padWith is x with two numbers of elements an axis, before and behind.
func padWith(c *build.Call, x *build.Value, pairs []int64, mode string, v op.Value) *build.Value {
	if !slices.ContainsFunc(pairs, func(n int64) bool { return n != 0 }) {
		return x
	}
	return c.Do(op.IDPad, build.With(op.PadPads, pairs, op.PadMode, mode, op.PadValue, v), x)
}

// padAxis is padWith for one axis.
func padAxis(c *build.Call, x *build.Value, axis int, before, behind int64, fill op.Value) *build.Value {
	pairs := make([]int64, 2*x.Rank())
	pairs[2*axis], pairs[2*axis+1] = before, behind
	return padWith(c, x, pairs, "constant", fill)
}

// centerCropPad cuts or pads axes evenly on both sides; what is odd goes to the end. Where a size is cut, the first
// index is the floor of half of what is too much.
func centerCropPad(c *build.Call) []*build.Value {
	x, want := c.X(0), c.Ints(1, "the shape")
	axes := build.Count(x.Rank())
	if list := c.List("axes"); list != nil {
		c.Room(int64(len(list)))
		axes = axes[:0]
		for _, a := range list {
			axes = append(axes, int64(c.Axis(a, x.Rank())))
		}
	}
	if len(want) != len(axes) {
		c.Wrong("the shape has %d dimensions; want %d", len(want), len(axes))
	}
	pairs := make([]int64, 2*x.Rank())
	for i, a := range axes {
		n := x.Dims()[a]
		before := (want[i] - n) / 2 // which division rounds towards 0
		pairs[2*a], pairs[2*a+1] = before, max(want[i], 0)-n-before
	}
	return build.One(padWith(c, x, pairs, "constant", build.Integer(0)))
}

// depthToSpace moves channels into blocks of pixels. In mode DCR the place in the block is the slower part of the
// channel, in CRD the faster one.
func depthToSpace(c *build.Call) []*build.Value {
	at := build.With(op.PixelShuffleUpscaleFactor, c.Int("blocksize", 0), op.PixelShuffleBlocksFirst, c.Text("mode", "DCR") != "CRD")
	return build.One(c.Do(op.IDPixelShuffle, at, c.X(0)))
}

// spaceToDepth is its inverse in mode DCR.
func spaceToDepth(c *build.Call) []*build.Value {
	at := build.With(op.PixelUnshuffleDownscaleFactor, c.Int("blocksize", 0), op.PixelUnshuffleBlocksFirst, true)
	return build.One(c.Do(op.IDPixelUnshuffle, at, c.X(0)))
}

// dropout is its operand, except in training mode. The mask says that everything is kept. Where the mask is wanted, it
// is of bool from opset 10 on and of the dtype of x before.
func dropout(c *build.Call) []*build.Value {
	x := c.X(0)
	if c.Has(2) && c.Number(2, "training_mode") != 0 {
		return dropped(c, x)
	}
	if len(c.Node.Out) < 2 {
		return build.One(x)
	}
	d := dtype.Bool
	if c.Opset < 10 {
		d = x.DType
	}
	return []*build.Value{x, c.Full(d, build.Integer(1), x.Dims()...)}
}

// reverseSequence reverses the first elements of each sequence: index i of one of n elements reads n-1-i. Elements
// behind the length of a sequence stay where they are.
func reverseSequence(c *build.Call) []*build.Value {
	x, batch, time := c.X(0), int(c.Int("batch_axis", 1)), int(c.Int("time_axis", 0))
	if x.Rank() < 2 || batch+time != 1 || batch*time != 0 {
		c.Wrong("batch_axis is %d and time_axis %d; want 0 and 1", batch, time)
	}
	return build.One(reversed(c, x, c.X(1), batch, time))
}

// reversed is reverseSequence of x with its axes 0 and 1. Each batch reads through two index tensors: its own
// number, and the places in its reversed order.
func reversed(c *build.Call, x, lengths *build.Value, batch, time int) *build.Value {
	n, b := x.Dims()[time], x.Dims()[batch]
	dims := []int64{1, 1}
	dims[batch] = b
	size, at := c.Reshape(c.Cast(lengths, dtype.Int64), dims...), c.Steps(n, time, 2)
	from := c.Where(c.Binary(op.IDLessThan, at, size), c.Sub(c.Sub(size, at), build.Whole(1)), at)
	which := c.Steps(b, batch, 2)
	if batch == 0 {
		return c.Do(op.IDIndex, nil, x, which, from)
	}
	return c.Do(op.IDIndex, nil, x, from, which)
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
