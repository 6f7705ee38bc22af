package file

import (
	"fmt"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The messages of onnx.proto that a model is made of, with the numbers of their fields as in
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. What describes nodes to people is left out.

// Model is a ModelProto.
type Model struct {
	IR        int64
	Graph     *Graph
	Opsets    map[string]int64
	Functions map[FunctionName]*Function

	Producer, ProducerVersion, Domain, Doc string
	Version                                int64 // of the model
	Metadata                               []KeyValue
}

// FunctionName names a function of a model.
type FunctionName struct{ Domain, Name, Overload string }

// Function is a FunctionProto: an operator that is written in others.
type Function struct {
	FunctionName
	Inputs, Outputs []string
	Defaults        map[string]*Attribute
	Nodes           []*Node
	Opsets          map[string]int64
}

// Graph is a GraphProto: the main graph, or one that an attribute of If or Loop holds.
type Graph struct {
	Name         string
	Nodes        []*Node
	Initializers []*Tensor
	Inputs       []*Port
	Outputs      []*Port
	Doc          string
	Sparse       int // sparse initializers, which are refused
}

// Port is a ValueInfoProto: an input or an output of a graph.
type Port struct {
	Name     string
	Elem     ElemType
	Ranked   bool  // whether the file says how many dimensions there are
	Dims     []Dim // of a ranked one
	Sequence bool  // it is no tensor but a sequence of them
	Optional bool  // it may be nothing
	Other    bool  // it is of another type: a map, a sparse tensor
}

// Dim is a dimension of a port: a size, or a name of one that is not known.
type Dim struct {
	Size int64 // below 0: not known
	Name string
}

// Node is a NodeProto: a call of an operator. Names of operands that are left out are empty.
type Node struct {
	Name, Op, Domain, Overload string
	In, Out                    []string
	Attrs                      map[string]*Attribute
}

// Attribute is an AttributeProto. Only the field that its operator asks for counts.
type Attribute struct {
	Name   string
	Kind   int64 // of AttributeProto.AttributeType; 0 in old files
	F      float32
	I      int64
	S      []byte
	T      *Tensor
	G      *Graph
	Floats []float32
	Ints   []int64
	Texts  [][]byte
	Ref    string // the name of the attribute of the function around it that it stands for
}

// Named is a Node as errors name it. Files of some exporters name no nodes; the first result then stands for the
// name, since no other node has it.
func (n *Node) Named(opset int64) string {
	op := n.Op
	if n.Domain != "" {
		op = n.Domain + ":" + op
	}
	name := n.Name
	if name == "" && len(n.Out) > 0 {
		name = n.Out[0]
	}
	return fmt.Sprintf("node %q (%s-%d)", name, op, opset)
}

// The limits of a file are far above what models of exporters need.
const (
	MostNodes    = 200_000 // nodes, in the file; and as they run, those in loops counted each time
	mostMessages = 1 << 20 // messages that become structures: nodes, attributes, tensors, inputs, outputs
)

// Decoder reads messages. It counts how deep they are nested, so that a file cannot exhaust the stack, and how many
// there are: an empty message is two bytes of a file, and a structure of a hundred times as many.
type Decoder struct{ depth, messages, nodes int }

// enter begins a nested message; the caller calls leave. Each level of nesting is a call of Go on the stack.
func (d *Decoder) enter() error {
	if d.messages++; d.messages > mostMessages {
		return status.Errorf(status.Unsupported, "[onnx] the file has more than %d nodes, attributes, tensors, inputs and outputs; want fewer", mostMessages)
	}
	if d.depth++; d.depth > Deepest {
		return status.Errorf(status.Invalid, "[onnx] the file nests more than %d messages", Deepest)
	}
	return nil
}

// leave ends a nested message.
func (d *Decoder) leave() { d.depth-- }

// nested reads a message within another and appends it to a list. What is appended is complete: an error leaves the
// list as it was.
func nested[T any](d *Decoder, bytes []byte, list *[]T, read func([]byte) (T, error)) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	v, err := read(bytes)
	if err == nil {
		*list = append(*list, v)
	}
	return err
}

