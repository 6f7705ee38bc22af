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
	{"ReduceMax", 1, op.IDMax, reduceBy(extreme)}, // largest element; the lowest number of nothing
	{"ReduceMin", 1, op.IDMin, reduceBy(extreme)}, // smallest element; the greatest number of nothing
	// ReduceProd: product; 1 of nothing.
	{"ReduceProd", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Do(op.IDProd, build.With(op.ProdAxis, axes, op.ProdKeepdim, true, op.ProdDtype, x.DType), x)
	})},
	{"ReduceL1", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Sum(c.Unary(op.IDAbs, x), true, axes...)
	})},
	{"ReduceL2", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Cast(c.Unary(op.IDSqrt, c.Sum(c.Unary(op.IDSquare, x), true, axes...)), x.DType)
	})},
	{"ReduceSumSquare", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Sum(c.Unary(op.IDSquare, x), true, axes...)
	})},
	{"ReduceLogSum", 1, 0, reduceBy(func(c *build.Call, x *build.Value, axes []int64) *build.Value {
		return c.Cast(c.Unary(op.IDLog, c.Sum(x, true, axes...)), x.DType)
	})},
	{"ReduceLogSumExp", 1, 0, reduceBy(logSumExp)},
	{"ArgMax", 1, op.IDArgmax, argument}, // int64; the first of equal elements, or the last
	{"ArgMin", 1, op.IDArgmin, argument},
	{"Softmax", 1, 0, along((*build.Call).Softmax)}, // exp(x) / sum(exp(x))
	{"LogSoftmax", 1, 0, along(logSoftmax)},
	{"Hardmax", 1, 0, along(hardmax)}, // 1 at the first largest element
	// CumSum: x, axis; also exclusive and from the end.
	{"CumSum", 11, op.IDCumsum, func(c *build.Call) []*build.Value { return build.One(running(c, 0)) }},
	{"CumProd", 26, op.IDCumprod, func(c *build.Call) []*build.Value { return build.One(running(c, 1)) }},
	{"TopK", 1, 0, topk},                       // x, k; values and indices
	{"LpNormalization", 1, 0, lpNormalization}, // x divided by its norm, p 1 or 2
	// MeanVarianceNormalization: what ONNX adds to the deviation, 1e-9, is what a variance of 0 has with this epsilon.
	{"MeanVarianceNormalization", 9, op.IDStandardize, renamed{{op.StandardizeAxis, "axes", []int64{0, 2, 3}}, {op.StandardizeEpsilon, "", 1e-18}}.call},
}

// reduceBy is an operator over axes: those that are named, or all. They are an attribute, or from opset 13 or 18 on
// an operand. f keeps them as 1. Attribute noop_with_empty_axes says that no axes are meant where none are named.
func reduceBy(f func(c *build.Call, x *build.Value, axes []int64) *build.Value) build.Operator {
	return func(c *build.Call) []*build.Value {
		x := c.X(0)
		named, _ := c.OptionalInts(1, "axes")
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

// extreme is the largest or the smallest of the elements, as the row says; of none it is what all others beat.
func extreme(c *build.Call, x *build.Value, axes []int64) *build.Value {
	if x.Shape.Numel() > 0 {
		return c.Do(c.Row, build.With(op.MaxAxis, axes, op.MaxKeepdim, true), x)
	}
	dims := slices.Clone(x.Dims())
	for _, a := range axes {
		dims[a] = 1
	}
	low, high := op.Value{Kind: op.Float, F: math.Inf(-1)}, op.Value{Kind: op.Float, F: math.Inf(1)}
	if !x.DType.IsFloat() {
		least, most := x.DType.Range()
		low, high = build.Integer(least), build.Integer(most)
	}
	none := low
	if c.Row == op.IDMin {
		none = high
	}
	return c.Full(x.DType, none, dims...)
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
func argument(c *build.Call) []*build.Value {
	x := c.X(0)
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	last := c.Yes("select_last_index", 0)
	if last {
		x = c.Flip(x, int64(axis))
	}
	i := c.Do(c.Row, build.With(op.ArgmaxAxis, axis, op.ArgmaxKeepdim, c.Yes("keepdims", 1)), x)
	if last {
		i = c.Sub(build.Whole(x.Dims()[axis]-1), i)
	}
	return build.One(i)
}

// along is an operator along one axis, the last unless it is named. Before opset 13 all axes from one on, by default 1, count as one;
// for the last axis both meanings agree.
func along(f func(c *build.Call, x *build.Value, axis int) *build.Value) build.Operator {
	return func(c *build.Call) []*build.Value {
		x := c.X(0)
		if c.Opset < 13 && flatAxis(c) != x.Rank()-1 {
			return build.One(c.Reshape(f(c, flatten(c, x, flatAxis(c)), 1), x.Dims()...))
		}
		if x.Rank() == 0 {
			return build.One(c.Reshape(f(c, c.Reshape(x, 1), 0)))
		}
		return build.One(f(c, x, c.Axis(c.Int("axis", -1), x.Rank())))
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
func running(c *build.Call, none int64) *build.Value {
	x := c.X(0)
	axis := c.Axis(int64(c.Number(1, "the axis")), x.Rank())
	reverse := c.Yes("reverse", 0)
	if reverse {
		x = c.Flip(x, int64(axis))
	}
	y := c.Do(c.Row, build.With(op.CumsumAxis, axis, op.CumsumDtype, x.DType), x)
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

// topk has the largest or the smallest k elements along an axis in order, and their indices. k was an attribute before opset 10.
func topk(c *build.Call) []*build.Value {
	x, k := c.X(0), c.Int("k", 0)
	if !c.Given("k") {
		k = c.Integer(1, "k")
	}
	axis := c.Axis(c.Int("axis", -1), x.Rank())
	if k == 0 { // detectors ask for it where they have found nothing
		none := c.Slice(x, axis, 0, 0)
		return []*build.Value{none, c.Constant(dtype.Int64, none.Dims(), nil)}
	}
	return c.All(op.IDTopk, build.With(op.TopkK, k, op.TopkAxis, axis, op.TopkLargest, c.Yes("largest", 1)), x)
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
