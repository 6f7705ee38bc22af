// Package lowprec multiplies matrices of few bits with wider sums: 8-bit integers with sums in 32 bits, and bfloat16 with sums in float32
// by the processor's instruction for pairs or by AMX.
//
// The invariant: sums of integers are exact modulo 2^32. Sums of bfloat16 have the bits of the order that bf16.go states, whether the
// instruction computes them or tiles of float32 do. Where there is no such instruction, package gemm multiplies widened elements.
package lowprec
