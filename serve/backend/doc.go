// Package backend serves ONNX models for Triton Inference Server, without knowing its API: capi/triton_backend.c makes the
// calls into the server, and capi/triton_backend.go turns what it has gathered into the values of this package.
//
// The objects, in the order in which a server makes them:
//
//   - A [Model] is a version of a model of a repository: its file and its configuration, checked against each other. Where the
//     server lets it, what the configuration lacks is completed from the file.
//   - An [Instance] runs the model on a place. Instances on one place share the program, its constants and what was compiled.
//   - [Instance.Run] takes the requests of one execution. Requests whose shapes differ in the batch dimension alone are one
//     batch: their inputs are put together, the program runs once, and each request gets its rows of the results.
//
// The invariant: what a request holds is checked before anything is computed, and what was computed before anything is
// returned. A wrong request is an error of that request; when a batch fails, its requests run one by one, so that only those
// that are wrong fail. A panic would end the server where the operating system reports it as a signal, so that nothing here
// relies on recovering from one.
//
// # From a file to an answer
//
// Load reads config.pbtxt, which the server hands over as JSON, and maps the file. Inputs and outputs are the configuration's,
// in its order; each knows its number in the file. What a request may ask for is decided here: element types that no tensor
// has, dimensions that the file contradicts, and fields that the backend does not do are errors with their names, so that a
// model that is ready can be run.
//
// An instance has a context of core/runtime, a stream of its own on mps, and tensors with the values of inputs that a request
// may leave out. The first one on a place makes the program, and compiles it if the configuration leaves no size open.
//
// A run borrows the inputs from the server and keeps the results until the next one, or until Release. Between the two the
// server copies each result once, into the memory of the response. Slices of requests, of pieces and of tensors are used
// again, so that a warm run allocates little.
//
// # Threads
//
// The server calls Load and Instance from several threads, and Run of different instances at once. A model has a lock for its
// programs, which a run does not take. One instance is used by one thread at a time, and nothing of it is shared.
//
// # Errors
//
// Errors are those of core/status. Those of a load begin with the model and its version, and those of a request with the input
// or output that is wrong. The caller turns codes into those of its protocol.
//
// The package does no scheduling, which the server does, and holds no protocol.
package backend
