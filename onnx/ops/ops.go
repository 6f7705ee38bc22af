// Package ops has the functions of ONNX operators, in a file for each family: each expresses an operator in rows of core/op.
//
// An operator is a line of the table at the top of its file. Where the row of the line is the operator, that is all: [direct] passes the
// operands on, and [renamed] says what ONNX calls the attributes of the row. Others have a function of a [build.Call], by
// which it reads operands and attributes and adds calls of rows. A function refuses what is not supported, and makes nothing whose size
// follows from the file without asking for room. Functions keep nothing: what an operator does follows from the node alone.
//
// The comment of package onnx explains how to write one.
package ops

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
)

// entry is a line of the tables.
type entry build.Entry

// All are the operators of all families, with those of one name in ascending order of opsets.
func All() (list []build.Entry) {
	for _, family := range [][]entry{
		elementwise, reductions, arrays, selections, networks, pools, norms, recurrent, images, quantized, flow, attentions, signals,
		trainings, texts, stringed, features,
	} {
		for _, e := range family {
			list = append(list, build.Entry(e))
		}
	}
	return list
}

// direct is an operator that is a row: operands are those of the node, and attributes of the row have their defaults.
func direct(c *build.Call) []*build.Value { return c.All(c.Row, nil, operandsOf(c)...) }

// renamed are attributes of a row: the position of each, what ONNX calls it, and the default of ONNX, whose type is that of the
// attribute. One without a name always has this value.
type renamed []struct {
	place     int
	name      string
	otherwise any
}

// call is direct with these attributes.
func (list renamed) call(c *build.Call) []*build.Value {
	return c.All(c.Row, list.attributes(c), operandsOf(c)...)
}

// attributes are those of the row as the node has them.
func (list renamed) attributes(c *build.Call) op.Attrs {
	var all []any
	for _, a := range list {
		value := a.otherwise
		if c.Given(a.name) {
			switch value.(type) {
			case bool:
				value = c.Yes(a.name, 0)
			case int:
				value = c.Int(a.name, 0)
			case float64:
				value = c.Float(a.name, 0)
			case string:
				value = c.Text(a.name, "")
			case []int64:
				value = c.List(a.name)
			}
		}
		all = append(all, a.place, value)
	}
	return build.With(all...)
}

// operandsOf are those of the node, of which the row says which may be left out.
func operandsOf(c *build.Call) (in []*build.Value) {
	wanted := op.ByID(c.Row).In
	last := len(wanted) - 1
	n := len(wanted)
	if wanted[last].Variadic {
		n = max(n, len(c.In))
	}
	for i := range n {
		switch {
		case wanted[min(i, last)].Optional:
			in = append(in, c.Optional(i))
		case i == 1:
			in = append(in, legacy(c))
		default:
			in = append(in, c.X(i))
		}
	}
	return in
}

// legacy is the second operand as it broadcasts: before opset 7 attribute broadcast allowed it to, and axis said
// which axis of the first operand its first axis stands for. An exporter for opset 6 wrote axis=1 to add a vector to
// the channels of images. Without attribute broadcast the shapes are equal.
func legacy(c *build.Call) *build.Value {
	x, y := c.X(0), c.X(1)
	if !c.Given("axis") || !c.Yes("broadcast", 0) {
		return y
	}
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	dims := append([]int64{}, y.Dims()...)
	for len(dims)+axis < x.Rank() {
		dims = append(dims, 1)
	}
	return c.Reshape(y, dims...)
}
