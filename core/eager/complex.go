package eager

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Gradients of complex tensors. No kernel computes with complex numbers, but backward passes need some linear functions of
// them: the sum of the gradients of a value that is used twice, that over the axes along which a value was repeated, that
// of elements which were read several times, and zeros with a part in them. Rows that have them say how they are the same
// function of the parts (op.PartsRule), which are floats in the same memory, with one more axis at the end.
//
// The gradient of a complex number has the derivative with respect to its real part as its real part, and that with respect
// to its imaginary part as its imaginary part. What computes with complex numbers, in Python, has rules for that there.

// complexParts is a view of the real and the imaginary parts along a new last axis. It has no history. The caller frees it.
func complexParts(t *runtime.Tensor) (*runtime.Tensor, error) {
	v := t.View
	if v.Rank == len(v.Dims) {
		return nil, status.Errorf(status.Unsupported, "[backward] a complex gradient has %d axes; want fewer", v.Rank)
	}
	v.Dims[v.Rank], v.Strides[v.Rank] = 1, 1
	v.Rank++
	if err := v.LookAs(t.DType.Part()); err != nil {
		return nil, err
	}
	return t.ShareView(&v)
}

// complexWhole is a view of parts, a contiguous tensor that a call has made, as complex numbers. The caller frees it.
func complexWhole(t *runtime.Tensor, d dtype.DType) (*runtime.Tensor, error) {
	v := t.View
	if err := v.LookAs(d); err != nil {
		return nil, err
	}
	v.Rank--
	v.Dims[v.Rank], v.Strides[v.Rank] = 0, 0
	return t.ShareView(&v)
}

// onParts calls a row on the parts of complex tensors, of the dtype of the first one, and on other tensors as they are. The
// result is complex, and has no history.
func onParts(rt *runtime.Runtime, row *op.Row, in []*runtime.Tensor, at op.Attrs, on *runtime.Stream) (*runtime.Tensor, error) {
	operands := make([]runtime.Operand, len(in))
	for i, t := range in {
		if !t.DType.IsComplex() {
			operands[i].Tensor = t
			continue
		}
		p, err := complexParts(t)
		if err != nil {
			return nil, err
		}
		defer rt.Free(p.Handle())
		operands[i].Tensor = p
	}
	made, err := Call(rt, row, operands, at, nil, on)
	if err != nil {
		return nil, err
	}
	defer rt.Free(made[0].Handle())
	return complexWhole(made[0], in[0].DType)
}

func tensorsOf(in []runtime.Operand) []*runtime.Tensor {
	list := make([]*runtime.Tensor, len(in))
	for i := range in {
		list[i] = in[i].Tensor
	}
	return list
}

// OnComplex runs the calls on complex tensors that rows say as calls on their parts. It reports whether this was one. In mode
// Recording it is recorded as the call that the rule made.
func (c *Calculator) OnComplex(row *op.Row, in []runtime.Operand, at op.Attrs) (made []*runtime.Tensor, done bool, err error) {
	if len(in) == 0 || in[0].Tensor == nil || !in[0].Tensor.DType.IsComplex() {
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
	recording, err := records(row, in, c.Mode)
	if err != nil {
		return nil, true, err
	}
	sum, err := onParts(c.Runtime, row, tensorsOf(in), parts, c.Stream)
	if made = []*runtime.Tensor{sum}; err == nil && recording {
		made, err = record(c.Runtime, row, in, at, made)
	}
	return made, true, err
}

// ZerosLike is zeros of the dtype and shape of a tensor, on its device.
func ZerosLike(rt *runtime.Runtime, t *runtime.Tensor) (*runtime.Tensor, error) {
	c := Calculator{Runtime: rt, Context: t.Store.Context}
	defer c.Free()
	calls := op.Calls{Calculator: &c}
	zeros := calls.Full(c.Push(Variable{Operand: runtime.Operand{Tensor: t}}), 0)
	if calls.Err != nil {
		return nil, calls.Err
	}
	return DisplacedLike(t)(c.Take(zeros))
}

// Zeros are zeros of a type, on a device.
func Zeros(t *op.Type, c *runtime.Context) (*runtime.Tensor, error) {
	made, err := Call(c.Runtime, fill, nil, op.Attrs{
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
