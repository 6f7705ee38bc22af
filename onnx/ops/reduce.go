package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Operators that reduce axes or work along one.
//
// Functions keep reduced axes as 1, and drop them at the end where attribute keepdims says so. Results have the
// dtype of the operand: sums of int32 stay int32, and wrap around. Means of integers lose their fraction.

var reductions = []entry{
	// ReduceSum: sum; 0 of nothing.
	{"ReduceSum", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value { return c.Sum(x, true, axes...) })},
	{"ReduceMean", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value { return c.Mean(x, true, axes...) })},
	// ReduceMax: largest element; the lowest number of nothing.
	{"ReduceMax", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return extreme(c, op.IDMax, x, axes, lowest(x.DType))
	})},
	// ReduceMin: smallest element; the greatest number of nothing.
	{"ReduceMin", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return extreme(c, op.IDMin, x, axes, greatest(x.DType))
	})},
	// ReduceProd: product; 1 of nothing.
	{"ReduceProd", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Do(op.IDProd, build.With(op.ProdAxis, axes, op.ProdKeepdim, true, op.ProdDtype, x.DType), x)
	})},
	{"ReduceL1", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Sum(c.Unary(op.IDAbs, x), true, axes...)
	})},
	{"ReduceL2", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Cast(c.Do(op.IDSqrt, nil, c.Sum(c.Unary(op.IDSquare, x), true, axes...)), x.DType)
	})},
	{"ReduceSumSquare", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Sum(c.Unary(op.IDSquare, x), true, axes...)
	})},
	{"ReduceLogSum", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Cast(c.Do(op.IDLog, nil, c.Sum(x, true, axes...)), x.DType)
	})},
	{"ReduceLogSumExp", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value { return logSumExp(c, x, axes) })},
	// ArgMax: int64; the first of equal elements, or the last.
	{"ArgMax", 1, 0, func(c *build.Call) []*build.Value { return build.One(argument(c, op.IDArgmax)) }},
	{"ArgMin", 1, 0, func(c *build.Call) []*build.Value { return build.One(argument(c, op.IDArgmin)) }},
	// Softmax: exp(x) / sum(exp(x)); before opset 13 over all axes from one on.
	{"Softmax", 1, 0, flattened((*build.Call).Softmax)},
	{"Softmax", 13, 0, along((*build.Call).Softmax)},
	{"LogSoftmax", 1, 0, flattened(logSoftmax)},
	{"LogSoftmax", 13, 0, along(logSoftmax)},
	// Hardmax: 1 at the first largest element.
	{"Hardmax", 1, 0, flattened(hardmax)},
	{"Hardmax", 13, 0, along(hardmax)},
	// CumSum: x, axis; also exclusive and from the end.
	{"CumSum", 11, 0, func(c *build.Call) []*build.Value { return build.One(running(c, op.IDCumsum, 0)) }},
	{"CumProd", 26, 0, func(c *build.Call) []*build.Value { return build.One(running(c, op.IDCumprod, 1)) }},
	// TopK: x, k; values and indices.
	{"TopK", 1, 0, topkAttribute},
	{"TopK", 10, 0, topk},
	// LpNormalization: x divided by its norm, p 1 or 2.
	{"LpNormalization", 1, 0, lpNormalization},
	// MeanVarianceNormalization: over attribute axes, by default all but the channels.
	{"MeanVarianceNormalization", 9, 0, func(c *build.Call) []*build.Value {
		x, axes := c.X(0), []int64{0, 2, 3}
		if c.Given("axes") {
			axes = c.Axes(c.List("axes"), x.Rank())
		}
		// What ONNX adds to the deviation, 1e-9, is what a variance of 0 has with this epsilon.
		return build.One(c.Do(op.IDStandardize, build.With(op.StandardizeAxis, axes, op.StandardizeEpsilon, 1e-18), x))
	}},
}

// reduceBy is an operator over axes: those that are named, or all. They are an attribute, or from opset 13 or 18 on
// an operand. f keeps them as 1. Attribute noop_with_empty_axes says that no axes are meant where none are named.
func reduceBy(f func(c *build.Call, x *build.Value, axes []int64) *build.Value) build.Operator {
	return func(c *build.Call) []*build.Value {
		x, named := c.X(0), c.List("axes")
		if c.Has(1) {
			named = c.Ints(1, "axes")
		}
		axes := c.Axes(named, x.Rank())
		switch {
		case len(axes) == 0 && c.Yes("noop_with_empty_axes", 0) || x.Rank() == 0: // each element by itself
			last := int64(x.Rank())
			return build.One(c.Reshape(f(c, c.Unsqueeze(x, last), []int64{last}), x.Dims()...))
		case len(axes) == 0:
			axes = build.Count(x.Rank())
		}
		y := f(c, x, axes)
		if c.Yes("keepdims", 1) {
			return build.One(y)
		}
		return build.One(c.Squeeze(y, axes...))
	}
}

// extreme is the largest or the smallest of the elements; of none it is what all others beat.
func extreme(c *build.Call, id op.ID, x *build.Value, axes []int64, none op.Value) *build.Value {
	if x.Shape.Numel() == 0 {
		dims := slices.Clone(x.Dims())
		for _, a := range axes {
			dims[a] = 1
		}
		return c.Full(x.DType, none, dims...)
	}
	return c.Do(id, build.With(op.MaxAxis, axes, op.MaxKeepdim, true), x)
}

