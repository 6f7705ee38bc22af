package runtime

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Gradients of complex tensors. No kernel computes with complex numbers, but backward passes need some linear functions of
// them: the sum of the gradients of a value that is used twice, that over the axes along which a value was repeated, that
// of elements which were read several times, and zeros with a part in them. Each is the same function of the parts, which
// are floats in the same memory, with one more axis at the end.
//
// The gradient of a complex number has the derivative with respect to its real part as its real part, and that with respect
// to its imaginary part as its imaginary part. What computes with complex numbers, in Python, has rules for that there.
//
// In mode Recording such a call is recorded as a function of the caller, whose gradient is the adjoint: rows that move
// elements, which need no arithmetic and work for any dtype. So gradients of gradients are recorded likewise.

// partsOf is the dtype of the parts of a complex one.
func partsOf(d dtype.DType) dtype.DType {
	if d == dtype.Complex64 {
		return dtype.Float32
	}
	return dtype.Float64
}

// parts is a view of the real and the imaginary parts along a new last axis. It has no history. The caller frees it.
func (t *Tensor) parts() (*Tensor, error) {
	v := t.view
	if v.Rank == len(v.Dims) {
		return nil, status.Errorf(status.Unsupported, "[backward] a complex gradient has %d axes; want fewer", v.Rank)
	}
	v.Dims[v.Rank], v.Strides[v.Rank] = 1, 1
	v.Rank++
	v.dtype = partsOf(t.dtype)
	if err := v.resize(t.dtype.Size(), v.dtype.Size()); err != nil {
		return nil, err
	}
	return t.share(&v)
}

// whole is a view of parts, a contiguous tensor that a call has made, as complex numbers. The caller frees it.
func (t *Tensor) whole(d dtype.DType) (*Tensor, error) {
	v := t.view
	v.dtype = d
	if err := v.resize(t.dtype.Size(), d.Size()); err != nil {
		return nil, err
	}
	v.Rank--
	v.Dims[v.Rank], v.Strides[v.Rank] = 0, 0
	return t.share(&v)
}

// onParts calls a row on the parts of complex tensors, of the dtype of the first one, and on other tensors as they are. The
// result is complex, and has no history.
func (rt *Runtime) onParts(row *op.Row, in []*Tensor, at op.Attrs, on *Stream) (*Tensor, error) {
	operands := make([]Operand, len(in))
	for i, t := range in {
		if !t.dtype.IsComplex() {
			operands[i].Tensor = t
			continue
		}
		p, err := t.parts()
		if err != nil {
			return nil, err
		}
		defer rt.Free(p.handle)
		operands[i].Tensor = p
	}
	made, err := rt.Call(row, operands, at, nil, on)
	if err != nil {
		return nil, err
	}
	defer rt.Free(made[0].handle)
	return made[0].whole(in[0].dtype)
}

// addParts adds two complex gradients of one shape. In mode Recording the sum has a gradient: that of each of them is its own.
func (rt *Runtime) addParts(x, y *Tensor, on *Stream, mode Mode) (*Tensor, error) {
	sum, err := rt.onParts(addition, []*Tensor{x, y}, nil, on)
	if err != nil || !mode.has(Recording) {
		return sum, err
	}
	rt.Apply(&Function{Backward: func(of []*Tensor) ([]*Tensor, error) {
		dx, err := of[0].Same()
		if err != nil {
			return nil, err
		}
		dy, err := of[0].Same()
		return []*Tensor{dx, dy}, err
	}}, []*Tensor{x, y}, []*Tensor{sum})
	return sum, nil
}

// linear is a linear row of one complex tensor; back computes the gradient of the tensor from that of the result, in a mode.
func (c *calculator) linear(row *op.Row, x *Tensor, at op.Attrs, back func(dy *Tensor, mode Mode) (*Tensor, error)) (*Tensor, error) {
	made, err := c.rt.onParts(row, []*Tensor{x}, at, c.on)
	if err != nil || !c.mode.has(Recording) {
		return made, err
	}
	c.rt.Apply(&Function{Backward: func(of []*Tensor) ([]*Tensor, error) {
		mode := Mode(0)
		if of[0].Asks() { // the pass is recorded, too
			mode = Recording
		}
		dx, err := back(of[0], mode)
		return []*Tensor{dx}, err
	}}, []*Tensor{x}, []*Tensor{made})
	return made, nil
}

// sumParts is the row sum, over some of the axes. A row in mode Recording repeats the gradient along these.
func (c *calculator) sumParts(row *op.Row, x *Tensor, at op.Attrs) (*Tensor, error) {
	at = slices.Clone(at)
	axes, kept := slices.Clone(at[op.SumAxis].Ints), slices.Clone(x.Slice())
	for i, a := range axes {
		if a < 0 {
			axes[i] = a + int64(x.Rank)
		}
		kept[axes[i]] = 1
	}
	at[op.SumAxis].Ints = axes
	rt, on, dims := c.rt, c.on, slices.Clone(x.Slice())
	return c.linear(row, x, at, func(dy *Tensor, mode Mode) (*Tensor, error) {
		shaped, err := rt.one(op.IDReshape, dy, op.Attrs{{Kind: op.Ints, Ints: kept}}, mode, on)
		if err != nil {
			return nil, err
		}
		defer rt.Free(shaped.handle)
		return rt.one(op.IDExpand, shaped, op.Attrs{{Kind: op.Ints, Ints: dims}}, mode, on)
	})
}

