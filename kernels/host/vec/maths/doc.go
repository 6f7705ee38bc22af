// Package maths has the functions of one float and of two, element by element: exponentials, logarithms, powers, trigonometric and
// hyperbolic functions, error, gamma and Bessel functions, and activations such as gelu.
//
// The invariant: results in float32 are within 2 ulp at every level, and depend on the operands alone. Functions in float64, of single
// numbers or rows, are those of package math or made of them; they are what the vector loops are tested against.
//
// Constants of the vector loops are in one object (constants_simd.go), which rownorm reads too, as it uses the parts of exp.
package maths

//go:generate go run ../narrow
