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

// Products of 8-bit integers. Those of matmul have elements of the operands, the low bits of a sum; those of matmul_integer
// are of int32, of operands with a zero point each of which may be signed or not. Both are the kernel of matmul with
// [lowprec.MatMul8] in its middle.

func init() {
	rows, cols := lowprec.MatMul8Tile()
	tile := [2]int64{int64(rows), int64(cols)}
	bytes := dtype.SetOf(dtype.Uint8, dtype.Int8)
	for _, id := range []op.ID{op.IDMatmul, op.IDMatmulInteger} {
		engine.RegisterSet(id, bytes, &Matmul{native: true, Multiply: multiplyBytes, tile: tile})
		engine.Registry.Add(engine.Variant{
			Op: id, DTypes: bytes, Priority: kernels.Special,
			Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) { return 0, IsWeight(&c.In[engine.Right]) },
			Make: func(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
				known, err := packBytes(t, &c.In[engine.Right])
				if err != nil {
					return nil, err
				}
				return &Matmul{native: true, Known: known, tile: tile}, nil
			},
		})
	}
}

// multiplyBytes is the product for integers of the dtypes of a call.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func multiplyBytes(j *Multiplication, c, a, b unsafe.Pointer, m, n, k, lda, ldb, ldc int64) bool {
	y, x, sums := BytesAt(b, k, n, ldb, j.Operands[engine.Right].DType), j.left(a, m, lda), j.sums(c, m, n, ldc)
	return lowprec.MatMul8(&sums, &x, &y, int(m), int(n), int(k))
}

// packBytes lays out a constant for such products.
// SAFETY: unrollConstant gets memory for all elements; the addresses are those of the first elements of matrices that lie in
// their operands.
func packBytes(t *engine.Threads, o *device.Operand) (*constant, error) {
	k, n := o.Dims[o.Rank-2], o.Dims[o.Rank-1]
	whole := make([]uint8, k*n)
	if err := unrollConstant(t, o, unsafe.Pointer(&whole[0]), o.DType); err != nil {
		return nil, err
	}
	packed := lowprec.NewPackedRight8(&lowprec.Bytes{Data: whole, Step: int(n), Signed: o.DType == dtype.Int8}, int(k), int(n))
	if packed == nil {
		return nil, constantDoesNotFit(k, n)
	}
	return &constant{func(j *Multiplication, c, a unsafe.Pointer, m, from, n, lda, ldc int64) bool {
		x, sums := j.left(a, m, lda), j.sums(c, m, n, ldc)
		return packed.MatMul(&sums, &x, int(m), int(from), int(n))
	}, packed.Bytes()}, nil
}

// left is the left operand from an address on.
// SAFETY: as for multiplyBytes.
func (j *Multiplication) left(a unsafe.Pointer, m, lda int64) lowprec.Bytes {
	x := BytesAt(a, m, j.k, lda, j.Operands[engine.Left].DType)
	x.Zero = j.zero
	return x
}

// sums is the result from an address on.
// SAFETY: the address is that of the first element of a matrix that lies in its operand.
func (j *Multiplication) sums(c unsafe.Pointer, m, n, ldc int64) lowprec.Sums {
	if j.Operands[engine.Result].DType == dtype.Int32 {
		return lowprec.Sums{Wide: Matrix[int32](c, m, n, ldc), Step: int(ldc)}
	}
	return lowprec.Sums{Low: Matrix[uint8](c, m, n, ldc), Step: int(ldc)}
}

// BytesAt is a matrix of 8-bit integers in memory.
// SAFETY: as for sums.
func BytesAt(at unsafe.Pointer, rows, cols, step int64, d dtype.DType) lowprec.Bytes {
	return lowprec.Bytes{Data: Matrix[uint8](at, rows, cols, step), Step: int(step), Signed: d == dtype.Int8}
}

// ZeroPoint is the zero point of a call that has one, an 8-bit integer behind its two operands; else 0.
// SAFETY: the operand has one element.
func ZeroPoint(c *device.Call) int32 {
	switch {
	case len(c.In) < 3 || c.In[2].DType == dtype.Invalid:
		return 0
	case c.In[2].DType == dtype.Int8:
		return int32(*(*int8)(c.In[2].Addr))
	}
	return int32(*(*uint8)(c.In[2].Addr))
}
