// Package arith has the operations of one or two rows whose results are exact or rounded once: arithmetic, extremes, comparisons,
// conversions of float64 and to int32, bitwise and logical operations of bytes.
//
// The invariant: every level gives the same bits. Functions that approximate are in maths, reductions in reduction.
package arith

//go:generate go run ../narrow
