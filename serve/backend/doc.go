// Package backend serves ONNX models for Triton Inference Server, without knowing its API: capi/triton_backend.c makes the
// calls into the server, and capi/triton.go turns what it has gathered into the values of this package.
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
// The package does no scheduling, which the server does, and holds no protocol.
package backend
