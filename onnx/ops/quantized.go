package ops

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Quantized tensors: integers with a scale and a zero point. Products of integers are exact: of 8 bits by the rows
// matmul_integer and conv_integer, whose sums are int32. A zero point of each row of the left operand is subtracted before,
// in int32. Zero points of the weights of convolutions are subtracted in floats that hold every sum.
//
// Quantizing and dequantizing are formulas of rows on floats, so that a model in the form of QuantizeLinear, an
// operator and DequantizeLinear computes the same numbers as in onnxruntime. Products of what was dequantized are products
// of the integers; see build/dequantized.go. Elements of less than 8 bits and 8-bit floats are converted as in build/small.go and elements.go.

var quantized = []entry{
	{"QuantizeLinear", 10, 0, quantizeLinear},
	{"DequantizeLinear", 10, 0, dequantizeLinear},
	{"DynamicQuantizeLinear", 11, op.IDDynamicQuantizeLinear, direct},
	// MatMulInteger: A, B, zero points; int32.
	{"MatMulInteger", 10, 0, func(c *build.Call) []*build.Value {
		return build.One(integerProduct(c, unscaled(c, 0, 2), unscaled(c, 1, 3)))
	}},
	// ConvInteger: X, W, zero points; int32.
	{"ConvInteger", 10, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Cast(integerConv(c, unscaled(c, 0, 2), unscaled(c, 1, 3)), dtype.Int32))
	}},
	{"QLinearMatMul", 10, 0, qlinearMatMul}, // a, scale, zero, b, scale, zero, and scale and zero of the result
	{"QLinearConv", 10, 0, qlinearConv},     // x, scale, zero, w, scale, zero, scale and zero of the result, and a bias in int32
	{"com.microsoft:QuantizeLinear", 1, 0, quantizeLinear},
	{"com.microsoft:DequantizeLinear", 1, 0, dequantizeLinear},
	{"com.microsoft:QLinearAdd", 1, op.IDAdd, qlinearPair}, // two quantized tensors, as QLinearMul
	{"com.microsoft:QLinearMul", 1, op.IDMultiply, qlinearPair},
	// DynamicQuantizeMatMul: A, B, scale, zero point, bias.
	{"com.microsoft:DynamicQuantizeMatMul", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(biased(c, dynamicProduct(c, c.X(0), quanta(c, 1, 2, 3)), 4))
	}},
	// MatMulIntegerToFloat: A, B, scales, zero points, bias.
	{"com.microsoft:MatMulIntegerToFloat", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(biased(c, scaledProductOf(c, quanta(c, 0, 2, 4), quanta(c, 1, 3, 5)), 6))
	}},
}

// quanta are operands: integers, their scale, and their zero point, which may be left out.
func quanta(c *build.Call, ints, scale, zero int) *build.Quanta {
	return &build.Quanta{Ints: c.X(ints), Scale: c.X(scale), Zero: c.Optional(zero)}
}

// unscaled are quanta without a scale.
func unscaled(c *build.Call, ints, zero int) *build.Quanta {
	return &build.Quanta{Ints: c.X(ints), Zero: c.Optional(zero)}
}

// quantAxis is the axis that scales count along.
func quantAxis(c *build.Call, rank int) int {
	if axis := c.Int("axis", 1); rank > 0 && int(axis) < rank {
		return c.Axis(axis, rank)
	}
	return 0
}

// quantize is round(x / scale) + zero, as an integer that saturates. Halves are rounded to the even integer.
func quantize(c *build.Call, x, scale, zero *build.Value, d dtype.DType) *build.Value {
	if d != dtype.Int8 && d != dtype.Uint8 && d != dtype.Int16 {
		c.Refuse("quantized elements of %s are not supported", d)
	}
	low, high := d.Range()
	return quantum(c, x, scale, zero, low, high, op.QuantizeLinearDtype, d)
}

// quantum is row quantize_linear between two integers; without a dtype they are floats.
func quantum(c *build.Call, x, scale, zero *build.Value, low, high int64, more ...any) *build.Value {
	at := build.With(append(more, op.QuantizeLinearLow, float64(low), op.QuantizeLinearHigh, float64(high))...)
	return c.Do(op.IDQuantizeLinear, at, x, scale, zero)
}

