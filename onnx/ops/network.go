package ops

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// Matrix products, determinants and convolutions.
//
// Attributes of windows are in the order of ONNX in files, all numbers before the axes and then all behind them, and
// by axes in rows. A bias is a sum after the product, which devices fuse with it where they can. Weights that are
// constants are packed by the device when the program is compiled.

var networks = []entry{
	// MatMul: batches broadcast.
	{"MatMul", 1, op.IDMatmulInteger, func(c *build.Call) []*build.Value { return build.One(product(c, nil)) }},
	{"Gemm", 1, op.IDMatmulInteger, gemm},
	{"Einsum", 12, op.IDEinsum, renamed{{op.EinsumEquation, "equation", ""}}.call},
	{"Conv", 1, op.IDConvInteger, conv},
	{"ConvTranspose", 1, 0, convTranspose},
	{"com.microsoft:FusedConv", 1, 0, fusedConv},                      // X, W, B, Z; an activation
	{"com.microsoft:FusedMatMul", 1, op.IDMatmulInteger, fusedMatMul}, // A, B; transposed, times alpha
	{"com.microsoft:FusedGemm", 1, op.IDMatmulInteger, func(c *build.Call) []*build.Value { return build.One(activated(c, gemm(c)[0])) }},
	{"Det", 11, 0, determinant},
	{"CausalConvWithState", 27, 0, causalConv}, // X, W, B, state
}

// product is the matrix product of the first two operands, of integers where these were dequantized.
func product(c *build.Call, at op.Attrs) *build.Value {
	if y := quantizedProduct(c, at); y != nil {
		return y
	}
	return c.Do(op.IDMatmul, at, c.X(0), c.X(1))
}

// scaledProduct is alpha * product, with A and B transposed where attributes say so.
func scaledProduct(c *build.Call) *build.Value {
	y := product(c, build.With(op.MatmulTransposeX, c.Yes("transA", 0), op.MatmulTransposeY, c.Yes("transB", 0)))
	if alpha := c.Float("alpha", 1); alpha != 1 {
		y = c.Mul(y, build.Num(alpha))
	}
	return y
}

// gemm is alpha * A B + beta * C. C broadcasts to the product. Exporters use it for linear layers, with B transposed.
func gemm(c *build.Call) []*build.Value {
	y := scaledProduct(c)
	if !c.Has(2) {
		return build.One(y)
	}
	bias := c.X(2)
	if beta := c.Float("beta", 1); beta != 1 {
		bias = c.Cast(c.Mul(bias, build.Num(beta)), bias.DType)
	}
	return build.One(c.Cast(c.Add(y, bias), c.In[0].DType))
}

