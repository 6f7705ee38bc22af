// Package gemm multiplies matrices of float32 and float64 in tiles that stay in registers, and adds up convolutions that are such
// products: the right operand is packed from an image at offsets (offsets.go), or the left operand is read where its windows lie
// (windows.go).
//
// The invariant: an element of a product is the sum over ascending k, with the level's one way of rounding, whatever tile, part or thread
// it falls in. So no split of the result changes a bit. Products of integers and of bfloat16 are in lowprec, those with a transposed right
// operand in dots; what a call of an operator is cut into is the caller's business.
package gemm

//go:generate go run ../narrow
