package host

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
)

func init() {
	registerComparisons[uint8](nil, dtype.Bool)
	registerComparisons[uint8](nil, dtype.Uint8)
	registerComparisons[int8](nil, dtype.Int8)
	registerComparisons[int16](nil, dtype.Int16)
	registerComparisons[int32](nil, dtype.Int32)
	registerComparisons[int64](nil, dtype.Int64)
	registerComparisons(halfCodec(dtype.Float16), dtype.Float16)
	registerComparisons(halfCodec(dtype.BFloat16), dtype.BFloat16)
	registerComparisons[float32](nil, dtype.Float32)
	registerComparisons[float64](nil, dtype.Float64)
}

// registerComparisons adds the operators that answer a bool about two elements of type T, which in
// reads; nil where the elements are T already.
func registerComparisons[T number](in *codec[T], d dtype.DType) {
	if in == nil {
		in = new(codec[T])
	}
	for name, r := range map[string]rows[uint8, T]{
		"equal":         {vv: equal[T]},
		"not_equal":     {vv: notEqual[T]},
		"less_than":     {vv: less[T]},
		"less_equal":    {vv: lessEqual[T]},
		"greater_than":  {vv: func(dst []uint8, a, b []T) { less(dst, b, a) }},
		"greater_equal": {vv: func(dst []uint8, a, b []T) { lessEqual(dst, b, a) }},
		"logical_and":   comparison(func(x, y T) bool { return x != 0 && y != 0 }),
		"logical_or":    comparison(func(x, y T) bool { return x != 0 || y != 0 }),
		"logical_xor":   comparison(func(x, y T) bool { return (x != 0) != (y != 0) }),
	} {
		register(name, d, &binary[uint8, T]{mapped: mapping(in, new(codec[uint8]), 1), rows: r})
	}
}

func comparison[T number](f func(x, y T) bool) rows[uint8, T] {
	return eachPair(func(x, y T) uint8 { return bit(f(x, y)) })
}

// The comparisons proper are loops of their own: a call for each element would cost four times as
// much as the comparison.

func equal[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x == b[i])
	}
}

func notEqual[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x != b[i])
	}
}

func less[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x < b[i])
	}
}

func lessEqual[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x <= b[i])
	}
}
