// Package onnxtest writes small ONNX files for tests.
package onnxtest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The element types of ONNX that tests use.
const (
	Float = 1
	Int32 = 6
	Int64 = 7
)

// Port is an input or output. A dimension below 0 is one of any size.
type Port struct {
	Name     string
	Elem     int
	Dims     []int64
	Sequence bool // of such tensors
}

// Node is a call of an operator of the main domain.
type Node struct {
	Op      string
	In, Out []string
}

// Weight is an initializer of float32.
type Weight struct {
	Name string
	Dims []int64
	Data []float32
}

// Model is the file of a graph, with opset 17.
func Model(inputs, outputs []Port, nodes ...Node) []byte {
	return WithWeights(nil, inputs, outputs, nodes...)
}

// WithWeights is Model with initializers. One that is also an input is the value of an input that need not be given.
func WithWeights(weights []Weight, inputs, outputs []Port, nodes ...Node) []byte {
	var graph []byte
	// Fields of GraphProto: 5 initializers, 1 nodes, 2 the name, 11 inputs, 12 outputs.
	for _, w := range weights {
		graph = message(graph, 5, w.tensor())
	}
	for _, n := range nodes {
		var node []byte
		for _, in := range n.In {
			node = text(node, 1, in)
		}
		for _, out := range n.Out {
			node = text(node, 2, out)
		}
		graph = message(graph, 1, text(node, 4, n.Op))
	}
	graph = text(graph, 2, "test")
	for _, p := range inputs {
		graph = message(graph, 11, port(p))
	}
	for _, p := range outputs {
		graph = message(graph, 12, port(p))
	}
	// Fields of ModelProto: 1 the version of the format, 7 the graph, 8 the sets of operators.
	model := number(nil, 1, 8) // the version of the format
	model = message(model, 7, graph)
	return message(model, 8, number(nil, 2, 17))
}

// Unary is the file of one operator from input "x" to output "y", both of one type and shape.
func Unary(operator string, elem int, dims ...int64) []byte {
	return Model([]Port{{Name: "x", Elem: elem, Dims: dims}}, []Port{{Name: "y", Elem: elem, Dims: dims}}, Node{operator, []string{"x"}, []string{"y"}})
}

// tensor is a TensorProto.
func (w Weight) tensor() (t []byte) {
	// Fields of TensorProto: 1 dimensions, 2 the type of elements, 8 the name, 9 the elements as bytes.
	for _, d := range w.Dims {
		t = number(t, 1, uint64(d))
	}
	var raw []byte
	for _, x := range w.Data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return message(text(number(t, 2, Float), 8, w.Name), 9, raw)
}

// port is a ValueInfoProto.
func port(p Port) []byte {
	var shape []byte
	for _, d := range p.Dims {
		dim := text(nil, 2, "n")
		if d >= 0 {
			dim = number(nil, 1, uint64(d))
		}
		shape = message(shape, 1, dim)
	}
	kind := message(nil, 1, message(number(nil, 1, uint64(p.Elem)), 2, shape))
	if p.Sequence {
		kind = message(nil, 4, message(nil, 1, kind))
	}
	return message(text(nil, 1, p.Name), 2, kind)
}

// message appends a field that is a message.
func message(to []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), m)
}

// text appends a field that is a text.
func text(to []byte, field protowire.Number, s string) []byte { return message(to, field, []byte(s)) }

// number appends a field that is a number.
func number(to []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), n)
}
