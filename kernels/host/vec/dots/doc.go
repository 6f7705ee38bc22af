// Package dots adds up products along rows that are contiguous in both operands: a matrix times a transposed one, and lines of images,
// for the gradient of a convolution by its weight.
//
// The invariant: the order of a sum depends on the number of its elements, or on the lines, alone, and no split of the result changes a
// bit. Products that are added one after the other are in gemm.
package dots
