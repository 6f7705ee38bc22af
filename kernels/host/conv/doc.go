// Package conv holds the convolutions: conv, conv_transpose, the gradient of their weight, and that of 8-bit integers.
//
// choose.go says how a convolution is computed: which plan takes it and why. A plan cuts the result into pieces, each computed by
// loops of kernels/host/vec.
package conv
