package ops

import (
	"math"
	"slices"
	"strings"

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
	{"ConstantOfShape", 9, 0, constantOfShape}, // shape; attribute value has the one element
	{"Shape", 1, 0, shapeNode},                 // int64; known wherever the operand comes from
	{"Size", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Tensor(nil, []int64{c.X(0).Shape.Numel()})) }},
	{"Range", 11, 0, rangeNode},
	{"EyeLike", 9, 0, eyeLike},              // x, whose shape counts
	{"RandomNormal", 1, op.IDNormal, drawn}, // of attribute shape; RandomNormalLike of that of the operand
	{"RandomUniform", 1, op.IDUniform, drawn},
	{"RandomNormalLike", 1, op.IDNormal, drawn},
	{"RandomUniformLike", 1, op.IDUniform, drawn},
	{"Bernoulli", 15, op.IDBernoulli, bernoulli},      // 1 with the probability that is the element
	{"Multinomial", 7, op.IDMultinomial, multinomial}, // logarithms of weights [batch, classes]; classes are drawn with replacement
	{"Reshape", 1, 0, reshape},                        // data, shape; an attribute before opset 5
	{"BitCast", 26, 0, func(c *build.Call) []*build.Value { return build.One(c.BitCast(c.X(0))) }},
	{"Transpose", 1, op.IDTranspose, transpose},
	{"Squeeze", 1, 0, squeeze},     // data, axes; an attribute before opset 13
	{"Unsqueeze", 1, 0, unsqueeze}, // data, axes; an attribute before opset 13
	{"Flatten", 1, 0, func(c *build.Call) []*build.Value { return build.One(flatten(c, c.X(0), flatAxis(c))) }},
	{"Expand", 8, 0, expand},                 // data, shape; broadcasts in both directions
	{"Slice", 1, 0, sliced},                  // data, starts, ends, axes, steps; attributes before opset 10
	{"Split", 1, 0, split},                   // data, sizes; an attribute before opset 13
	{"Concat", 1, op.IDConcat, concatenated}, // of one operand or more
	{"Tile", 6, 0, tile},
	{"Pad", 1, 0, pad}, // data, pads, value, axes; attributes before opset 11
	{"CenterCropPad", 18, 0, centerCropPad},
	{"DepthToSpace", 1, 0, depthToSpace},
	// SpaceToDepth: the inverse of DepthToSpace in mode DCR.
	{"SpaceToDepth", 1, op.IDPixelUnshuffle, renamed{{op.PixelUnshuffleDownscaleFactor, "blocksize", 0}, {op.PixelUnshuffleBlocksFirst, "", true}}.call},
	{"Dropout", 1, 0, dropout}, // the operand, and a mask of ones
	// ReverseSequence: x, lengths; elements behind the length of a sequence stay.
	{"ReverseSequence", 10, op.IDReverseSequence, renamed{{op.ReverseSequenceBatchAxis, "batch_axis", 1}, {op.ReverseSequenceTimeAxis, "time_axis", 0}}.call},
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
	v := c.TensorOf("value")
	switch {
	case v != nil:
		return v
	case c.Given("value_float"):
		return c.Reals(dtype.Float32, nil, []float64{c.Float("value_float", 0)})
	case c.Given("value_int"):
		return c.Tensor(nil, []int64{c.Int("value_int", 0)})
	case c.Given("value_string"):
		return c.Tensor(nil, c.Numbers("value_string", c.Attr("value_string").S)).As(file.ElemString)
	}
	if v = vectorOf(c, "value_strings", "value_ints", "value_floats"); v == nil {
		c.Wrong("has no value")
	}
	return v
}

// vectorOf is the one of these attributes that is given; nil where none is. An empty name stands for a type that the operator does not
// have. Where a file gives several, which ONNX forbids, the first one counts.
func vectorOf(c *build.Call, strings, ints, floats string) *build.Value {
	switch {
	case c.Given(strings):
		return c.Vector(c.Numbers(strings, c.Attr(strings).Texts...)...).As(file.ElemString)
	case c.Given(ints):
		c.Room(int64(len(c.List(ints))))
		return c.Vector(c.List(ints)...)
	case c.Given(floats):
		list := c.Floats(floats)
		return c.Reals(dtype.Float32, []int64{int64(len(list))}, list)
	}
	return nil
}

