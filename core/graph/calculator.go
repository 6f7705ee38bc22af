package graph

import "github.com/paddle-mps/paddle-mps/core/op"

// Calculator runs rules as calls of the graph: what they compute becomes values of it.
func (b *Builder) Calculator() op.Calculator { return calculator{b} }

// calculator names the values of rules as the builder names its own.
type calculator struct{ b *Builder }

// Call adds a call.
func (c calculator) Call(row *op.Row, in []op.Var, at op.Attrs) ([]op.Var, error) {
	values := make([]Value, len(in))
	for i, v := range in {
		values[i] = Value(v)
	}
	made, err := c.b.Call(row, values, at)
	out := make([]op.Var, len(made))
	for i, v := range made {
		out[i] = op.Var(v)
	}
	return out, err
}

// Number adds a Python scalar.
func (c calculator) Number(v op.Value) op.Var { return op.Var(c.b.Scalar(v)) }

// IsNumber reports whether a value is a Python scalar.
func (c calculator) IsNumber(v op.Var) bool { return c.b.IsScalar(Value(v)) }

// Absent reports whether an operand was left out.
func (c calculator) Absent(v op.Var) bool {
	number := c.b.graph.values[v].number
	return number != nil && !number.Set()
}

// TypeOf is the dtype and the shape of a value.
func (c calculator) TypeOf(v op.Var) op.Type { return c.b.TypeOf(Value(v)) }
