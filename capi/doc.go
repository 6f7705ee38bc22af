// Package main is the C ABI that include/paddlemps.h declares, the only way into the library.
//
// Three layers, none of which decides anything about tensors:
//
//   - public.c holds the public functions. They keep a forked child out of Go, add this thread's
//     current stream and call an exported Go function (goStreamNew for pmps_stream_new).
//   - The exported functions convert: handles to records, C structs to Go values (package convert, layout.go,
//     dlpack.go), errors to error objects. [try] and [quick] recover panics on the way.
//   - core/runtime and the packages above it do the work. The runtime is built on first use (start.go) from the environment (config.go).
//
// Conventions of the exported functions, beside what their comments say:
//
//   - Any thread may call them at any time.
//   - Pointers from C are borrowed for the call. Outputs are written only on success.
//   - A handle is resolved by pinning its record, so that a free on another thread takes effect after the
//     call. One that is null, stale or of another kind is status.InvalidHandle; a free ignores it.
//   - The parameter named on is the handle of the calling thread's current stream, 0 for the default one.
//   - Most functions return a C.fault: 0 for success, else an error object that the caller owns. The fast
//     functions, and those for Python, return a handle: 0 means failure, and the error is kept for the thread.
//
// The invariant: no pointer to Go memory reaches C, and no integer that came from C is trusted to be
// a handle. Package convert and files without `import "C"` hold the parts that tests can reach.
package main

// main is never called: the package is built as a shared library.
func main() {}
