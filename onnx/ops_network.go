package onnx

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Matrix products and convolutions.
//
// Attributes of windows are in the order of ONNX in files, all numbers before the axes and then all behind them, and
// by axes in rows. A bias is a sum after the product, which devices fuse with it where they can. Weights that are
// constants are packed by the device when the program is compiled.

var networks = []entry{
	// MatMul: batches broadcast.
	{"MatMul", 1, op.IDMatmulInteger, func(c *call) []*value { return one(c.product(nil)) }},
	{"Gemm", 1, op.IDMatmulInteger, gemm},
	{"Einsum", 12, 0, einsum},
	{"Conv", 1, op.IDConvInteger, func(c *call) []*value {
		if y := c.quantizedConv(); y != nil {
			return one(c.channelBias(y, 2))
		}
		return one(c.conv(c.x(0), c.x(1), 2))
	}},
	{"ConvTranspose", 1, 0, convTranspose},
	// FusedConv: X, W, B, Z; an activation.
	{"com.microsoft:FusedConv", 1, 0, fusedConv},
	// FusedMatMul: A, B; transposed, times alpha.
	{"com.microsoft:FusedMatMul", 1, op.IDMatmulInteger, fusedMatMul},
	{"com.microsoft:FusedGemm", 1, op.IDMatmulInteger, func(c *call) []*value { return one(c.activated(gemm(c)[0])) }},
	// CausalConvWithState: X, W, B, state.
	{"CausalConvWithState", 27, 0, causalConv},
}

// product is the matrix product of the first two operands, of integers where these were dequantized.
func (c *call) product(at op.Attrs) *value {
	if y := c.quantizedProduct(at); y != nil {
		return y
	}
	return c.do(op.IDMatmul, at, c.x(0), c.x(1))
}

// transposedProduct is product with transposes as attributes say.
func (c *call) transposedProduct() *value {
	return c.product(with(op.MatmulTransposeX, c.yes("transA", 0), op.MatmulTransposeY, c.yes("transB", 0)))
}

// gemm is alpha * A B + beta * C, with A and B transposed where attributes say so. C broadcasts to the product.
// Exporters use it for linear layers, with B transposed.
func gemm(c *call) []*value {
	product := c.transposedProduct()
	d := c.in[0].DType
	if alpha := c.float("alpha", 1); alpha != 1 {
		product = c.mul(product, num(alpha))
	}
	if !c.has(2) {
		return one(product)
	}
	bias := c.x(2)
	if beta := c.float("beta", 1); beta != 1 {
		bias = c.cast(c.mul(bias, num(beta)), bias.DType)
	}
	return one(c.cast(c.add(product, bias), d))
}

// fusedMatMul is alpha * A B, either transposed.
func fusedMatMul(c *call) []*value {
	if c.yes("transBatchA", 0) || c.yes("transBatchB", 0) {
		c.refuse("transBatchA and transBatchB are not supported")
	}
	y := c.transposedProduct()
	if alpha := c.float("alpha", 1); alpha != 1 {
		y = c.mul(y, num(alpha))
	}
	return one(y)
}

// windows are the attributes of a convolution or a pool, complete.
type windows struct {
	kernel, stride, dilation, before, behind []int64
}

