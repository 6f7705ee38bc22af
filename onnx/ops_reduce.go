package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators that reduce axes or work along one.
//
// Functions keep reduced axes as 1, and drop them at the end where attribute keepdims says so. Results have the
// dtype of the operand: sums of int32 stay int32, and wrap around. Means of integers lose their fraction.

var reductions = []entry{
	// ReduceSum: sum; 0 of nothing.
	{"ReduceSum", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value { return c.sum(x, true, axes...) })},
	{"ReduceMean", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value { return c.mean(x, true, axes...) })},
	// ReduceMax: largest element; the lowest number of nothing.
	{"ReduceMax", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.extreme(op.IDMax, x, axes, lowest(x.DType))
	})},
	// ReduceMin: smallest element; the greatest number of nothing.
	{"ReduceMin", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.extreme(op.IDMin, x, axes, greatest(x.DType))
	})},
	// ReduceProd: product; 1 of nothing.
	{"ReduceProd", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.do(op.IDProd, with(op.ProdAxis, axes, op.ProdKeepdim, true, op.ProdDtype, x.DType), x)
	})},
	{"ReduceL1", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.sum(c.unary(op.IDAbs, x), true, axes...)
	})},
	{"ReduceL2", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.cast(c.do(op.IDSqrt, nil, c.sum(c.unary(op.IDSquare, x), true, axes...)), x.DType)
	})},
	{"ReduceSumSquare", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.sum(c.unary(op.IDSquare, x), true, axes...)
	})},
	{"ReduceLogSum", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value {
		return c.cast(c.do(op.IDLog, nil, c.sum(x, true, axes...)), x.DType)
	})},
	{"ReduceLogSumExp", 1, 0, reduceBy(func(c *call, x *value, axes []int64) *value { return c.logSumExp(x, axes) })},
	// ArgMax: int64; the first of equal elements, or the last.
	{"ArgMax", 1, 0, func(c *call) []*value { return one(c.argument(op.IDArgmax)) }},
	{"ArgMin", 1, 0, func(c *call) []*value { return one(c.argument(op.IDArgmin)) }},
	// Softmax: exp(x) / sum(exp(x)); before opset 13 over all axes from one on.
	{"Softmax", 1, 0, flattened((*call).softmax)},
	{"Softmax", 13, 0, along((*call).softmax)},
	{"LogSoftmax", 1, 0, flattened((*call).logSoftmax)},
	{"LogSoftmax", 13, 0, along((*call).logSoftmax)},
	// Hardmax: 1 at the first largest element.
	{"Hardmax", 1, 0, flattened((*call).hardmax)},
	{"Hardmax", 13, 0, along((*call).hardmax)},
	// CumSum: x, axis; also exclusive and from the end.
	{"CumSum", 11, 0, func(c *call) []*value { return one(c.running(op.IDCumsum, 0)) }},
	{"CumProd", 26, 0, func(c *call) []*value { return one(c.running(op.IDCumprod, 1)) }},
	// TopK: x, k; values and indices.
	{"TopK", 1, 0, topkAttribute},
	{"TopK", 10, 0, topk},
	// LpNormalization: x divided by its norm, p 1 or 2.
	{"LpNormalization", 1, 0, lpNormalization},
	// MeanVarianceNormalization: over attribute axes, by default all but the channels.
	{"MeanVarianceNormalization", 9, 0, func(c *call) []*value {
		x, axes := c.x(0), []int64{0, 2, 3}
		if c.given("axes") {
			axes = c.axes(c.list("axes"), x.rank())
		}
		d := c.sub(x, c.mean(x, true, axes...))
		deviation := c.do(op.IDSqrt, nil, c.mean(c.unary(op.IDSquare, d), true, axes...))
		return one(c.div(d, c.add(deviation, num(1e-9))))
	}},
}

// reduceBy is an operator over axes: those that are named, or all. They are an attribute, or from opset 13 or 18 on
// an operand. f keeps them as 1. Attribute noop_with_empty_axes says that no axes are meant where none are named.
func reduceBy(f func(c *call, x *value, axes []int64) *value) build {
	return func(c *call) []*value {
		x, named := c.x(0), c.list("axes")
		if c.has(1) {
			named = c.ints(1, "axes")
		}
		axes := c.axes(named, x.rank())
		switch {
		case len(axes) == 0 && c.yes("noop_with_empty_axes", 0) || x.rank() == 0: // each element by itself
			last := int64(x.rank())
			return one(c.reshape(f(c, c.unsqueeze(x, last), []int64{last}), x.dims()...))
		case len(axes) == 0:
			axes = count(x.rank())
		}
		y := f(c, x, axes)
		if c.yes("keepdims", 1) {
			return one(y)
		}
		return one(c.squeeze(y, axes...))
	}
}

// extreme is the largest or the smallest of the elements; of none it is what all others beat.
func (c *call) extreme(id op.ID, x *value, axes []int64, none op.Value) *value {
	if x.Shape.Numel() == 0 {
		dims := slices.Clone(x.dims())
		for _, a := range axes {
			dims[a] = 1
		}
		return c.full(x.DType, none, dims...)
	}
	return c.do(id, with(op.MaxAxis, axes, op.MaxKeepdim, true), x)
}

