// Package msl writes kernels in the Metal shading language, for operators whose every output element
// depends on one element of each input.
//
// A [Form] says what a kernel is for: an operator, the dtypes of its operands and how each of them lies
// in memory. [Form.Source] is its text: what stands in the table for the operator (table.go), between
// what loads and stores elements of those dtypes (prelude.go) and what finds them (form.go). A kernel is
// compiled for a form and serves every call of it: shapes, strides, scalars and attributes are arguments.
//
// The one invariant: what is computed does not depend on how operands lie. float16 and bfloat16 are
// computed in float and rounded once; bfloat16 is two bytes that are converted by bits, so that it works
// where the language lacks the type. Integers wrap around.
//
// The package only writes text. It compiles nothing and knows no device.
package msl

import "github.com/paddle-mps/paddle-mps/core/dtype"

// storage is the type of an element in memory.
var storage = map[dtype.DType]string{
	dtype.Bool: "uchar", dtype.Uint8: "uchar", dtype.Int8: "char", dtype.Int16: "short", dtype.Int32: "int",
	dtype.Int64: "long", dtype.Float16: "half", dtype.BFloat16: "ushort", dtype.Float32: "float",
}

// computed is the type that an element is computed in.
func computed(d dtype.DType) string {
	switch {
	case d == dtype.Bool:
		return "bool"
	case d.IsFloat():
		return "float"
	}
	return storage[d]
}

// wrapping is the unsigned type in which arithmetic of an integer wraps around without a word from the
// language: int overflow is undefined there, as in C.
func wrapping(d dtype.DType) string {
	if d == dtype.Int64 {
		return "ulong"
	}
	return "uint"
}

// load is an element in the type that it is computed in.
func load(d dtype.DType, element string) string {
	switch d {
	case dtype.Bool:
		return element + " != 0"
	case dtype.BFloat16:
		return "widen(" + element + ")"
	case dtype.Float16:
		return "float(" + element + ")"
	}
	return element
}

// store is a computed value as an element.
func store(d dtype.DType, value string) string {
	switch d {
	case dtype.Bool:
		return "uchar(" + value + ")"
	case dtype.BFloat16:
		return "narrow(" + value + ")"
	}
	return storage[d] + "(" + value + ")"
}
