package eager

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// Caller is a runtime whose calls are made in a mode.
type Caller struct {
	*runtime.Runtime
	mode runtime.Mode
}

// In is the runtime with calls in a mode.
func In(rt *runtime.Runtime, m runtime.Mode) Caller { return Caller{rt, m} }

// Mode is that of the calls.
func (c Caller) Mode() runtime.Mode { return c.mode }

// And is the caller with calls in a further mode.
func (c Caller) And(m runtime.Mode) Caller { return Caller{c.Runtime, c.mode | m} }

// Call is Call; a [Refusal] says what to wait for before the same call is tried again.
func (c Caller) Call(row *op.Row, in []runtime.Operand, at op.Attrs, where *runtime.Context, on *runtime.Stream) ([]*runtime.Tensor, error) {
	return callAs(c.Runtime, row, in, at, where, on, c.mode)
}

// CallInto is CallInto, and may be refused like Call.
func (c Caller) CallInto(row *op.Row, in []runtime.Operand, at op.Attrs, out *runtime.Tensor, on *runtime.Stream) error {
	return callIntoAs(c.Runtime, row, in, at, out, on, c.mode)
}

// Unary is Unary, and may be refused like Call.
func (c Caller) Unary(row *op.Row, x *runtime.Tensor, on *runtime.Stream) (*runtime.Tensor, error) {
	return unary(c.Runtime, row, x, on, c.mode)
}

// Binary is Binary, and may be refused like Call.
func (c Caller) Binary(row *op.Row, x, y runtime.Operand, on *runtime.Stream) (*runtime.Tensor, error) {
	return binary(c.Runtime, row, &x, &y, on, c.mode)
}
