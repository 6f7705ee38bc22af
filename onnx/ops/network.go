package ops

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Matrix products and convolutions.
//
// Attributes of windows are in the order of ONNX in files, all numbers before the axes and then all behind them, and
// by axes in rows. A bias is a sum after the product, which devices fuse with it where they can. Weights that are
// constants are packed by the device when the program is compiled.

var networks = []entry{
	// MatMul: batches broadcast.
	{"MatMul", 1, op.IDMatmulInteger, func(c *build.Call) []*build.Value { return build.One(product(c, nil)) }},
	{"Gemm", 1, op.IDMatmulInteger, gemm},
	{"Einsum", 12, 0, einsum},
	{"Conv", 1, op.IDConvInteger, func(c *build.Call) []*build.Value {
		if y := quantizedConv(c); y != nil {
			return build.One(channelBias(c, y, 2))
		}
		return build.One(conv(c, c.X(0), c.X(1), 2))
	}},
	{"ConvTranspose", 1, 0, convTranspose},
	// FusedConv: X, W, B, Z; an activation.
	{"com.microsoft:FusedConv", 1, 0, fusedConv},
	// FusedMatMul: A, B; transposed, times alpha.
	{"com.microsoft:FusedMatMul", 1, op.IDMatmulInteger, fusedMatMul},
	{"com.microsoft:FusedGemm", 1, op.IDMatmulInteger, func(c *build.Call) []*build.Value { return build.One(activated(c, gemm(c)[0])) }},
	// CausalConvWithState: X, W, B, state.
	{"CausalConvWithState", 27, 0, causalConv},
}

// product is the matrix product of the first two operands, of integers where these were dequantized.
func product(c *build.Call, at op.Attrs) *build.Value {
	if y := quantizedProduct(c, at); y != nil {
		return y
	}
	return c.Do(op.IDMatmul, at, c.X(0), c.X(1))
}

// transposedProduct is product with transposes as attributes say.
func transposedProduct(c *build.Call) *build.Value {
	return product(c, build.With(op.MatmulTransposeX, c.Yes("transA", 0), op.MatmulTransposeY, c.Yes("transB", 0)))
}

// gemm is alpha * A B + beta * C, with A and B transposed where attributes say so. C broadcasts to the product.
// Exporters use it for linear layers, with B transposed.
func gemm(c *build.Call) []*build.Value {
	product := transposedProduct(c)
	d := c.In[0].DType
	if alpha := c.Float("alpha", 1); alpha != 1 {
		product = c.Mul(product, build.Num(alpha))
	}
	if !c.Has(2) {
		return build.One(product)
	}
	bias := c.X(2)
	if beta := c.Float("beta", 1); beta != 1 {
		bias = c.Cast(c.Mul(bias, build.Num(beta)), bias.DType)
	}
	return build.One(c.Cast(c.Add(product, bias), d))
}

// fusedMatMul is alpha * A B, either transposed.
func fusedMatMul(c *build.Call) []*build.Value {
	if c.Yes("transBatchA", 0) || c.Yes("transBatchB", 0) {
		c.Refuse("transBatchA and transBatchB are not supported")
	}
	y := transposedProduct(c)
	if alpha := c.Float("alpha", 1); alpha != 1 {
		y = c.Mul(y, build.Num(alpha))
	}
	return build.One(y)
}

// windows are the attributes of a convolution or a pool, complete.
type windows struct {
	kernel, stride, dilation, before, behind []int64
}

// windowsOf reads the attributes for images of a shape. rounded says that the number of windows is rounded up.
// auto_pad makes the number of windows the size divided by the stride; what is odd goes behind for SAME_UPPER.
func windowsOf(c *build.Call, x *build.Value, kernel []int64) (w windows) {
	axes := x.Rank() - 2
	if axes < 1 || len(kernel) != axes {
		c.Wrong("the kernel has %d axes and the operand %d dimensions; want 2 more", len(kernel), x.Rank())
	}
	each := func(name string, n int, otherwise int64) []int64 {
		list := c.List(name)
		if list == nil {
			list = slices.Repeat([]int64{otherwise}, n)
		}
		if len(list) != n {
			c.Wrong("%s has %d numbers; want %d", name, len(list), n)
		}
		for _, v := range list {
			if v < 0 || v > math.MaxInt32 || v == 0 && otherwise == 1 {
				c.Refuse("%s is %v; want numbers of %d or more", name, list, otherwise)
			}
		}
		return list
	}
	w.kernel, w.stride, w.dilation = kernel, each("strides", axes, 1), each("dilations", axes, 1)
	for _, k := range kernel {
		if k < 1 || k > math.MaxInt32 {
			c.Wrong("the kernel is %v; want sizes of 1 or more", kernel)
		}
	}
	pads := each("pads", 2*axes, 0)
	w.before, w.behind = slices.Clone(pads[:axes]), slices.Clone(pads[axes:])
	switch auto := c.Text("auto_pad", "NOTSET"); auto {
	case "NOTSET", "":
	case "VALID":
		clear(w.before)
		clear(w.behind)
	case "SAME_UPPER", "SAME_LOWER":
		for i, n := range x.Dims()[2:] {
			out := (n + w.stride[i] - 1) / w.stride[i]
			total := max((out-1)*w.stride[i]+w.extent(i)-n, 0)
			w.before[i], w.behind[i] = total/2, total-total/2
			if auto == "SAME_LOWER" {
				w.before[i], w.behind[i] = w.behind[i], w.before[i]
			}
		}
	default:
		c.Wrong("auto_pad is %q", auto)
	}
	return w
}

