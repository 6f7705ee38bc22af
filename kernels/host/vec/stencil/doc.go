// Package stencil slides windows over images without a matrix product: depthwise convolutions and maximum pooling, of images whose
// channels are last, or of planes; and it copies planes with their padding.
//
// The invariant: a result is folded over the elements of its window in the order of the taps, whatever is computed beside it. Padding,
// strides of images and threads are the business of kernels/host/conv and kernels/host/pool.
package stencil

//go:generate go run ../narrow
