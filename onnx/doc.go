// Package onnx reads ONNX files and makes graphs of core/graph of them.
//
// A file goes through three steps:
//
//   - Decode (package file): the protobuf wire format becomes the plain structures of [file.Graph] and [file.Node]. The bytes of
//     weights stay where they are, in the mapped file.
//   - Check: [Parse] refuses a model with operators that the table lacks, all of them in one error.
//   - Resolve (package build): [Model.Resolve] makes the graph for inputs of known types, node by node in the order of the file. It is
//     what graph.Graph does for symbolic dimensions, so that a program can be made of either.
//
// A model is resolved again for each set of input shapes. Nothing in the graph is symbolic then: what follows from
// constants and shapes is computed on the spot by the caller's evaluator, so that a Reshape whose shape is the result of
// Shape, Gather and Concat becomes a reshape with an attribute, an If with a known condition the branch that is taken, and
// a Loop with a known trip count its body, as often as it runs. What stays unknown and decides a shape is refused with the
// name of the node.
//
// An ONNX operator is a function from operands to results in terms of rows of core/op. The functions are in package ops, in a file
// for each family, which lists them by domain, name and the opset from which on they hold. This package puts them into the table of
// package build, and has its tests, because nearly all of them need operators.
//
// # Adding an operator
//
// An operator is a line in the table of its family. Where a row of core/op is the operator, the line is all: it names the row, and if
// the row has attributes, what ONNX calls them and their defaults. Others have a function of a [build.Call].
//
//	{"Erf", 1, op.IDErf, direct},
//	{"LeakyRelu", 1, op.IDLeakyRelu, renamed{{op.LeakyReluNegativeSlope, "alpha", 0.01}}.call},
//	{"Gather", 1, 0, gather},
//
// The number is the opset from which on the line holds. What was an attribute in older opsets and is an operand now is read by
// c.IntsOr and c.OptionalInts, so that one function is for all opsets; an operator that means something else now has several lines.
// Within a function:
//
//   - c.X(i) is operand i, c.Has(i) says whether it is given, and c.Int, c.Float, c.Text, c.List read attributes.
//   - c.Do calls a row; c.Add, c.Reshape, c.Slice and others are common rows under short names. Numbers are made by build.Num and
//     build.Whole, and constants by c.Vector, c.Tensor and c.Reals.
//   - c.Ints and c.Number are the elements of an operand that decides something. They end the function where the elements
//     are not known; the caller then gets graph.NeedsElements.
//   - c.Refuse ends the function because of what is not supported, and c.Wrong because the model is wrong. The message is
//     put behind the name of the node.
//
// An operator that takes elements which tensors lack, such as uint16 or 8-bit floats, has an entry in the table of treatments
// in build/elements.go. Without one it refuses them, and its function never sees them: it may take c.X(i).DType for the type of the
// elements. With one it sees the tensor that carries them, and c.X(i).Elem is their type.
//
// An operator that looks into strings takes them by c.Strings(i), which are numbers, and makes a call with c.OnStrings, or for one result
// for each element with c.EachString and c.OfEachString. The function that it passes sees the strings themselves, and runs between two
// graphs: it is called in each run, on the CPU, and may be called by several runs at a time. Whatever it makes of them has to be
// bounded: the table of strings refuses more than a run may have. See build/strings.go.
//
// The tests of the onnx package show whether it is right: python tests/onnx/run.py --match NAME.
//
// # What is not here
//
// Sequences and optionals exist while a graph is built; as inputs and outputs of a model they are lists of tensors, see build/form.go.
// Nothing fuses nodes: passes of core/graph and groups of devices do that for all programs alike. Nothing chooses a device for
// a node: the runtime runs what a device lacks on the CPU, and counts it.
//
// The invariant: whatever the bytes of a file are, reading them is an error or a model, never a panic, and takes memory
// that is bounded by a multiple of the file and by the limits in build/limits.go. Functions of operators call c.Room before they make
// anything whose size follows from the file. The packages compute no elements and know no device.
package onnx