// greatest is what a minimum begins with.
func greatest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(1)}
	}
	_, high := d.Range()
	return integer(high)
}

// logSumExp keeps the axes with one element. Integers are computed in float32.
func (c *call) logSumExp(x *value, axes []int64) *value {
	wide := x
	if !x.DType.IsFloat() {
		wide = c.cast(x, dtype.Float32)
	}
	return c.cast(c.do(op.IDLogsumexp, with(op.LogsumexpAxis, axes, op.LogsumexpKeepdim, true), wide), x.DType)
}

// argument is the index of the largest or the smallest element along an axis: the first, or the last of equal ones.
// The row finds the first; the last is the first in reverse order.
func (c *call) argument(id op.ID) *value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.rank())
	last := c.yes("select_last_index", 0)
	if last {
		x = c.flip(x, int64(axis))
	}
	i := c.do(id, with(op.ArgmaxAxis, axis, op.ArgmaxKeepdim, c.yes("keepdims", 1)), x)
	if last {
		i = c.sub(whole(x.dims()[axis]-1), i)
	}
	return i
}

// along is an operator along one axis, the last unless it is named.
func along(f func(c *call, x *value, axis int) *value) build {
	return func(c *call) []*value {
		x := c.x(0)
		if x.rank() == 0 {
			return one(c.reshape(f(c, c.reshape(x, 1), 0)))
		}
		return one(f(c, x, c.axis(c.int("axis", -1), x.rank())))
	}
}

// flattened is the same before opset 13: all axes from one on, by default 1, count as one. For the last axis both
// meanings agree.
func flattened(f func(c *call, x *value, axis int) *value) build {
	return func(c *call) []*value {
		x := c.x(0)
		axis := int(c.int("axis", 1))
		if axis < 0 {
			axis += x.rank()
		}
		if axis == x.rank()-1 {
			return one(f(c, x, axis))
		}
		return one(c.reshape(f(c, c.flatten(x, axis), 1), x.dims()...))
	}
}

// logSoftmax is x less the logarithm of the sum of exponentials.
func (c *call) logSoftmax(x *value, axis int) *value {
	wide := x
	if x.DType.Size() == 2 {
		wide = c.cast(x, dtype.Float32)
	}
	return c.cast(c.do(op.IDLogSoftmax, with(op.LogSoftmaxAxis, axis), wide), x.DType)
}

// hardmax is 1 at the first of the largest elements and 0 elsewhere.
func (c *call) hardmax(x *value, axis int) *value {
	at := c.do(op.IDArgmax, with(op.ArgmaxAxis, axis, op.ArgmaxKeepdim, true), x)
	return c.cast(c.binary(op.IDEqual, at, c.steps(x.dims()[axis], axis, x.rank())), x.DType)
}

// running is sums or products of the elements up to each; with exclusive without it, so that the first is none's.
// The axis is an operand, which has to be known.
func (c *call) running(id op.ID, none int64) *value {
	x := c.x(0)
	axis := c.axis(int64(c.number(1, "the axis")), x.rank())
	reverse := c.yes("reverse", 0)
	if reverse {
		x = c.flip(x, int64(axis))
	}
	y := c.do(id, with(op.CumsumAxis, axis, op.CumsumDtype, x.DType), x)
	if n := x.dims()[axis]; c.yes("exclusive", 0) && n > 0 {
		dims := slices.Clone(x.dims())
		dims[axis] = 1
		y = c.concat(axis, c.full(x.DType, integer(none), dims...), c.slice(y, axis, 0, n-1))
	}
	if reverse {
		y = c.flip(y, int64(axis))
	}
	return y
}

// topkAttribute is TopK before opset 10: k is an attribute.
func topkAttribute(c *call) []*value { return c.topk(c.int("k", -1), true) }

// topk has the largest or the smallest k elements along an axis in order, and their indices.
func topk(c *call) []*value {
	return c.topk(c.integer(1, "k"), c.yes("largest", 1))
}

func (c *call) topk(k int64, largest bool) []*value {
	x := c.x(0)
	axis := c.axis(c.int("axis", -1), x.rank())
	if k == 0 { // detectors ask for it where they have found nothing
		none := c.slice(x, axis, 0, 0)
		return []*value{none, c.constant(dtype.Int64, none.dims(), nil)}
	}
	return c.all(op.IDTopk, with(op.TopkK, k, op.TopkAxis, axis, op.TopkLargest, largest), x)
}

// lpNormalization divides by the norm along an axis; a norm of 0 divides nothing.
func lpNormalization(c *call) []*value {
	x, p := c.x(0), c.int("p", 2)
	axis := int64(c.axis(c.int("axis", -1), x.rank()))
	var norm *value
	switch p {
	case 1:
		norm = c.sum(c.unary(op.IDAbs, x), true, axis)
	case 2:
		norm = c.unary(op.IDSqrt, c.sum(c.unary(op.IDSquare, x), true, axis))
	default:
		c.wrong("p is %d; want 1 or 2", p)
	}
	return one(c.where(c.binary(op.IDEqual, norm, num(0)), c.mul(x, num(0)), c.div(x, norm)))
}
