package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Models in QDQ format have a DequantizeLinear before each operand of an operator in floats, and a QuantizeLinear behind its
// result. A value remembers the integers that it was dequantized from, and a product of two such values is the product of these
// integers times both scales. Sums of integers are exact, so that the result is closer to the exact one than that of floats.
//
// The floats are computed where something else reads them, so that weights which only such products read keep 8 bits. Integers
// are transposed before that: networks that were trained to be quantized have a Transpose behind the weights.

// quanta are what a value was dequantized from: 8-bit integers, and a scale and a zero point of the tensor or of an axis.
type quanta struct {
	ints, scale, zero *value // zero may be nil
	axis              int    // that the scale is for, if it has more than one element
}

// mostTerms is how many products of two 8-bit integers less their zero points an int32 holds the sum of.
const mostTerms = math.MaxInt32 / (255 * 255)

// leastChannels is how many channels of the image a group has. Convolutions of fewer channels are up to 1.4 times as fast in
// floats, because gathering the elements under the windows takes most of the time.
const leastChannels = 8

// UseIntegers makes products of dequantized integers products of the integers. It is for devices with kernels of matmul_integer
// and conv_integer: others lower these to products that are slower than those of floats. It is called before the model is used.
func (m *Model) UseIntegers() { m.integers = true }

// quantaOf are the quanta of operands of DequantizeLinear without blocks; nil where products cannot take them.
func (c *call) quantaOf(x, scale, zero *value, axis int) *quanta {
	if !c.model.integers || !isByte(x) || x.rank() < 2 || scale.DType != dtype.Float32 || !isParam(scale, x.dims()[axis]) ||
		zero != nil && (!isByte(zero) || zero.DType != x.DType || !isParam(zero, x.dims()[axis])) {
		return nil
	}
	return &quanta{x, scale, zero, axis}
}

// isParam reports whether a scale or a zero point is one number, or n.
func isParam(p *value, n int64) bool {
	count := p.Shape.Numel()
	return p.rank() < 2 && (count == 1 || count == n)
}

// value is the float32 tensor, which is not computed yet.
func (q *quanta) value() *value {
	return &value{Type: op.Type{DType: dtype.Float32, Shape: q.ints.Shape}, quanta: q, lazy: true}
}

// along reports whether scale and zero point are for the whole tensor or for this axis.
func (q *quanta) along(axis int) bool {
	return q.scale.Shape.Numel() == 1 && (q.zero == nil || q.zero.Shape.Numel() == 1) || q.axis == axis
}

// settle dequantizes a value that has not been. It is called for whatever a node may read as floats.
func (b *builder) settle(v *value) (err error) {
	if v == nil || !v.lazy {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	c, q := &call{builder: b}, v.quanta
	made := c.dequantized(q.ints, q.scale, q.zero, q.axis, 0)
	v.data, v.fixed, v.inputs, v.at, v.placed, v.lazy = made.data, made.fixed, made.inputs, made.at, made.placed, false
	return nil
}

// dequantizedOperands are the quanta of the first two operands, the left one with a scale and a zero point for all elements, and
// the product of the scales: a number, or a vector for the axis of the right operand. The product is nil where there is none
// that is constant, or where it is no normal number: products of floats may be such then, and infinities and NaN spread.
func (c *call) dequantizedOperands() (x, y *quanta, scale *value) {
	if !c.has(0) || !c.has(1) {
		return nil, nil, nil
	}
	if x, y = c.in[0].quanta, c.in[1].quanta; x == nil || y == nil || !x.along(x.ints.rank()) {
		return nil, nil, nil
	}
	if scale = c.mul(c.reshape(x.scale), y.scale); scale.data == nil || !scale.fixed {
		return nil, nil, nil
	}
	c.room(scale.Shape.Numel())
	for _, f := range floatsOf(scale.data) {
		if f = math.Abs(f); !(f >= 0x1p-126 && f <= math.MaxFloat32) {
			return nil, nil, nil
		}
	}
	return x, y, scale
}

// quantizedProduct is the matrix product of the first two operands with the attributes of matmul, in float32, where these were
// dequantized; nil where it is to be a product of floats.
func (c *call) quantizedProduct(at op.Attrs) *value {
	x, y, scale := c.dequantizedOperands()
	if scale == nil || !y.along(matrixAxis(at, op.MatmulTransposeY, y.ints.rank(), 1)) {
		return nil
	}
	terms := x.ints.dims()[matrixAxis(at, op.MatmulTransposeX, x.ints.rank(), 1)]
	if terms < 1 || terms > mostTerms {
		return nil
	}
	zero, _ := c.oneZero(x.ints, x.zero)
	return c.mul(c.cast(c.bytesProduct(at, x.ints, y.ints, zero, y.zero), dtype.Float32), scale)
}

// quantizedConv is the convolution of the first two operands without a bias, likewise.
func (c *call) quantizedConv() *value {
	x, w, scale := c.dequantizedOperands()
	if scale == nil || !w.along(0) || w.ints.dims()[1] < leastChannels || product(w.ints.dims()[1:]) > mostTerms {
		return nil
	}
	y := c.bytesConv(x.ints, w.ints, x.zero, w.zero)
	if y == nil {
		return nil
	}
	return c.mul(c.cast(y, dtype.Float32), c.spreadParam(scale, y.dims(), 1, 0))
}
