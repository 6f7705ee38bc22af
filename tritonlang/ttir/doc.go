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
// # Versions
//
// Triton 3.6 to 3.9 print what follows in different ways; all are accepted, and printed as they were read:
//
//   - A barrier is gpu.barrier in 3.6 and ttg.barrier with a word since 3.7.
//   - Cache and eviction policies of loads and stores are words behind the operands until 3.8, and an attribute
//     #tt.cache_policy<...> in 3.9.
//   - The negative of a float is 0 - x before 3.8, and arith.negf since.
//   - 3.9 has atomic_load, atomic_store and atomic_poll.
//   - Descriptors and block pointers do not reach this package: Triton's passes turn them into pointers.
//
// # Locations
//
// Operations carry the line of the program that they come from, through aliases (#loc3 = loc("x"(#loc1))) which the text
// defines at its end, names of values, and chains of calls. Where gives the line that a person looks for. Text without
// locations is fine; errors then have the line of the text alone.
//
// # Limits
//
// Types, attributes, regions and locations may be nested 200 deep, tensors have powers of two as dimensions and at most
// 1,048,576 elements, as Triton itself demands.
package ttir
