// Package backend serves ONNX models for Triton Inference Server, without knowing its API: capi/triton_backend.c
// calls the server, and capi/triton_backend.go converts what it has gathered to the values of this package.
//
// The objects, in the order in which a server creates them:
//
//   - A [Model] is a version of a model in a repository: its file and its configuration, checked against each
//     other. If the server allows it, missing parts of the configuration are completed from the file.
//   - An [Instance] runs the model on a place. Instances on one place share the program, its constants and its
//     compiled code.
//   - [Instance.Run] executes the requests that the server passes together. Requests whose shapes differ only
//     in the batch dimension form one batch: their inputs are concatenated, the program runs once, and each
//     request gets its rows of the results.
//
// The invariant: a request is checked completely before anything is computed, and everything is computed before
// anything is returned. An invalid request gets an error of its own. If a batch fails, its requests run one by one,
// so that only the invalid ones fail. Nothing here relies on recovering from a panic, because one that the operating
// system reports as a signal would end the server.
//
// # From a file to a response
//
// Load reads config.pbtxt, which the server passes as JSON, and maps the file. Inputs and outputs are those of the
// configuration, in its order; each knows its index in the file. Unsupported element types, dimensions that
// contradict the file, and fields that the backend does not support are errors here, by name. A model that is ready
// can therefore be run.
//
// An instance has a context of core/runtime, its own stream on mps, and tensors with the default values of optional
// inputs. The first instance on a place creates the program, and compiles it if the configuration leaves no size
// open.
//
// A run borrows the inputs from the server and keeps the results until the next run or until Release. In between,
// the server copies each result once, into the memory of the response. Slices of requests, pieces and tensors are
// reused, so a warm run allocates little.
//
// # Threads
//
// The server calls Load and Instance from several threads, and Run of different instances concurrently. A model has
// a lock for its programs, which a run does not take. An instance is used by one thread at a time and shares
// nothing.
//
// # Errors
//
// Errors are those of core/status. Load errors start with the model and its version, and request errors with the
// invalid input or output. The caller converts codes to those of its protocol.
//
// The package does no scheduling, which is the server's task, and implements no protocol.
package backend
