package onnx

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Quantized tensors: integers with a scale and a zero point. Products of integers are exact: of 8 bits by the rows
// matmul_integer and conv_integer, whose sums are int32. A zero point of each row of the left operand is subtracted before,
// in int32. Zero points of the weights of convolutions are subtracted in floats that hold every sum.
//
// Quantizing and dequantizing are formulas of rows on floats, so that a model in the form of QuantizeLinear, an
// operator and DequantizeLinear computes the same numbers as in onnxruntime. Products of what was dequantized are products
// of the integers; see dequantized.go. Elements of less than 8 bits and 8-bit floats are converted as in ops_small.go.

var quantized = []entry{
	{"QuantizeLinear", 10, 0, quantizeLinear},
	{"DequantizeLinear", 10, 0, dequantizeLinear},
	{"DynamicQuantizeLinear", 11, 0, dynamicQuantizeLinear},
	// MatMulInteger: A, B, zero points; int32.
	{"MatMulInteger", 10, 0, func(c *call) []*value {
		return one(c.integerProduct(c.x(0), c.x(1), c.zeroPoint(2), c.zeroPoint(3)))
	}},
	// ConvInteger: X, W, zero points; int32.
	{"ConvInteger", 10, 0, func(c *call) []*value {
		return one(c.cast(c.integerConv(c.x(0), c.x(1), c.zeroPoint(2), c.zeroPoint(3)), dtype.Int32))
	}},
	{"QLinearMatMul", 10, 0, qlinearMatMul},
	{"QLinearConv", 10, 0, qlinearConv},
	{"com.microsoft:QuantizeLinear", 1, 0, quantizeLinear},
	{"com.microsoft:DequantizeLinear", 1, 0, dequantizeLinear},
	// QLinearAdd: two quantized tensors, as QLinearMul.
	{"com.microsoft:QLinearAdd", 1, 0, func(c *call) []*value { return one(c.qlinearPair((*call).add)) }},
	{"com.microsoft:QLinearMul", 1, 0, func(c *call) []*value { return one(c.qlinearPair((*call).mul)) }},
	// DynamicQuantizeMatMul: A, B, scale, zero point, bias.
	{"com.microsoft:DynamicQuantizeMatMul", 1, 0, dynamicQuantizeMatMul},
	// MatMulIntegerToFloat: A, B, scales, zero points, bias.
	{"com.microsoft:MatMulIntegerToFloat", 1, 0, matMulIntegerToFloat},
}

// spreadParam is a scale or a zero point as it broadcasts to x: one number, one for each index of an axis, or for
// each block of indices. Blocks are repeated as often as they have elements; the last one may be cut.
func (c *call) spreadParam(p *value, dims []int64, axis int, block int64) *value {
	switch {
	case p.Shape.Numel() == 1 && p.rank() <= 1:
		return c.reshape(p)
	case block > 0 && p.rank() == len(dims):
		n := p.dims()[axis]
		tall := slices.Insert(slices.Clone(p.dims()), axis+1, block)
		p = c.expand(c.unsqueeze(p, int64(axis)+1), tall...)
		flat := slices.Delete(slices.Clone(tall), axis+1, axis+2)
		flat[axis] = n * block
		return c.slice(c.reshape(p, flat...), axis, 0, min(dims[axis], n*block))
	case p.rank() == 1:
		wide := slices.Repeat([]int64{1}, len(dims))
		wide[axis] = p.dims()[0]
		return c.reshape(p, wide...)
	}
	return p
}

// quantAxis is the axis that scales count along.
func (c *call) quantAxis(rank int) int {
	if rank == 0 {
		return 0
	}
	if axis := c.int("axis", 1); int(axis) < rank {
		return c.axis(axis, rank)
	}
	return 0
}

// quantize is round(x / scale) + zero, as an integer that saturates. Halves are rounded to the even integer.
func (c *call) quantize(x, scale, zero *value, d dtype.DType) *value {
	if d != dtype.Int8 && d != dtype.Uint8 && d != dtype.Int16 {
		c.refuse("quantized elements of %s are not supported", d)
	}
	low, high := d.Range()
	return c.cast(c.quantum(x, scale, zero, low, high), d)
}

// quantum is quantize between two integers, in floats. A sum with a zero point of 16 bits may be none of a half.
func (c *call) quantum(x, scale, zero *value, low, high int64) *value {
	y := c.unary(op.IDRound, c.div(x, scale))
	if y.DType != dtype.Float64 {
		y = c.cast(y, dtype.Float32)
	}
	if zero != nil {
		y = c.add(y, c.cast(zero, y.DType))
	}
	return c.clamp(y, float64(low), float64(high))
}

