package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
)

// The fast path: operators without attributes and with one result. Where the tensors have one dtype and one
// shape, which is the usual case, nothing has to be inferred, cast or broadcast, and no graph is made.

// Unary runs an operator of one tensor.
func (rt *Runtime) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	return rt.unary(row, x, on, 0)
}

func (rt *Runtime) unary(row *op.Row, x *Tensor, on *Stream, mode Mode) (*Tensor, error) {
	in := Operand{Tensor: x}
	if out := row.Direct(x.dtype); out != dtype.Invalid && len(row.In) == 1 && !mode.watches(x) && !on.Traces() {
		s := x.store.ctx.pick(on)
		if profile.On() {
			return s.directProfiled(row, out, &x.view, &in, nil, mode)
		}
		return s.direct(row, out, &x.view, &in, nil, mode)
	}
	return rt.quick(row, on, mode, in)
}

// Binary runs an operator of two operands, at least one of them a tensor.
func (rt *Runtime) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	return rt.binary(row, &x, &y, on, 0)
}

func (rt *Runtime) binary(row *op.Row, x, y *Operand, on *Stream, mode Mode) (*Tensor, error) {
	if t := alike(row, x, y); t != nil && !mode.watches(x.Tensor) && !mode.watches(y.Tensor) && !on.Traces() {
		s := t.store.ctx.pick(on)
		if profile.On() {
			return s.directProfiled(row, row.Direct(t.dtype), &t.view, x, y, mode)
		}
		return s.direct(row, row.Direct(t.dtype), &t.view, x, y, mode)
	}
	return rt.quick(row, on, mode, *x, *y)
}

// alike returns a tensor that has the dtype and the shape of the whole call: both operands have them, or the
// other one is a scalar that takes them. It returns nil where the rules of the row are needed.
func alike(row *op.Row, x, y *Operand) *Tensor {
	a, b := x.Tensor, y.Tensor
	switch {
	case a == nil && b == nil || len(row.In) != 2:
		return nil
	case a == nil:
		if !takesDType(row, &x.Value, b.dtype) {
			return nil
		}
		a = b
	case b == nil:
		if !takesDType(row, &y.Value, a.dtype) {
			return nil
		}
	case a.dtype != b.dtype || a.Shape != b.Shape || a.store.ctx != b.store.ctx:
		return nil
	}
	if row.Direct(a.dtype) == dtype.Invalid {
		return nil
	}
	return a
}

// takesDType reports whether a scalar takes dtype d of the tensor beside it. Only a scalar of a higher
// category (bool < int < float) does not.
func takesDType(row *op.Row, v *op.Value, d dtype.DType) bool {
	if !row.In[0].Scalar {
		return false
	}
	switch v.Kind {
	case op.Bool:
		return true
	case op.Int:
		return d.Category() >= dtype.IntCategory
	case op.Float:
		return d.IsFloat()
	}
	return false
}

// directProfiled is direct for a call that is recorded. It is a function of its own, so that others need no room on the
// stack for what it uses.
func (s *Stream) directProfiled(row *op.Row, d dtype.DType, like *view, x, y *Operand, mode Mode) (*Tensor, error) {
	start := profile.Now()
	t, err := s.direct(row, d, like, x, y, mode)
	in, out := []Operand{*x}, []*Tensor(nil)
	if y != nil {
		in = append(in, *y)
	}
	if err == nil {
		out = append(out, t)
	}
	recordCall(row, in, out, err, s, start)
	return t, err
}

// quick is Call for the first result; further ones are freed.
func (rt *Runtime) quick(row *op.Row, on *Stream, mode Mode, in ...Operand) (*Tensor, error) {
	ts, err := rt.call(row, in, make(op.Attrs, len(row.Attrs)), nil, on, mode)
	if err != nil {
		return nil, err
	}
	for _, t := range ts[1:] {
		rt.Free(t.handle)
	}
	return ts[0], nil
}
