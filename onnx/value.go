package onnx

import (
	"encoding/binary"
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// value is what a name of the file stands for while a graph is built: a tensor with a type and often with elements, a
// number that a rule of this package adds, or a sequence of tensors, whose length is always known.
type value struct {
	op.Type
	data   *op.Const // the elements, where they are known
	number *op.Value // a Python scalar, weak in promotion; not Set: an operand that is left out
	list   []*value  // of a sequence
	isList bool
	fixed  bool // it follows from the file alone, whatever the inputs are

	inputs uint64      // of the model that its elements depend on, bit i for input i; those from 63 on share a bit
	at     graph.Value // in the graph, once something reads it
	placed bool
}

// known reports whether a call with the value as an operand may be folded.
func (v *value) known() bool { return v.data != nil || v.number != nil }

// dims are the dimensions of a tensor.
//go:noinline
func (v *value) dims() []int64 { return v.Shape.Slice() }

// rank is how many dimensions a tensor has.
func (v *value) rank() int { return v.Shape.Rank }

// Numbers as operands.

//go:noinline
func num(f float64) *value { return numberOf(op.Value{Kind: op.Float, F: f}) }
//go:noinline
func whole(n int64) *value { return numberOf(op.Value{Kind: op.Int, I: n}) }
//go:noinline
func absent() *value       { return numberOf(op.Value{}) }

//go:noinline
func numberOf(v op.Value) *value {
	return &value{Type: op.Type{DType: v.DType()}, number: &v, fixed: true}
}

// Attributes of rows.

//go:noinline
func ints(list ...int64) op.Value { return op.Value{Kind: op.Ints, Ints: list} }
//go:noinline
func integer(n int64) op.Value    { return op.Value{Kind: op.Int, I: n} }
//go:noinline
func typeAttr(d dtype.DType) op.Value {
	return op.Value{Kind: op.DType, I: int64(d)}
}

//go:noinline
func flag(b bool) op.Value {
	if b {
		return op.Value{Kind: op.Bool, I: 1}
	}
	return op.Value{Kind: op.Bool}
}

// shapeOf is a shape; the caller knows that the dimensions are possible.
//go:noinline
func shapeOf(dims []int64) (s shape.Shape) {
	s.Rank = copy(s.Dims[:], dims)
	return s
}

// product is the number of elements of these dimensions.
//go:noinline
func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// floatsOf are the elements of a constant as numbers; integers beyond 2**53 are rounded.
func floatsOf(c *op.Const) []float64 {
	size, list := int(c.DType.Size()), []float64(nil)
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

// bytesOf are numbers as elements of a dtype.
func bytesOf(d dtype.DType, list []op.Value) (raw []byte) {
	for i := range list {
		raw = appendInt(raw, int64(list[i].Bits(d)), int(d.Size()))
	}
	return raw
}