// extent is how many elements a window reaches over.
func (w *windows) extent(i int) int64 { return (w.kernel[i]-1)*w.dilation[i] + 1 }

// paddings are those of rows: two numbers for each axis.
func (w *windows) paddings() []int64 {
	var list []int64
	for i := range w.before {
		list = append(list, w.before[i], w.behind[i])
	}
	return list
}

// conv is a convolution with a bias at operand bias, if there is one. Operands: X [N, C, size...], W [O, C / group,
// kernel...], B [O]. One to three axes are supported, as the row says.
func conv(c *build.Call, x, weight *build.Value, bias int) *build.Value {
	return convolution(c, op.IDConv, x, weight, bias)
}

// convolution is conv by a row with its attributes. more are operands of the row behind x and weight.
func convolution(c *build.Call, row op.ID, x, weight *build.Value, bias int, more ...*build.Value) *build.Value {
	if weight.Rank() != x.Rank() || x.Rank() < 3 {
		c.Wrong("the operands have %d and %d dimensions; want as many, 3 or more", x.Rank(), weight.Rank())
	}
	w := windowsOf(c, x, weight.Dims()[2:])
	at := build.With(op.ConvStride, w.stride, op.ConvPadding, w.paddings(), op.ConvDilation, w.dilation, op.ConvGroups, c.Int("group", 1))
	return channelBias(c, c.Do(row, at, append([]*build.Value{x, weight}, more...)...), bias)
}

// channelBias is the result of a convolution plus operand bias, a number for each channel, if there is one.
func channelBias(c *build.Call, y *build.Value, bias int) *build.Value {
	if c.Has(bias) {
		y = c.Add(y, alongChannels(c, c.X(bias), y.Rank()))
	}
	return y
}

// alongChannels is a vector as a tensor that broadcasts along axis 1. The tensor has the rank of the images without the
// batch.
func alongChannels(c *build.Call, v *build.Value, rank int) *build.Value {
	dims := slices.Repeat([]int64{1}, rank-1)
	dims[0] = v.Shape.Numel()
	return c.Reshape(v, dims...)
}

// convTranspose has a size that follows from the pads, or pads that follow from the size. Operands: X [N, C,
// size...], W [C, O / group, kernel...], B [O]. Where output_shape is given, the pads follow from it, and
// output_padding goes to the end.
func convTranspose(c *build.Call) []*build.Value {
	x, weight := c.X(0), c.X(1)
	if weight.Rank() != x.Rank() || x.Rank() < 3 {
		c.Wrong("the operands have %d and %d dimensions; want as many, 3 or more", x.Rank(), weight.Rank())
	}
	w := windowsOf(c, x, weight.Dims()[2:])
	axes, group := len(w.kernel), c.Int("group", 1)
	extra := c.List("output_padding")
	if extra == nil {
		extra = make([]int64, axes)
	}
	if len(extra) != axes {
		c.Wrong("output_padding has %d numbers; want %d", len(extra), axes)
	}
	same := strings.HasPrefix(c.Text("auto_pad", ""), "SAME")
	size := c.List("output_shape")
	if len(size) == axes+2 {
		size = size[2:]
	}
	if size == nil && same {
		for i, n := range x.Dims()[2:] {
			size = append(size, n*w.stride[i])
		}
	}
	// Where a size is wanted that no windows reach, the rest is zeros behind the result, and the pads are 0.
	crop := make([]int64, axes) // pads that are below 0: zeros behind the result
	if size != nil && len(size) != axes {
		c.Wrong("output_shape has %d numbers; want %d", len(size), axes)
	}
	for i := range size {
		n := x.Dims()[2+i]
		total := (n-1)*w.stride[i] + extra[i] + w.extent(i) - size[i]
		if total < 0 { // the result is larger than what the windows write
			crop[i], total = -total, 0
		}
		if w.before[i] = total / 2; c.Text("auto_pad", "") == "SAME_LOWER" {
			w.before[i] = total - total/2
		}
		w.behind[i] = total - w.before[i]
	}
	for i := range extra { // the row wants less than a stride; the rest are zeros behind the result
		if extra[i] >= w.stride[i] {
			crop[i] += extra[i] - (w.stride[i] - 1)
			extra = slices.Clone(extra)
			extra[i] = w.stride[i] - 1
		}
	}
	y := c.Do(op.IDConvTranspose, build.With(op.ConvTransposeStride, w.stride, op.ConvTransposePadding, w.paddings(), op.ConvTransposeOutputPadding, extra, op.ConvTransposeDilation, w.dilation, op.ConvTransposeGroups, group), x, weight)
	pairs := make([]int64, 2*x.Rank())
	for i, n := range crop {
		pairs[2*i+5] = n
	}
	return build.One(channelBias(c, padWith(c, y, pairs, "constant", build.Integer(0)), 2))
}