// quantizeTo is quantize to a type that tensors lack. A float is x / scale + zero, rounded once more; ONNX has a zero point
// of 0 there, which leaves the sign of a zero alone.
func (c *call) quantizeTo(x, scale, zero *value, elem ElemType) *value {
	c.quantizes(elem)
	if zero != nil {
		zero = c.decoded(zero.as(elem), dtype.Float32)
	}
	if elem.smallFloat() == nil {
		low, high := smallInt(elem)
		if elem == elemUint16 {
			high = 1<<16 - 1
		}
		return c.encoded(c.quantum(x, scale, zero, int64(low), int64(high)), elem.carrier(), elem)
	}
	y := c.div(x, scale)
	if zero != nil {
		y = c.where(c.binary(op.IDEqual, zero, num(0)), y, c.add(y, c.cast(zero, y.DType)))
	}
	return c.encoded(y, elem.carrier(), elem)
}

// quantizes refuses types that ONNX does not quantize to.
func (c *call) quantizes(elem ElemType) {
	if elem == elemUint32 || elem == elemUint64 || elem == elemFloat8E8M0 || elem == elemString {
		c.refuse("quantized elements of type %s are not supported", elem)
	}
}

// quantizeLinear has the operands x, scale and zero point, whose dtype is that of the result; uint8 without one.
func quantizeLinear(c *call) []*value {
	x, scale := c.x(0), c.x(1)
	if e := max(x.elem, scale.elem); e != 0 {
		c.refuse("operands of type %s are not supported", e)
	}
	d, axis, block := dtype.Uint8, c.quantAxis(x.rank()), c.int("block_size", 0)
	elem := ElemType(c.int("output_dtype", 0)).lacking()
	if c.int("output_dtype", 0) != 0 {
		d = c.carrier(ElemType(c.int("output_dtype", 0)))
	}
	var zero *value
	if c.has(2) {
		d, elem, zero = c.x(2).DType, c.x(2).elem, c.spreadParam(c.x(2), x.dims(), axis, block)
	}
	if !x.DType.IsFloat() {
		x = c.cast(x, scale.DType)
	}
	if p := c.int("precision", 0); p != 0 {
		x = c.cast(x, c.elem("precision", x.DType))
	}
	scale = c.cast(c.spreadParam(scale, x.dims(), axis, block), x.DType)
	if elem != 0 {
		return one(c.quantizeTo(x, scale, zero, elem))
	}
	return one(c.quantize(x, scale, zero, d))
}

// dequantizeLinear has the operands x, scale and zero point. The result has the dtype of the scale.
func dequantizeLinear(c *call) []*value {
	x, scale := c.x(0), c.x(1)
	axis, block := c.quantAxis(x.rank()), c.int("block_size", 0)
	d := c.elem("output_dtype", scale.DType)
	if c.int("output_dtype", 0) == 0 {
		d = scale.DType
	}
	zero := c.zeroPoint(2)
	if d == dtype.Float32 && block == 0 {
		if q := c.quantaOf(x, scale, zero, axis); q != nil {
			return one(q.value())
		}
	}
	return one(c.cast(c.dequantized(x, scale, zero, axis, block), d))
}

// zeroPoint is operand i; nil where it is left out.
func (c *call) zeroPoint(i int) *value {
	if !c.has(i) {
		return nil
	}
	return c.x(i)
}

// dequantized is (x - zero) * scale in the dtype of the scale. Differences of 8-bit integers are exact in float32.
func (c *call) dequantized(x, scale, zero *value, axis int, block int64) *value {
	d := scale.DType
	y := c.cast(x, dtype.Float32)
	if x.DType == dtype.Int32 {
		y = c.cast(x, d)
	}
	if zero != nil {
		y = c.sub(y, c.cast(c.spreadParam(zero, x.dims(), axis, block), y.DType))
	}
	return c.cast(c.mul(y, c.cast(c.spreadParam(scale, x.dims(), axis, block), y.DType)), d)
}

// dynamicScale is the scale and the zero point of uint8 for the elements of x, 0 among them. Of zeros alone the scale is 1, as in
// onnxruntime: the specification does not say, and nothing can be divided by 0.
func (c *call) dynamicScale(x *value) (scale, zero *value) {
	axes := count(x.rank())
	low := c.smaller(c.extreme(op.IDMin, x, axes, greatest(x.DType)), num(0))
	high := c.larger(c.extreme(op.IDMax, x, axes, lowest(x.DType)), num(0))
	width := c.reshape(c.sub(high, low))
	scale = c.where(c.binary(op.IDEqual, width, num(0)), c.reals(x.DType, nil, []float64{1}), c.div(width, num(255)))
	first := c.unary(op.IDRound, c.clamp(c.div(c.neg(c.reshape(low)), scale), 0, 255))
	return scale, c.cast(first, dtype.Uint8)
}