// greatest is what a minimum begins with.
func greatest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(1)}
	}
	_, high := d.Range()
	return build.Integer(high)
}

// logSumExp keeps the axes with one element. Integers are computed in float32.
func logSumExp(c *build.Call, x *build.Value, axes []int64) *build.Value {
	wide := x
	if !x.DType.IsFloat() {
		wide = c.Cast(x, dtype.Float32)
	}
	return c.Cast(c.Do(op.IDLogsumexp, build.With(op.LogsumexpAxis, axes, op.LogsumexpKeepdim, true), wide), x.DType)
}

// argument is the index of the largest or the smallest element along an axis: the first, or the last of equal ones.
// The row finds the first; the last is the first in reverse order.
func argument(c *build.Call, id op.ID) *build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	last := c.Yes("select_last_index", 0)
	if last {
		x = c.Flip(x, int64(axis))
	}
	i := c.Do(id, build.With(op.ArgmaxAxis, axis, op.ArgmaxKeepdim, c.Yes("keepdims", 1)), x)
	if last {
		i = c.Sub(build.Whole(x.Dims()[axis]-1), i)
	}
	return i
}

// along is an operator along one axis, the last unless it is named.
func along(f func(c *build.Call, x *build.Value, axis int) *build.Value) build.Operator {
	return func(c *build.Call) []*build.Value {
		x := c.X(0)
		if x.Rank() == 0 {
			return build.One(c.Reshape(f(c, c.Reshape(x, 1), 0)))
		}
		return build.One(f(c, x, c.Axis(c.Int("axis", -1), x.Rank())))
	}
}

// flattened is the same before opset 13: all axes from one on, by default 1, count as one. For the last axis both
// meanings agree.
func flattened(f func(c *build.Call, x *build.Value, axis int) *build.Value) build.Operator {
	return func(c *build.Call) []*build.Value {
		x := c.X(0)
		axis := int(c.Int("axis", 1))
		if axis < 0 {
			axis += x.Rank()
		}
		if axis == x.Rank()-1 {
			return build.One(f(c, x, axis))
		}
		return build.One(c.Reshape(f(c, flatten(c, x, axis), 1), x.Dims()...))
	}
}

// logSoftmax is x less the logarithm of the sum of exponentials.
func logSoftmax(c *build.Call, x *build.Value, axis int) *build.Value {
	wide := x
	if x.DType.Size() == 2 {
		wide = c.Cast(x, dtype.Float32)
	}
	return c.Cast(c.Do(op.IDLogSoftmax, build.With(op.LogSoftmaxAxis, axis), wide), x.DType)
}

// hardmax is 1 at the first of the largest elements and 0 elsewhere.
func hardmax(c *build.Call, x *build.Value, axis int) *build.Value {
	return c.Do(op.IDHardmax, build.With(op.HardmaxAxis, axis), x)
}

// running is sums or products of the elements up to each; with exclusive without it, so that the first is none's.
// The axis is an operand, which has to be known.
func running(c *build.Call, id op.ID, none int64) *build.Value {
	x := c.X(0)
	axis := c.Axis(int64(c.Number(1, "the axis")), x.Rank())
	reverse := c.Yes("reverse", 0)
	if reverse {
		x = c.Flip(x, int64(axis))
	}
	y := c.Do(id, build.With(op.CumsumAxis, axis, op.CumsumDtype, x.DType), x)
	if n := x.Dims()[axis]; c.Yes("exclusive", 0) && n > 0 {
		dims := slices.Clone(x.Dims())
		dims[axis] = 1
		y = c.Concat(axis, c.Full(x.DType, build.Integer(none), dims...), c.Slice(y, axis, 0, n-1))
	}
	if reverse {
		y = c.Flip(y, int64(axis))
	}
	return y
}

// topkAttribute is TopK before opset 10: k is an attribute.
func topkAttribute(c *build.Call) []*build.Value { return leadingElements(c, c.Int("k", -1), true) }

// topk has the largest or the smallest k elements along an axis in order, and their indices.
func topk(c *build.Call) []*build.Value {
	return leadingElements(c, c.Integer(1, "k"), c.Yes("largest", 1))
}

func leadingElements(c *build.Call, k int64, largest bool) []*build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", -1), x.Rank())
	if k == 0 { // detectors ask for it where they have found nothing
		none := c.Slice(x, axis, 0, 0)
		return []*build.Value{none, c.Constant(dtype.Int64, none.Dims(), nil)}
	}
	return c.All(op.IDTopk, build.With(op.TopkK, k, op.TopkAxis, axis, op.TopkLargest, largest), x)
}

// lpNormalization divides by the norm along an axis; a norm of 0 divides nothing.
func lpNormalization(c *build.Call) []*build.Value {
	x, p := c.X(0), c.Int("p", 2)
	if p != 1 && p != 2 {
		c.Wrong("p is %d; want 1 or 2", p)
	}
	const least = 0x1p-126 // of the norms, so that 0 is divided by a number
	axes := []int64{int64(c.Axis(c.Int("axis", -1), x.Rank()))}
	return build.One(c.Do(op.IDNormalize, build.With(op.NormalizeP, float64(p), op.NormalizeAxis, axes, op.NormalizeEpsilon, least), x))
}
