// Package convert makes Go values of what callers of the C interface pass: handles, arrays, operands and attributes, arguments of
// kernels, tensors of DLPack, and graphs under construction. It has the parts of capi that need no cgo, so that tests can reach them.
//
// The structs are those of the header as Go sees them; capi/layout.go holds them to it. Nothing that comes from a caller is trusted:
// counts, sizes and pointers are checked before memory is read, and a handle is resolved by pinning or holding its record. Errors name the
// function of the interface and the argument.
//
// Memory of a caller is borrowed: it is read while a call runs, and copied where something is kept. The package calls no operator.
package convert
