package runtime

import "github.com/paddle-mps/paddle-mps/core/op"

// Caller is a runtime whose calls are made in a mode.
type Caller struct {
	*Runtime
	mode Mode
}

// In is the runtime with calls in a mode.
func (rt *Runtime) In(m Mode) Caller { return Caller{rt, m} }

// And is the caller with calls in a further mode.
func (c Caller) And(m Mode) Caller { return Caller{c.Runtime, c.mode | m} }

// Call is Runtime.Call; a [Refusal] says what to wait for before the same call is tried again.
func (c Caller) Call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream) ([]*Tensor, error) {
	return c.call(row, in, at, where, on, c.mode)
}

// CallInto is Runtime.CallInto, and may be refused like Call.
func (c Caller) CallInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream) error {
	return c.callInto(row, in, at, out, on, c.mode)
}

// Unary is Runtime.Unary, and may be refused like Call.
func (c Caller) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	return c.unary(row, x, on, c.mode)
}

// Binary is Runtime.Binary, and may be refused like Call.
func (c Caller) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	return c.binary(row, &x, &y, on, c.mode)
}
