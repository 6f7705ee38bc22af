// Package dtype holds the element types and the one promotion rule. Everything that needs to know
// a size, a name or what int8 plus float16 is asks here and nowhere else.
package dtype

import "github.com/paddle-mps/paddle-mps/core/status"

// DType is an element type. The numbers are part of the C ABI.
type DType uint8

// The element types, in the order of the C header.
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
	Last = Float64
)

// Category groups element types for promotion: values of one never silently become another.
type Category uint8

// The categories.
const (
	NoCategory Category = iota
	BoolCategory
	IntCategory
	FloatCategory
)

var info = [...]struct {
	name     string
	size     int64
	category Category
}{
	Invalid:  {"invalid", 0, NoCategory},
	Bool:     {"bool", 1, BoolCategory},
	Uint8:    {"uint8", 1, IntCategory},
	Int8:     {"int8", 1, IntCategory},
	Int16:    {"int16", 2, IntCategory},
	Int32:    {"int32", 4, IntCategory},
	Int64:    {"int64", 8, IntCategory},
	Float16:  {"float16", 2, FloatCategory},
	BFloat16: {"bfloat16", 2, FloatCategory},
	Float32:  {"float32", 4, FloatCategory},
	Float64:  {"float64", 8, FloatCategory},
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d > Invalid && d <= Last }

// String is the name that Paddle prints.
func (d DType) String() string {
	if d > Last {
		return info[Invalid].name
	}
	return info[d].name
}

// Size is the number of bytes of one element.
func (d DType) Size() int64 {
	if d > Last {
		return 0
	}
	return info[d].size
}

// Category is the group of d.
func (d DType) Category() Category {
	if d > Last {
		return NoCategory
	}
	return info[d].category
}

// IsFloat reports whether d is one of the four floating-point types.
func (d DType) IsFloat() bool { return d.Category() == FloatCategory }

// IsInt reports whether d is one of the five integer types; bool is none.
func (d DType) IsInt() bool { return d.Category() == IntCategory }

// Parse finds a type by its name; status.Type when there is none.
func Parse(name string) (DType, error) {
	for d := Bool; d <= Last; d++ {
		if info[d].name == name {
			return d, nil
		}
	}
	return Invalid, status.Errorf(status.Type, "[dtype] no dtype is named %q", name)
}

// Set is a set of element types, for operators to say what they accept.
type Set uint16

// SetOf is the set with these members.
func SetOf(ds ...DType) (s Set) {
	for _, d := range ds {
		s |= 1 << d
	}
	return s
}

// The sets that operators are declared with.
var (
	Floats   = SetOf(Float16, BFloat16, Float32, Float64)
	Integers = SetOf(Uint8, Int8, Int16, Int32, Int64)
	Numbers  = Floats | Integers
	Bools    = SetOf(Bool)
	All      = Numbers | Bools
)

// Has reports whether d is a member.
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