// quantizeTo is quantize to a type that tensors lack. A float is x / scale + zero, rounded once more; ONNX has a zero point
// of 0 there, which leaves the sign of a zero alone.
func quantizeTo(c *build.Call, x, scale, zero *build.Value, elem file.ElemType) *build.Value {
	c.Quantizes(elem)
	if !zero.IsAbsent() {
		zero = c.Decoded(zero.As(elem), dtype.Float32)
	}
	if build.FormatOf(elem) == nil {
		low, high := build.SmallInt(elem)
		if elem == file.ElemUint16 {
			high = 1<<16 - 1
		}
		return encoded(c, quantum(c, x, scale, zero, int64(low), int64(high)), elem.Carrier(), elem)
	}
	y := c.Div(x, scale)
	if !zero.IsAbsent() {
		y = c.Where(c.Binary(op.IDEqual, zero, build.Num(0)), y, c.Add(y, c.Cast(zero, y.DType)))
	}
	return encoded(c, y, elem.Carrier(), elem)
}

// quantizeLinear has the operands x, scale and zero point, whose dtype is that of the result; uint8 without one.
func quantizeLinear(c *build.Call) []*build.Value {
	x, scale := c.X(0), c.X(1)
	if e := max(x.Elem, scale.Elem); e != 0 {
		c.Refuse("operands of type %s are not supported", e)
	}
	d, axis, block := dtype.Uint8, quantAxis(c, x.Rank()), c.Int("block_size", 0)
	elem := file.ElemType(c.Int("output_dtype", 0)).Lacking()
	if c.Int("output_dtype", 0) != 0 {
		d = c.Carrier(file.ElemType(c.Int("output_dtype", 0)))
	}
	zero := build.Absent()
	if c.Has(2) {
		d, elem, zero = c.X(2).DType, c.X(2).Elem, c.SpreadParam(c.X(2), x.Dims(), axis, block)
	}
	if !x.DType.IsFloat() {
		x = c.Cast(x, scale.DType)
	}
	if p := c.Int("precision", 0); p != 0 {
		x = c.Cast(x, c.Elem("precision", x.DType))
	}
	scale = c.Cast(c.SpreadParam(scale, x.Dims(), axis, block), x.DType)
	if elem != 0 {
		return build.One(quantizeTo(c, x, scale, zero, elem))
	}
	return build.One(quantize(c, x, scale, zero, d))
}

// dequantizeLinear has the operands x, scale and zero point. The result has the dtype of the scale.
func dequantizeLinear(c *build.Call) []*build.Value {
	x, scale := c.X(0), c.X(1)
	axis, block := quantAxis(c, x.Rank()), c.Int("block_size", 0)
	d := c.Elem("output_dtype", scale.DType)
	if c.Int("output_dtype", 0) == 0 {
		d = scale.DType
	}
	zero := c.Optional(2)
	if d == dtype.Float32 && block == 0 {
		if q := c.QuantaOf(x, scale, zero, axis); q != nil {
			return build.One(q.Value())
		}
	}
	return build.One(c.Cast(c.Dequantized(x, scale, zero, axis, block), d))
}

// shifted is integers less their zero point as int32.
func shifted(c *build.Call, x, zero *build.Value) *build.Value {
	x = c.Cast(x, dtype.Int32)
	if zero.IsAbsent() {
		return x
	}
	return c.Sub(x, c.Cast(zero, dtype.Int32))
}

// forRows is a scale or a zero point for the rows of the left operand, where it is no single number.
func forRows(c *build.Call, p *build.Value) *build.Value {
	if p.Rank() == 1 && p.Dims()[0] > 1 {
		return c.Unsqueeze(p, 1)
	}
	return p
}

// isNought reports whether a zero point is left out or known to be 0.
func isNought(zero *build.Value) bool {
	return zero.IsAbsent() || zero.Fixed && zero.Data != nil && !slices.ContainsFunc(zero.Data.Bytes, func(b byte) bool { return b != 0 })
}

// oneZero is a zero point of all elements of x, as an operand of rows of integers; ok is false where it is none.
func oneZero(c *build.Call, x, zero *build.Value) (z *build.Value, ok bool) {
	if zero.IsAbsent() {
		return zero, true
	}
	if zero.Shape.Numel() != 1 || zero.DType != x.DType {
		return nil, false
	}
	return c.Reshape(zero), true
}

// integerProduct is the product of integers of 8 bits less their zero points in int32. Zero points of the right
// operand are for columns. They take from an element the sum of a row of the left operand, which is its product with ones.
func integerProduct(c *build.Call, x, y *build.Quanta) *build.Value {
	zero, ok := oneZero(c, x.Ints, x.Zero)
	if !ok || !build.IsByte(x.Ints) || !build.IsByte(y.Ints) || x.Ints.Rank() < 2 || y.Ints.Rank() < 2 {
		return c.Matmul(shifted(c, x.Ints, forRows(c, x.Zero)), shifted(c, y.Ints, y.Zero))
	}
	return bytesProduct(c, nil, x.Ints, y.Ints, zero, y.Zero)
}

