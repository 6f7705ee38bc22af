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
// # Adding an operator
//
// An operator is an entry of the table of its family, and a function of a [call]:
//
//	// Swish: x * sigmoid(alpha * x).
//	{"Swish", 24, 0, func(c *call) []*value { return one(c.swish(c.x(0), c.float("alpha", 1))) }},
//
// The number is the opset from which on the function holds; an operator whose meaning changed has several entries. A row of
// core/op that is the operator, with one or two operands, is named in the third field, and unary or broadcast is the
// function. Within a function:
//
//   - c.x(i) is operand i, c.has(i) says whether it is given, and c.int, c.float, c.text, c.list read attributes.
//   - c.do calls a row; c.add, c.reshape, c.slice and others are common rows under short names. Numbers are made by num and
//     whole, and constants by c.vector, c.tensor and c.reals.
//   - c.ints and c.number are the elements of an operand that decides something. They end the function where the elements
//     are not known; the caller then gets graph.NeedsElements.
//   - c.refuse ends the function because of what is not supported, and c.wrong because the model is wrong. The message is
//     put behind the name of the node.
//
// An operator that takes elements which tensors lack, such as uint16 or 8-bit floats, has an entry in the table of treatments
// in elements.go. Without one it refuses them, and its function never sees them: it may take c.x(i).DType for the type of the
// elements. With one it sees the tensor that carries them, and c.x(i).elem is their type.
//
// An operator that looks into strings takes them by c.strings(i), which are numbers, and makes a call with c.onStrings, or for one result
// for each element with c.eachString and c.ofEachString. The function that it passes sees the strings themselves, and runs between two
// graphs: it is called in each run, on the CPU, and may be called by several runs at a time. Whatever it makes of them has to be
// bounded: the table of strings refuses more than a run may have. See strings.go.
//
// The tests of the onnx package show whether it is right: python tests/onnx/run.py --match NAME.
//
// # What is not here
//
// Sequences and optionals exist while a graph is built; as inputs and outputs of a model they are lists of tensors, see form.go.
// Nothing fuses nodes: passes of core/graph and groups of devices do that for all programs alike. Nothing chooses a device for
// a node: the runtime runs what a device lacks on the CPU, and counts it.
//
// The invariant: whatever the bytes of a file are, reading them is an error or a model, never a panic, and takes memory
// that is bounded by a multiple of the file and by the limits in limits.go. Functions of operators call c.room before they make
// anything whose size follows from the file. The package computes no elements and knows no device.
package onnx
