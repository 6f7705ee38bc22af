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
package serve
