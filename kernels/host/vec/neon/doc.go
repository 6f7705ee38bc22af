// Package neon holds loops of the rooms of kernels/host/vec for arm64, in C with the intrinsics of NEON.
//
// Each function of the package works on one row, or on a block of rows, in one call to C, and is faster than the portable loop of
// its room for rows of some ten elements or more; the room decides which rows it gives away. The algorithms, coefficients and error
// bounds are those of the AVX-512 loops, with 4 elements of float32 or 2 of float64 at a time.
//
// The one invariant is that of package vec: an element's result depends on its operands alone. What fills no vector is computed by the same
// instructions in a padded vector, or by scalar instructions with the same roundings.
//
// The package checks no lengths and knows no operator: its caller has seen to it that all operands of a call have the lengths that
// the function names. Functions keep no pointers, do not call back into Go, and may run on any number of threads.
//
// Its files are built for arm64 with cgo. Builds without cgo, for other processors or for the race detector, which does not see what C
// reads and writes, have only this file.
package neon
