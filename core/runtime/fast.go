package runtime

import "github.com/paddle-mps/paddle-mps/core/op"

// The warm paths: operators without attributes and with one result, without a slice of results.

// Unary runs an operator of one tensor.
func (rt *Runtime) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	in := [1]Operand{{Tensor: x}}
	return rt.quick(row, in[:], x.store.ctx, on)
}

// Binary runs an operator of two operands, at least one of them a tensor.
func (rt *Runtime) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	in := [2]Operand{x, y}
	c, err := rt.locate(row, in[:], nil)
	if err != nil {
		return nil, err
	}
	return rt.quick(row, in[:], c, on)
}

// quick is Call for rows that need no attributes; others take the general way.
func (rt *Runtime) quick(row *op.Row, in []Operand, c *Context, on *Stream) (*Tensor, error) {
	if row.Kind == op.View || len(row.Attrs) > 0 || len(row.In) != len(in) {
		ts, err := rt.Call(row, in, make(op.Attrs, len(row.Attrs)), nil, on)
		if err != nil {
			return nil, err
		}
		return ts[0], nil
	}
	if err := arity(row, in); err != nil {
		return nil, err
	}
	v, err := rt.compute(row, in, nil, c.pick(on), nil)
	if err != nil {
		return nil, err
	}
	return rt.adopt(&v)
}
