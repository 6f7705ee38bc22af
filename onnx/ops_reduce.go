package onnx

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators that reduce axes or work along one.

var reductions = map[string][]version{
	"ReduceSum":  reduction(13, func(c *call, x *value, axes []int64) *value { return c.sum(x, true, axes...) }),
	"ReduceMean": reduction(18, func(c *call, x *value, axes []int64) *value { return c.mean(x, true, axes...) }),
	"ReduceMax": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.extreme(op.IDMax, x, axes, lowest(x.DType))
	}),
	"ReduceMin": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.extreme(op.IDMin, x, axes, greatest(x.DType))
	}),
	"ReduceProd": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.do(op.IDProd, op.Attrs{op.ProdAxis: ints(axes...), op.ProdKeepdim: flag(true), op.ProdDtype: typeAttr(x.DType)}, x)
	}),
	"ReduceL1": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.sum(c.do(op.IDAbs, nil, x), true, axes...)
	}),
	"ReduceL2": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.cast(c.do(op.IDSqrt, nil, c.sum(c.do(op.IDSquare, nil, x), true, axes...)), x.DType)
	}),
	"ReduceSumSquare": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.sum(c.do(op.IDSquare, nil, x), true, axes...)
	}),
	"ReduceLogSum": reduction(18, func(c *call, x *value, axes []int64) *value {
		return c.cast(c.do(op.IDLog, nil, c.sum(x, true, axes...)), x.DType)
	}),
	"ReduceLogSumExp": reduction(18, func(c *call, x *value, axes []int64) *value { return c.logSumExp(x, axes) }),

	"ArgMax": from(1, func(c *call) []*value { return one(c.argument(op.IDArgmax)) }),
	"ArgMin": from(1, func(c *call) []*value { return one(c.argument(op.IDArgmin)) }),

	"Softmax":    {{1, flattened((*call).softmax)}, {13, along((*call).softmax)}},
	"LogSoftmax": {{1, flattened((*call).logSoftmax)}, {13, along((*call).logSoftmax)}},
	"Hardmax":    {{1, flattened((*call).hardmax)}, {13, along((*call).hardmax)}},

	"CumSum":  from(11, func(c *call) []*value { return one(c.running(op.IDCumsum, 0)) }),
	"CumProd": from(26, func(c *call) []*value { return one(c.running(op.IDCumprod, 1)) }),
	"TopK":    {{1, topkAttribute}, {10, topk}},

	"LpNormalization": from(1, lpNormalization),
	"MeanVarianceNormalization": from(9, func(c *call) []*value {
		x, axes := c.x(0), []int64{0, 2, 3}
		if c.given("axes") {
			axes = c.axes(c.list("axes"), x.rank())
		}
		d := c.sub(x, c.mean(x, true, axes...))
		deviation := c.do(op.IDSqrt, nil, c.mean(c.do(op.IDSquare, nil, d), true, axes...))
		return one(c.div(d, c.add(deviation, num(1e-9))))
	}),
}

// reduction is an operator over axes, which are an attribute, and from an opset on an operand. f keeps them as 1.
func reduction(operand int64, f func(c *call, x *value, axes []int64) *value) []version {
	reduce := func(c *call, list []int64, given bool) []*value {
		x := c.x(0)
		if len(list) == 0 && c.yes("noop_with_empty_axes", 0) {
			return one(c.reshape(f(c, c.unsqueeze(x, int64(x.rank())), []int64{int64(x.rank())}), x.dims()...))
		}
		axes := c.axes(list, x.rank())
		if len(list) == 0 {
			axes = count(x.rank())
		}
		y := x
		if len(axes) > 0 {
			y = f(c, x, axes)
		} else { // of a 0-d tensor
			y = c.reshape(f(c, c.reshape(x, 1), []int64{0}))
		}
		if c.yes("keepdims", 1) || len(axes) == 0 {
			return one(y)
		}
		return one(c.squeeze(y, axes...))
	}
	return []version{
		{1, func(c *call) []*value { return reduce(c, c.list("axes"), c.given("axes")) }},
		{operand, func(c *call) []*value {
			if !c.has(1) {
				return reduce(c, c.list("axes"), false)
			}
			return reduce(c, c.ints(1, "axes"), true)
		}},
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
	return c.do(id, op.Attrs{op.MaxAxis: ints(axes...), op.MaxKeepdim: flag(true)}, x)
}

// greatest is what a minimum begins with.
func greatest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(1)}
	}
	_, high := d.Range()
	return integer(high)
}