// fusedConv is a convolution, a tensor that is added, and an activation. These are written by onnxruntime when it
// saves a model that it has optimized.
func fusedConv(c *build.Call) []*build.Value {
	y := conv(c, c.X(0), c.X(1), 2)
	if c.Has(3) {
		y = c.Add(y, c.X(3))
	}
	return build.One(activated(c, y))
}

// activated is a value after the activation that attributes of onnxruntime's fused operators name. Parameters are
// attributes of the node, in a list or one by one.
func activated(c *build.Call, y *build.Value) *build.Value {
	params := []float64{c.Float("activation_alpha", 0.01), c.Float("activation_beta", 0)}
	if a := c.Attr("activation_params"); a != nil {
		c.Room(int64(len(a.Floats)))
		params = params[:0]
		for _, f := range a.Floats {
			params = append(params, float64(f))
		}
	}
	at := func(i int, otherwise float64) float64 {
		if i < len(params) {
			return params[i]
		}
		return otherwise
	}
	switch name := c.Text("activation", ""); name {
	case "":
		return y
	case "Relu":
		return c.Unary(op.IDRelu, y)
	case "Sigmoid":
		return c.Unary(op.IDSigmoid, y)
	case "Tanh":
		return c.Unary(op.IDTanh, y)
	case "LeakyRelu":
		return c.Do(op.IDLeakyRelu, build.With(op.LeakyReluNegativeSlope, at(0, 0.01)), y)
	case "Clip":
		return c.Clamp(y, at(0, math.Inf(-1)), at(1, math.Inf(1)))
	case "HardSigmoid":
		return hardSigmoid(c, y, at(0, 0.2), at(1, 0.5))
	default:
		c.Refuse("activation %q is not supported", name)
	}
	return nil
}

// causalConv is a convolution along one axis that sees no later element; the elements before the first are the
// state. Operands: X [N, C, length], W [C, 1, kernel], B, state [N, C, kernel - 1]. The second result is the state
// for the next call.
func causalConv(c *build.Call) []*build.Value {
	x, weight := c.X(0), c.X(1)
	if x.Rank() != 3 || weight.Rank() != 3 {
		c.Wrong("the operands have %d and %d dimensions; want 3", x.Rank(), weight.Rank())
	}
	k := weight.Dims()[2] - 1
	if c.Has(3) {
		x = c.Concat(2, c.Cast(c.X(3), x.DType), x)
	} else {
		x = padAxis(c, x, 2, k, 0, build.Integer(0))
	}
	y := c.Do(op.IDConv, build.With(op.ConvGroups, x.Dims()[1]/max(weight.Dims()[1], 1)), x, weight)
	y = channelBias(c, y, 2)
	switch name := c.Text("activation", "none"); name {
	case "none", "":
	case "silu", "swish":
		y = swish(c, y, 1)
	default:
		c.Refuse("activation %q is not supported", name)
	}
	n := x.Dims()[2]
	return []*build.Value{y, c.Slice(x, 2, max(n-k, 0), n)}
}

// einsum is the row.
func einsum(c *build.Call) []*build.Value {
	in := make([]*build.Value, len(c.In))
	for i := range in {
		in[i] = c.X(i)
	}
	return build.One(c.Do(op.IDEinsum, build.With(op.EinsumEquation, c.Text("equation", "")), in...))
}

func float32Of(c *build.Call, x *build.Value) *build.Value { return c.Cast(x, dtype.Float32) }
