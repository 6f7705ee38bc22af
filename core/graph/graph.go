// Package graph is what a device compiles: operators in SSA form, each value defined once, with
// its dtype and layout known. Today a graph is one operator with its operands, which is what eager
// execution needs; it is a package of its own because ONNX models and traced functions build larger
// ones from the same pieces.
package graph

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Value is a tensor that flows through a graph.
type Value struct {
	DType  dtype.DType
	Layout shape.Layout
}

// Node applies an operator to values defined before it.
type Node struct {
	Op      *op.Row
	Attrs   op.Attrs
	Axes    op.Axes
	In, Out []int // indices into Graph.Values
}

// Graph is nodes in an order in which they can run.
type Graph struct {
	Values          []Value
	Nodes           []Node
	Inputs, Outputs []int
}

// Single is the graph of one operator.
func Single(row *op.Row, at op.Attrs, axes op.Axes, in, out []Value) *Graph {
	g := &Graph{Values: append(append([]Value(nil), in...), out...)}
	for i := range in {
		g.Inputs = append(g.Inputs, i)
	}
	for i := range out {
		g.Outputs = append(g.Outputs, len(in)+i)
	}
	g.Nodes = []Node{{Op: row, Attrs: at, Axes: axes, In: g.Inputs, Out: g.Outputs}}
	return g
}
