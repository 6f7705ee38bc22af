// Package emit turns Triton IR into Metal's shading language, operation by operation.
//
// Rules for operations are in tables, by name. A rule sees one operation at a time, with one exception (see Products).
// No rule depends on the names of a program's values or arguments.
//
// The invariant: all threads that hold an element of a tensor hold the same value of it, and all threads compute the same
// scalars. Conditions and loop bounds are therefore uniform across threads, and a barrier may be placed anywhere.
//
// # Programs and threads
//
// One program of the grid is one threadgroup of num_warps SIMD groups of 32 threads. A scalar is a variable that every
// thread computes. A tensor is spread over threads and, where it has more elements than there are threads, over registers.
//
// # Layouts
//
// Package layout says which thread holds which element: each bit of the element's row-major index is a bit of the
// register index, the lane index or the SIMD-group index. If a lane or SIMD-group bit is no element bit, threads that
// differ only in it hold the same elements.
//
//	tensor<1024xf32>, 4 SIMD groups, 16-byte accesses
//
//	element   9 8 7 6 5 4 3 2 1 0
//	          r r w w l l l l l r r     registers hold bits 0, 1 and 9; lanes 2 to 6; SIMD groups 7 and 8
//
// Operations that change shapes only move bits:
//
//   - Reshaping and adding a dimension of 1 change nothing. Transposing permutes bits.
//   - An operand of a broadcast has the result's layout without the bits of the expanded dimensions. Several registers of
//     the result map to one of the operand.
//   - A reduction's result has the operand's layout without the bits of the axis: all threads along the axis hold the
//     result.
//   - Joining adds a lowest bit, and splitting removes it.
//
// # From facts to text
//
//  1. plan/facts.go computes, for integers and pointers, contiguity, divisibility and how many elements are equal. It starts
//     from tt.divisibility on arguments and hints on operations.
//  2. plan/groups.go groups tensors that are combined element by element, and chooses a layout for each group.
//  3. plan/plan.go walks backwards through the function and records the layouts in which each tensor is needed. Constants,
//     ranges and values computed only from them are recomputed in each layout. Other tensors have one home layout, and
//     are exchanged to others.
//  4. Rules append statements to a tree. They request threadgroup memory as areas, and mark reads and writes of areas
//     as touches.
//  5. tree/sync.go places areas in the pool by their lifetimes, and inserts barriers between conflicting touches, on every path.
//  6. tree/tree.go prints. Only then is it known which registers need an array.
//
// A decision is made once. Steps 1 to 3 make no text, and step 4 changes no layout.
//
// # Values in the text
//
// A tensor that needs one register, such as a splat, is a scalar or a literal. n registers that are computed and used in
// one loop are a variable of that loop, otherwise an array. Views share the array with another index: reg.index maps
// each register bit of the layout to a bit of the array's index.
//
// A tensor of pointers is a scalar base and a tensor of offsets. An offset that is the same for all elements is added to
// the base. Offsets are 32 bits wide as long as there is one; sums of them are 64 bits wide, as Triton adds them.
//
// # Memory
//
// An access is a vector of up to 16 bytes, as far as the elements are proven contiguous and aligned. A mask is tested for
// the whole vector first. Replicated elements are loaded by all threads that hold them, and stored by their owner: the
// thread whose replicated bits are all 0.
//
// Between the threads of a program, device memory has Triton's ordering: only barriers of the program, atomic operations
// with acquire or release, and data dependencies order accesses. One case that hardware handles for Triton needs a
// barrier here: if several SIMD groups load the same elements, a later store to the same argument waits for all of them.
//
// # Threadgroup memory
//
// An exchange writes all elements of a tensor and reads them in another layout. The pool is at most 32 KiB, the minimum
// of all GPUs from family Apple7 on. A kernel that needs more is refused as out of resources before Metal's compiler sees
// it. Areas with overlapping lifetimes do not overlap in memory. If the pool stays small, an area does not overlap the
// previous one either, which saves the barrier between reads of that one and writes of this one.
//
// # Products
//
// Products of floats use SIMD-group matrices; integers and odd sizes use sums of products in registers. This is the one
// place that looks at more than one operation: if a loop only adds products to a value, the value stays in matrices
// during the loop. This changes only the order of additions.
//
// # Arithmetic
//
// Integers wrap: arithmetic uses unsigned types. Division by zero, which masked elements may contain, is replaced by
// division by 1. Operations on half round to half each time; bfloat16 and float8 are computed in float and rounded once.
// Comparisons, minima and maxima treat NaN as the operation defines. float64 is refused, unless the caller asks for
// float32 instead; values in memory then still have 64 bits.
//
// # Reports
//
// tl.device_print and tl.device_assert write records to an additional buffer. These writes are not touches: nothing in
// the kernel reads them, and their order is the order of execution. A failed assertion does not end the thread, because
// the other threads would wait for it at the next barrier.
//
// # Addresses
//
// A pointer that the program makes out of an integer is an address of the CPU, which the GPU cannot follow. It stays one
// until it is accessed; addresses.go says how the memory is found then.
//
// # What is refused
//
// A rule that cannot compile an operation calls refuse, with operation, element type and line. There is no other way to
// fail: a panic with any other value is a bug of the compiler.
//
// # Adding an operation
//
// An operation on elements is a row of the table elements: a function that makes an expression from those of the operands.
// It serves scalars, tensors in all layouts, and regions.
//
//	elements["math.floor"] = floatCall("floor")
//
// Any other operation has a rule, which emits statements and sets the results with set or done. Use done for a tensor in
// its home layout; it adds the exchanges to other layouts.
//
//	rules["tt.gather"] = (*emitter).gather
//
// A rule whose operands need other layouts than the result's home needs an entry in plan.WantRules. A rule that relates tensors
// of different shapes needs a case in join or collect of plan/groups.go, so that they get compatible layouts. A rule of facts
// is optional.
//
// A rule that uses threadgroup memory opens an area, and calls writes before the statements that write it and reads before
// those that read it. It does not place barriers. A rule that accesses device memory declares this with device.
//
// If all operands of an operation are single registers, the result should be one too: define and combine take care of
// that, array does not.
//
// # Helpers
//
// Functions that Metal lacks are in prelude.metal: conversions of bfloat16, float8 and the bits of float64, and functions
// of libdevice. A kernel's text contains only those that it calls. Atomic operations are functions too, generated for
// operation and type in atomics.go, because they differ in one expression.
//
// Exactness is part of a helper's contract. Conversions are exact to the bit. Functions of libdevice have the errors of
// the precise Metal functions that they use.
//
// # Tests
//
// Package tritonlang has goldens of whole files, counts of barriers and bytes, and a fuzz target. tests/triton runs
// kernels on the mock of Metal and compares each element with NumPy, and tests/msl gives the texts to a strict front end.
//
// # Limits of the hardware
//
// A threadgroup has at most 1,024 threads and 32 KiB of threadgroup memory, and a kernel at most 31 buffers. How many
// threads a kernel's registers allow is known only to the pipeline state, after Metal has compiled the text.
//
// # Text
//
// Names are those of the program, if it has any. A comment after each statement names the program's line, unless the
// previous statement has the same. The text starts with the functions of prelude.metal that are used, followed by functions
// made from regions, and then the kernel.
//
// The same input gives the same bytes: the text never depends on the iteration order of a map.
package emit
