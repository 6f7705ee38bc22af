// Package blas calls the matrix products of a BLAS library that is found when a program runs: Apple's Accelerate, whose
// products use the matrix unit of Apple's processors.
//
// [Open] finds a library, or says what it lacks; [Library.Multiply] is a product of two matrices of float32 or float64, on the
// calling thread. The invariant: the library gets arguments that BLAS allows, because it ends the process for others.
//
// The package does not decide which products a library should compute, nor how a large one is split over threads; that is
// for package host. Without cgo it is empty. Nothing but macOS links it: elsewhere tests do, with a mock of Accelerate.
package blas
