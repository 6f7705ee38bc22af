// Package ttir holds Triton IR: the typed form that the compiler works on, a parser of the text that Triton prints, a
// verifier and a printer.
//
// A Module has functions, a function a region, a region blocks, a block operations. An operation has operands, which
// are results of other operations or arguments of blocks, attributes and nested regions.
//
// The invariant: parsing what Print writes gives a module that prints the same, byte by byte. Every error names a
// place in the text.
//
// Not here: what operations mean. The package knows their names, syntax and types, and nothing of devices.
//
// # The text
//
// Python gives Triton IR in MLIR's custom form only. Most operations are written
//
//	%result = dialect.name %operand, %operand {attributes} : types loc(#loc3)
//
// and differ in what stands between the name and the colon, the head, and in how the types behind the colon say those of
// operands and results, the signature. Both are data: a row of the table in table.go has a head, such as
//
//	% ?% ?% o:cacheModifier o:evictionPolicy {}
//
// for a pointer, perhaps a mask, perhaps another value, two words that may be absent, and attributes; and one of a dozen
// signatures. Parser and printer read the same row, so that they cannot differ.
//
// Loops, conditions, branches, constants and operations with regions have functions of their own.
//
// # Types
//
//	i1 i8 i16 i32 i64        integers; signed or unsigned is up to the operation
//	f16 bf16 f32 f64         floats, and f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ
//	!tt.ptr<f32>             a pointer, perhaps with an address space: !tt.ptr<f32, 3>
//	tensor<64x32xf16>        a tensor; its elements may be pointers: tensor<64x!tt.ptr<f16>>
//	index                    sizes, which Triton itself does not use
//
// Tensors with an encoding (#ttg.blocked and others) belong to Triton's next dialect, TTGIR. They are refused with a message
// that says so, for the case that the wrong file was taken from a cache.
//
// # Constants
//
// The value of arith.constant stays as text, because a float has many spellings and the printer must give the one that was
// read. Literal decodes it. A float may be given as bits, 0x7F800000, which is how MLIR prints infinities and NaN; the bits
// are those of the constant's own type.
//
// # Regions
//
// scf.for, scf.if and scf.while have regions of one block; what stands in parentheses before a region are the arguments
// of that block. tt.reduce, tt.scan and tt.map_elementwise are printed in MLIR's generic form, with the region between
// properties and types:
//
//	%2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
//	^bb0(%a: f32, %b: f32):
//	  %3 = arith.addf %a, %b : f32
//	  tt.reduce.return %3 : f32
//	}) : (tensor<256xf32>) -> f32
//
// A function has several blocks if the program returns early. Blocks may be used before they are defined, values may not:
// MLIR prints blocks in an order in which definitions come first.
//
// # Errors
//
// Text that is no Triton IR is an *Error with the place in the text. An operation that the table lacks is *Unsupported,
// with the program's line if the text has locations: to the user it makes no difference whether the parser or the
// compiler has no rule for it.
//
// # Versions
//
// Triton 3.6 to 3.9 print what follows in different ways; all are accepted, and printed as they were read:
//
//   - A barrier is gpu.barrier in 3.6 and ttg.barrier with a word since 3.7.
//   - Cache and eviction policies of loads and stores are words behind the operands until 3.8, and an attribute
//     #tt.cache_policy<...> in 3.9.
//   - The negative of a float is 0 - x before 3.8, and arith.negf since.
//   - 3.9 has atomic_load, atomic_store and atomic_poll.
//   - Descriptors and block pointers come only in text that no pass has run on; package clean turns them into pointers.
//
// # Locations
//
// Operations carry the line of the program that they come from, through aliases (#loc3 = loc("x"(#loc1))) which the text
// defines at its end, names of values, and chains of calls. Where gives the line that a person looks for. Text without
// locations is fine; errors then have the line of the text alone.
//
// # Names
//
// A value keeps the name that it was printed with, %offs_4 or %12, which Triton takes from the program where it can. Names are
// unique in a function; the printer relies on that and makes none. Copies that Inline makes share names with what they were
// copied from, so that a module with inlined calls is not to be printed.
//
// # Threads
//
// A module belongs to one goroutine. Parse, Verify and Print keep nothing between calls.
//
// # Unknown operations
//
// An operation without a row ends the parser, since its text cannot be told from what follows.
//
// # Limits
//
// Types, attributes, regions and locations may be nested 200 deep, tensors have powers of two as dimensions and at most
// 1,048,576 elements, as Triton itself demands.
package ttir
