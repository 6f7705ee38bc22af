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
	if out := row.Direct(x.dtype); out != dtype.Invalid && len(row.In) == 1 {
		return x.store.ctx.pick(on).direct(row, out, &x.view, nil)
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	p.in[0].Tensor = x
	return rt.quick(p, row, p.in[:1], on)
}

// Binary runs an operator of two operands, at least one of them a tensor.
func (rt *Runtime) Binary(row *op.Row, x, y Operand, on *Stream) (*Tensor, error) {
	if a, b := x.Tensor, y.Tensor; a != nil && b != nil && a.dtype == b.dtype && a.Shape == b.Shape && a.store.ctx == b.store.ctx {
		if out := row.Direct(a.dtype); out != dtype.Invalid && len(row.In) == 2 {
			return a.store.ctx.pick(on).direct(row, out, &a.view, &b.view)
		}
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	p.in[0], p.in[1] = x, y
	return rt.quick(p, row, p.in[:], on)
}

// direct runs an elementwise operator on views of one dtype and shape; y is nil for unary ones.
func (s *Stream) direct(row *op.Row, d dtype.DType, x, y *view) (*Tensor, error) {
	rt := s.ctx.rt
	store, err := s.ctx.newStorage(x.Numel()*d.Size(), s)
	if err != nil {
		return nil, err
	}
	h, t := rt.tensors.New()
	if t == nil {
		store.release()
		return nil, tooMany(rt)
	}
	t.store, t.addr, t.offset, t.dtype, t.handle = store, store.base, 0, d, h
	if x.IsContiguous() {
		t.Layout = x.Layout
	} else {
		t.Layout = shape.Contiguous(x.Shape)
	}
	l := rt.newLaunch(s.ctx, s)
	l.readView(x)
	if y != nil {
		l.readView(y)
	}
	l.write(&t.view)
	if err := l.submit(row); err != nil {
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
