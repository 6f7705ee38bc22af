// Package clean brings Triton IR that no pass has run on into the form that the compiler expects: what the Python package
// python/paddle_mps_triton/libtriton prints, which takes the place of Triton's compiled module where there is none. The
// attribute paddle_mps.raw of the module, with the version of Triton, says that it is such text.
//
// The invariant: the module computes the same, and no value of a descriptor or block pointer is left.
//
// Not here: loops are not unrolled, and nothing depends on the target.
//
// # Calls
//
// A function of one block takes the place of its call. A function of several blocks, one that returns early, splits the
// block of the call, if that is a block of a function: what follows the call becomes a block whose arguments are the
// results, and each return a branch to it. In loops and conditions blocks cannot be split; there the call stays, as a call
// of a function marked noinline does, and the compiler emits the body in its place. Locations of what is copied lead
// through the call, so that a refusal names the program's line.
//
// # Descriptors and block pointers
//
// A tensor descriptor is a base, sizes and strides; a block pointer has offsets as well. As values they can be carried by
// loops, given by conditions and passed to blocks, so that each becomes a list of values that go the same way: see
// partTypes. An access becomes a tensor of pointers, and a mask of the elements that are inside: the offset of each
// dimension is compared with 0 and the size, and the comparisons are broadcast and joined. What lies outside reads as 0 or
// NaN, and is not written. All is computed in 64 bits, since an offset times a stride may be larger than 32.
//
// A descriptor that is an argument of the kernel is passed as its parts, in the order in which the launcher flattens it:
// base, sizes, strides, whether padding is NaN, and since Triton 3.7 whether float32 is rounded to tf32, which is not read.
//
// # Rounds
//
// One round decides branches, then goes over all operations in their order, then moves what loops do not change in front
// of them, and last drops what nothing uses. Within a round operands are replaced as they are met, so that a fold sees its
// operands folded. Rounds end when none has changed anything. Each fold makes the module smaller or moves an operation
// from many elements to few or out of a loop, and none does the reverse, so that rounds do end; a bound says so as well.
//
// Integers are folded as the types compute them: they wrap, and what is undefined stays for the GPU. Of floats only what
// is exact is folded: a factor of 1, a zero whose sign makes it do nothing, and small whole numbers that change their type.
//
// # Files
//
//   - clean.go: the order of the steps, labels and names.
//   - inline.go: calls.
//   - descriptor.go, access.go: descriptors and block pointers, as values and in accesses.
//   - simplify.go, pure.go: rounds, equal operations, what is dead.
//   - fold.go, splat.go, memory.go, control.go: folds of numbers, of views, of accesses and of control flow.
//   - hoist.go: what a loop does not change.
package clean
