// Package vec is the base of the innermost loops of the CPU device: levels of instructions, and what the loops of several rooms share,
// such as loads of vectors, constants in every lane, and checks of sizes. The loops are in the packages below it, the rooms:
//
//   - arith: arithmetic, comparisons, conversions to integers, bitwise and logical operations, element by element
//   - maths: elementary and special functions, element by element
//   - float16: float16 and bfloat16 to float32 and back, and sums of rows of bfloat16
//   - nontemporal: operations of arith whose results are written past the caches
//   - reduction: sums, products, extremes and searches along rows and down columns
//   - rownorm: softmax, log-softmax and layer normalization of rows
//   - sorting: keys in the order of float32, and their sort
//   - random: Philox
//   - rearrange: transposes and interleaving
//   - gemm: matrix products in tiles, and convolutions that are such products
//   - lowprec: matrix products of 8-bit integers and of bfloat16
//   - dots: products with a transposed matrix, and of lines of images
//   - winograd: the transforms of Winograd's convolutions
//   - stencil: depthwise convolutions and maximum pooling
//
// Beside them, neon has loops in C for arm64, narrow is the command that generates loops, and vectest is what tests share.
//
// Rows are slices. Shapes, strides, broadcasting, dtypes by name and threads are the caller's business; no room knows a tensor, an
// operator or a stream.
//
// The one invariant of all rooms: an element's result depends on its operands and on the [Level], never on its place in the row, on the
// length of the row, or on how a caller split the work. Splitting rows over threads therefore never changes an answer. Reductions are the
// exception by nature: they depend on the row they are given, and on nothing else.
//
// Contract of every row function: it handles as many elements as the shortest of its slices has and leaves the rest of dst alone; dst may
// be the same slice as an input, but must not overlap one at a shifted start; it never panics on short, empty or nil slices; it may run
// on any number of threads.
//
// Each loop exists once in portable Go, and, where the build has GOEXPERIMENT=simd on amd64, once more for AVX-512 and AVX2. The AVX-512
// sources (*512.go) are written by hand; the AVX2 sources (z*256.go) are derived from them by the narrow command. Some loops are
// assembler; docs/design/cpu_loops.md says which, and why. On arm64 tiles of matrix products are assembler, and, where the build has cgo,
// most loops of float32 are C, in package neon. A room has a table of its loops (level.go), and runs the fastest set that the processor
// has.
package vec

//go:generate go run ./narrow