// File reads a ModelProto. The last of several opsets for one domain counts, as in protobuf. Training information is
// ignored. Fields: 1 the version of the format, 2 the producer and 3 its version, 4 the domain, 5 the version of the
// model, 6 its description, 7 the graph, 8 opsets, 14 metadata, 25 functions.
func (d *Decoder) File(message []byte) (*Model, error) {
	m := &Model{Opsets: map[string]int64{}, Functions: map[FunctionName]*Function{}}
	var graphs []*Graph
	var functions []*Function
	err := fields(message, "model", func(f *field) (err error) {
		switch f.number {
		case 1:
			m.IR = int64(f.bits)
		case 2:
			m.Producer = f.text()
		case 3:
			m.ProducerVersion = f.text()
		case 4:
			m.Domain = f.text()
		case 5:
			m.Version = int64(f.bits)
		case 6:
			m.Doc = f.text()
		case 7:
			err = nested(d, f.bytes, &graphs, d.graph)
		case 8:
			err = opset(f.bytes, m.Opsets)
		case 14:
			err = nested(d, f.bytes, &m.Metadata, pair)
		case 25:
			err = nested(d, f.bytes, &functions, d.function)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(graphs) != 1 {
		return nil, status.Errorf(status.Invalid, "[onnx] the file has %s; want a model with one", status.Count(len(graphs), "graph", "graphs"))
	}
	m.Graph = graphs[0]
	for _, f := range functions {
		m.Functions[f.FunctionName] = f
	}
	return m, nil
}

// opset reads an OperatorSetIdProto. Fields: 1 the domain, 2 the version. A model of the first format has none, and
// counts as opset 1.
func opset(message []byte, into map[string]int64) error {
	domain, version := "", int64(0)
	err := fields(message, "opset", func(f *field) error {
		switch f.number {
		case 1:
			domain = domainOf(f.text())
		case 2:
			version = int64(f.bits)
		}
		return nil
	})
	into[domain] = version
	return err
}

// domainOf is a domain under one name: the main one has two.
func domainOf(name string) string {
	if name == "ai.onnx" {
		return ""
	}
	return name
}

// graph reads a GraphProto. Fields: 1 nodes, 2 the name, 5 initializers, 10 the description, 11 inputs, 12 outputs, 15
// sparse initializers. Types of intermediate values are not read: they follow from the operators, and files are sometimes
// wrong about them.
func (d *Decoder) graph(message []byte) (*Graph, error) {
	g := &Graph{}
	err := fields(message, "graph", func(f *field) error {
		switch f.number {
		case 1:
			return nested(d, f.bytes, &g.Nodes, d.node)
		case 2:
			g.Name = f.text()
		case 5:
			return nested(d, f.bytes, &g.Initializers, d.Tensor)
		case 10:
			g.Doc = f.text()
		case 11:
			return nested(d, f.bytes, &g.Inputs, d.port)
		case 12:
			return nested(d, f.bytes, &g.Outputs, d.port)
		case 15:
			g.Sparse++
		}
		return nil
	})
	g.Nodes = Ordered(g.Nodes)
	return g, err
}

// function reads a FunctionProto. Its nodes are expanded where it is called. Fields: 1 the name, 4 inputs, 5
// outputs, 7 nodes, 9 opsets, 10 the domain, 11 attributes with defaults, 13 the overload.
func (d *Decoder) function(message []byte) (*Function, error) {
	fn := &Function{Defaults: map[string]*Attribute{}, Opsets: map[string]int64{}}
	var defaults []*Attribute
	err := fields(message, "function", func(f *field) error {
		switch f.number {
		case 1:
			fn.Name = f.text()
		case 4:
			fn.Inputs = append(fn.Inputs, f.text())
		case 5:
			fn.Outputs = append(fn.Outputs, f.text())
		case 7:
			return nested(d, f.bytes, &fn.Nodes, d.node)
		case 9:
			return opset(f.bytes, fn.Opsets)
		case 10:
			fn.Domain = domainOf(f.text())
		case 11:
			return nested(d, f.bytes, &defaults, d.attribute)
		case 13:
			fn.Overload = f.text()
		}
		return nil
	})
	for _, a := range defaults {
		fn.Defaults[a.Name] = a
	}
	fn.Nodes = Ordered(fn.Nodes)
	return fn, err
}

// node reads a NodeProto. Fields: 1 operands, 2 results, 3 the name, 4 the operator, 5 attributes, 7 the domain, 8
// the overload.
func (d *Decoder) node(message []byte) (*Node, error) {
	if d.nodes++; d.nodes > MostNodes {
		return nil, status.Errorf(status.Unsupported, "[onnx] the file has more than %d nodes; want fewer", MostNodes)
	}
	n := &Node{}
	var attributes []*Attribute
	err := fields(message, "node", func(f *field) error {
		switch f.number {
		case 1:
			n.In = append(n.In, f.text())
		case 2:
			n.Out = append(n.Out, f.text())
		case 3:
			n.Name = f.text()
		case 4:
			n.Op = f.text()
		case 5:
			return nested(d, f.bytes, &attributes, d.attribute)
		case 7:
			n.Domain = domainOf(f.text())
		case 8:
			n.Overload = f.text()
		}
		return nil
	})
	if len(attributes) > 0 {
		n.Attrs = make(map[string]*Attribute, len(attributes))
	}
	for _, a := range attributes {
		n.Attrs[a.Name] = a
	}
	return n, err
}

// attribute reads an AttributeProto. Fields that are repeated where one is expected count as in protobuf: the last.
// Fields: 1 the name, 2 a float, 3 an integer, 4 a text, 5 a tensor, 6 a graph, 7 to 9 lists of the first three, 20
// the type, 21 the attribute of the function around it.
func (d *Decoder) attribute(message []byte) (*Attribute, error) {
	a := &Attribute{}
	var tensors []*Tensor
	var graphs []*Graph
	err := fields(message, "attribute", func(f *field) (err error) {
		switch f.number {
		case 1:
			a.Name = f.text()
		case 2:
			a.F = f.float()
		case 3:
			a.I = int64(f.bits)
		case 4:
			a.S = f.bytes
		case 5:
			err = nested(d, f.bytes, &tensors, d.Tensor)
		case 6:
			err = nested(d, f.bytes, &graphs, d.graph)
		case 7:
			a.Floats, err = f.floats(a.Floats)
		case 8:
			a.Ints, err = f.varints(a.Ints)
		case 9:
			a.Texts = append(a.Texts, f.bytes)
		case 20:
			a.Kind = int64(f.bits)
		case 21:
			a.Ref = f.text()
		}
		return err
	})
	if len(tensors) > 0 {
		a.T = tensors[len(tensors)-1]
	}
	if len(graphs) > 0 {
		a.G = graphs[len(graphs)-1]
	}
	return a, err
}

// port reads a ValueInfoProto. Fields: 1 the name, 2 the type.
func (d *Decoder) port(message []byte) (*Port, error) {
	p := &Port{}
	err := fields(message, "input or output", func(f *field) error {
		switch f.number {
		case 1:
			p.Name = f.text()
		case 2:
			return d.typeOf(p, f.bytes)
		}
		return nil
	})
	return p, err
}

// typeOf reads a TypeProto. The element type of a sequence is the type of its tensors. Maps and sparse tensors are
// noted and not read.
func (d *Decoder) typeOf(p *Port, message []byte) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return fields(message, "type", func(f *field) error {
		switch f.number {
		case 1:
			return p.tensorType(f.bytes)
		case 4, 9:
			p.Sequence, p.Optional = p.Sequence || f.number == 4, p.Optional || f.number == 9
			return fields(f.bytes, "type", func(f *field) error {
				if f.number == 1 {
					return d.typeOf(p, f.bytes)
				}
				return nil
			})
		case 5, 7, 8:
			p.Other = true
		}
		return nil
	})
}

// tensorType reads a TypeProto.Tensor. Fields: 1 the type of the elements, 2 the shape. A tensor without a shape may
// have any rank, and one with a shape of no dimensions has rank 0.
func (p *Port) tensorType(message []byte) error {
	return fields(message, "type of a tensor", func(f *field) error {
		switch f.number {
		case 1:
			p.Elem = ElemType(f.bits)
		case 2:
			p.Ranked = true
			return fields(f.bytes, "shape", func(f *field) error {
				if f.number == 1 {
					return p.dim(f.bytes)
				}
				return nil
			})
		}
		return nil
	})
}

// dim reads a TensorShapeProto.Dimension. Fields: 1 the size, 2 the name. Neither is there for a size that the
// exporter did not know.
func (p *Port) dim(message []byte) error {
	d := Dim{Size: -1}
	err := fields(message, "dimension", func(f *field) error {
		switch f.number {
		case 1:
			d.Size = int64(f.bits)
		case 2:
			d.Name = f.text()
		}
		return nil
	})
	p.Dims = append(p.Dims, d)
	return err
}

// Text is the type of a port for people: "float[batch, 3, ?, ?]". It is what errors show of an input, beside what
// was given.
func (p *Port) Text() string {
	text := p.Elem.String()
	if p.Ranked {
		dims := make([]string, len(p.Dims))
		for i, d := range p.Dims {
			switch {
			case d.Size >= 0:
				dims[i] = fmt.Sprint(d.Size)
			case d.Name == "":
				dims[i] = "?"
			default:
				dims[i] = d.Name
			}
		}
		text += "[" + strings.Join(dims, ", ") + "]"
	}
	switch {
	case p.Other:
		return "a map or a sparse tensor"
	case p.Sequence:
		text = "a sequence of " + text
	}
	if p.Optional {
		text = "optional " + text
	}
	return text
}

// IsString reports whether the elements of a port are strings.
func (p *Port) IsString() bool { return p.Elem == ElemString }
