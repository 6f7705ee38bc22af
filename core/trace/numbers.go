package trace

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// Numbers in a function that is traced: small tensors of integers or bools, of one axis or none, on the CPU that the function makes of
// elements, as paddle.shape does of sizes. A call whose operands are all such tensors runs while the function is traced, and so is known:
//
//	n = paddle.shape(x)[0] * 2
//	y = paddle.reshape(x, [n, -1])
//
// Its results are numbers of the same kind: the function makes them anew, with the same elements, whenever it is traced. A program
// for the GPU has no other way to compute with them, as they are on the CPU.

const mostNumbers = 64 // elements; a larger table is worth a node of the program

// IsNumber reports whether the function has made t of elements that no call of the graph changes.
func (tr *Trace) IsNumber(t *runtime.Tensor) bool {
	st := t.Store
	if st.Traced != nil || st.MadeIn != tr.number || st.Context != tr.ctx.Runtime.CPU || st.Strings != nil {
		return false
	}
	if t.Rank > 1 || t.Numel() > mostNumbers || !(t.DType.IsInt() || t.DType == dtype.Bool) {
		return false
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, s := range tr.captured[st] {
		if s.changed {
			return false
		}
	}
	return !tr.ended
}

// areNumbers reports whether all tensors among the operands are numbers.
func (tr *Trace) areNumbers(in []runtime.Operand) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && !tr.IsNumber(t) {
			return false
		}
	}
	return true
}

// Folds reports whether a call for c runs while the function is traced. Random draws do not, as each run makes its own.
// Its results are numbers as well, where their dtype is one of integers or bool.
func (tr *Trace) Folds(row *op.Row, in []runtime.Operand, c *runtime.Context) bool {
	return c == tr.ctx.Runtime.CPU && !row.Random && hasTensor(in) && tr.areNumbers(in)
}

func hasTensor(in []runtime.Operand) bool {
	for i := range in {
		if in[i].Tensor != nil {
			return true
		}
	}
	return false
}

// FoldsInto reports whether a call that writes numbers into numbers runs while the function is traced. It does not once the graph
// reads the output: that call would read what is written after it.
func (tr *Trace) FoldsInto(row *op.Row, in []runtime.Operand, c *runtime.Context, out *runtime.Tensor) bool {
	if c != tr.ctx.Runtime.CPU || row.Random || !tr.IsNumber(out) || !tr.areNumbers(in) {
		return false
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.captured[out.Store]) == 0
}
