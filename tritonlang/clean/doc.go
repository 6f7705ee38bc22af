// Package clean normalizes Triton IR on which no pass has run, into the form that the compiler expects. Such IR is
// printed by the Python package python/paddle_mps_triton/libtriton, which replaces Triton's compiled module where
// there is none. The module attribute paddle_mps.raw, with the version of Triton, marks it.
//
// The invariant: the module computes the same, and no value of a descriptor or block pointer is left.
//
// Not here: loops are not unrolled, and nothing depends on the target.
//
// # Calls
//
// A call of a function with one block is inlined. A function with several blocks, one that returns early, splits the
// block of the call, if that is a block of a function: the code after the call becomes a block whose arguments are
// the results, and each return becomes a branch to it. Blocks in loops and conditions cannot be split. There the
// call stays, as does a call of a function marked noinline, and the compiler emits the body in its place. Locations
// of inlined code include the call, so that an error names the program's line.
//
// # Descriptors and block pointers
//
// A tensor descriptor is a base, sizes and strides; a block pointer also has offsets. Such values can be carried by
// loops, returned by conditions and passed to blocks, so each is expanded to a list of values that take the same
// way: see partTypes. An access becomes a tensor of pointers and a mask of the elements inside: the offset of each
// dimension is compared with 0 and the size, and the comparisons are broadcast and combined. Elements outside read
// as 0 or NaN and are not written. Offsets are computed in 64 bits, because an offset times a stride may exceed 32
// bits.
//
// A descriptor argument of the kernel is passed as its parts, in the order in which the launcher flattens it: base,
// sizes, strides, whether padding is NaN, and since Triton 3.7 whether float32 is rounded to tf32, which is ignored.
//
// # Rounds
//
// One round decides branches, then visits all operations in order, then hoists loop invariants, and finally removes
// dead operations. Within a round operands are replaced as they are visited, so a fold sees its operands folded.
// Rounds end when one changes nothing. They terminate, because each fold makes the module smaller, or moves an
// operation from many elements to few or out of a loop, and none does the reverse; there is also a limit.
//
// Integers are folded as their types compute them: they wrap, and undefined results are left to the GPU. Of floats,
// only exact cases are folded: a factor of 1, a zero whose sign makes it neutral, and casts of small whole numbers.
//
// # Files
//
//   - clean.go: the order of the steps, labels and names.
//   - inline.go: calls.
//   - descriptor.go, access.go: descriptors and block pointers, as values and in accesses.
//   - simplify.go, pure.go: rounds, common subexpressions, dead code.
//   - fold.go, splat.go, memory.go, control.go: folds of numbers, views, accesses and control flow.
//   - hoist.go: loop-invariant code motion.
package clean
