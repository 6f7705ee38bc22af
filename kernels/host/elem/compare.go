package elem

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// Elements are compared in their own type, halves in float32, which holds them exactly. Package vec compares a vector of
// float32 at a time; a loop in Go, which has no instruction for eight answers at once, took three times as long on data in
// memory.
func init() {
	for _, d := range []dtype.DType{dtype.Bool, dtype.Uint8} {
		registerComparisons(engine.Plain, d, arith.BytesEqual.Row, arith.BytesDiffer.Row, less[uint8], lessEqual[uint8])
	}
	registerComparisons(engine.Plain, dtype.Int8, equal[int8], notEqual[int8], less[int8], lessEqual[int8])
	registerComparisons(engine.Plain, dtype.Int16, equal[int16], notEqual[int16], less[int16], lessEqual[int16])
	registerComparisons(engine.Plain, dtype.Int32, equal[int32], notEqual[int32], arith.LessInt32, lessEqual[int32])
	registerComparisons(engine.Plain, dtype.Int64, equal[int64], notEqual[int64], less[int64], lessEqual[int64])
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16} {
		registerComparisons(engine.HalfCodec(d).Coding, d, arith.Equal, arith.NotEqual, arith.Less, arith.LessEqual)
	}
	registerComparisons(engine.Plain, dtype.Float32, arith.Equal, arith.NotEqual, arith.Less, arith.LessEqual)
	registerComparisons(engine.Plain, dtype.Float64, equal[float64], notEqual[float64], less[float64], lessEqual[float64])
}

// registerComparisons adds the operators that answer a bool about the order of two elements, which are read as values of
// type T.
func registerComparisons[T engine.Number](in engine.Coding, d dtype.DType, equal, notEqual, less, lessEqual func(dst []uint8, a, b []T)) {
	add := func(id op.ID, f func(dst []uint8, a, b []T)) {
		registerStreamed(id, d, newBinary(in, engine.Plain, 1, rows[uint8, T]{vv: f}))
	}
	add(op.IDEqual, equal)
	add(op.IDNotEqual, notEqual)
	add(op.IDLessThan, less)
	add(op.IDLessEqual, lessEqual)
	add(op.IDGreaterThan, func(dst []uint8, a, b []T) { less(dst, b, a) })
	add(op.IDGreaterEqual, func(dst []uint8, a, b []T) { lessEqual(dst, b, a) })
}

// The comparisons are loops of their own: a call for each element would cost four times as
// much as the comparison.

// equal answers whether elements are equal; nan equals nothing.
func equal[T engine.Number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = engine.Bit(x == b[i])
	}
}

// notEqual is true where equal is false, so nan differs from itself.
func notEqual[T engine.Number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = engine.Bit(x != b[i])
	}
}

// less is false where either element is nan.
func less[T engine.Number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = engine.Bit(x < b[i])
	}
}

// lessEqual is not the negation of less: both are false for nan.
func lessEqual[T engine.Number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = engine.Bit(x <= b[i])
	}
}
