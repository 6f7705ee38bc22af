// Package msl writes the library's kernels in the Metal shading language.
//
// Elementwise operators have no files of their own. A [Form] describes a kernel: an operator, the dtypes of its operands
// and their layouts in memory. [Form.Source] generates the text from three parts: the operator's expression (table.go),
// loads and stores for the dtypes (prelude.go), and the computation of addresses for the layouts (form.go).
//
// All others (reductions, scans, products, indexing, creation) are written out in the .metal files, each of which says
// what it computes and what its arguments are. What depends on the dtype is defined in front of a file: types, loads and
// stores (array.go), the accumulators of reductions (fold.go), and vectors of 16 bytes (vector.go).
//
// A kernel is compiled for a form or for dtypes and serves every call of them: shapes, strides, scalars and attributes
// are arguments.
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
