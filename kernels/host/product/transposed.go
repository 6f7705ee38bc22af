package product

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// Products of a left operand that is a transpose, as those that gradients of weights are: x' dy. Its columns are read where they lie,
// so that it takes no room in the workspace, which would be as long as the operand and there at the peak of a training step.

// multiplyTurned is multiply for a left operand of float32 with columns that begin lda apart.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func multiplyTurned(c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool {
	return gemm.MatMulTransposed(Matrix[float32](c, m, n, ldc), Matrix[float32](a, k, m, lda), Matrix[float32](b, k, n, ldb), int(m), int(n), int(k), int(lda), int(ldb), int(ldc))
}

// isTurned reports whether an operand is a left one that is multiplied as the transpose that it is. Of fewer rows than a tile has,
// packing the right operand would cost more than a copy of the left one.
//
//go:noinline
func (k *Matmul) isTurned(i int, o *device.Operand) bool {
	rows, cols := o.Rank-2, o.Rank-1
	return i == engine.Left && k.native && k.dtype == dtype.Float32 && k.Known == nil && o.Dims[rows] >= k.tile[0] && o.Dims[cols] > 1 &&
		o.Strides[rows] == 1 && o.Strides[cols] >= o.Dims[rows]
}

// rowsBefore is the elements between the first row of the left operand and another.
func (j *Multiplication) rowsBefore(row int64) int64 {
	if j.isTurned(engine.Left, &j.Operands[engine.Left]) {
		return row
	}
	return row * j.step(engine.Left)
}
