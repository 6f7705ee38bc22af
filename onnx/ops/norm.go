package ops

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Normalizations, as they are at inference.
//
// They are sums and products of rows. What follows from weights alone, such as the factor of a batch normalization,
// is computed once when a graph is built. Statistics of halves are computed in float32 where ONNX says so.

var norms = []entry{
	{"BatchNormalization", 1, 0, batchNormalization}, // X, scale, B, mean, variance
	{"InstanceNormalization", 1, 0, instanceNormalization},
	{"GroupNormalization", 18, 0, groupNormalization},
	{"LayerNormalization", 1, 0, layerNormalization},
	{"RMSNormalization", 23, 0, rmsNormalization},
	{"LRN", 1, 0, lrn},
	{"SimplifiedLayerNormalization", 1, 0, rmsNormalization},
	{"com.microsoft:SkipLayerNormalization", 1, 0, skipLayerNormalization},   // X, skip, gamma, beta, bias
	{"com.microsoft:SkipSimplifiedLayerNormalization", 1, 0, skipSimplified}, // X, skip, gamma, bias
	{"com.microsoft:SimplifiedLayerNormalization", 1, 0, rmsNormalization},
}

// batchNormalization is a factor and a term for each channel, which follow from constants and are computed once.
// Operands: X, scale, B, mean and variance, the last four of one number for each channel. What is left when the
// model runs is a product and a sum.
func batchNormalization(c *build.Call) []*build.Value {
	x := c.X(0)
	if x.Rank() < 2 {
		c.Wrong("the operand has %d dimensions; want 2 or more", x.Rank())
	}
	if c.Yes("training_mode", 0) {
		return trainedNorm(c, x)
	}
	if c.Opset < 7 && !c.Yes("is_test", 0) && len(c.Node.Out) > 1 {
		c.Refuse("training before opset 14 is not supported")
	}
	scale, bias, mean, variance := c.X(1), c.X(2), c.X(3), c.X(4)
	factor := c.Div(scale, c.Unary(op.IDSqrt, c.Add(variance, build.Num(c.Float("epsilon", 1e-5)))))
	term := c.Sub(bias, c.Mul(mean, factor))
	wide := func(v *build.Value) *build.Value { return c.Cast(alongChannels(c, v, x.Rank()), x.DType) }
	return build.One(c.Add(c.Mul(x, wide(factor)), wide(term)))
}

// standard is row standardize: x without mean, if it is centered, and with a mean square of 1 over axes, the mean, and 1 / deviation.
func standard(c *build.Call, x *build.Value, epsilon float64, axes []int64, centered bool) []*build.Value {
	return c.All(op.IDStandardize, build.With(op.StandardizeAxis, axes, op.StandardizeEpsilon, epsilon, op.StandardizeCentered, centered), x)
}

// instanceNormalization normalizes each channel of each image. Operands: X [N, C, size...], scale and B of the
// channels.
func instanceNormalization(c *build.Call) []*build.Value {
	return build.One(c.Do(op.IDInstanceNorm, build.With(op.InstanceNormEpsilon, c.Float("epsilon", 1e-5)), c.X(0), c.X(1), c.X(2)))
}

// groupNormalization has a scale and a bias for each group before opset 21, and for each channel from there on.
// Files of both versions are told apart by the opset. The statistics are computed in the dtype of attribute
// stash_type.
func groupNormalization(c *build.Call) []*build.Value {
	x, groups := c.X(0), c.Int("num_groups", 1)
	if x.Rank() < 2 || groups < 1 || x.Dims()[1]%groups != 0 {
		c.Wrong("there are %d groups for shape %s; want a divisor of the channels", groups, &x.Shape)
	}
	ch := x.Dims()[1]
	at := build.With(op.GroupNormNumGroups, groups, op.GroupNormEpsilon, c.Float("epsilon", 1e-5))
	y := c.Cast(c.Do(op.IDGroupNorm, at, stashed(c, x), build.Absent(), build.Absent()), x.DType)
	wide := func(v *build.Value) *build.Value {
		if c.Opset < 21 && v.Shape.Numel() == groups {
			v = c.Reshape(c.Expand(c.Reshape(v, groups, 1), groups, ch/groups), ch)
		}
		return alongChannels(c, v, x.Rank())
	}
	return build.One(c.Add(c.Mul(y, wide(c.X(1))), wide(c.X(2))))
}

