package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Fold runs an operator of constants on the CPU and returns its results as constants, in memory of Go. Random operators are
// refused: their results are no constants.
func (rt *Runtime) Fold(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	if row.Random {
		return nil, status.Errorf(status.Internal, "[%s] a random operator cannot be folded", row.Name)
	}
	operands := make([]Operand, len(in))
	for i, x := range in {
		if operands[i].Value = x.Number; x.Const == nil {
			continue
		}
		t, err := rt.tensorOf(x.Const)
		if err != nil {
			return nil, err
		}
		defer rt.Free(t.handle)
		operands[i] = Operand{Tensor: t}
	}
	made, err := rt.Call(row, operands, at, rt.cpu, nil)
	if err != nil {
		return nil, err
	}
	defer rt.freeAll(made)
	out := make([]*op.Const, len(made))
	for i, t := range made {
		if out[i], err = t.Constant(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Constants are in memory of Go, or mapped; kernels want the alignment of the allocator.

// tensorOf is a copy of a constant on the CPU.
func (rt *Runtime) tensorOf(k *op.Const) (*Tensor, error) {
	s := k.Shape
	v, err := rt.cpu.empty("fold", k.DType, &s, nil)
	if err != nil {
		return nil, err
	}
	copy(v.bytes(), k.Bytes)
	return rt.adopt(&v)
}
