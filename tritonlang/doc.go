// Package tritonlang compiles Triton IR, as text, to a kernel in Metal's shading language, as text.
//
// Each step is a package: ttir parses and verifies, clean does the work of Triton's passes if none has run, layout says
// which thread holds which elements, and emit turns operations into statements. The compiler accesses no device, reads no
// file and does not need the rest of the library.
//
// # How a kernel is launched
//
// One program of Triton's grid is one threadgroup of num_warps * 32 threads. A launch of grid (x, y, z) dispatches a grid of
// (x * threads, y, z) threads in threadgroups of (threads, 1, 1); program ids are the threadgroup's position in the grid.
//
// Argument i of the function is [[buffer(i)]]: a pointer is a buffer with an offset, const unless the kernel writes through
// it; a scalar is bytes of its own type (int of 1, 2, 4 or 8 bytes for i8 to i64, one byte for i1, float for fp32, half for
// fp16, the 16 bits of a bf16). This is what mps.compile_shader binds:
//
//	kernel(x, y, out, n, threads=grid * threads, group_size=threads, arg_casts={3: "int32"})
//
// The only hidden arguments are buffers behind the others: one in a kernel that prints or asserts, and another in front of it
// in a kernel that follows addresses of the CPU. See package report. A
// kernel with more arguments than the 31 that Metal binds has "packed" in its metadata: its pointers are the first
// buffers, in their order, and one buffer after them has all numbers, 8 bytes each. A kernel with more pointers than that has
// "table" in it, too: the first buffer, argument_table, has the addresses of all tensors as the GPU sees them, 8 bytes each, the
// hidden ones last, and the second one has the numbers. The runtime makes the table, and the memory resident.
//
// The first line of the text is a comment with the metadata in JSON: "triton_mps" (the version of this convention), "name",
// "args" (name, type as in Triton's signatures, "divisible": what the address in bytes, or the value, must be a multiple of,
// "writes"), "grid", "num_warps", "threads", "shared" (bytes of threadgroup memory, which the kernel declares itself), and
// "reports" of a kernel that has these buffers (its sites).
//
// The invariant: the same input gives the same bytes.
package tritonlang