// stashed is x in the dtype that normalizations compute in: attribute stash_type, float32 by default. A file of
// double elements keeps them.
func stashed(c *build.Call, x *build.Value) *build.Value { return c.Cast(x, stash(c, x)) }

func stash(c *build.Call, x *build.Value) dtype.DType {
	if x.DType == dtype.Float64 {
		return dtype.Float64
	}
	return c.Elem("stash_type", dtype.Float32)
}

// normalized is x less its mean, if it is centered, divided by its deviation over axes, times operand weight, and plus operand bias, if
// there is one. Further results are the mean and 1 / deviation.
//
// Nearly all files normalize the last axis, with a weight that is a line: what row layer_norm was made for, which reads x once. Other
// axes, weights that broadcast, and statistics in another dtype than float32 are composed as ONNX defines them.
func normalized(c *build.Call, x *build.Value, axes []int64, weight, bias int, epsilon float64, centered bool) []*build.Value {
	if isLine(c, x, axes, weight) && (isLine(c, x, axes, bias) || !c.Has(bias)) && c.X(weight).DType == x.DType && !c.Wants(1) && !c.Wants(2) {
		at := build.With(op.LayerNormEpsilon, epsilon, op.LayerNormCentered, centered)
		return []*build.Value{c.Do(op.IDLayerNorm, at, x, c.X(weight), c.Optional(bias)), nil, nil}
	}
	made := standard(c, stashed(c, x), epsilon, axes, centered)
	y := c.Mul(c.Cast(made[0], x.DType), c.X(weight))
	return []*build.Value{biased(c, y, bias), made[1], made[2]}
}

// isLine reports whether operand i has an element for each of the last axis of x, which alone is normalized, with statistics in float32.
func isLine(c *build.Call, x *build.Value, axes []int64, i int) bool {
	if x.Rank() == 0 || len(axes) != 1 || stash(c, x) != dtype.Float32 && x.DType != dtype.Float64 || !c.Has(i) {
		return false
	}
	n := x.Dims()[x.Rank()-1]
	return n > 0 && c.X(i).Rank() == 1 && c.X(i).Dims()[0] == n
}

// axesFrom are the axes of the first operand from attribute axis on.
func axesFrom(c *build.Call) []int64 {
	rank := c.X(0).Rank()
	return build.Count(rank)[c.Axis(c.Int("axis", -1), rank):]
}

// layerNormalization normalizes the axes from attribute axis on, and applies a scale and a bias. Further results are
// the mean and 1 / deviation.
func layerNormalization(c *build.Call) []*build.Value {
	return normalized(c, c.X(0), axesFrom(c), 1, 2, c.Float("epsilon", 1e-5), true)
}

// rmsNormalization divides by the root of the mean square over the axes from attribute axis on, and applies a scale.
func rmsNormalization(c *build.Call) []*build.Value {
	return normalized(c, c.X(0), axesFrom(c), 1, len(c.In), c.Float("epsilon", 1e-5), false)[:1]
}

// skipLayerNormalization is a sum of two tensors, and perhaps a bias, normalized; the sum is the fourth result.
func skipLayerNormalization(c *build.Call) []*build.Value {
	sum := biased(c, c.Add(c.X(0), c.X(1)), 4)
	return append(normalized(c, sum, []int64{int64(sum.Rank()) - 1}, 2, 3, c.Float("epsilon", 1e-12), true), sum)
}

// skipSimplified is skipLayerNormalization without mean and bias. The second and third result are for training
// alone.
func skipSimplified(c *build.Call) []*build.Value {
	sum := biased(c, c.Add(c.X(0), c.X(1)), 3)
	made := normalized(c, sum, []int64{int64(sum.Rank()) - 1}, 2, len(c.In), c.Float("epsilon", 1e-5), false)
	return []*build.Value{made[0], nil, nil, sum}
}

// lrn divides by the squares of neighbouring channels, of which an even size has one more behind.
func lrn(c *build.Call) []*build.Value {
	x, size := c.X(0), c.Int("size", 1)
	if x.Rank() < 2 || size < 1 || size > 1<<16 {
		c.Wrong("the operand has %d dimensions and size is %d", x.Rank(), size)
	}
	return build.One(c.Do(op.IDLocalResponseNorm, build.With(op.LocalResponseNormSize, size, op.LocalResponseNormAlpha, c.Float("alpha", 1e-4),
		op.LocalResponseNormBeta, c.Float("beta", 0.75), op.LocalResponseNormK, c.Float("bias", 1), op.LocalResponseNormMoreBehind, true), x))
}