// spreadParts is the row spread: zeros with x in a part of them.
func (c *calculator) spreadParts(row *op.Row, x *Tensor, at op.Attrs) (*Tensor, error) {
	parts := slices.Clone(at)
	parts[op.SpreadShape].Ints = append(slices.Clone(at[op.SpreadShape].Ints), 2)
	rt, on := c.rt, c.on
	return c.linear(row, x, parts, func(dy *Tensor, mode Mode) (*Tensor, error) {
		cut := make(op.Attrs, len(slicing.Attrs))
		cut[op.SliceAxes], cut[op.SliceStarts] = at[op.SpreadAxes], at[op.SpreadStarts]
		cut[op.SliceEnds], cut[op.SliceSteps] = at[op.SpreadEnds], at[op.SpreadSteps]
		return rt.one(op.IDSlice, dy, cut, mode, on)
	})
}

// indexParts is the row index_reduce that adds: what it adds to passes its gradient on, and the values get what was added to.
func (c *calculator) indexParts(row *op.Row, in []Operand, at op.Attrs) (*Tensor, error) {
	made, err := c.rt.onParts(row, tensorsOf(in), at, c.on)
	if err != nil || !c.mode.has(Recording) {
		return made, err
	}
	rt, on, read := c.rt, c.on, op.ByID(op.IDIndex)
	indices := make([]*Tensor, 0, len(in)-2) // a pass may come when the calculator has freed its own
	for _, x := range in[2:] {
		same, err := x.Tensor.Alias()
		if err != nil {
			rt.freeAll(append(indices, made))
			return nil, err
		}
		indices = append(indices, same)
	}
	rt.Apply(&Function{
		Backward: func(of []*Tensor) ([]*Tensor, error) {
			mode := Mode(0)
			if of[0].Asks() {
				mode = Recording
			}
			dx, err := of[0].Same()
			if err != nil {
				return nil, err
			}
			from := []Operand{{Tensor: of[0]}}
			for _, i := range indices {
				from = append(from, Operand{Tensor: i})
			}
			dy, err := rt.In(mode).Call(read, from, make(op.Attrs, len(read.Attrs)), nil, on)
			if err != nil {
				return []*Tensor{dx, nil}, err
			}
			return []*Tensor{dx, dy[0]}, nil
		},
		Close: func() { rt.freeAll(indices) },
	}, tensorsOf(in[:2]), []*Tensor{made})
	return made, nil
}

// tensorsOf are the tensors of operands.
func tensorsOf(in []Operand) []*Tensor {
	list := make([]*Tensor, len(in))
	for i := range in {
		list[i] = in[i].Tensor
	}
	return list
}

// one is the result of a row with one operand.
func (rt *Runtime) one(id op.ID, x *Tensor, at op.Attrs, mode Mode, on *Stream) (*Tensor, error) {
	made, err := rt.In(mode).Call(op.ByID(id), []Operand{{Tensor: x}}, at, nil, on)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// onComplex runs the calls of rules about complex tensors that no kernel has. It reports whether this was one.
func (c *calculator) onComplex(row *op.Row, in []Operand, at op.Attrs) (made []*Tensor, special bool, err error) {
	if len(in) > 0 && in[0].Tensor != nil && in[0].Tensor.Traced() && in[0].Tensor.dtype.IsComplex() {
		return nil, true, status.Errorf(status.Traced, "[backward] a program does not compute with complex numbers; want the function without jit")
	}
	var t *Tensor
	switch {
	case row.ID == op.IDSum && in[0].Tensor.dtype.IsComplex():
		t, err = c.sumParts(row, in[0].Tensor, at)
	case row.ID == op.IDSpread && in[0].Tensor.dtype.IsComplex():
		t, err = c.spreadParts(row, in[0].Tensor, at)
	case row.ID == op.IDIndexReduce && in[0].Tensor.dtype.IsComplex() && at[op.IndexReduceReduce].Str() == op.Folds[0]:
		t, err = c.indexParts(row, in, at)
	case row.ID == op.IDFull && dtype.DType(at[op.FullDtype].I).IsComplex():
		t, err = c.fullComplex(row, at)
	default:
		return nil, false, nil
	}
	return []*Tensor{t}, true, err
}

// fullComplex is the row full of a complex dtype: a cast of the floats, whose imaginary parts are 0. Rules use it for the
// zeros that they add to, and passes for the ones that they begin with.
func (c *calculator) fullComplex(row *op.Row, at op.Attrs) (*Tensor, error) {
	want := at[op.FullDtype]
	at = slices.Clone(at)
	at[op.FullDtype].I = int64(partsOf(dtype.DType(want.I)))
	floats, err := c.rt.Call(row, nil, at, c.ctx, c.on)
	if err != nil {
		return nil, err
	}
	defer c.rt.Free(floats[0].handle)
	return c.rt.one(op.IDCast, floats[0], op.Attrs{want}, 0, c.on)
}

// zerosLike is zeros of the dtype and shape of a tensor, on its device.
func (rt *Runtime) zerosLike(t *Tensor) (*Tensor, error) {
	c := calculator{rt: rt, ctx: t.store.ctx}
	defer c.free()
	g := op.Gradient{Calculator: &c}
	zeros := g.Full(c.push(operandVar{Operand: Operand{Tensor: t}}), 0)
	if g.Err != nil {
		return nil, g.Err
	}
	return c.take(zeros)
}