// logSumExp subtracts the largest element first, so that nothing overflows; one that is infinite is not subtracted.
func (c *call) logSumExp(x *value, axes []int64) *value {
	d := x.DType
	if !d.IsFloat() {
		x = c.cast(x, dtype.Float32)
	}
	top := c.extreme(op.IDMax, x, axes, lowest(x.DType))
	top = c.where(c.do(op.IDIsfinite, nil, top), top, num(0))
	return c.cast(c.add(c.do(op.IDLog, nil, c.sum(c.exp(c.sub(x, top)), true, axes...)), top), d)
}

// argument is the index of the largest or the smallest element along an axis: the first, or the last of equal ones.
func (c *call) argument(id op.ID) *value {
	x := c.x(0)
	axis := c.axis(c.int("axis", 0), x.rank())
	last := c.yes("select_last_index", 0)
	if last {
		x = c.flip(x, int64(axis))
	}
	i := c.do(id, op.Attrs{op.ArgmaxAxis: integer(int64(axis)), op.ArgmaxKeepdim: flag(c.yes("keepdims", 1))}, x)
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

// flattened is the same before opset 13: all axes from one on, by default 1, count as one.
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

func (c *call) logSoftmax(x *value, axis int) *value {
	return c.sub(x, c.logSumExp(x, []int64{int64(axis)}))
}

// hardmax is 1 at the first of the largest elements and 0 elsewhere.
func (c *call) hardmax(x *value, axis int) *value {
	at := c.do(op.IDArgmax, op.Attrs{op.ArgmaxAxis: integer(int64(axis)), op.ArgmaxKeepdim: flag(true)}, x)
	return c.cast(c.do(op.IDEqual, nil, at, c.steps(x.dims()[axis], axis, x.rank())), x.DType)
}

// running is sums or products of the elements up to each; with exclusive without it, so that the first is none's.
func (c *call) running(id op.ID, none int64) *value {
	x := c.x(0)
	axis := c.axis(int64(c.number(1, "the axis")), x.rank())
	reverse := c.yes("reverse", 0)
	if reverse {
		x = c.flip(x, int64(axis))
	}
	y := c.do(id, op.Attrs{op.CumsumAxis: integer(int64(axis)), op.CumsumDtype: typeAttr(x.DType)}, x)
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

func topkAttribute(c *call) []*value { return c.topk(c.int("k", -1), true) }

func topk(c *call) []*value {
	return c.topk(int64(c.number(1, "k")), c.yes("largest", 1))
}

func (c *call) topk(k int64, largest bool) []*value {
	x := c.x(0)
	axis := c.axis(c.int("axis", -1), x.rank())
	return c.all(op.IDTopk, op.Attrs{op.TopkK: integer(k), op.TopkAxis: integer(int64(axis)), op.TopkLargest: flag(largest)}, x)
}

// lpNormalization divides by the norm along an axis; a norm of 0 divides nothing.
func lpNormalization(c *call) []*value {
	x, p := c.x(0), c.int("p", 2)
	axis := int64(c.axis(c.int("axis", -1), x.rank()))
	var norm *value
	switch p {
	case 1:
		norm = c.sum(c.do(op.IDAbs, nil, x), true, axis)
	case 2:
		norm = c.do(op.IDSqrt, nil, c.sum(c.do(op.IDSquare, nil, x), true, axis))
	default:
		c.wrong("p is %d; want 1 or 2", p)
	}
	return one(c.where(c.do(op.IDEqual, nil, norm, num(0)), c.mul(x, num(0)), c.div(x, norm)))
}
