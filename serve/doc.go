// Package serve is a model server without its protocols: it loads the models of a repository, batches requests and
// runs them.
//
// A [Server] has models by name. A model has versions. A [Version] is an ONNX file compiled to programs of
// core/execute, a queue (serve/batching), and instances, which are goroutines that take batches from the queue and
// run them. Instances of a version share weights and compiled programs. [Server.Infer] checks a [inference.Request] against
// the configuration (serve/modelconfig), puts it into the queue and waits for its [inference.Response].
//
// # Loading
//
// A load creates all versions that the policy selects and warms them up. Only then do they replace the previous
// versions, which finish the requests that they have accepted and are closed. A failed load changes nothing.
//
// # Terms
//
// Names, rules and messages are those of Triton Inference Server, so that clients and configurations can be reused;
// its source is github.com/triton-inference-server/core. A dimension is -1 if any size is accepted. With a
// max_batch_size above 0, shapes in the configuration omit the batch dimension, which shapes of requests include.
//
// The invariant: an accepted request is answered exactly once, and its input is not read after that.
//
// # The path of a request
//
// The steps, in order, with their files:
//
//   - [Server.Find] looks up the version and holds a reference, so that it is not closed before the answer
//     (server.go).
//   - Version.accept checks the request against the configuration. From here on sizes and shapes are
//     consistent: an input has as many bytes as its shape says, or as many whole strings, and the product did not
//     overflow (validate.go).
//   - Version.infer puts the request into the queue and waits. In the queue it can be cancelled; once an
//     instance has taken it, it cannot, because kernels read its bytes (instance.go).
//   - An instance takes a batch, gathers the inputs of its requests, runs the program and splits the outputs
//     (execute.go). On the CPU, a request that is alone in its batch is read in place, without a copy. The requests
//     of a batch that fails run one by one, so that only the invalid ones fail (instance.go).
//   - Durations are counted before the answer is sent, so that a client that asks for statistics after its
//     answer finds it counted (statistics.go).
//
// An output is allocated once per batch. The parts of its requests are slices of this memory, which the garbage
// collector frees with the last response. Strings, datatype BYTES, have their wire form everywhere in the package: their
// lengths and bytes, one string behind the other. So a batch joins them as it joins other elements; only its division
// counts them. The runtime makes tensors of this form, and this form of tensors.
//
// # Locks and goroutines
//
// Server.mu guards the table of serving versions. It is never held while a model is read, compiled or run.
// model.busy serializes loads and unloads of one model, and is taken before Server.mu. Each instance is a goroutine.
// A retired version has its own goroutine, which waits until no request holds it. The lock of statistics.Counters is a leaf:
// nothing is called while it is held.
//
// # Programs
//
// A version has one program of core/execute for each device that its instances use. All instances on a device share
// it, so the device holds the weights once. A program is compiled for each set of shapes that it gets, and the
// runtime keeps the most recent ones. If the configuration fixes all other dimensions, a load compiles it for batch
// size 1; larger batches are compiled at their first request, or earlier by model_warmup.
//
// # Not in this package
//
// Protocols: messages, ports and limits of bodies belong to the command. Sequences and decoupled models are not
// supported; a configuration that asks for them does not load.
//
// # Optional inputs
//
// The runtime treats an initializer that is also a graph input as a constant. If the configuration lists it, it
// becomes an input of the program: onnx.Model.Take does so for each copy of the model that a version parses. A
// request without it gets the value of the file, whose shape broadcasts. The queue key of a request includes which
// inputs it omits. A batch therefore has an input for all of its requests or for none, and the default value is
// never concatenated.
//
// # Ensembles
//
// A request to an ensemble holds the versions of all its models from start to end, so a load in between does not
// affect it. Tensors between steps are the outputs of one model and the inputs of the next, without a copy. The
// first step that fails cancels the others. The request returns when no step is running any more, because steps read
// its inputs.
//
// An ensemble has no program, so its versions are cheap: they are created again whenever one of their models is. The
// server records which models were loaded by name; these stay when an ensemble is unloaded together with its models.
//
// # Response cache
//
// A key is a digest of the inputs in the model's order, so the order of inputs in the request does not matter. It
// starts with the number of the load: after a reload no request has the old keys, and the size limit evicts their
// responses. A 256-bit digest does not collide by chance, and clients cannot construct a collision. Two equal
// requests at the same time both run, and the first to finish is stored.
//
// # The rate limiter
//
// An instance takes its batch from the queue first and then waits for resources, so that only the rules of the queue
// form the batch. Waiting instances are in a heap, and the top one blocks the others until its resources are
// available. An instance gets all its resources at once, so two instances cannot deadlock by each holding what the
// other needs.
//
// # Files
//
//   - server.go: models by name, readiness, and how a request finds its version.
//   - repository.go: folders and files on disk. load.go: from a configuration to serving versions. start.go:
//     what is loaded at the start.
//   - open.go, complete.go, bind.go, warmup.go: one version, from its file to its instances.
//   - ensemble.go, dependents.go: graphs of models, and which ensembles a load of a model affects.
//   - validate.go, optional.go, instance.go, execute.go, trace.go: one request.
//   - cache.go, ratelimit.go: the response cache and the rate limiter.
//   - observe.go, describe.go: what the server reports. Package statistics counts it.
//   - Requests, answers, traces and errors are in package inference, which the protocols use too.
//
// # Failures
//
// Every error that leaves the package is an [inference.Error] with a code of the protocols, or one that [inference.From] converts to
// one. If a request fails while its batch runs, the whole batch fails, because the program runs on all of it: its requests
// are then run one by one. Whatever can be checked earlier is checked before batching. A panic in a kernel is recovered in the
// instance and fails its batch; the server keeps running.
//
// # Memory of models
//
// A file is read, not mapped, so it can be replaced in place while it is served. Its bytes stay in memory beside the
// weights on the device, because compiling for other shapes reads constants from them. Both are in Go's heap on the CPU. When a
// version is closed, its memory is returned to the system at once: Go would keep it until as much again has been allocated.
//
// # Shutdown
//
// Exit marks the server as not ready and refuses loads. Close removes the versions from the table and waits for the
// requests that hold them. Between the two, the protocols finish the requests that they have accepted.
//
// # Time
//
// Statistics use the monotonic clock, except for the time of the last inference, which is in milliseconds since
// 1970.
package serve
