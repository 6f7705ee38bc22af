package engine

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// AllContiguous reports whether the elements of each operand lie one behind the other.
//
//go:noinline
func AllContiguous(operands []device.Operand) bool {
	for i := range operands {
		if !operands[i].IsContiguous() {
			return false
		}
	}
	return true
}

// RowAt is elements lo to hi-1 of a contiguous operand. Inlined, it would be three times in each kernel for each type.
// SAFETY: see slice.
//
//go:noinline
func RowAt[T any](o *device.Operand, lo, hi int64) []T {
	return Slice[T](unsafe.Add(o.Addr, lo*int64(unsafe.Sizeof(*new(T)))), hi-lo)
}

// AddressOf is where element i of a contiguous operand lies.
// SAFETY: see slice.
func AddressOf(o *device.Operand, i int64) unsafe.Pointer {
	return unsafe.Add(o.Addr, i*o.DType.Size())
}

// IsScalar reports whether all elements of an operand are the same one in memory, as those of a number that
// was broadcast are.
func IsScalar(o *device.Operand) bool {
	for i, d := range o.Dims[:o.Rank] {
		if d != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}

// Arranged gives the operands of a call with their axes in descending order of the output's strides. The
// order in which elements are computed is free, and this way an operation in place on a transposed tensor
// walks memory forwards. All parts of a call get the same order. Operands that had to be changed are
// appended to room, so that up to its capacity nothing is allocated.
func Arranged(c *device.Call, room []device.Operand) (out *device.Operand, in []device.Operand) {
	out, in = &c.Out[0], c.In
	if out.IsContiguous() {
		return out, in
	}
	var axes [shape.MaxRank]int64
	perm := axes[:out.Rank]
	for i := range perm {
		perm[i] = int64(i)
	}
	slices.SortStableFunc(perm, func(i, j int64) int {
		return int(max(min(Abs(out.Strides[j])-Abs(out.Strides[i]), 1), -1))
	})
	if slices.IsSorted(perm) {
		return out, in
	}
	room = append(room, permuted(out, perm))
	for i := range in {
		room = append(room, permuted(&in[i], perm))
	}
	return &room[0], room[1:]
}

// permuted is an operand with its axes in another order.
func permuted(o *device.Operand, perm []int64) device.Operand {
	p := *o
	p.Layout = o.Permute(perm)
	return p
}

// operand numbers in a product.
const (
	Left = iota
	Right
	Result
)

// OperandAt is an operand of a product by its number.
func OperandAt(c *device.Call, i int) *device.Operand {
	if i == Result {
		return &c.Out[0]
	}
	return &c.In[i]
}
