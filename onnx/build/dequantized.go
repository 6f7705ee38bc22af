package build

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Models in QDQ format have a DequantizeLinear before each operand of an operator in floats, and a QuantizeLinear behind its
// result. A value remembers the integers that it was dequantized from, and a product of two such values is the product of these
// integers times both scales. Sums of integers are exact, so that the result is closer to the exact one than that of floats.
//
// The floats are computed where something else reads them, so that weights which only such products read keep 8 bits. Integers
// are transposed before that: networks that were trained to be quantized have a Transpose behind the weights.

// Quanta are what a value was dequantized from: 8-bit integers, and a scale and a zero point of the tensor or of an axis.
type Quanta struct {
	Ints, Scale, Zero *Value // zero may be absent
	Axis              int    // that the scale is for, if it has more than one element
}

// UseIntegers makes products of dequantized integers products of the integers. It is for devices with kernels of matmul_integer
// and conv_integer: others lower these to products that are slower than those of floats. It is called before the model is used.
func (m *Model) UseIntegers() { m.integers = true }

// QuantaOf are the quanta of operands of DequantizeLinear without blocks; nil where products cannot take them.
func (c *Call) QuantaOf(x, scale, zero *Value, axis int) *Quanta {
	if !c.Model.integers || !IsByte(x) || x.Rank() < 2 || scale.DType != dtype.Float32 || !isParam(scale, x.Dims()[axis]) ||
		!zero.IsAbsent() && (!IsByte(zero) || zero.DType != x.DType || !isParam(zero, x.Dims()[axis])) {
		return nil
	}
	return &Quanta{x, scale, zero, axis}
}

// isParam reports whether a scale or a zero point is one number, or n.
func isParam(p *Value, n int64) bool {
	count := p.Shape.Numel()
	return p.Rank() < 2 && (count == 1 || count == n)
}

// Value is the float32 tensor, which is not computed yet.
func (q *Quanta) Value() *Value {
	return &Value{Type: op.Type{DType: dtype.Float32, Shape: q.Ints.Shape}, Quanta: q, lazy: true}
}

// Along reports whether scale and zero point are for the whole tensor or for this axis.
func (q *Quanta) Along(axis int) bool {
	return q.Scale.Shape.Numel() == 1 && (q.Zero.IsAbsent() || q.Zero.Shape.Numel() == 1) || q.Axis == axis
}

// settle dequantizes a value that has not been. It is called for whatever a node may read as floats.
func (b *Builder) settle(v *Value) (err error) {
	if v == nil || !v.lazy {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	c, q := &Call{Builder: b}, v.Quanta
	made := c.Dequantized(q.Ints, q.Scale, q.Zero, q.Axis, 0)
	v.Data, v.Fixed, v.inputs, v.At, v.Placed, v.lazy = made.Data, made.Fixed, made.inputs, made.At, made.Placed, false
	return nil
}

// SpreadParam is a scale or a zero point as it broadcasts to x: one number, one for each index of an axis, or for
// each block of indices. Blocks are repeated as often as they have elements; the last one may be cut.
func (c *Call) SpreadParam(p *Value, dims []int64, axis int, block int64) *Value {
	switch {
	case p.Shape.Numel() == 1 && p.Rank() <= 1:
		return c.Reshape(p)
	case block > 0 && p.Rank() == len(dims):
		n := p.Dims()[axis]
		tall := slices.Insert(slices.Clone(p.Dims()), axis+1, block)
		p = c.Expand(c.Unsqueeze(p, int64(axis)+1), tall...)
		flat := slices.Delete(slices.Clone(tall), axis+1, axis+2)
		flat[axis] = n * block
		return c.Slice(c.Reshape(p, flat...), axis, 0, min(dims[axis], n*block))
	case p.Rank() == 1:
		wide := slices.Repeat([]int64{1}, len(dims))
		wide[axis] = p.Dims()[0]
		return c.Reshape(p, wide...)
	}
	return p
}

// Dequantized is row dequantize_linear, (x - zero) * scale in the dtype of the scale. Differences of 8-bit integers are exact in float32.
func (c *Call) Dequantized(x, scale, zero *Value, axis int, block int64) *Value {
	dims := x.Dims()
	if x.DType == dtype.Int32 {
		x = c.Cast(x, scale.DType)
	}
	if !zero.IsAbsent() {
		zero = c.SpreadParam(zero, dims, axis, block)
	}
	return c.Do(op.IDDequantizeLinear, nil, x, c.SpreadParam(scale, dims, axis, block), zero)
}

// IsByte reports whether elements are integers of 8 bits, and no others that tensors keep in such.
func IsByte(v *Value) bool { return v.Elem == 0 && (v.DType == dtype.Int8 || v.DType == dtype.Uint8) }
