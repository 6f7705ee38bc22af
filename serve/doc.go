// Package serve is a model server without its protocols: a repository of models, their versions, and requests that are
// batched and run.
//
// A [Server] has models by name. A model has versions, each a [Version]: an ONNX file that has become programs of
// core/runtime, a queue (serve/batching) and instances, which are goroutines that take batches from the queue and run
// them. Instances of a version share weights and compiled programs. [Server.Infer] checks a [Request] against the
// configuration (serve/modelconfig), puts it into the queue and waits for its [Response].
//
// # Loading
//
// A load makes all versions that the policy selects, warms them up, and only then puts them in the place of the versions
// before. Those answer what they have accepted, and are closed afterwards. A load that fails changes nothing.
//
// # Words
//
// Names, rules and messages are those of Triton Inference Server, so that clients and configurations move over; its
// source is github.com/triton-inference-server/core. A dimension is -1 where any size is accepted. With a
// max_batch_size above 0 shapes of the configuration are without the dimension of the batch, which requests have.
//
// The invariant: a request that was accepted is answered exactly once, and its input is not looked at after that.
//
// # A request
//
// What happens to one, in order, and where:
//
//   - [Server.Find] looks the version up and holds it, so that it is not closed before the answer (server.go).
//   - Version.accept compares it with the configuration. From here on sizes and shapes are consistent: an input has as
//     many bytes as its shape says, and the product did not overflow (validate.go).
//   - Version.infer puts it into the queue and waits. While it waits there it can be cancelled; once an instance has
//     taken it, it cannot, because the kernels read its bytes (instance.go).
//   - An instance takes a batch, gathers the inputs of its requests, runs the program and divides the outputs
//     (execute.go). On the CPU a request that is alone in its batch is read where it is, without a copy.
//   - The durations are counted before the answer is sent: a client that asks for statistics after its answer finds
//     itself in them (statistics.go).
//
// An output is made once for a batch. The parts of its requests are slices of one piece of memory that belongs to their
// responses, and the garbage collector frees it with the last of them.
//
// # Locks and goroutines
//
// Server.mu guards which versions serve; it is never held while a model is read, compiled or run. model.busy is held
// while one model is loaded or unloaded, so that two loads of it come one after the other, and is taken before Server.mu.
// Each instance is a goroutine. A version is retired by a goroutine of its own, which waits for the requests that hold it.
// counters.mu is a leaf: nothing is called with it.
//
// # What a program is
//
// A version has a program of core/runtime for each device that its instances are on, and all instances of a device share
// it: weights are in the memory of the device once. A program is compiled for each set of shapes that it meets, and the
// runtime keeps the latest ones. A load compiles it for a batch of one where the configuration says all other dimensions;
// larger batches are compiled when they first come, or before by model_warmup.
//
// # What is not here
//
// No protocol: messages, ports and limits of bodies belong to the command. No sequences of requests and no decoupled models:
// a configuration that asks for them does not load.
//
// # Optional inputs
//
// An initializer that is also an input of the graph is a constant to the runtime. A configuration that lists it makes it an
// input of the program: onnx.Model.Take does so for each copy of the model that a version parses. A request without it gets
// the value of the file, whose shape broadcasts. The key of a request in the queue tells what it has left out, so that a
// batch either has an input for all of its requests or for none, and the value is never joined to itself.
//
// # Ensembles
//
// A request to an ensemble holds the versions of all its models from its beginning to its end: a load in between changes
// nothing for it. Tensors between steps are the outputs of one model and the inputs of the next, without a copy. The first
// step that fails cancels the others; the request returns when none of them runs, because they read its inputs.
//
// An ensemble has no program, so that its versions cost nothing: they are made anew whenever one of their models is. Models
// are told apart by who asked for them: those that were loaded by name stay when an ensemble is unloaded with its models.
//
// # Responses that are kept
//
// A key is a digest of the inputs as the model gets them, so that the order of the inputs in a request does not matter. It
// begins with the number of the load: nothing has to be removed when a model changes, because nobody asks for the old keys any
// more, and the bound drops them. A digest of 256 bits does not collide by chance, and clients cannot choose it to.
// Two equal requests at one time both run; the first to end is kept.
//
// # The rate limiter
//
// An instance takes its batch from the queue first and then waits for resources, so that the batch is formed by the rules of
// the queue alone. The order among those that wait is a heap; the one on top blocks the others until its resources are there.
// Resources are given to all of an instance's needs at one time: two instances cannot each hold what the other one wants.
//
// # Files
//
//   - server.go: models by name, readiness, and the way of a request to its version.
//   - repository.go: folders and files on disk; load.go: from a configuration to versions that serve; start.go: what is
//     loaded without being asked for.
//   - open.go, complete.go, bind.go, warmup.go: one version, from its file to instances.
//   - ensemble.go, dependents.go: graphs of models, and what a load of one model means for others.
//   - validate.go, optional.go, instance.go, execute.go, classify.go: one request.
//   - cache.go, ratelimit.go: answers that are kept, and instances that wait for each other.
//   - statistics.go, latency.go, observe.go, describe.go: what is told about all of it.
//
// # Failures
//
// Every error that leaves the package is an [Error] with a code of the protocols, or one that [From] turns into one. A
// request that fails in a batch fails the whole batch, because the program has run on all of it: what can be known before
// is refused before. A panic in a kernel is caught in the instance and fails its batch; the server goes on.
//
// # Memory of models
//
// A file is read and not mapped, so that replacing it in place while it is served does no harm. Its bytes stay in memory
// beside the weights on the device: constants are read from them when a program is compiled for other shapes.
//
// # Order of shutting down
//
// Exit makes the server not ready, and refuses loads. Close takes the versions out of the table and waits for the requests
// that hold them. Between the two the protocols answer what they have accepted.
//
// # Time
//
// Statistics use the monotonic clock but for the moment of the last inference, which is told in milliseconds since 1970.
package serve
