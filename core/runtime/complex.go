package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Gradients of complex tensors. No kernel computes with complex numbers, but backward passes need some linear functions of
// them: the sum of the gradients of a value that is used twice, that over the axes along which a value was repeated, that
// of elements which were read several times, and zeros with a part in them. Rows that have them say how they are the same
// function of the parts (op.PartsRule), which are floats in the same memory, with one more axis at the end.
//
// The gradient of a complex number has the derivative with respect to its real part as its real part, and that with respect
// to its imaginary part as its imaginary part. What computes with complex numbers, in Python, has rules for that there.

// parts is a view of the real and the imaginary parts along a new last axis. It has no history. The caller frees it.
func (t *Tensor) parts() (*Tensor, error) {
	v := t.view
	if v.Rank == len(v.Dims) {
		return nil, status.Errorf(status.Unsupported, "[backward] a complex gradient has %d axes; want fewer", v.Rank)
	}
	v.Dims[v.Rank], v.Strides[v.Rank] = 1, 1
	v.Rank++
	if err := v.lookAs(t.dtype.Part()); err != nil {
		return nil, err
	}
	return t.share(&v)
}

// whole is a view of parts, a contiguous tensor that a call has made, as complex numbers. The caller frees it.
func (t *Tensor) whole(d dtype.DType) (*Tensor, error) {
	v := t.view
	if err := v.lookAs(d); err != nil {
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

func tensorsOf(in []Operand) []*Tensor {
	list := make([]*Tensor, len(in))
	for i := range in {
		list[i] = in[i].Tensor
	}
	return list
}

// onComplex runs the calls on complex tensors that rows say as calls on their parts. It reports whether this was one. In mode
// Recording it is recorded as the call that the rule made.
func (c *calculator) onComplex(row *op.Row, in []Operand, at op.Attrs) (made []*Tensor, done bool, err error) {
	if len(in) == 0 || in[0].Tensor == nil || !in[0].Tensor.dtype.IsComplex() {
		return nil, false, nil
	}
	x := in[0].Tensor
	if x.Traced() {
		return nil, true, status.Errorf(status.Unsupported, "[backward] a program does not compute with complex numbers; want the function without jit")
	}
	if row.Parts == nil {
		return nil, false, nil
	}
	if err := row.Fill(at); err != nil {
		return nil, true, err
	}
	parts, linear := row.Parts(at, x.Rank)
	if !linear {
		return nil, false, nil
	}
	recording, err := records(row, in, c.mode)
	if err != nil {
		return nil, true, err
	}
	sum, err := c.rt.onParts(row, tensorsOf(in), parts, c.on)
	if made = []*Tensor{sum}; err == nil && recording {
		made, err = c.rt.record(row, in, at, made)
	}
	return made, true, err
}

// zerosLike is zeros of the dtype and shape of a tensor, on its device.
func (rt *Runtime) zerosLike(t *Tensor) (*Tensor, error) {
	c := calculator{rt: rt, ctx: t.store.ctx}
	defer c.free()
	calls := op.Calls{Calculator: &c}
	zeros := calls.Full(c.push(operandVar{Operand: Operand{Tensor: t}}), 0)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return displacedLike(t)(c.take(zeros))
}

func zeros(t *op.Type, c *Context) (*Tensor, error) {
	made, err := c.rt.Call(fill, nil, op.Attrs{
		op.FullShape: {Kind: op.Ints, Ints: t.Shape.Slice()}, op.FullFillValue: {Kind: op.Float},
		op.FullDtype: {Kind: op.DType, I: int64(t.DType)},
	}, c, nil)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// fill is the row that makes a gradient of zeros, where an output has none.
var fill = op.ByID(op.IDFull)
