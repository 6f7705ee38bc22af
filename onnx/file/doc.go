// Package file reads the bytes of an ONNX file into plain structures, and says what is wrong with them.
//
// wire.go is the wire format of protobuf, proto.go the messages that a model is made of, tensor.go those of tensors with the types of
// their elements, external.go elements in files beside the model. Nodes are sorted into an order in which they can run (order.go), and
// each name has to stand for one thing (names.go). Bytes that are no model at all are named for what they are (foreign.go).
//
// The invariant: whatever the bytes are, reading them is an error or a [Model], and takes memory in proportion to the file. Elements of
// tensors are not copied: they are those of the bytes that were read, which have to stay as long as a constant is used.
//
// The package knows no operator and makes no graph.
package file
