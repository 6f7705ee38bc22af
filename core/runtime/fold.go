package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Folder is Fold on a runtime, for readers of files.
func Folder(rt *Runtime) func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	return func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) { return rt.Fold(row, at, in) }
}

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

// foldPair is Fold for a row without attributes whose result has the type of its first operand. It is computed in the memory of
// the constant, without a copy: weights have many megabytes.
func (rt *Runtime) foldPair(row *op.Row, x, y *op.Const) (*op.Const, error) {
	made, err := rt.newConstant(&x.Type)
	if err != nil {
		return nil, err
	}
	var in [3]Operand // and the result
	for i, k := range [...]*op.Const{x, y, made} {
		t, err := rt.tensorOf(k)
		if err != nil {
			return nil, err
		}
		defer rt.Free(t.handle)
		in[i].Tensor = t
	}
	return made, rt.CallInto(row, in[:2], make(op.Attrs, len(row.Attrs)), in[2].Tensor, nil)
}

// newConstant is a constant with memory of Go. The same number of bytes is first allocated from the CPU's allocator and freed
// again: where that fails, so would Go's allocation, which ends the process.
func (rt *Runtime) newConstant(t *op.Type) (*op.Const, error) {
	bytes, err := t.Shape.Bytes(t.DType.Size())
	if err != nil {
		return nil, err
	}
	block, err := rt.cpu.allocate(bytes, nil)
	if err != nil {
		return nil, err
	}
	rt.cpu.memory.Free(block, nil)
	rt.cpu.level()
	return &op.Const{Type: *t, Bytes: make([]byte, bytes)}, nil
}

// Constants are in memory of Go, or mapped. Kernels want elements at multiples of their size, which files do not promise.

// tensorOf is a tensor of a constant on the CPU, in its memory or, where that is not aligned, a copy. It lives shorter than the
// constant.
func (rt *Runtime) tensorOf(k *op.Const) (*Tensor, error) {
	if t, err := rt.Borrow(k.DType, k.Shape, k.Bytes); err == nil {
		return t, nil
	}
	s := k.Shape
	v, err := rt.cpu.empty("fold", k.DType, &s, nil)
	if err != nil {
		return nil, err
	}
	copy(v.bytes(), k.Bytes)
	return rt.adopt(&v)
}