// scaledProductOf is integerProduct times both scales.
func scaledProductOf(c *build.Call, x, y *build.Quanta) *build.Value {
	return c.Mul(c.Cast(integerProduct(c, x, y), x.Scale.DType), c.Mul(x.Scale, y.Scale))
}

// dynamicProduct is a product of floats, which are quantized as DynamicQuantizeLinear does, with integers.
func dynamicProduct(c *build.Call, x *build.Value, y *build.Quanta) *build.Value {
	q := c.All(op.IDDynamicQuantizeLinear, nil, x)
	return scaledProductOf(c, &build.Quanta{Ints: q[0], Scale: q[1], Zero: q[2]}, y)
}

// bytesProduct is integerProduct of matrices with the attributes of matmul, and one zero point of the left operand.
func bytesProduct(c *build.Call, at op.Attrs, x, y, zero, yZero *build.Value) *build.Value {
	p := c.Do(op.IDMatmulInteger, at, x, y, zero)
	if isNought(yZero) {
		return p
	}
	dims := []int64{1, 1}
	dims[matrixAxis(at, op.MatmulTransposeY, len(dims), 0)] = x.Dims()[matrixAxis(at, op.MatmulTransposeX, x.Rank(), 1)]
	sums := c.Do(op.IDMatmulInteger, at, x, c.Full(dtype.Int8, build.Integer(1), dims...), zero)
	return c.Sub(p, c.Mul(sums, c.Cast(yZero, dtype.Int32)))
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
func bytesConv(c *build.Call, x, w, xZero, wZero *build.Value) *build.Value {
	zero, ok := oneZero(c, x, xZero)
	dims, plain := w.Dims(), isNought(wZero)
	if !ok || !build.IsByte(x) || !build.IsByte(w) || len(dims) < 2 || !plain && c.Int("group", 1) != 1 ||
		build.Product(dims[1:]) < leastTerms || dims[0] < leastRows*c.Int("group", 1) {
		return nil
	}
	if plain {
		return convolution(c, op.IDConvInteger, x, w, zero)
	}
	ones := slices.Clone(dims)
	ones[0] = 1
	y := convolution(c, op.IDConvInteger, x, c.Concat(0, w, c.Full(w.DType, build.Integer(1), ones...)), zero)
	sums := c.Slice(y, 1, dims[0], dims[0]+1)
	return c.Sub(c.Slice(y, 1, 0, dims[0]), c.Mul(sums, c.Cast(c.SpreadParam(wZero, y.Dims(), 1, 0), dtype.Int32)))
}

// integerConv is a convolution of integers less their zero points, as int32 or as floats that hold it exactly. The padding
// is 0 after zero points were subtracted, which is what the zero point stands for.
func integerConv(c *build.Call, a, b *build.Quanta) *build.Value {
	if y := bytesConv(c, a.Ints, b.Ints, a.Zero, b.Zero); y != nil {
		return y
	}
	x, w, d := c.Cast(a.Ints, dtype.Float32), c.Cast(b.Ints, dtype.Float32), dtype.Float32
	if w.Rank() > 1 && build.Product(w.Dims()[1:]) > 1<<24/(256*256) {
		d = dtype.Float64 // sums of more than 256 products of two 8-bit integers
	}
	if !a.Zero.IsAbsent() {
		x = c.Sub(x, c.Cast(c.Reshape(a.Zero), dtype.Float32))
	}
	if !b.Zero.IsAbsent() {
		w = c.Sub(w, c.Cast(c.SpreadParam(b.Zero, w.Dims(), 0, 0), dtype.Float32))
	}
	return convolution(c, op.IDConv, c.Cast(x, d), c.Cast(w, d))
}

// requantized is integers at the scale of a product, which is that of both operands, at the scale and zero point of the result:
// operands 6 and 7.
func requantized(c *build.Call, y, scale *build.Value) []*build.Value {
	y = c.Mul(c.Cast(y, dtype.Float32), c.Cast(scale, dtype.Float32))
	return build.One(quantize(c, y, c.Cast(c.Reshape(c.X(6)), dtype.Float32), c.Reshape(c.X(7)), c.X(7).DType))
}

// qlinearMatMul is a product of quantized matrices.
func qlinearMatMul(c *build.Call) []*build.Value {
	for _, i := range []int{6, 7} {
		if c.X(i).Shape.Numel() != 1 {
			c.Refuse("scales of the result for each row are not supported")
		}
	}
	y := integerProduct(c, quanta(c, 0, 1, 2), quanta(c, 3, 4, 5))
	scale := c.Mul(c.Cast(forRows(c, c.X(1)), dtype.Float32), c.Cast(c.X(4), dtype.Float32))
	if scale.Shape.Numel() == 1 {
		scale = c.Reshape(scale)
	}
	return requantized(c, y, scale)
}

// qlinearConv is a convolution of quantized images.
func qlinearConv(c *build.Call) []*build.Value {
	y := integerConv(c, quanta(c, 0, 1, 2), quanta(c, 3, 4, 5))
	if c.Has(8) {
		y = c.Add(y, c.Cast(alongChannels(c, c.X(8), y.Rank()), y.DType))
	}
	return requantized(c, y, c.SpreadParam(c.Mul(c.Reshape(c.X(1)), c.X(4)), y.Dims(), 1, 0))
}

// qlinearPair is a row on two quantized tensors.
func qlinearPair(c *build.Call) []*build.Value {
	dequantized := func(q *build.Quanta) *build.Value { return c.Dequantized(q.Ints, q.Scale, q.Zero, 0, 0) }
	y := c.Binary(c.Row, dequantized(quanta(c, 0, 1, 2)), dequantized(quanta(c, 3, 4, 5)))
	return build.One(quantize(c, y, c.Reshape(c.X(6)), c.Optional(7), c.X(0).DType))
}

// mostTerms is how many products of two 8-bit integers less their zero points an int32 holds the sum of.
const mostTerms = math.MaxInt32 / (255 * 255)

// leastChannels is how many channels of the image a group has. Convolutions of fewer channels are up to 1.4 times as fast in
// floats, because gathering the elements under the windows takes most of the time.
const leastChannels = 8

// dequantizedOperands are the quanta of the first two operands, the left one with a scale and a zero point for all elements, and
// the product of the scales: a number, or a vector for the axis of the right operand. The product is nil where there is none
// that is constant, or where it is no normal number: products of floats may be such then, and infinities and NaN spread.
func dequantizedOperands(c *build.Call) (x, y *build.Quanta, scale *build.Value) {
	if !c.Has(0) || !c.Has(1) {
		return nil, nil, nil
	}
	if x, y = c.In[0].Quanta, c.In[1].Quanta; x == nil || y == nil || !x.Along(x.Ints.Rank()) {
		return nil, nil, nil
	}
	if scale = c.Mul(c.Reshape(x.Scale), y.Scale); scale.Data == nil || !scale.Fixed {
		return nil, nil, nil
	}
	c.Room(scale.Shape.Numel())
	for _, f := range build.FloatsOf(scale.Data) {
		if f = math.Abs(f); !(f >= 0x1p-126 && f <= math.MaxFloat32) {
			return nil, nil, nil
		}
	}
	return x, y, scale
}

// quantizedProduct is the matrix product of the first two operands with the attributes of matmul, in float32, where these were
// dequantized; nil where it is to be a product of floats.
func quantizedProduct(c *build.Call, at op.Attrs) *build.Value {
	x, y, scale := dequantizedOperands(c)
	if scale == nil || !y.Along(matrixAxis(at, op.MatmulTransposeY, y.Ints.Rank(), 1)) {
		return nil
	}
	terms := x.Ints.Dims()[matrixAxis(at, op.MatmulTransposeX, x.Ints.Rank(), 1)]
	if terms < 1 || terms > mostTerms {
		return nil
	}
	zero, _ := oneZero(c, x.Ints, x.Zero)
	return c.Mul(c.Cast(bytesProduct(c, at, x.Ints, y.Ints, zero, y.Zero), dtype.Float32), scale)
}

// quantizedConv is the convolution of the first two operands without a bias, likewise.
func quantizedConv(c *build.Call) *build.Value {
	x, w, scale := dequantizedOperands(c)
	if scale == nil || !w.Along(0) || w.Ints.Dims()[1] < leastChannels || build.Product(w.Ints.Dims()[1:]) > mostTerms {
		return nil
	}
	y := bytesConv(c, x.Ints, w.Ints, x.Zero, w.Zero)
	if y == nil {
		return nil
	}
	return c.Mul(c.Cast(y, dtype.Float32), c.SpreadParam(scale, y.Dims(), 1, 0))
}
