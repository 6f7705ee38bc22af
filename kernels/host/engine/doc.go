// Package engine is what all kernels of the host device share: threads, walks over memory, and codecs of dtypes.
//
// [Threads] divides the work of a call, which is a [Splitter], among the goroutines of a device. A [Walk] visits the elements of
// an operand in row-major order whatever its strides; a [Lane] turns them into rows of the type that a kernel computes in, by a
// [Codec], through the buffers of a [Frame]; [Lines] cuts an operand along one axis. A [Kernel] computes one operator in one
// dtype, and [Registry] holds all of them: packages of kernels fill it when they are imported.
//
// The one invariant: a result depends neither on the number of threads nor on how elements are cut into blocks.
//
// The package computes nothing: arithmetic is in the packages of kernels and in the rooms of kernels/host/vec.
package engine
