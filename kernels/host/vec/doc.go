// Package vec holds the innermost loops of the CPU device: functions over
// contiguous rows of one element type.
//
// A row is a slice. Rows are converted between widths (half.go), combined in
// pairs (binary.go), mapped (unary.go), reduced to one value (reduce.go) or
// multiplied as matrices (matmul.go). Shapes, strides, broadcasting, dtypes by
// name and threads are the caller's business; the package knows no tensor, no
// op and no stream.
//
// The one invariant: an element's result depends on its operands and on the
// [Level], never on its place in the row, on the length of the row, or on how
// a caller split the work. Splitting rows over threads therefore never changes
// an answer. Reductions are the exception by nature: they depend on the row
// they are given, and on nothing else.
//
// Contract of every row function: it handles as many elements as the shortest
// of its slices has and leaves the rest of dst alone; dst may be the same
// slice as an input, but must not overlap one at a shifted start; it never
// panics on short, empty or nil slices; it may run on any number of threads.
//
// Each loop exists once in portable Go, and, where the build has
// GOEXPERIMENT=simd on amd64, once more for AVX-512 and AVX2. The AVX-512
// sources (*512.go) are written by hand; the AVX2 sources (z*256.go) are
// derived from them by the narrow command. Loops that write past the caches
// (stream.go) are assembler for both; the functions whose time counts most
// (functions_amd64.go) and the passes of layer_norm are assembler for AVX-512.
// On arm64 tiles of matrix products are assembler, and, where the build has cgo,
// most loops of float32 are C, in package neon. The fastest set that the
// processor has runs.
package vec

//go:generate go run ./narrow
