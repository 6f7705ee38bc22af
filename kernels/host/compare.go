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
		"equal":         comparison(func(x, y T) bool { return x == y }),
		"not_equal":     comparison(func(x, y T) bool { return x != y }),
		"less_than":     comparison(func(x, y T) bool { return x < y }),
		"less_equal":    comparison(func(x, y T) bool { return x <= y }),
		"greater_than":  comparison(func(x, y T) bool { return x > y }),
		"greater_equal": comparison(func(x, y T) bool { return x >= y }),
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
