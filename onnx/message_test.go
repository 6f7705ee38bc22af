package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Messages for tests, written field by field.

// message is the bytes of one.
type message []byte

// text appends a length-delimited field.
func (m message) text(n protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

// sub appends a nested message.
func (m message) sub(n protowire.Number, s message) message { return m.text(n, string(s)) }

// int appends a varint field.
func (m message) int(n protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), uint64(v))
}

// tensorOf is a TensorProto with raw data.
func tensorOf(name string, elem file.ElemType, raw []byte, dims ...int64) (m message) {
	for _, d := range dims {
		m = m.int(1, d)
	}
	return m.int(2, int64(elem)).text(8, name).text(9, string(raw))
}

// vectorOf is a TensorProto of int64.
func vectorOf(name string, list ...int64) message {
	var raw []byte
	for _, v := range list {
		raw = file.AppendInt(raw, v, 8)
	}
	return tensorOf(name, 7, raw, int64(len(list)))
}

// floatsOf32 is a TensorProto of float32.
func floatsOf32(name string, list ...float32) message {
	var raw []byte
	for _, v := range list {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return tensorOf(name, 1, raw, int64(len(list)))
}

// portAs is a ValueInfoProto; a dimension of -1 has a name.
func portAs(name string, elem file.ElemType, dims ...int64) message {
	shape := message{}
	for _, d := range dims {
		if d == -1 {
			shape = shape.sub(1, message{}.text(2, "n"))
			continue
		}
		shape = shape.sub(1, message{}.int(1, d))
	}
	return message{}.text(1, name).sub(2, message{}.sub(1, message{}.int(1, int64(elem)).sub(2, shape)))
}

// nodeOf is a NodeProto; operands and results are separated by ->.
func nodeOf(kind string, in, out []string, attrs ...message) message {
	m := message{}
	for _, s := range in {
		m = m.text(1, s)
	}
	for _, s := range out {
		m = m.text(2, s)
	}
	m = m.text(3, "the "+kind).text(4, kind)
	for _, a := range attrs {
		m = m.sub(5, a)
	}
	return m
}

// graphOf is a GraphProto of its parts, each with its field: 1 a node, 5 an initializer, 11 an input, 12 an output.
type part struct {
	field protowire.Number
	message
}

func graphOf(parts ...part) message {
	m := message{}.text(2, "main")
	for _, p := range parts {
		m = m.sub(p.field, p.message)
	}
	return m
}

// modelOf is a ModelProto of opset 17.
func modelOf(graph message) []byte {
	return message{}.int(1, 8).sub(7, graph).sub(8, message{}.text(1, "").int(2, 17))
}

// names is a list of them.
func names(list ...string) []string { return list }

// noFold is a Fold for tests that fold nothing but views.
func noFold(row *op.Row, _ op.Attrs, _ []op.Known) ([]*op.Const, error) {
	return nil, status.Errorf(status.Internal, "[%s] was folded", row.Name)
}

// zeros is a Fold that knows shapes alone.
func zeros(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	q := op.Inference{}
	q.Reset(row, at)
	for _, x := range in {
		a := op.Arg{Scalar: x.Const == nil, Absent: x.Const == nil && !x.Number.Set(), Value: &x.Number, Const: x.Const}
		if a.DType = x.Number.DType(); x.Const != nil {
			a.Type = x.Const.Type
		}
		q.In = append(q.In, a)
	}
	if err := q.Infer(); err != nil {
		return nil, err
	}
	out := make([]*op.Const, len(q.Out))
	for i, t := range q.Out {
		out[i] = &op.Const{Type: t, Bytes: make([]byte, t.Shape.Numel()*t.DType.Size())}
	}
	return out, nil
}

// inputsOf are the inputs of a model.
func inputsOf(m *build.Model) []*file.Port {
	inputs, _ := m.Ports()
	return inputs
}
