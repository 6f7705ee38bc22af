package build

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Value is what a name of the file stands for while a graph is built: a tensor with a type and often with elements, a
// number that a rule of this package adds, a sequence of tensors, whose length is always known, or nothing.
type Value struct {
	op.Type
	Elem   file.ElemType // of elements that tensors lack, which DType carries; 0: those of DType
	Data   *op.Const     // the elements, where they are known
	Number *op.Value     // a Python scalar, weak in promotion; not Set: an operand that is left out
	List   []*Value      // of a sequence
	IsList bool
	None   bool // an optional without a value
	Fixed  bool // it follows from the file alone, whatever the inputs are

	Quanta *Quanta // the integers that DequantizeLinear made it of, where products can take these
	lazy   bool    // it is not dequantized yet; see builder.settle

	inputs uint64      // of the model that its elements depend on, bit i for input i; those from 63 on share a bit
	At     graph.Value // in the graph, once something reads it
	Placed bool
}

// known reports whether a call with the value as an operand may be folded. Results of such calls are constants.
func (v *Value) known() bool { return v.Data != nil || v.Number != nil }

// Dims are the dimensions of a tensor.
func (v *Value) Dims() []int64 { return v.Shape.Slice() }

// Rank is how many dimensions a tensor has.
func (v *Value) Rank() int { return v.Shape.Rank }

// Numbers as operands.

// Num is a float as an operand.
func Num(f float64) *Value { return NumberOf(op.Value{Kind: op.Float, F: f}) }

// Whole is an integer as an operand.
func Whole(n int64) *Value { return NumberOf(op.Value{Kind: op.Int, I: n}) }

// Absent is an operand that is left out.
func Absent() *Value { return NumberOf(op.Value{}) }

// IsAbsent reports whether the operand is left out.
func (v *Value) IsAbsent() bool { return v.Number != nil && !v.Number.Set() }

// NumberOf is any number as an operand. It takes the dtype of the tensor beside it.
func NumberOf(v op.Value) *Value {
	return &Value{Type: op.Type{DType: v.DType()}, Number: &v, Fixed: true}
}

// Integer is an integer for an attribute that takes any number.
func Integer(n int64) op.Value { return op.Value{Kind: op.Int, I: n} }

// With are attributes of a row: the position of each, a constant of core/op such as op.SumAxis, and behind it its
// value. Literals of op.Attrs at every call would make the library larger by 100 KB. The position is an untyped
// constant, hence an int. What is left out gets the default of the row.
func With(list ...any) op.Attrs {
	var at op.Attrs
	for i := 0; i+1 < len(list); i += 2 {
		place := list[i].(int)
		for len(at) <= place {
			at = append(at, op.Value{})
		}
		at[place] = attribute(list[i+1])
	}
	return at
}

// attribute is a value of Go as that of an attribute.
func attribute(v any) op.Value {
	switch v := v.(type) {
	case bool:
		if v {
			return op.Value{Kind: op.Bool, I: 1}
		}
		return op.Value{Kind: op.Bool}
	case int:
		return Integer(int64(v))
	case int64:
		return Integer(v)
	case float64:
		return op.Value{Kind: op.Float, F: v}
	case []int64:
		return op.Value{Kind: op.Ints, Ints: v}
	case []float64:
		return op.Value{Kind: op.Floats, Ref: v}
	case dtype.DType:
		return op.Value{Kind: op.DType, I: int64(v)}
	case string:
		return op.Value{Kind: op.String, Ref: v}
	case op.Value:
		return v
	}
	panic("onnx: an attribute of an unknown type")
}

// ShapeOf is a shape; the caller knows that the dimensions are possible. Functions have checked the number of
// dimensions.
func ShapeOf(dims []int64) (s shape.Shape) {
	s.Rank = copy(s.Dims[:], dims)
	return s
}

// Product is the number of elements of these dimensions. The caller knows that it does not overflow.
func Product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// FloatsOf are the elements of a constant as numbers; integers beyond 2**53 are rounded. It is for shapes, scales
// and conditions, which are few; weights are never read this way.
func FloatsOf(c *op.Const) []float64 {
	size := int(c.DType.Size())
	list := make([]float64, 0, len(c.Bytes)/size)
	if whole, ok := c.Ints(); ok {
		for _, n := range whole {
			list = append(list, float64(n))
		}
		return list
	}
	for at := 0; at+size <= len(c.Bytes); at += size {
		switch raw := c.Bytes[at:]; c.DType {
		case dtype.Float64:
			list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		case dtype.Float32:
			list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		case dtype.Float16:
			list = append(list, float64(dtype.F16ToF32(binary.LittleEndian.Uint16(raw))))
		case dtype.BFloat16:
			list = append(list, float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw))<<16)))
		case dtype.Bool:
			list = append(list, float64(raw[0]))
		}
	}
	return list
}
