// Package float16 converts rows of the 16-bit floats, float16 and bfloat16, to float32 and back, and adds rows of bfloat16 times float32.
//
// The invariant: a conversion is exact, or rounds once, to nearest even; NaN stays NaN. Conversions of single numbers are in core/dtype,
// and products of matrices of bfloat16 in lowprec.
package float16

//go:generate go run ../narrow