// windowsOf reads the attributes for images of a shape. rounded says that the number of windows is rounded up.
// auto_pad makes the number of windows the size divided by the stride; what is odd goes behind for SAME_UPPER.
func (c *call) windowsOf(x *value, kernel []int64) (w windows) {
	axes := x.rank() - 2
	if axes < 1 || len(kernel) != axes {
		c.wrong("the kernel has %d axes and the operand %d dimensions; want 2 more", len(kernel), x.rank())
	}
	each := func(name string, n int, otherwise int64) []int64 {
		list := c.list(name)
		if list == nil {
			list = slices.Repeat([]int64{otherwise}, n)
		}
		if len(list) != n {
			c.wrong("%s has %d numbers; want %d", name, len(list), n)
		}
		for _, v := range list {
			if v < 0 || v > math.MaxInt32 || v == 0 && otherwise == 1 {
				c.refuse("%s is %v; want numbers of %d or more", name, list, otherwise)
			}
		}
		return list
	}
	w.kernel, w.stride, w.dilation = kernel, each("strides", axes, 1), each("dilations", axes, 1)
	for _, k := range kernel {
		if k < 1 || k > math.MaxInt32 {
			c.wrong("the kernel is %v; want sizes of 1 or more", kernel)
		}
	}
	pads := each("pads", 2*axes, 0)
	w.before, w.behind = slices.Clone(pads[:axes]), slices.Clone(pads[axes:])
	switch auto := c.text("auto_pad", "NOTSET"); auto {
	case "NOTSET", "":
	case "VALID":
		clear(w.before)
		clear(w.behind)
	case "SAME_UPPER", "SAME_LOWER":
		for i, n := range x.dims()[2:] {
			out := (n + w.stride[i] - 1) / w.stride[i]
			total := max((out-1)*w.stride[i]+w.extent(i)-n, 0)
			w.before[i], w.behind[i] = total/2, total-total/2
			if auto == "SAME_LOWER" {
				w.before[i], w.behind[i] = w.behind[i], w.before[i]
			}
		}
	default:
		c.wrong("auto_pad is %q", auto)
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
func (c *call) conv(x, weight *value, bias int) *value {
	return c.convolution(op.IDConv, x, weight, bias)
}

// convolution is conv by a row with its attributes. more are operands of the row behind x and weight.
func (c *call) convolution(row op.ID, x, weight *value, bias int, more ...*value) *value {
	if weight.rank() != x.rank() || x.rank() < 3 {
		c.wrong("the operands have %d and %d dimensions; want as many, 3 or more", x.rank(), weight.rank())
	}
	w := c.windowsOf(x, weight.dims()[2:])
	at := with(op.ConvStride, w.stride, op.ConvPadding, w.paddings(), op.ConvDilation, w.dilation, op.ConvGroups, c.int("group", 1))
	return c.channelBias(c.do(row, at, append([]*value{x, weight}, more...)...), bias)
}

// channelBias is the result of a convolution plus operand bias, a number for each channel, if there is one.
func (c *call) channelBias(y *value, bias int) *value {
	if c.has(bias) {
		y = c.add(y, c.channels(c.x(bias), y.rank()))
	}
	return y
}

// channels is a vector as a tensor that broadcasts along axis 1. The tensor has the rank of the images without the
// batch.
func (c *call) channels(v *value, rank int) *value {
	dims := slices.Repeat([]int64{1}, rank-1)
	dims[0] = v.Shape.Numel()
	return c.reshape(v, dims...)
}

// convTranspose has a size that follows from the pads, or pads that follow from the size. Operands: X [N, C,
// size...], W [C, O / group, kernel...], B [O]. Where output_shape is given, the pads follow from it, and
// output_padding goes to the end.
func convTranspose(c *call) []*value {
	x, weight := c.x(0), c.x(1)
	if weight.rank() != x.rank() || x.rank() < 3 {
		c.wrong("the operands have %d and %d dimensions; want as many, 3 or more", x.rank(), weight.rank())
	}
	w := c.windowsOf(x, weight.dims()[2:])
	axes, group := len(w.kernel), c.int("group", 1)
	extra := c.list("output_padding")
	if extra == nil {
		extra = make([]int64, axes)
	}
	if len(extra) != axes {
		c.wrong("output_padding has %d numbers; want %d", len(extra), axes)
	}
	same := strings.HasPrefix(c.text("auto_pad", ""), "SAME")
	size := c.list("output_shape")
	if len(size) == axes+2 {
		size = size[2:]
	}
	if size == nil && same {
		for i, n := range x.dims()[2:] {
			size = append(size, n*w.stride[i])
		}
	}
	// Where a size is wanted that no windows reach, the rest is zeros behind the result, and the pads are 0.
	crop := make([]int64, axes) // pads that are below 0: zeros behind the result
	if size != nil && len(size) != axes {
		c.wrong("output_shape has %d numbers; want %d", len(size), axes)
	}
	for i := range size {
		n := x.dims()[2+i]
		total := (n-1)*w.stride[i] + extra[i] + w.extent(i) - size[i]
		if total < 0 { // the result is larger than what the windows write
			crop[i], total = -total, 0
		}
		if w.before[i] = total / 2; c.text("auto_pad", "") == "SAME_LOWER" {
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
	y := c.do(op.IDConvTranspose, with(op.ConvTransposeStride, w.stride, op.ConvTransposePadding, w.paddings(), op.ConvTransposeOutputPadding, extra, op.ConvTransposeDilation, w.dilation, op.ConvTransposeGroups, group), x, weight)
	for i, n := range crop {
		if n > 0 {
			y = c.padAxis(y, i+2, 0, n, num(0))
		}
	}
	return one(c.channelBias(y, 2))
}

// fusedConv is a convolution, a tensor that is added, and an activation. These are written by onnxruntime when it
// saves a model that it has optimized.
func fusedConv(c *call) []*value {
	y := c.conv(c.x(0), c.x(1), 2)
	if c.has(3) {
		y = c.add(y, c.x(3))
	}
	return one(c.activated(y))
}

// activated is a value after the activation that attributes of onnxruntime's fused operators name. Parameters are
// attributes of the node, in a list or one by one.
func (c *call) activated(y *value) *value {
	params := []float64{c.float("activation_alpha", 0.01), c.float("activation_beta", 0)}
	if a := c.attr("activation_params"); a != nil {
		c.room(int64(len(a.Floats)))
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
	switch name := c.text("activation", ""); name {
	case "":
		return y
	case "Relu":
		return c.unary(op.IDRelu, y)
	case "Sigmoid":
		return c.unary(op.IDSigmoid, y)
	case "Tanh":
		return c.unary(op.IDTanh, y)
	case "LeakyRelu":
		return c.do(op.IDLeakyRelu, with(op.LeakyReluNegativeSlope, at(0, 0.01)), y)
	case "Clip":
		return c.clamp(y, at(0, math.Inf(-1)), at(1, math.Inf(1)))
	case "HardSigmoid":
		return c.hardSigmoid(y, at(0, 0.2), at(1, 0.5))
	default:
		c.refuse("activation %q is not supported", name)
	}
	return nil
}

// causalConv is a convolution along one axis that sees no later element; the elements before the first are the
// state. Operands: X [N, C, length], W [C, 1, kernel], B, state [N, C, kernel - 1]. The second result is the state
// for the next call.
func causalConv(c *call) []*value {
	x, weight := c.x(0), c.x(1)
	if x.rank() != 3 || weight.rank() != 3 {
		c.wrong("the operands have %d and %d dimensions; want 3", x.rank(), weight.rank())
	}
	k := weight.dims()[2] - 1
	if c.has(3) {
		x = c.concat(2, c.cast(c.x(3), x.DType), x)
	} else {
		x = c.padAxis(x, 2, k, 0, num(0))
	}
	y := c.do(op.IDConv, with(op.ConvGroups, x.dims()[1]/max(weight.dims()[1], 1)), x, weight)
	y = c.channelBias(y, 2)
	switch name := c.text("activation", "none"); name {
	case "none", "":
	case "silu", "swish":
		y = c.swish(y, 1)
	default:
		c.refuse("activation %q is not supported", name)
	}
	n := x.dims()[2]
	return []*value{y, c.slice(x, 2, max(n-k, 0), n)}
}

// einsum sums products over the indices that the result does not have. It goes pair by pair. Operands are joined
// from left to right, which may not be the cheapest order for three or more. An ellipsis stands for the axes that
// the labels of an operand do not name, aligned at the last.
func einsum(c *call) []*value {
	equation := strings.ReplaceAll(c.text("equation", ""), " ", "")
	left, right, explicit := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	c.room(int64(len(terms)), int64(len(equation))) // each pair is joined with a look at all terms behind it
	if len(terms) != len(c.in) {
		c.wrong("equation %q has %d operands and the node %d", equation, len(terms), len(c.in))
	}
	wide := 0 // axes of the longest ellipsis
	for i, t := range terms {
		if strings.Contains(t, "...") {
			wide = max(wide, c.x(i).rank()-(len(t)-3))
		}
	}
	for i, t := range terms {
		terms[i] = spelled(t, wide, c.x(i).rank())
		if len(terms[i]) != c.x(i).rank() {
			c.wrong("equation %q says that operand %d has %d dimensions; it has %d", equation, i, len(terms[i]), c.x(i).rank())
		}
	}
	if explicit {
		right = spelled(right, wide, strings.Count(right, "")-1-3+wide)
	} else {
		right = implied(terms)
	}
	x, labels := c.diagonal(c.x(0), terms[0])
	for i := 1; i < len(terms); i++ {
		y, other := c.diagonal(c.x(i), terms[i])
		x, labels = c.contract(x, labels, y, other, strings.Join(terms[i+1:], "")+right)
	}
	x, labels = c.summed(x, labels, right)
	perm := make([]int64, len(right))
	for i := range right {
		at := strings.IndexByte(labels, right[i])
		if at < 0 {
			c.wrong("equation %q has a result with an index that no operand has", equation)
		}
		perm[i] = int64(at)
	}
	return one(c.transpose(x, perm...))
}

// spelled is a term with the digits of the axes in place of its ellipsis, the last being 9. Digits are no labels of
// equations, and are in order.
func spelled(term string, wide, rank int) string {
	before, behind, has := strings.Cut(term, "...")
	if !has {
		return term
	}
	n := min(max(rank-len(before)-len(behind), 0), wide, 9)
	return before + "0123456789"[10-n:] + behind
}

// implied is the result of an equation without one: the ellipsis, and the indices that are there once, in order.
// This is the rule of NumPy.
func implied(terms []string) string {
	all := strings.Join(terms, "")
	var digits, letters []byte
	for i := range 256 {
		b := byte(i)
		switch n := strings.Count(all, string(rune(b))); {
		case b >= '0' && b <= '9' && n > 0:
			digits = append(digits, b)
		case b < 128 && n == 1:
			letters = append(letters, b)
		}
	}
	return string(digits) + string(letters)
}

// diagonal is a tensor whose indices differ: of those that are there twice the elements where both are equal. The
// elements beside the diagonal are replaced by 0 and one of the axes is summed.
func (c *call) diagonal(x *value, labels string) (*value, string) {
	for i := 0; i < len(labels); i++ {
		j := strings.LastIndexByte(labels, labels[i])
		if j == i {
			continue
		}
		n := x.dims()[i]
		same := c.binary(op.IDEqual, c.steps(n, i, x.rank()), c.steps(x.dims()[j], j, x.rank()))
		x = c.sum(c.where(same, x, c.zero(x.DType)), false, int64(j))
		labels = labels[:j] + labels[j+1:]
		i--
	}
	return x, labels
}

// summed is a tensor without the indices that nothing else has. Sums over axes that only one operand has are done
// before products, which become smaller.
func (c *call) summed(x *value, labels, wanted string) (*value, string) {
	var axes []int64
	kept := ""
	for i := range labels {
		if strings.IndexByte(wanted, labels[i]) < 0 {
			axes = append(axes, int64(i))
		} else {
			kept += labels[i : i+1]
		}
	}
	if len(axes) == 0 {
		return x, labels
	}
	return c.sum(x, false, axes...), kept
}

// contract is the product of two tensors, summed over the indices that are not wanted any more: a matrix product of
// batches, with all indices of one sort as one axis. Indices are of four sorts: of both operands and of what follows
// (batch), of both only (inner), of the left one, of the right one. An axis of one element broadcasts.
func (c *call) contract(x *value, xs string, y *value, ys, wanted string) (*value, string) {
	x, xs = c.summed(x, xs, ys+wanted)
	y, ys = c.summed(y, ys, xs+wanted)
	var batch, inner, left, right string
	for _, r := range xs {
		switch label := string(r); {
		case !strings.Contains(ys, label):
			left += label
		case strings.Contains(wanted, label):
			batch += label
		default:
			inner += label
		}
	}
	for _, r := range ys {
		if !strings.ContainsRune(xs, r) {
			right += string(r)
		}
	}
	sizes := map[byte]int64{}
	for i := range xs {
		sizes[xs[i]] = x.dims()[i]
	}
	for i := range ys {
		if before, seen := sizes[ys[i]]; !seen || before == 1 {
			sizes[ys[i]] = y.dims()[i]
		}
	}
	// arrange brings a tensor into the form of a matrix product: its indices in the order of the parts, each part as one
	// axis. An index that only broadcasts is expanded first.
	arrange := func(v *value, labels string, parts ...string) *value {
		var perm, dims []int64
		for _, r := range strings.Join(parts, "") {
			perm = append(perm, int64(strings.IndexRune(labels, r)))
		}
		v = c.transpose(v, perm...)
		full := make([]int64, len(perm))
		for i, r := range []byte(strings.Join(parts, "")) {
			full[i] = sizes[r]
		}
		v = c.expand(v, full...)
		at := 0
		for _, p := range parts {
			dims = append(dims, product(full[at:at+len(p)]))
			at += len(p)
		}
		return c.reshape(v, dims...)
	}
	z := c.matmul(arrange(x, xs, batch, left, inner), arrange(y, ys, batch, inner, right))
	made := batch + left + right
	if len(made) > shape.MaxRank {
		c.refuse("an intermediate result has %d dimensions; want at most %d", len(made), shape.MaxRank)
	}
	dims := make([]int64, len(made))
	for i := range made {
		dims[i] = sizes[made[i]]
	}
	return c.reshape(z, dims...), made
}

func (c *call) float32Of(x *value) *value { return c.cast(x, dtype.Float32) }
