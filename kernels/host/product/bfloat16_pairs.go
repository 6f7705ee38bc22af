package product

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/lowprec"
)

// Products of bfloat16 by processors that multiply pairs of them: operands and result are not converted, and weights take half
// the memory. They are the kernel of matmul with [lowprec.MatMulBF16] in its middle, and come before the one of float32.

// registerPairs adds the variants for operands of a call and for a constant one.
func registerPairs() {
	halves := dtype.SetOf(dtype.BFloat16)
	engine.Registry.Add(engine.Variant{
		Op: op.IDMatmul, DTypes: halves, Priority: kernels.Special,
		Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) {
			return 0, lowprec.HasBF16() && !IsWeight(&c.In[engine.Right])
		},
		Make: func(*engine.Threads, *device.Call, uint64) (engine.Kernel, error) {
			return &Matmul{dtype: dtype.BFloat16, native: true, Multiply: multiplying(lowprec.MatMulBF16), tile: pairTile()}, nil
		},
	})
	engine.Registry.Add(engine.Variant{
		Op: op.IDMatmul, DTypes: halves, Priority: kernels.Special + 1,
		Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) {
			return 0, lowprec.HasBF16() && IsWeight(&c.In[engine.Right])
		},
		Make: func(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
			known, err := packPairs(t, &c.In[engine.Right])
			if err != nil {
				return nil, err
			}
			return &Matmul{dtype: dtype.BFloat16, native: true, Known: known, tile: pairTile()}, nil
		},
	})
}

// pairTile is asked for when a kernel is made, not before: see [lowprec.BF16Tile].
func pairTile() [2]int64 {
	rows, cols := lowprec.BF16Tile()
	return [2]int64{int64(rows), int64(cols)}
}

// packPairs lays out a constant for such products.
// SAFETY: whole has room for all elements; the addresses are those of the first elements of matrices that lie in their operands.
func packPairs(t *engine.Threads, o *device.Operand) (*constant, error) {
	k, n := o.Dims[o.Rank-2], o.Dims[o.Rank-1]
	whole := make([]uint16, k*n)
	if err := unrollConstant(t, o, unsafe.Pointer(&whole[0]), o.DType); err != nil {
		return nil, err
	}
	packed := lowprec.NewPackedRightBF16(whole, int(k), int(n), int(n))
	if packed == nil {
		return nil, constantDoesNotFit(k, n)
	}
	return &constant{func(j *Multiplication, c, a unsafe.Pointer, m, from, n, lda, ldc int64) bool {
		return packed.MatMul(Matrix[uint16](c, m, n, ldc), Matrix[uint16](a, m, j.k, lda), int(m), int(from), int(n), int(lda), int(ldc))
	}, packed.Bytes()}, nil
}
