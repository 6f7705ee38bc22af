// Types are compared by their text, which is made once.

package ttir

import (
	"math/bits"
	"strconv"
	"strings"
)

// Kind tells types apart.
type Kind uint8

// The kinds. Integers have no sign: operations do.
const (
	None Kind = iota
	Int
	Float
	Pointer
	Tensor
	Index
	Descriptor
)

// Type is an immutable type. Two types are equal if their texts are: see Same.
type Type struct {
	Kind Kind
	// Of integers and floats.
	Bits int
	// Of floats: f32, bf16, f8E4M3FN.
	Name string
	// Of pointers, tensors and descriptors.
	Elem *Type
	// Of tensors, and of the blocks of descriptors.
	Shape []int
	// Of descriptors of integers: these have no sign.
	Unsigned bool
	text     string
}

// String is the type as the text has it.
func (t *Type) String() string { return t.text }

// Same reports whether two types are equal.
func (t *Type) Same(o *Type) bool { return t == o || t != nil && o != nil && t.text == o.text }

// Element is the type of a tensor's elements, or of a scalar the type itself.
func (t *Type) Element() *Type {
	if t.Kind == Tensor {
		return t.Elem
	}
	return t
}

// IsTensor reports whether the type is a tensor.
func (t *Type) IsTensor() bool { return t.Kind == Tensor }

// IsInt reports whether elements are integers of some width, 0 for any.
func (t *Type) IsInt(width int) bool {
	e := t.Element()
	return e.Kind == Int && (width == 0 || e.Bits == width)
}

// IsFloat reports whether elements are floats.
func (t *Type) IsFloat() bool { return t.Element().Kind == Float }

// IsPointer reports whether elements are pointers.
func (t *Type) IsPointer() bool { return t.Element().Kind == Pointer }

// ByteSize is how many bytes an element of a scalar type takes in memory.
func (t *Type) ByteSize() int { return max(1, t.Bits/8) }

// Count is the number of elements; 1 of a scalar.
func (t *Type) Count() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// IntType is the integer type of a width.
func IntType(width int) *Type {
	return &Type{Kind: Int, Bits: width, text: "i" + strconv.Itoa(width)}
}

// IndexType is the type of sizes.
func IndexType() *Type { return &Type{Kind: Index, Bits: 64, text: "index"} }

// widths has the floats that Triton prints.
var widths = map[string]int{
	"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "tf32": 32,
	"f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
}

// FloatType is the float type of a name, nil if there is none.
func FloatType(name string) *Type {
	if widths[name] == 0 {
		return nil
	}
	return &Type{Kind: Float, Bits: widths[name], Name: name, text: name}
}

// PointerTo is a pointer to values of a type, in an address space; 1 is the default and not printed.
func PointerTo(elem *Type, space int) *Type {
	text := "!tt.ptr<" + elem.text
	if space != 1 {
		text += ", " + strconv.Itoa(space)
	}
	return &Type{Kind: Pointer, Bits: 64, Elem: elem, text: text + ">"}
}

// TensorOf is a tensor of a shape.
func TensorOf(shape []int, elem *Type) *Type {
	var s strings.Builder
	s.WriteString("tensor<")
	for _, d := range shape {
		s.WriteString(strconv.Itoa(d))
		s.WriteByte('x')
	}
	s.WriteString(elem.text)
	s.WriteByte('>')
	return &Type{Kind: Tensor, Shape: shape, Elem: elem, text: s.String()}
}

// DescriptorOf is a tensor descriptor whose blocks have a shape. sign is s or u in front of integers, as in ui8.
func DescriptorOf(shape []int, elem *Type, sign string) *Type {
	block := TensorOf(shape, elem).text
	text := "!tt.tensordesc<" + block[len("tensor<"):len(block)-1-len(elem.text)] + sign + elem.text + ">"
	return &Type{Kind: Descriptor, Shape: shape, Elem: elem, Unsigned: sign == "u", text: text}
}

// With is the type with other elements.
func (t *Type) With(elem *Type) *Type {
	if t.Kind == Tensor {
		return TensorOf(t.Shape, elem)
	}
	return elem
}

// mostElements is Triton's own bound of a tensor (TRITON_MAX_TENSOR_NUMEL).
const mostElements = 1 << 20

// shapeError says what is wrong with a shape; "" if nothing is.
func shapeError(shape []int) string {
	n := 1
	for _, d := range shape {
		if d <= 0 || bits.OnesCount(uint(d)) != 1 {
			return "dimensions of tensors are powers of two"
		}
		if n *= d; n > mostElements {
			return "a tensor has more than 1048576 elements"
		}
	}
	return ""
}
