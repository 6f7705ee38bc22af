package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// The warm paths: operators without attributes and with one result. Where tensors have one dtype and
// one shape, which is most of the time, nothing needs to be inferred, cast or broadcast.

// Unary runs an operator of one tensor.
func (rt *Runtime) Unary(row *op.Row, x *Tensor, on *Stream) (*Tensor, error) {
	in := Operand{Tensor: x}
	if out := row.Direct(x.dtype); out != dtype.Invalid && len(row.In) == 1 {
		return x.store.ctx.pick(on).direct(row, out, &x.view, &in, nil)
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	p.in[0] = in
	return rt.quick(p, row, p.in[:1], on)
}

// Binary runs an operator of two operands, at least one of them a tensor.
func (rt *Runtime) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	if t := alike(row, &x, &y); t != nil {
		return t.store.ctx.pick(on).direct(row, row.Direct(t.dtype), &t.view, &x, &y)
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	p.in[0], p.in[1] = x, y
	return rt.quick(p, row, p.in[:], on)
}

// alike is a tensor whose dtype and shape are those of the call: of both tensors, or of the one that
// a scalar stands beside. nil when the rules must be asked.
func alike(row *op.Row, x, y *Operand) *Tensor {
	a, b := x.Tensor, y.Tensor
	switch {
	case a == nil && b == nil || len(row.In) != 2:
		return nil
	case a == nil:
		if !gives(row, &x.Value, b.dtype) {
			return nil
		}
		a = b
	case b == nil:
		if !gives(row, &y.Value, a.dtype) {
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

// gives reports whether a scalar takes the dtype of the tensor beside it, as all but those of a
// higher category do.
func gives(row *op.Row, v *op.Value, d dtype.DType) bool {
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

// direct runs an elementwise operator on operands of the dtype and shape of like, or scalars; y is
// nil for unary ones.
func (s *Stream) direct(row *op.Row, d dtype.DType, like *view, x, y *Operand) (*Tensor, error) {
	rt := s.ctx.rt
	store, err := s.ctx.newStorage(like.Numel()*d.Size(), s)
	if err != nil {
		return nil, err
	}
	h, t := rt.tensors.New()
	if t == nil {
		store.release()
		return nil, tooMany(rt)
	}
	t.store, t.addr, t.offset, t.dtype, t.handle = store, store.base, 0, d, h
	if like.IsContiguous() {
		t.Layout = like.Layout
	} else {
		t.Layout = shape.Contiguous(like.Shape)
	}
	l := rt.newLaunch(s.ctx, s)
	l.readOperand(x, like)
	if y != nil {
		l.readOperand(y, like)
	}
	l.write(&t.view)
	if err := l.submitFramed(row); err != nil {
		rt.Free(h)
		return nil, err
	}
	return t, nil
}

// quick is Call for rows that need no attributes; others take the general way.
func (rt *Runtime) quick(p *plan, row *op.Row, in []Operand, on *Stream) (*Tensor, error) {
	if row.Kind == op.View || len(row.Attrs) > 0 || len(row.In) != len(in) {
		ts, err := rt.Call(row, in, make(op.Attrs, len(row.Attrs)), nil, on)
		if err != nil {
			return nil, err
		}
		for _, t := range ts[1:] {
			rt.Free(t.handle)
		}
		return ts[0], nil
	}
	if err := arity(row, in); err != nil {
		return nil, err
	}
	c, err := rt.locate(row, in, nil)
	if err != nil {
		return nil, err
	}
	v, err := c.pick(on).compute(p, row, in, nil, nil)
	if err != nil {
		return nil, err
	}
	return rt.adopt(&v)
}
