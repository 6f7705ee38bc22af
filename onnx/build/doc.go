// Package build makes graphs of core/graph of the models that package file reads.
//
//   - model.go, form.go, replace.go, describe.go: a [Model], its inputs and outputs, and what callers ask of it.
//   - build.go: a [Builder] adds the nodes of a model to a graph, for inputs of known types; stage.go divides the graph where a size
//     follows from elements, and limits.go bounds what a builder makes.
//   - call.go, value.go: what the function of an operator sees and calls.
//   - elements.go, small.go, strings.go, dequantized.go: types of elements that tensors lack, and integers behind floats.
//   - table.go: the operators by name. Functions are in package ops; package onnx puts them in with [Define].
//
// A builder is used by one goroutine and for one resolution; a model by any number.
package build