// dynamicQuantizeLinear finds scale and zero point for its operand, and returns them behind the integers.
func dynamicQuantizeLinear(c *call) []*value {
	x := c.x(0)
	scale, zero := c.dynamicScale(x)
	return []*value{c.quantize(x, scale, zero, dtype.Uint8), scale, zero}
}

// shifted is integers less their zero point, which may be nil, as int32. Zero points of the left operand are for rows.
func (c *call) shifted(x, zero *value, left bool) *value {
	x = c.cast(x, dtype.Int32)
	if zero == nil {
		return x
	}
	z := c.cast(zero, dtype.Int32)
	if left {
		z = c.forRows(z)
	}
	return c.sub(x, z)
}

// forRows is a scale or a zero point for the rows of the left operand, where it is no single number.
func (c *call) forRows(p *value) *value {
	if p.rank() == 1 && p.dims()[0] > 1 {
		return c.unsqueeze(p, 1)
	}
	return p
}

// isByte reports whether elements are integers of 8 bits, and no others that tensors keep in such.
func isByte(v *value) bool { return v.elem == 0 && (v.DType == dtype.Int8 || v.DType == dtype.Uint8) }

// isNought reports whether a zero point is left out or known to be 0.
func isNought(zero *value) bool {
	return zero == nil || zero.fixed && zero.data != nil && !slices.ContainsFunc(zero.data.Bytes, func(b byte) bool { return b != 0 })
}

// oneZero is a zero point of all elements of x, as an operand of rows of integers; ok is false where it is none.
func (c *call) oneZero(x, zero *value) (z *value, ok bool) {
	if zero == nil {
		return absent(), true
	}
	if zero.Shape.Numel() != 1 || zero.DType != x.DType {
		return nil, false
	}
	return c.reshape(zero), true
}

// integerProduct is the product of integers of 8 bits less their zero points, nil for 0, in int32. Zero points of the right
// operand are for columns. They take from an element the sum of a row of the left operand, which is its product with ones.
func (c *call) integerProduct(x, y, xZero, yZero *value) *value {
	zero, ok := c.oneZero(x, xZero)
	if !ok || !isByte(x) || !isByte(y) || x.rank() < 2 || y.rank() < 2 {
		return c.matmul(c.shifted(x, xZero, true), c.shifted(y, yZero, false))
	}
	return c.bytesProduct(nil, x, y, zero, yZero)
}

// bytesProduct is integerProduct of matrices with the attributes of matmul, and one zero point of the left operand.
func (c *call) bytesProduct(at op.Attrs, x, y, zero, yZero *value) *value {
	p := c.do(op.IDMatmulInteger, at, x, y, zero)
	if isNought(yZero) {
		return p
	}
	dims := []int64{1, 1}
	dims[matrixAxis(at, op.MatmulTransposeY, len(dims), 0)] = x.dims()[matrixAxis(at, op.MatmulTransposeX, x.rank(), 1)]
	sums := c.do(op.IDMatmulInteger, at, x, c.full(dtype.Int8, integer(1), dims...), zero)
	return c.sub(p, c.mul(sums, c.cast(yZero, dtype.Int32)))
}

// matrixAxis is the axis of the rows of an operand of matmul, 0, or of its columns, 1, as the attributes say.
func matrixAxis(at op.Attrs, transposed, rank, i int) int {
	if transposed < len(at) && at[transposed].I != 0 {
		i = 1 - i
	}
	return rank - 2 + i
}

// Convolutions of groups that are smaller are faster in floats.
const (
	leastTerms = 16 // elements under a window
	leastRows  = 4  // channels of the result
)

// bytesConv is a convolution of 8-bit integers less their zero points by conv_integer; nil where it is for other rows. A zero
// point of the weight takes from an element the sum under its window, which is what one more filter of ones finds; where there
// are groups, each would need its own.
func (c *call) bytesConv(x, w, xZero, wZero *value) *value {
	zero, ok := c.oneZero(x, xZero)
	dims, plain := w.dims(), isNought(wZero)
	if !ok || !isByte(x) || !isByte(w) || len(dims) < 2 || !plain && c.int("group", 1) != 1 ||
		product(dims[1:]) < leastTerms || dims[0] < leastRows*c.int("group", 1) {
		return nil
	}
	if plain {
		return c.convolution(op.IDConvInteger, x, w, len(c.in), zero)
	}
	ones := slices.Clone(dims)
	ones[0] = 1
	y := c.convolution(op.IDConvInteger, x, c.concat(0, w, c.full(w.DType, integer(1), ones...)), len(c.in), zero)
	sums := c.slice(y, 1, dims[0], dims[0]+1)
	return c.sub(c.slice(y, 1, 0, dims[0]), c.mul(sums, c.cast(c.spreadParam(wZero, y.dims(), 1, 0), dtype.Int32)))
}

