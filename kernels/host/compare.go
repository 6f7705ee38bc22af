package host

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Elements are compared in their own type, halves in float32, which holds them exactly.
func init() {
	truths := against(0, vec.NotEqual, nil)
	registerComparisons(nil, dtype.Bool, logicalBytes())
	registerComparisons(nil, dtype.Uint8, logicalBytes())
	registerComparisons(nil, dtype.Int8, logical(notZero[int8]))
	registerComparisons(nil, dtype.Int16, logical(notZero[int16]))
	registerComparisons(nil, dtype.Int32, logical(notZero[int32]))
	registerComparisons(nil, dtype.Int64, logical(notZero[int64]))
	registerComparisons(halfCodec(dtype.Float16), dtype.Float16, logical(truths))
	registerComparisons(halfCodec(dtype.BFloat16), dtype.BFloat16, logical(truths))
	registerComparisons(nil, dtype.Float32, logical(truths))
	registerComparisons(nil, dtype.Float64, logical(notZero[float64]))
}

// registerComparisons adds the operators that answer a bool about two elements of type T, which in
// reads; nil where the elements are T already. more are the logical operators, and comparisons that have loops of their own.
func registerComparisons[T number](in *codec[T], d dtype.DType, more map[op.ID]rows[uint8, T]) {
	if in == nil {
		in = new(codec[T])
	}
	add := func(id op.ID, r rows[uint8, T]) {
		register(id, d, &binary[uint8, T]{mapped: mapping(in, new(codec[uint8]), 1), rows: r})
	}
	for id, r := range more {
		add(id, r)
	}
	if in, ok := any(in).(*codec[float32]); ok {
		registerVectorComparisons(in, d)
		return
	}
	below := less[T]
	if f, ok := any(vec.LessInt32).(func(dst []uint8, a, b []T)); ok {
		below = f
	}
	for id, r := range map[op.ID]rows[uint8, T]{
		op.IDEqual:        {vv: equal[T]},
		op.IDNotEqual:     {vv: notEqual[T]},
		op.IDLessThan:     {vv: below},
		op.IDLessEqual:    {vv: lessEqual[T]},
		op.IDGreaterThan:  {vv: func(dst []uint8, a, b []T) { below(dst, b, a) }},
		op.IDGreaterEqual: {vv: func(dst []uint8, a, b []T) { lessEqual(dst, b, a) }},
	} {
		if _, ok := more[id]; !ok {
			add(id, r)
		}
	}
}

// registerVectorComparisons adds those of float32, and of halves as float32. Package vec compares a vector at a time; a
// loop in Go, which has no instruction for eight answers at once, took three times as long on data in memory.
func registerVectorComparisons(in *codec[float32], d dtype.DType) {
	for id, f := range map[op.ID]func(dst []uint8, a, b []float32){
		op.IDEqual:        vec.Equal,
		op.IDNotEqual:     vec.NotEqual,
		op.IDLessThan:     vec.Less,
		op.IDLessEqual:    vec.LessEqual,
		op.IDGreaterThan:  func(dst []uint8, a, b []float32) { vec.Less(dst, b, a) },
		op.IDGreaterEqual: func(dst []uint8, a, b []float32) { vec.LessEqual(dst, b, a) },
	} {
		register(id, d, &binary[uint8, float32]{mapped: mapping(in, new(codec[uint8]), 1), rows: rows[uint8, float32]{vv: f}})
	}
}

// The comparisons are loops of their own: a call for each element would cost four times as
// much as the comparison.

// equal answers whether elements are equal; nan equals nothing.
func equal[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x == b[i])
	}
}

// notEqual is true where equal is false, so nan differs from itself.
func notEqual[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x != b[i])
	}
}

// less is false where either element is nan.
func less[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x < b[i])
	}
}

// lessEqual is not the negation of less: both are false for nan.
func lessEqual[T number](dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, x := range a {
		dst[i] = bit(x <= b[i])
	}
}
