// Package main is the C ABI: the library's only door, behind include/paddlemps.h.
//
// Three layers, none of which decides anything about tensors:
//
//   - public.c holds the public functions. They keep a forked child out of Go, add this thread's
//     current stream and call an exported Go function (goStreamNew for pmps_stream_new).
//   - The exported functions convert: handles to records, C structs to Go values (args.go, layout.go,
//     dlpack.go), errors to error objects. [try] and [quick] recover panics on the way.
//   - core/runtime does the work. It is built on first use (start.go) from the environment (config.go).
//
// The invariant: no pointer to Go memory reaches C, and no integer that came from C is trusted to be
// a handle. Files without `import "C"` hold the parts that tests can reach.
package main

// main is never called: the package is built as a shared library.
func main() {}
