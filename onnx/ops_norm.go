package onnx

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Normalizations, as they are at inference.
//
// They are sums and products of rows. What follows from weights alone, such as the factor of a batch normalization,
// is computed once when a graph is built. Statistics of halves are computed in float32 where ONNX says so.

var norms = []entry{
	// BatchNormalization: X, scale, B, mean, variance.
	{"BatchNormalization", 1, 0, batchNormalization},
	{"InstanceNormalization", 1, 0, instanceNormalization},
	{"GroupNormalization", 18, 0, groupNormalization},
	{"LayerNormalization", 1, 0, layerNormalization},
	{"RMSNormalization", 23, 0, rmsNormalization},
	{"LRN", 1, 0, lrn},
	{"SimplifiedLayerNormalization", 1, 0, rmsNormalization},
	// SkipLayerNormalization: X, skip, gamma, beta, bias.
	{"com.microsoft:SkipLayerNormalization", 1, 0, skipLayerNormalization},
	// SkipSimplifiedLayerNormalization: X, skip, gamma, bias.
	{"com.microsoft:SkipSimplifiedLayerNormalization", 1, 0, skipSimplified},
	{"com.microsoft:SimplifiedLayerNormalization", 1, 0, rmsNormalization},
}

// batchNormalization is a factor and a term for each channel, which follow from constants and are computed once.
// Operands: X, scale, B, mean and variance, the last four of one number for each channel. What is left when the
// model runs is a product and a sum.
func batchNormalization(c *call) []*value {
	x := c.x(0)
	if x.rank() < 2 {
		c.wrong("the operand has %d dimensions; want 2 or more", x.rank())
	}
	if c.yes("training_mode", 0) {
		return c.trainedNorm(x)
	}
	if c.opset < 7 && !c.yes("is_test", 0) && len(c.node.Out) > 1 {
		c.refuse("training before opset 14 is not supported")
	}
	scale, bias, mean, variance := c.x(1), c.x(2), c.x(3), c.x(4)
	factor := c.div(scale, c.unary(op.IDSqrt, c.add(variance, num(c.float("epsilon", 1e-5)))))
	term := c.sub(bias, c.mul(mean, factor))
	wide := func(v *value) *value { return c.cast(c.channels(v, x.rank()), x.DType) }
	return one(c.add(c.mul(x, wide(factor)), wide(term)))
}

// standard is x without mean and with variance 1 over axes, and the mean and 1 / deviation. The mean is subtracted
// before squares are taken: the difference of the mean of squares and the square of the mean would cancel.
func (c *call) standard(x *value, epsilon float64, axes []int64) (y, mean, inverse *value) {
	mean = c.mean(x, true, axes...)
	d := c.sub(x, mean)
	inverse = c.unary(op.IDRsqrt, c.add(c.mean(c.unary(op.IDSquare, d), true, axes...), num(epsilon)))
	return c.mul(d, inverse), mean, inverse
}

// instanceNormalization normalizes each channel of each image. Operands: X [N, C, size...], scale and B of the
// channels.
func instanceNormalization(c *call) []*value {
	return one(c.do(op.IDInstanceNorm, with(op.InstanceNormEpsilon, c.float("epsilon", 1e-5)), c.x(0), c.x(1), c.x(2)))
}

// groupNormalization has a scale and a bias for each group before opset 21, and for each channel from there on.
// Files of both versions are told apart by the opset. The statistics are computed in the dtype of attribute
// stash_type.
func groupNormalization(c *call) []*value {
	x, groups := c.x(0), c.int("num_groups", 1)
	if x.rank() < 2 || groups < 1 || x.dims()[1]%groups != 0 {
		c.wrong("there are %d groups for shape %s; want a divisor of the channels", groups, &x.Shape)
	}
	ch := x.dims()[1]
	at := with(op.GroupNormNumGroups, groups, op.GroupNormEpsilon, c.float("epsilon", 1e-5))
	y := c.cast(c.do(op.IDGroupNorm, at, c.stashed(x), absent(), absent()), x.DType)
	wide := func(v *value) *value {
		if c.opset < 21 && v.Shape.Numel() == groups {
			v = c.reshape(c.expand(c.reshape(v, groups, 1), groups, ch/groups), ch)
		}
		return c.channels(v, x.rank())
	}
	return one(c.add(c.mul(y, wide(c.x(1))), wide(c.x(2))))
}

// stashed is x in the dtype that normalizations compute in: attribute stash_type, float32 by default. A file of
// double elements keeps them.
func (c *call) stashed(x *value) *value { return c.cast(x, c.stash(x)) }

func (c *call) stash(x *value) dtype.DType {
	if x.DType == dtype.Float64 {
		return dtype.Float64
	}
	return c.elem("stash_type", dtype.Float32)
}

