package eager

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// The fast path: operators without attributes and with one result. Where the tensors have one dtype and one
// shape, which is the usual case, nothing has to be inferred, cast or broadcast, and no graph is made.

// Unary runs an operator of one tensor.
func Unary(rt *runtime.Runtime, row *op.Row, x *runtime.Tensor, on *runtime.Stream) (*runtime.Tensor, error) {
	return unary(rt, row, x, on, 0)
}

func unary(rt *runtime.Runtime, row *op.Row, x *runtime.Tensor, on *runtime.Stream, mode runtime.Mode) (*runtime.Tensor, error) {
	in := runtime.Operand{Tensor: x}
	if out := row.Direct(x.DType); out != dtype.Invalid && len(row.In) == 1 && !watches(mode, x) && !on.Traces() {
		s := x.Store.Context.StreamFor(on)
		if profile.On() {
			return directProfiled(s, row, out, &x.View, &in, nil, mode)
		}
		return s.RunDirect(row, out, &x.View, &in, nil, mode)
	}
	return first(rt, row, on, mode, in)
}

// Binary runs an operator of two operands, at least one of them a tensor.
func Binary(rt *runtime.Runtime, row *op.Row, x, y runtime.Operand, on *runtime.Stream) (*runtime.Tensor, error) {
	return binary(rt, row, &x, &y, on, 0)
}

func binary(rt *runtime.Runtime, row *op.Row, x, y *runtime.Operand, on *runtime.Stream, mode runtime.Mode) (*runtime.Tensor, error) {
	if t := alike(row, x, y); t != nil && !watches(mode, x.Tensor) && !watches(mode, y.Tensor) && !on.Traces() {
		s := t.Store.Context.StreamFor(on)
		if profile.On() {
			return directProfiled(s, row, row.Direct(t.DType), &t.View, x, y, mode)
		}
		return s.RunDirect(row, row.Direct(t.DType), &t.View, x, y, mode)
	}
	return first(rt, row, on, mode, *x, *y)
}

// alike returns a tensor that has the dtype and the shape of the whole call: both operands have them, or the
// other one is a scalar that takes them. It returns nil where the rules of the row are needed.
func alike(row *op.Row, x, y *runtime.Operand) *runtime.Tensor {
	a, b := x.Tensor, y.Tensor
	switch {
	case a == nil && b == nil || len(row.In) != 2:
		return nil
	case a == nil:
		if !takesDType(row, &x.Value, b.DType) {
			return nil
		}
		a = b
	case b == nil:
		if !takesDType(row, &y.Value, a.DType) {
			return nil
		}
	case a.DType != b.DType || a.Shape != b.Shape || a.Store.Context != b.Store.Context:
		return nil
	}
	if row.Direct(a.DType) == dtype.Invalid {
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
func directProfiled(s *runtime.Stream, row *op.Row, d dtype.DType, like *runtime.View, x, y *runtime.Operand, mode runtime.Mode) (*runtime.Tensor, error) {
	start := profile.Now()
	t, err := s.RunDirect(row, d, like, x, y, mode)
	in, out := []runtime.Operand{*x}, []*runtime.Tensor(nil)
	if y != nil {
		in = append(in, *y)
	}
	if err == nil {
		out = append(out, t)
	}
	recordCall(row, in, out, err, s, start)
	return t, err
}

// first is Call for the first result; further ones are freed.
func first(rt *runtime.Runtime, row *op.Row, on *runtime.Stream, mode runtime.Mode, in ...runtime.Operand) (*runtime.Tensor, error) {
	ts, err := callAs(rt, row, in, make(op.Attrs, len(row.Attrs)), nil, on, mode)
	if err != nil {
		return nil, err
	}
	for _, t := range ts[1:] {
		rt.Free(t.Handle())
	}
	return ts[0], nil
}