// fusedMatMul is alpha * A B, either transposed.
func fusedMatMul(c *build.Call) []*build.Value {
	if c.Yes("transBatchA", 0) || c.Yes("transBatchB", 0) {
		c.Refuse("transBatchA and transBatchB are not supported")
	}
	return build.One(scaledProduct(c))
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
	w.kernel, w.stride, w.dilation = kernel, perAxis(c, "strides", axes, 1), perAxis(c, "dilations", axes, 1)
	for _, k := range kernel {
		if k < 1 || k > math.MaxInt32 {
			c.Wrong("the kernel is %v; want sizes of 1 or more", kernel)
		}
	}
	pads := perAxis(c, "pads", 2*axes, 0)
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

// perAxis is a list of n numbers, which are not negative, and of 1 or more where this is the default.
func perAxis(c *build.Call, name string, n int, otherwise int64) []int64 {
	list := c.List(name)
	if list == nil {
		list = slices.Repeat([]int64{otherwise}, n)
	}
	if len(list) != n {
		c.Wrong("%s has %d numbers; want %d", name, len(list), n)
	}
	for _, v := range list {
		if v < 0 || v > math.MaxInt32 || v == 0 && otherwise == 1 {
			c.Refuse("%s is %v; want numbers from %d to %d", name, list, otherwise, math.MaxInt32)
		}
	}
	return list
}

// extent is how many elements a window reaches over.
func (w *windows) extent(i int) int64 { return (w.kernel[i]-1)*w.dilation[i] + 1 }

// paddings are those of rows: two numbers for each axis.
func (w *windows) paddings() []int64 { return paired(slices.Concat(w.before, w.behind)) }

// windowsOfWeight are those of a convolution of x [N, C, size...] with weight [channels, channels, kernel...].
func windowsOfWeight(c *build.Call, x, weight *build.Value) windows {
	if weight.Rank() != x.Rank() || x.Rank() < 3 {
		c.Wrong("the operands have %d and %d dimensions; want as many, 3 or more", x.Rank(), weight.Rank())
	}
	return windowsOf(c, x, weight.Dims()[2:])
}

// conv is a convolution. Operands: X [N, C, size...], W [O, C / group, kernel...], B [O]. One to three axes are supported, as the
// row says.
func conv(c *build.Call) []*build.Value {
	y := quantizedConv(c)
	if y == nil {
		y = convolution(c, op.IDConv, c.X(0), c.X(1))
	}
	return build.One(channelBias(c, y, 2))
}

// convolution is conv without its bias, by a row with its attributes. more are operands of the row behind x and weight.
func convolution(c *build.Call, row op.ID, x, weight *build.Value, more ...*build.Value) *build.Value {
	w := windowsOfWeight(c, x, weight)
	at := build.With(op.ConvStride, w.stride, op.ConvPadding, w.paddings(), op.ConvDilation, w.dilation, op.ConvGroups, c.Int("group", 1))
	return c.Do(row, at, append([]*build.Value{x, weight}, more...)...)
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
	w := windowsOfWeight(c, x, weight)
	axes := len(w.kernel)
	extra := slices.Clone(perAxis(c, "output_padding", axes, 0))
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
	crop := make([]int64, 2*x.Rank()) // two numbers an axis, of which the second are pads that are below 0
	if size != nil && len(size) != axes {
		c.Wrong("output_shape has %d numbers; want %d", len(size), axes)
	}
	for i := range size {
		n := x.Dims()[2+i]
		total := (n-1)*w.stride[i] + extra[i] + w.extent(i) - size[i]
		if total < 0 { // the result is larger than what the windows write
			crop[2*i+5], total = -total, 0
		}
		if w.before[i] = total / 2; c.Text("auto_pad", "") == "SAME_LOWER" {
			w.before[i] = total - total/2
		}
		w.behind[i] = total - w.before[i]
	}
	for i := range extra { // the row wants less than a stride; the rest are zeros behind the result
		if extra[i] >= w.stride[i] {
			crop[2*i+5] += extra[i] - (w.stride[i] - 1)
			extra[i] = w.stride[i] - 1
		}
	}
	y := c.Do(op.IDConvTranspose, build.With(op.ConvTransposeStride, w.stride, op.ConvTransposePadding, w.paddings(), op.ConvTransposeOutputPadding, extra,
		op.ConvTransposeDilation, w.dilation, op.ConvTransposeGroups, c.Int("group", 1)), x, weight)
	return build.One(channelBias(c, padWith(c, y, crop, "constant", build.Integer(0)), 2))
}

// fusedConv is a convolution, a tensor that is added, and an activation. These are written by onnxruntime when it
// saves a model that it has optimized.
func fusedConv(c *build.Call) []*build.Value {
	y := channelBias(c, convolution(c, op.IDConv, c.X(0), c.X(1)), 2)
	return build.One(activated(c, biased(c, y, 3)))
}

// activated is a value after the activation that attributes of onnxruntime's fused operators name. Parameters are
// attributes of the node, in a list or one by one.
func activated(c *build.Call, y *build.Value) *build.Value {
	params := c.Floats("activation_params")
	if params == nil {
		params = []float64{c.Float("activation_alpha", 0.01), c.Float("activation_beta", 0)}
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
	case "Relu", "Sigmoid", "Tanh":
		return c.Unary(map[string]op.ID{"Relu": op.IDRelu, "Sigmoid": op.IDSigmoid, "Tanh": op.IDTanh}[name], y)
	case "LeakyRelu":
		return c.Do(op.IDLeakyRelu, build.With(op.LeakyReluNegativeSlope, at(0, 0.01)), y)
	case "Clip":
		return c.Clamp(y, at(0, math.Inf(-1)), at(1, math.Inf(1)))
	case "HardSigmoid":
		return c.Do(op.IDHardsigmoid, build.With(op.HardsigmoidSlope, at(0, 0.2), op.HardsigmoidOffset, at(1, 0.5)), y)
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
		x = padWith(c, x, []int64{0, 0, 0, 0, k, 0}, "constant", build.Integer(0))
	}
	y := c.Do(op.IDConv, build.With(op.ConvGroups, x.Dims()[1]/max(weight.Dims()[1], 1)), x, weight)
	y = channelBias(c, y, 2)
	switch name := c.Text("activation", "none"); name {
	case "none", "":
	case "silu", "swish":
		y = c.Unary(op.IDSilu, y)
	default:
		c.Refuse("activation %q is not supported", name)
	}
	n := x.Dims()[2]
	return []*build.Value{y, c.Slice(x, 2, max(n-k, 0), n)}
}

// largestDet is the most rows of a matrix whose determinant is computed: each takes a step of the elimination.
const largestDet = 128

// determinant eliminates a row and a column after the other. The row with the largest element in the first column changes
// places with the first row, which changes the sign. The determinant is the product of these elements.
//
// Batches choose different rows, so that nothing is moved by indices: a mask of one row reads it as a sum, and writes over it.
// Where a column has nothing but zeros, the determinant is 0, and what is eliminated further does not matter.
func determinant(c *build.Call) []*build.Value {
	x := c.X(0)
	last := x.Rank() - 1
	if last < 1 || x.Dims()[last] != x.Dims()[last-1] {
		c.Wrong("the operand has shape %s; want square matrices", &x.Shape)
	}
	if x.Dims()[last] > largestDet {
		c.Refuse("the matrices have %d rows; want at most %d", x.Dims()[last], largestDet)
	}
	d := x.DType
	a := c.Cast(x, precise(d))
	det := c.Full(a.DType, build.Integer(1), x.Dims()[:last-1]...)
	for n := x.Dims()[last]; n > 0; n-- {
		first := c.Pick(a, last, 0)
		best := c.Do(op.IDArgmax, build.With(op.ArgmaxAxis, last-1), c.Unary(op.IDAbs, first))
		places := c.Steps(n, last-1, last+1) // of rows
		chosen := c.Binary(op.IDEqual, places, c.Unsqueeze(best, int64(last-1), int64(last)))
		row := c.Sum(c.Where(chosen, a, zero(c, a.DType)), false, int64(last-1))
		head := c.Pick(row, last-1, 0)
		sign := c.Where(c.Binary(op.IDEqual, best, build.Whole(0)), c.Reals(a.DType, nil, []float64{1}), c.Reals(a.DType, nil, []float64{-1}))
		det = c.Mul(det, c.Mul(head, sign))
		if n == 1 {
			break
		}
		a = c.Where(chosen, c.Slice(a, last-1, 0, 1), a) // the first row is where the other was, and is dropped at its own place
		a = c.Slice(a, last-1, 1, n)
		safe := c.Where(c.Binary(op.IDEqual, head, build.Num(0)), c.Reals(a.DType, nil, []float64{1}), head)
		ratio := c.Div(c.Slice(a, last, 0, 1), c.Unsqueeze(safe, int64(last-1), int64(last)))
		a = c.Sub(c.Slice(a, last, 1, n), c.Mul(ratio, c.Unsqueeze(c.Slice(row, last-1, 1, n), int64(last-1))))
	}
	return build.One(c.Cast(det, d))
}