// Nearly all files normalize the last axis, with a weight that is a line: what the row was made for, which reads x once. Other
// axes, weights that broadcast, and statistics in another dtype than float32 are composed as ONNX defines them.
//
// lineNorm is row layer_norm, for a normalization along the last axis whose weight, and bias if there is one, are lines: operands
// weight and bias of the call. ok is false for all others.
func (c *call) lineNorm(x *value, axes []int64, weight, bias int, epsilon float64, centered bool) (y *value, ok bool) {
	if x.rank() == 0 || len(axes) != 1 || c.stash(x) != dtype.Float32 && x.DType != dtype.Float64 {
		return nil, false
	}
	n := x.dims()[x.rank()-1]
	line := func(i int) (*value, bool) {
		if !c.has(i) {
			return absent(), true
		}
		v := c.x(i)
		return v, v.rank() == 1 && v.dims()[0] == n
	}
	w, lined := line(weight)
	b, also := line(bias)
	if n == 0 || !lined || !also || !c.has(weight) || c.x(weight).DType != x.DType {
		return nil, false
	}
	yes := op.Value{Kind: op.Bool}
	if centered {
		yes.I = 1
	}
	at := op.Attrs{op.LayerNormEpsilon: {Kind: op.Float, F: epsilon}, op.LayerNormCentered: yes}
	return c.do(op.IDLayerNorm, at, x, w, b), true
}

// layerNormalization normalizes the axes from attribute axis on, and applies a scale and a bias. Further results are
// the mean and 1 / deviation.
func layerNormalization(c *call) []*value {
	x := c.x(0)
	axes := count(x.rank())[c.axis(c.int("axis", -1), x.rank()):]
	if y, ok := c.lineNorm(x, axes, 1, 2, c.float("epsilon", 1e-5), true); ok && !c.wants(1) && !c.wants(2) {
		return one(y)
	}
	wide := c.stashed(x)
	y, mean, inverse := c.standard(wide, c.float("epsilon", 1e-5), axes)
	y = c.mul(c.cast(y, x.DType), c.x(1))
	if c.has(2) {
		y = c.add(y, c.x(2))
	}
	return []*value{y, mean, inverse}
}

// rms is x divided by the root of the mean of its squares.
func (c *call) rms(x *value, axes []int64) *value {
	wide := c.stashed(x)
	inverse := c.unary(op.IDRsqrt, c.add(c.mean(c.unary(op.IDSquare, wide), true, axes...), num(c.float("epsilon", 1e-5))))
	return c.cast(c.mul(wide, inverse), x.DType)
}

// rmsNormalization divides by the root of the mean square over the axes from attribute axis on, and applies a scale.
func rmsNormalization(c *call) []*value {
	x := c.x(0)
	axes := count(x.rank())[c.axis(c.int("axis", -1), x.rank()):]
	if y, ok := c.lineNorm(x, axes, 1, len(c.node.In), c.float("epsilon", 1e-5), false); ok {
		return one(y)
	}
	return one(c.mul(c.rms(x, axes), c.x(1)))
}

// skipLayerNormalization is a sum of two tensors, and perhaps a bias, normalized; the sum is the fourth result.
func skipLayerNormalization(c *call) []*value {
	sum := c.add(c.x(0), c.x(1))
	if c.has(4) {
		sum = c.add(sum, c.x(4))
	}
	last := []int64{int64(sum.rank()) - 1}
	if y, ok := c.lineNorm(sum, last, 2, 3, c.float("epsilon", 1e-12), true); ok && !c.wants(1) && !c.wants(2) {
		return []*value{y, nil, nil, sum}
	}
	y, mean, inverse := c.standard(sum, c.float("epsilon", 1e-12), last)
	y = c.mul(y, c.x(2))
	if c.has(3) {
		y = c.add(y, c.x(3))
	}
	return []*value{y, mean, inverse, sum}
}

// skipSimplified is skipLayerNormalization without mean and bias. The second and third result are for training
// alone.
func skipSimplified(c *call) []*value {
	sum := c.add(c.x(0), c.x(1))
	if c.has(3) {
		sum = c.add(sum, c.x(3))
	}
	last := []int64{int64(sum.rank()) - 1}
	if y, ok := c.lineNorm(sum, last, 2, len(c.node.In), c.float("epsilon", 1e-5), false); ok {
		return []*value{y, nil, nil, sum}
	}
	return []*value{c.mul(c.rms(sum, last), c.x(2)), nil, nil, sum}
}

// lrn divides by the squares of neighbouring channels, of which an even size has one more behind.
func lrn(c *call) []*value {
	x, size := c.x(0), c.int("size", 1)
	if x.rank() < 2 || size < 1 || size > 1<<16 {
		c.wrong("the operand has %d dimensions and size is %d", x.rank(), size)
	}
	return one(c.do(op.IDLocalResponseNorm, with(op.LocalResponseNormSize, size, op.LocalResponseNormAlpha, c.float("alpha", 1e-4),
		op.LocalResponseNormBeta, c.float("beta", 0.75), op.LocalResponseNormK, c.float("bias", 1), op.LocalResponseNormMoreBehind, true), x))
}
