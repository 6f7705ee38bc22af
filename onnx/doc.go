// Package onnx reads ONNX files and makes graphs of core/graph of them.
//
// A file goes through three steps:
//
//   - Decode: the protobuf wire format becomes the plain structures of [Graph] and [Node] (proto.go). The bytes of weights
//     stay where they are, in the mapped file.
//   - Check: [Parse] refuses a model with operators that the table of this package lacks, all of them in one error.
//   - Resolve: [Model.Resolve] makes the graph for inputs of known types, node by node in the order of the file. It is
//     what graph.Graph does for symbolic dimensions, so that a program can be made of either.
//
// A model is resolved again for each set of input shapes. Nothing in the graph is symbolic then: what follows from
// constants and shapes is computed on the spot by the caller's evaluator, so that a Reshape whose shape is the result of
// Shape, Gather and Concat becomes a reshape with an attribute, an If with a known condition the branch that is taken, and
// a Loop with a known trip count its body, as often as it runs. What stays unknown and decides a shape is refused with the
// name of the node.
//
// An ONNX operator is a function from operands to results in terms of rows of core/op. The functions are in the files
// ops_*.go by family; table.go lists them by domain, name and the opset from which on they hold.
//
// The invariant: whatever the bytes of a file are, reading them is an error or a model, never a panic, and takes memory
// that is bounded by a multiple of the file. The package computes no elements and knows no device.
package onnx