// constantOfShape is a tensor of one value, 0 by default, whose shape is an operand.
func constantOfShape(c *build.Call) []*build.Value {
	dims, d, v := c.Checked(c.Ints(0, "the shape")), dtype.Float32, op.Value{Kind: op.Float}
	var elem file.ElemType
	if k := c.TensorOf("value"); k != nil {
		if k.Shape.Numel() != 1 {
			c.Wrong("attribute value has %d elements; want 1", k.Shape.Numel())
		}
		if d, elem = k.DType, k.Elem; d.IsComplex() {
			c.Refuse("complex elements are not supported")
		}
		v = elementOf(k.Data)
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
	n := int64(0) // of what is no number too
	if count := math.Ceil((limit - start) / step); count > 0 {
		n = int64(min(count, 1<<40))
	}
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

// drawn are random numbers of attribute shape, or that of the operand: from the normal distribution with the attributes mean and scale,
// or from the uniform one between low and high. The seed of the file is not used: random numbers are those of the place.
func drawn(c *build.Call) []*build.Value {
	dims, d := c.List("shape"), dtype.Float32
	if strings.HasSuffix(c.Node.Op, "Like") {
		dims, d = c.X(0).Dims(), c.X(0).DType
	}
	low, high := c.Float("low", 0), c.Float("high", 1)
	if c.Row == op.IDNormal {
		low, high = c.Float("mean", 0), c.Float("scale", 1)
	}
	// Both rows have a shape, two numbers and a dtype.
	return build.One(c.Do(c.Row, build.With(op.UniformShape, dims, op.UniformMin, low, op.UniformMax, high, op.UniformDtype, c.Elem("dtype", d))))
}

// bernoulli is 1 with the probability that is the element, and 0 otherwise.
func bernoulli(c *build.Call) []*build.Value {
	x := c.X(0)
	return build.One(c.Cast(c.Do(c.Row, nil, x, uniform(c, x.Dims(), x.DType)), c.Elem("dtype", x.DType)))
}

// multinomial draws sample_size classes of each line of weights.
func multinomial(c *build.Call) []*build.Value {
	x, n := c.X(0), c.Int("sample_size", 1)
	if x.Rank() != 2 || n < 1 {
		c.Wrong("the operand has %d axes and sample_size is %d; want 2 axes, and a number from 1", x.Rank(), n)
	}
	numbers := uniform(c, []int64{x.Dims()[0], n}, x.DType)
	drawn := c.Do(c.Row, build.With(op.MultinomialNumSamples, n, op.MultinomialReplacement, true), c.Softmax(x, -1), numbers)
	return build.One(c.Cast(drawn, c.Elem("dtype", dtype.Int32)))
}

// uniform are random numbers from 0 on, below 1.
func uniform(c *build.Call, dims []int64, d dtype.DType) *build.Value {
	return c.Do(op.IDUniform, build.With(op.UniformShape, dims, op.UniformMin, 0.0, op.UniformMax, 1.0, op.UniformDtype, d))
}

// reshape resolves 0, the size that x has there unless allowzero is set, and -1, what is left. Products are kept
// below 2**50 on the way, because a file may have any numbers; the comparison with the elements of x then says what
// is wrong.
func reshape(c *build.Call) []*build.Value {
	want := c.IntsOr(1, "shape", "the shape")
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
		if rest *= dims[i]; dims[i] > 1<<40 || rest > 1<<50 {
			c.Wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
	}
	if free >= 0 {
		if rest == 0 || x.Shape.Numel()%rest != 0 {
			c.Wrong("the shape is %v; want one of as many elements as %s has", want, &x.Shape)
		}
		dims[free] = x.Shape.Numel() / rest
	}
	return build.One(c.Reshape(x, dims...))
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

// squeeze drops axes of one element: those that are named, or all. An axis that is named and has more than one
// element is an error of the model.
func squeeze(c *build.Call) []*build.Value {
	x := c.X(0)
	list, named := c.OptionalInts(1, "axes")
	axes := c.Axes(list, x.Rank())
	for i, d := range x.Dims() {
		if !named && d == 1 {
			axes = append(axes, int64(i))
		}
	}
	for _, a := range axes {
		if x.Dims()[a] != 1 {
			c.Wrong("axis %d has %d elements; want 1", a, x.Dims()[a])
		}
	}
	if len(axes) == 0 {
		return build.One(x)
	}
	return build.One(c.Squeeze(x, axes...))
}

// unsqueeze adds axes of one element, which are counted in the result. The names of axes may be in any order.
func unsqueeze(c *build.Call) []*build.Value {
	x, list := c.X(0), c.IntsOr(1, "axes", "axes")
	rank := x.Rank() + len(list)
	if rank > shape.MaxRank {
		c.Refuse("the result has %d dimensions; want at most %d", rank, shape.MaxRank)
	}
	dims := slices.Clone(x.Dims())
	for _, a := range c.Axes(list, rank) {
		dims = slices.Insert(dims, int(a), 1)
	}
	return build.One(c.Reshape(x, dims...))
}

// flatAxis is attribute axis, by default 1. It may be behind the last axis.
func flatAxis(c *build.Call) int {
	axis, rank := int(c.Int("axis", 1)), c.X(0).Rank()
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis > rank {
		c.Wrong("axis is %d; want one of the %d axes", axis, rank)
	}
	return axis
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

// sliced cuts ranges. Bounds beyond the ends are the ends. Axes that are not named stay whole. Steps may be
// negative: the axis is reversed first.
func sliced(c *build.Call) []*build.Value {
	x, starts, ends := c.X(0), c.IntsOr(1, "starts", "starts"), c.IntsOr(2, "ends", "ends")
	c.Room(2, int64(len(starts)))
	axes, named := c.OptionalInts(3, "axes")
	if !named {
		axes = build.Count(len(starts))
	}
	steps, named := c.OptionalInts(4, "steps")
	if !named {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.Wrong("there are %d starts, %d ends, %d axes and %d steps; want as many of each", len(starts), len(ends), len(axes), len(steps))
	}
	for i := range starts {
		x = ranged(c, x, c.Axis(axes[i], x.Rank()), starts[i], ends[i], steps[i])
	}
	return build.One(x)
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

// split cuts an axis into parts of these sizes; without sizes into as many as attribute num_outputs says or there are outputs, the last
// perhaps smaller. Parts of no elements are allowed. All parts together have to be the whole axis.
func split(c *build.Call) []*build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	sizes, named := c.OptionalInts(1, "split")
	if !named {
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
	var out []*build.Value
	at, n := int64(0), x.Dims()[axis]
	for _, size := range sizes {
		if size < 0 || size > n-at {
			at = -1
			break
		}
		out = append(out, c.Slice(x, axis, at, at+size))
		at += size
	}
	if at != n {
		c.Wrong("parts of %v do not add up to the %d elements of axis %d", sizes[:min(len(sizes), 16)], n, axis)
	}
	return out
}

// concatenated joins all operands along an axis, which may count from the end; in opset 1 along axis 1 by default.
func concatenated(c *build.Call) []*build.Value {
	list, otherwise := operandsOf(c), int64(0)
	if c.Opset < 4 {
		otherwise = 1
	}
	axis := c.Axis(c.Int("axis", otherwise), list[0].Rank())
	for _, v := range list[1:] { // empty vectors join anything in files of old exporters
		if v.Rank() != list[0].Rank() {
			c.Wrong("operands have %d and %d dimensions; want as many", list[0].Rank(), v.Rank())
		}
	}
	return build.One(c.Concat(axis, list...))
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

// padModes are ONNX's words for what is added, and those of the row.
var padModes = map[string]string{"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}

// pad adds elements before and behind the axes, or with negative numbers drops them. Operands: data, pads, constant_value and
// axes. pads has first all numbers before the axes, then all behind them. The mode is an attribute in all opsets: constant, edge,
// reflect, and from opset 19 on wrap.
func pad(c *build.Call) []*build.Value {
	x, fill := c.X(0), build.Num(c.Float("value", 0))
	name := "pads"
	if c.Given("paddings") { // opset 1
		name = "paddings"
	}
	pads, list := c.IntsOr(1, name, "pads"), []int64(nil)
	if c.Has(3) {
		list = c.Ints(3, "axes")
	}
	axes := c.InOrder(list, x.Rank())
	if len(pads) != 2*len(axes) {
		c.Wrong("there are %d pads for %d axes; want two for each", len(pads), len(axes))
	}
	pairs := make([]int64, 2*x.Rank())
	for i, a := range axes {
		pairs[2*a], pairs[2*a+1] = pads[i], pads[len(axes)+i]
	}
	mode, ok := padModes[c.Text("mode", "constant")]
	if !ok {
		c.Refuse("mode %q is not supported; want constant, edge, reflect or wrap", c.Text("mode", ""))
	}
	if c.Has(2) {
		fill = c.Reshape(c.X(2))
	}
	return build.One(padded(c, x, pairs, mode, fill))
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
		return padWith(c, x, pairs, mode, elementOf(c.Look(fill, "the value")))
	}
	inside := padWith(c, c.Full(dtype.Bool, op.Value{Kind: op.Bool, I: 1}, x.Dims()...), pairs, mode, op.Value{Kind: op.Bool})
	return c.Where(inside, padWith(c, x, pairs, mode, build.Integer(0)), c.Cast(fill, x.DType))
}

// elementOf is the first element of a constant. An integer stays one, because a float does not hold the largest of them.
func elementOf(k *op.Const) op.Value {
	if list, ok := k.Ints(); ok {
		return build.Integer(list[0])
	}
	return op.Value{Kind: op.Float, F: build.FloatsOf(k)[0]}
}

// padWith is x with two numbers of elements an axis, before and behind.
func padWith(c *build.Call, x *build.Value, pairs []int64, mode string, v op.Value) *build.Value {
	if !slices.ContainsFunc(pairs, func(n int64) bool { return n != 0 }) {
		return x
	}
	return c.Do(op.IDPad, build.With(op.PadPads, pairs, op.PadMode, mode, op.PadValue, v), x)
}

// centerCropPad cuts or pads axes evenly on both sides; what is odd goes to the end. Where a size is cut, the first
// index is the floor of half of what is too much.
func centerCropPad(c *build.Call) []*build.Value {
	x, want := c.X(0), c.Ints(1, "the shape")
	axes := c.InOrder(c.List("axes"), x.Rank())
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

// dropout is its operand, except in training mode. The mask says that everything is kept. Where the mask is wanted, it
// is of bool from opset 10 on and of the dtype of x before.
func dropout(c *build.Call) []*build.Value {
	x := c.X(0)
	if c.NumberOr(2, "training_mode", 0) != 0 {
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