// integerConv is a convolution of integers less their zero points, as int32 or as floats that hold it exactly. The padding
// is 0 after zero points were subtracted, which is what the zero point stands for.
func (c *call) integerConv(x, w, xZero, wZero *value) *value {
	if y := c.bytesConv(x, w, xZero, wZero); y != nil {
		return y
	}
	x, w = c.cast(x, dtype.Float32), c.cast(w, dtype.Float32)
	d := dtype.Float32
	if w.rank() > 1 && product(w.dims()[1:]) > 1<<24/(256*256) {
		d = dtype.Float64 // sums of more than 256 products of two 8-bit integers
	}
	if xZero != nil {
		x = c.sub(x, c.cast(c.reshape(xZero), dtype.Float32))
	}
	if wZero != nil {
		w = c.sub(w, c.cast(c.spreadParam(wZero, w.dims(), 0, 0), dtype.Float32))
	}
	return c.conv(c.cast(x, d), c.cast(w, d), len(c.in))
}

// requantized is integers at the scale of a product, at another scale. The scale of the product is that of both
// operands.
func (c *call) requantized(y, scale, to, zero *value) *value {
	d := zero.DType
	y = c.mul(c.cast(y, dtype.Float32), c.float32Of(scale))
	return c.quantize(y, c.float32Of(c.reshape(to)), c.reshape(zero), d)
}

// qlinearMatMul has the operands a, scale, zero, b, scale, zero, and scale and zero of the result.
func qlinearMatMul(c *call) []*value {
	for _, i := range []int{6, 7} {
		if c.x(i).Shape.Numel() != 1 {
			c.refuse("scales of the result for each row are not supported")
		}
	}
	y := c.integerProduct(c.x(0), c.x(3), c.zeroPoint(2), c.zeroPoint(5))
	scale := c.mul(c.float32Of(c.forRows(c.x(1))), c.float32Of(c.x(4)))
	if scale.Shape.Numel() == 1 {
		scale = c.reshape(scale)
	}
	return one(c.requantized(y, scale, c.x(6), c.x(7)))
}

// qlinearConv has the operands x, scale, zero, w, scale, zero, scale and zero of the result, and a bias in int32.
func qlinearConv(c *call) []*value {
	y := c.integerConv(c.x(0), c.x(3), c.zeroPoint(2), c.zeroPoint(5))
	if c.has(8) {
		y = c.add(y, c.cast(c.channels(c.x(8), y.rank()), y.DType))
	}
	scale := c.spreadParam(c.mul(c.reshape(c.x(1)), c.x(4)), y.dims(), 1, 0)
	return one(c.requantized(y, scale, c.x(6), c.x(7)))
}

// qlinearPair is an operator on two quantized tensors.
func (c *call) qlinearPair(pair func(c *call, x, y *value) *value) *value {
	y := pair(c, c.dequantized(c.x(0), c.x(1), c.zeroPoint(2), 0, 0), c.dequantized(c.x(3), c.x(4), c.zeroPoint(5), 0, 0))
	d := c.x(0).DType
	return c.quantize(y, c.reshape(c.x(6)), c.zeroPoint(7), d)
}

// dynamicQuantizeMatMul quantizes its first operand by itself: A, B, scale of B, zero point of B, bias.
func dynamicQuantizeMatMul(c *call) []*value {
	x := c.x(0)
	scale, zero := c.dynamicScale(x)
	p := c.integerProduct(c.quantize(x, scale, zero, dtype.Uint8), c.x(1), zero, c.zeroPoint(3))
	return one(c.rescaled(p, scale, c.x(2), 4))
}

// rescaled is a product of integers times the scales of its operands, plus operand bias, if there is one.
func (c *call) rescaled(p, xScale, yScale *value, bias int) *value {
	y := c.mul(c.cast(p, xScale.DType), c.mul(xScale, yScale))
	if c.has(bias) {
		y = c.add(y, c.x(bias))
	}
	return y
}

// matMulIntegerToFloat has the operands A, B, scales, zero points, bias.
func matMulIntegerToFloat(c *call) []*value {
	p := c.integerProduct(c.x(0), c.x(1), c.zeroPoint(4), c.zeroPoint(5))
	return one(c.rescaled(p, c.x(2), c.x(3), 6))
}
