package execute

import (
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Folder is Fold on a runtime, for readers of files.
func Folder(rt *runtime.Runtime) func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	return func(row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) { return Fold(rt, row, at, in) }
}

// Fold runs an operator of constants on the CPU and returns its results as constants, in memory of Go. Random operators are
// refused: their results are no constants.
func Fold(rt *runtime.Runtime, row *op.Row, at op.Attrs, in []op.Known) ([]*op.Const, error) {
	if row.Random {
		return nil, status.Errorf(status.Internal, "[%s] a random operator cannot be folded", row.Name)
	}
	operands := make([]runtime.Operand, len(in))
	for i, x := range in {
		if operands[i].Value = x.Number; x.Const == nil {
			continue
		}
		t, err := tensorOf(rt, x.Const)
		if err != nil {
			return nil, err
		}
		defer rt.Free(t.Handle())
		operands[i] = runtime.Operand{Tensor: t}
	}
	made, err := eager.Call(rt, row, operands, at, rt.CPU, nil)
	if err != nil {
		return nil, err
	}
	defer rt.FreeAll(made)
	out := make([]*op.Const, len(made))
	for i, t := range made {
		if out[i], err = Constant(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// foldPair is Fold for a row without attributes whose result has the type of its first operand. It is computed in the memory of
// the constant, without a copy: weights have many megabytes.
func foldPair(rt *runtime.Runtime, row *op.Row, x, y *op.Const) (*op.Const, error) {
	made, err := newConstant(rt, &x.Type)
	if err != nil {
		return nil, err
	}
	var in [3]runtime.Operand // and the result
	for i, k := range [...]*op.Const{x, y, made} {
		t, err := tensorOf(rt, k)
		if err != nil {
			return nil, err
		}
		defer rt.Free(t.Handle())
		in[i].Tensor = t
	}
	return made, eager.CallInto(rt, row, in[:2], make(op.Attrs, len(row.Attrs)), in[2].Tensor, nil)
}

// newConstant is a constant with memory of Go. The same number of bytes is first allocated from the CPU's allocator and freed
// again: where that fails, so would Go's allocation, which ends the process.
func newConstant(rt *runtime.Runtime, t *op.Type) (*op.Const, error) {
	bytes, err := t.Shape.Bytes(t.DType.Size())
	if err != nil {
		return nil, err
	}
	block, err := rt.CPU.Allocate(bytes, nil)
	if err != nil {
		return nil, err
	}
	rt.CPU.Allocator().Free(block, nil)
	rt.CPU.Level()
	return &op.Const{Type: *t, Bytes: make([]byte, bytes)}, nil
}

// Constants are in memory of Go, or mapped. Kernels want elements at multiples of their size, which files do not promise.

// tensorOf is a tensor of a constant on the CPU, in its memory or, where that is not aligned, a copy. It lives shorter than the
// constant.
func tensorOf(rt *runtime.Runtime, k *op.Const) (*runtime.Tensor, error) {
	if t, err := rt.Borrow(k.DType, k.Shape, k.Bytes); err == nil {
		return t, nil
	}
	s := k.Shape
	v, err := rt.CPU.EmptyView("fold", k.DType, &s, nil)
	if err != nil {
		return nil, err
	}
	copy(v.Memory(), k.Bytes)
	return rt.Adopt(&v)
}
