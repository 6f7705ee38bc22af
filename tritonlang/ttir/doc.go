// Package ttir holds Triton IR: the typed form that the compiler works on, a parser of the text that Triton prints, a
// verifier and a printer.
//
// A Module has functions, a function a region, a region blocks, a block operations. An operation has operands, which
// are results of other operations or arguments of blocks, attributes and nested regions. The text is MLIR's custom
// form, as Triton 3.6 to 3.9 print it; see table.go for the operations.
//
// The invariant: parsing what Print writes gives a module that prints the same, byte by byte. Every error names a
// place in the text.
//
// Not here: what operations mean. The package knows their names, syntax and types, and nothing of devices.
package ttir
