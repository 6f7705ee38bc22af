// Package dtype defines the element types and the promotion rule. No other package knows the size and name of a
// dtype, or the result dtype of int8 plus float16.
package dtype

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// DType is an element type. The numbers are part of the C ABI: they are explicit in the header and never change.
type DType uint8

// The element types that tensors have, in the order of the C header. Last is the last of them: tables by element
// type have Last+1 rows.
const (
	Invalid DType = iota
	Bool
	Uint8
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Complex64  // two float32, the real part first
	Complex128 // two float64, the real part first
	Last       = Complex128
)

// The element types that files and graphs may name and that no tensor has yet: they have a number, a name and a
// size, and are not Valid. One that tensors are to have needs kernels, a row in the promotion table and a place
// among the sets below; its number stays.
const (
	Uint16 DType = iota + Last + 1
	Uint32
	Uint64
	Float8E4M3FN   // 4 bits of exponent, 3 of fraction, no infinities
	Float8E4M3FNUZ // the same without a negative zero, and with another bias
	Float8E5M2     // 5 bits of exponent, 2 of fraction, as IEEE 754 would have it
	Float8E5M2FNUZ // the same without infinities and negative zero, and with another bias
	Int4           // two in a byte, the first in the low half
	Uint4
	String    // text of any length, in memory of its own
	lastNamed = String
)

// Category groups element types for promotion: values of one never silently become another.
type Category uint8

// The categories. What no tensor has is in none, so that nothing is promoted to it or from it.
const (
	NoCategory Category = iota
	BoolCategory
	IntCategory
	FloatCategory
	ComplexCategory
)

var info = [...]struct {
	name     string
	bits     int64 // of an element; 0 where that is not the same for all
	category Category
}{
	Invalid:  {"invalid", 0, NoCategory},
	Bool:     {"bool", 8, BoolCategory},
	Uint8:    {"uint8", 8, IntCategory},
	Int8:     {"int8", 8, IntCategory},
	Int16:    {"int16", 16, IntCategory},
	Int32:    {"int32", 32, IntCategory},
	Int64:    {"int64", 64, IntCategory},
	Float16:  {"float16", 16, FloatCategory},
	BFloat16: {"bfloat16", 16, FloatCategory},
	Float32:  {"float32", 32, FloatCategory},
	Float64:  {"float64", 64, FloatCategory},

	Complex64:  {"complex64", 64, ComplexCategory},
	Complex128: {"complex128", 128, ComplexCategory},

	Uint16:         {"uint16", 16, NoCategory},
	Uint32:         {"uint32", 32, NoCategory},
	Uint64:         {"uint64", 64, NoCategory},
	Float8E4M3FN:   {"float8_e4m3fn", 8, NoCategory},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", 8, NoCategory},
	Float8E5M2:     {"float8_e5m2", 8, NoCategory},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", 8, NoCategory},
	Int4:           {"int4", 4, NoCategory},
	Uint4:          {"uint4", 4, NoCategory},
	String:         {"string", 0, NoCategory},
}

// Valid reports whether tensors have d.
func (d DType) Valid() bool { return d > Invalid && d <= Last }

// Named reports whether d is an element type at all, one that no tensor has among them.
func (d DType) Named() bool { return d > Invalid && d <= lastNamed }

// String is the name that Paddle prints, or ONNX where Paddle has none.
func (d DType) String() string {
	if !d.Named() {
		return info[Invalid].name
	}
	return info[d].name
}

// Bits is the number of bits of one element; 0 for text, whose elements differ.
func (d DType) Bits() int64 {
	if !d.Named() {
		return 0
	}
	return info[d].bits
}

// Size is the number of bytes of one element; 0 where that is no whole number.
func (d DType) Size() int64 { return d.Bits() / 8 }

// Align is what the address of an element is a multiple of: that of its parts for a complex number, as in C.
func (d DType) Align() int64 {
	if d == Complex64 || d == Complex128 {
		return d.Size() / 2
	}
	return d.Size()
}

// Category is the group of d.
func (d DType) Category() Category {
	if !d.Valid() {
		return NoCategory
	}
	return info[d].category
}

// IsFloat reports whether d is one of the four floating-point types.
func (d DType) IsFloat() bool { return d.Category() == FloatCategory }

// IsComplex reports whether d is one of the two complex types.
func (d DType) IsComplex() bool { return d.Category() == ComplexCategory }

// Part is the dtype of the real and the imaginary part of a complex number; that of others is their own.
func (d DType) Part() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// IsInt reports whether d is one of the five integer types; bool is none.
func (d DType) IsInt() bool { return d.Category() == IntCategory }

// Parse finds a type that tensors have by its name; status.Type when there is none.
func Parse(name string) (DType, error) {
	for d := Bool; d <= lastNamed; d++ {
		switch {
		case info[d].name != name:
		case d.Valid():
			return d, nil
		default:
			return Invalid, status.Errorf(status.Type, "[dtype] there are no tensors of %s yet", name)
		}
	}
	return Invalid, status.Errorf(status.Type, "[dtype] no dtype is named %q", name)
}

// Set is a set of element types, for operators to say what they accept. It has room for all that have a name.
type Set uint32

// SetOf is the set with these members.
func SetOf(ds ...DType) (s Set) {
	for _, d := range ds {
		s |= 1 << d
	}
	return s
}

// The sets that operators are declared with. All are the types that kernels compute in; of complex ones the core
// moves elements and casts them, and computes nothing.
var (
	Floats   = SetOf(Float16, BFloat16, Float32, Float64)
	Integers = SetOf(Uint8, Int8, Int16, Int32, Int64)
	Numbers  = Floats | Integers
	Bools    = SetOf(Bool)
	All      = Numbers | Bools
	Movable  = All | SetOf(Complex64, Complex128)
)

// Has reports whether d is a member; no number beyond the named ones is.
func (s Set) Has(d DType) bool { return s&(1<<d) != 0 }

// Members lists the set in the order of the C header.
func (s Set) Members() (ds []DType) {
	for d := Bool; d <= Last; d++ {
		if s.Has(d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// Range is the smallest and the largest value of an integer type or bool.
func (d DType) Range() (low, high int64) {
	switch d {
	case Bool:
		return 0, 1
	case Uint8:
		return 0, 1<<8 - 1
	}
	high = 1<<(8*d.Size()-1) - 1
	return -high - 1, high
}

// Saturate is a float as the nearest int64 towards zero; NaN is 0.
func Saturate(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}
