// Package emit turns Triton IR into Metal's shading language, operation by operation.
//
// Rules for operations are in tables, by name. Nothing looks at more than one operation at a time, with one exception
// that is named below, and nothing looks at the names of a program's values or arguments.
//
// The invariant: all threads that hold an element of a tensor hold the same value of it, and all threads compute the same
// scalars. So conditions and bounds of loops are the same in all threads, and a barrier may stand anywhere.
//
// # Programs and threads
//
// One program of the grid is one threadgroup of num_warps SIMD groups of 32 threads. A scalar is a variable that every
// thread computes. A tensor is spread over threads and, where it has more elements than there are threads, over registers.
//
// # Layouts
//
// Package layout says which thread holds which element: bits of the element's number, in row-major order, are bits of the
// register's number, of the lane's or of the SIMD group's. A lane or SIMD group bit that stands for no element bit means
// that threads which differ in it hold the same elements.
//
//	tensor<1024xf32>, 4 SIMD groups, 16-byte accesses
//
//	element   9 8 7 6 5 4 3 2 1 0
//	          r r w w l l l l l r r     registers hold bits 0, 1 and 9; lanes 2 to 6; SIMD groups 7 and 8
//
// From this all else follows by moving bits:
//
//   - Reshaping and adding a dimension of 1 change nothing. Transposing permutes bits.
//   - An operand of a broadcast has the result's layout without the bits of the dimensions that grow; its registers are
//     those of the result, several of which become one.
//   - A reduction's result has the operand's layout without the bits of the axis: after it, all threads along the axis
//     hold the result.
//   - Joining and splitting add and take the lowest bit.
//
// # From facts to text
//
//  1. facts.go finds, for integers and pointers, how many elements follow each other, what divides them and how many are
//     equal. tt.divisibility on arguments and hints on operations are where this knowledge begins.
//  2. groups.go joins tensors that are combined element by element and chooses a layout for each group.
//  3. plan.go goes backwards through the function and notes in which layouts each tensor is wanted. Constants, ranges and
//     what follows from them alone are computed again in each; other tensors have a home, and are moved where they are
//     wanted elsewhere.
//  4. Rules append statements to a tree. Threadgroup memory is asked for as areas, with touches where they are written
//     and read.
//  5. sync.go gives areas their places in the pool, by the time that they are in use, and puts barriers between touches
//     that conflict, on every path.
//  6. tree.go prints. Only now is it known which registers need an array.
//
// A decision is made once. Steps 1 to 3 make no text, and step 4 changes no layout.
//
// # Values in the text
//
// A register that is one for all of a tensor, such as a splat, is a scalar or a literal. n registers that are computed and
// used in one loop are a variable of that loop, otherwise an array. Views share the array under another index: reg.index
// says for each register bit of the layout which bit of the array's index it is.
//
// A tensor of pointers is a scalar base and a tensor of offsets. An offset that is the same for all elements is added to
// the base. Offsets are 32 bits wide as long as there is one; sums of them are 64 bits wide, as Triton adds them.
//
// # Memory
//
// An access takes as many elements as are proven to lie behind each other from an aligned address, up to 16 bytes. A mask
// is tested for the whole vector first. What several threads hold is loaded by all, and stored by its owner: the thread
// whose replicated bits are all 0.
//
// Between the threads of a program, device memory has the order that Triton gives: none but by barriers of the program,
// atomic operations with acquire or release, and data that is used. One case needs care that Triton takes in hardware:
// if SIMD groups load the same elements, a later store to the same argument waits for all of them.
//
// # Threadgroup memory
//
// Exchanges write all elements of a tensor and read those of another layout. The pool is at most 32 KiB, the least that
// any GPU of the family Apple7 and later has; a kernel that needs more is refused as out of resources, before Metal's
// compiler sees it. Areas that are in use at one time lie apart. If the pool stays small, an area also lies apart from the
// one before, which saves the barrier between the reads of that one and the writes of this one.
//
// # Products
//
// Floats are multiplied by matrices of SIMD groups, integers and odd sizes by sums of products in registers. The
// exception to one operation at a time: a loop is asked whether it does nothing with a value but add products to it. The
// value then stays in matrices. This changes no result but the order of additions.
//
// # Arithmetic
//
// Integers wrap: arithmetic is done on unsigned types. Divisions by zero, which masked elements may have, are made
// divisions by 1. Operations on half round to half each time; bfloat16 and float8 are computed in float and rounded once.
// Comparisons, minima and maxima treat NaN as the operation says. float64 is refused unless the caller asks for float32 in
// its place; memory then still holds 64 bits.
//
// # Reports
//
// tl.device_print and tl.device_assert write records to one more buffer. They are no touches: nothing in the kernel reads
// them, and their order is that in which threads come to them. A condition that does not hold ends nothing, since a thread
// that left would be missed at the next barrier.
//
// # What is refused
//
// A rule that cannot do what an operation says calls refuse, with operation, element type and line. There is no other way
// to fail: a panic with any other value is a bug of the compiler.
//
// # Adding an operation
//
// An operation on elements is a row of the table elements: a function that makes an expression from those of the operands.
// It serves scalars, tensors in all layouts, and regions.
//
//	elements["math.floor"] = floatCall("floor")
//
// Any other operation has a rule, which emits statements and says with set or done what the results are. Done is for a
// tensor in its home; it adds the exchanges to other layouts.
//
//	rules["tt.gather"] = (*emitter).gather
//
// A rule that takes operands in other layouts than the result's home needs an entry in wantRules, and one that ties
// together tensors of different shapes a case in groups.join or groups.collect, so that they get layouts which fit. A rule
// of facts is optional.
//
// What goes through threadgroup memory opens an area, says writes before the statements that write it and reads before
// those that read it, and nothing of barriers. What touches device memory says so by device.
//
// An operation whose operands were all broadcast from one register should give one register too: define and combine take
// care of that, array does not.
//
// # Helpers
//
// Functions that Metal lacks stand in prelude.metal: conversions of bfloat16, float8 and the bits of float64, and
// functions of libdevice. A kernel's text has those that it calls and no others. Atomic operations are functions too, made
// for operation and type in atomics.go, since they differ in one expression.
//
// Exactness is part of a helper's contract. Conversions are exact to the bit. Functions of libdevice have the errors of
// those of Metal that they are made of, in its precise forms.
//
// # Tests
//
// Package tritonlang has goldens of whole files, counts of barriers and bytes, and a fuzz target. tests/triton runs
// kernels on the mock of Metal and compares each element with NumPy, and tests/msl gives the texts to a strict front end.
//
// # Limits of the hardware
//
// A threadgroup has at most 1,024 threads and 32 KiB of threadgroup memory, a kernel 31 buffers. How many threads a
// kernel's registers allow is known to the pipeline state alone, after Metal has compiled the text.
//
// # Text
//
// Names are the program's where it has given some. Behind each statement stands the line of the program that it comes
// from, unless the statement before comes from the same. Functions made of regions stand in front of the kernel, and in
// front of those the functions of prelude.metal that are used.
//
// The same input gives the same bytes: nothing that reaches the text is taken from a map by iteration.
package emit
