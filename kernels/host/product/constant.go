package product

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// constant is a right operand of matmul that was known when the kernel was made, laid out as the loops
// of the product read it. Weights of a model are converted and packed once, not in every strip of every
// run, and a run does not look at the operand.
type constant struct {
	product func(j *Multiplication, c, a unsafe.Pointer, m, from, n, lda, ldc int64) bool // with columns from to from+n-1
	size    int64                                                                         // bytes
}

// Bytes is the packed operand of a kernel that has one.
func (k *Matmul) Bytes() int64 {
	if k.Known == nil {
		return 0
	}
	return k.Known.size
}

// HoldsWeight: see engine.WeightHolder.
func (k *Matmul) HoldsWeight() bool { return k.Known != nil }

// registerConstant adds the variant of matmul for a constant right operand beside the portable one.
func registerConstant(d dtype.DType, tile [2]int64) {
	engine.Registry.Add(engine.Variant{
		Op: op.IDMatmul, DTypes: dtype.SetOf(d), Priority: kernels.Special,
		Accepts: func(_ *engine.Threads, c *device.Call) (uint64, bool) { return 0, IsWeight(&c.In[engine.Right]) },
		Make: func(t *engine.Threads, c *device.Call, _ uint64) (engine.Kernel, error) {
			known, err := packConstant(t, &c.In[engine.Right])
			if err != nil {
				return nil, err
			}
			return &Matmul{dtype: dtype.Float32, native: d == dtype.Float32, Known: known, tile: tile}, nil
		},
	})
}

// IsWeight reports whether an operand of matmul is one matrix, perhaps repeated, of known elements. No
// operand of a call is, so calls never share a kernel that has been made for one.
func IsWeight(o *device.Operand) bool {
	if o.Const == nil || o.Dims[o.Rank-2] == 0 || o.Dims[o.Rank-1] == 0 {
		return false
	}
	for i := range o.Rank - 2 {
		if o.Dims[i] != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}

// packConstant is PackRight as the operand of matmul.
// SAFETY: the addresses are those of the first elements of matrices that lie in their operands.
func packConstant(t *engine.Threads, o *device.Operand) (*constant, error) {
	packed, err := PackRight(t, o, 1)
	if err != nil {
		return nil, err
	}
	return &constant{func(j *Multiplication, c, a unsafe.Pointer, m, from, n, lda, ldc int64) bool {
		return packed.MatMul(Matrix[float32](c, m, n, ldc), Matrix[float32](a, m, j.k, lda), int(m), int(from), int(n), int(lda), int(ldc))
	}, packed.Bytes()}, nil
}

// Panels are a tensor, of which a panel is the first axis and a row of it the last, so that one copy of all of them converts,
// transposes and lays out a matrix in any layout. What is left for the last one, of fewer columns, is a copy of its own.

// PackRight lays out the matrix of an operand for products, in float32. Its columns are the last axis, and its rows so many axes
// in front of that.
// SAFETY: the layout of the operand lies in its Const, and the panels in their slice.
func PackRight(t *engine.Threads, o *device.Operand, axes int) (*gemm.PackedRight, error) {
	last, rows := o.Rank-1, int64(1)
	cols, across := o.Dims[last], o.Strides[last]
	for _, d := range o.Dims[last-axes : last] {
		rows *= d
	}
	packed := gemm.NewPackedRight(int(rows), int(cols))
	if packed == nil {
		return nil, status.Errorf(status.Internal, "[matmul] got a constant of %d x %d elements; want sizes of 0 or more", rows, cols)
	}
	panels, n := packed.Panels()
	width, stride := int64(n), int64(n)
	for first := int64(0); first < cols; first += cols / width * width {
		if cols-first < width {
			width = cols - first
		}
		from := device.Operand{Addr: unsafe.Add(unsafe.Pointer(&o.Const[0]), first*across*o.DType.Size()), DType: o.DType}
		from.Rank = axes + 2
		copy(from.Dims[1:], o.Dims[last-axes:last])
		copy(from.Strides[1:], o.Strides[last-axes:last])
		from.Dims[0], from.Strides[0] = (cols-first)/width, across*width
		from.Dims[axes+1], from.Strides[axes+1] = width, across
		to := device.Operand{Addr: unsafe.Pointer(&panels[first*rows]), DType: dtype.Float32, Layout: from.Layout}
		step := stride
		for axis := axes; axis >= 0; axis-- {
			to.Strides[axis] = step
			step *= to.Dims[axis]
		}
		to.Strides[axes+1] = 1
		if err := elem.Casts[o.DType][dtype.Float32].Run(t, &device.Call{In: []device.Operand{from}, Out: []device.Operand{to}}); err != nil {
			return nil, err
		}
	}
	return packed, nil
}

// constantDoesNotFit is the error of a constant whose layout is not in its memory.
func constantDoesNotFit(rows, cols int64) error {
	return status.Errorf(status.Internal, "[matmul] got a constant of %d x %d elements that does not fit its memory", rows, cols)
}

// unrollConstant writes the matrix of an operand row by row to memory, which has room for it, as elements of dtype d.
// SAFETY: the layout of the operand lies in its Const.
func unrollConstant(t *engine.Threads, o *device.Operand, to unsafe.Pointer, d dtype.DType) error {
	from := device.Operand{Addr: unsafe.Pointer(&o.Const[0]), DType: o.DType}
	from.Layout = shape.Layout{Shape: shape.Shape{Rank: 2, Dims: [shape.MaxRank]int64{o.Dims[o.Rank-2], o.Dims[o.Rank-1]}}}
	from.Strides[0], from.Strides[1] = o.Strides[o.Rank-2], o.Strides[o.Rank-1]
	whole := device.Operand{Addr: to, DType: d, Layout: shape.Contiguous(from.Shape)}
	return elem.Casts[o.DType][d].Run(t, &device.Call{In: []device.Operand{from}, Out: []device.Operand{whole}})
}

var (
	_ engine.Stateful     = (*Matmul)(nil)
	_ engine.WeightHolder = (*Matmul)(nil)
)
