package host

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// effort is what elements of an elementwise kernel cost, in which out[i] is a function of the elements i of the inputs.
type effort struct {
	native bool        // neither coding does anything
	weight int64       // cost of an element, in additions
	past   elementwise // see pastCache
}

// effortOf describes a kernel by how elements are read and written and what one costs.
func effortOf(in, out coding, weight int64) effort {
	return effort{native: in.read == nil && out.write == nil, weight: weight}
}

// cost counts the weight for each element.
func (e *effort) cost(c *device.Call) int64    { return c.Out[0].Numel() * e.weight }
func (e *effort) workspace(*device.Call) int64 { return 0 }
func (e *effort) perElement() bool             { return true }

// elements does all elements of the output. Operands that are walked block by block cost four times as much, which is looked at
// only where it may decide how many threads take part.
func (e *effort) elements(work splitter, t *threads, c *device.Call) error {
	cost := e.cost(c)
	if cost >= grain/2 && cost < 2*rousal && !(contiguous(c.Out) && contiguous(c.In)) {
		cost *= 4
	}
	if e.past != nil && exceedsCache(&c.Out[0]) {
		work = streamed{e.past}
	}
	return t.each(work, c, c.Out[0].Numel(), cost)
}

// contiguous reports whether the elements of each operand lie one behind the other, or are all the same one.
func contiguous(operands []device.Operand) bool {
	for i := range operands {
		if o := &operands[i]; !o.IsContiguous() && !isScalar(o) {
			return false
		}
	}
	return true
}

// allContiguous reports whether the elements of each operand lie one behind the other.
//
//go:noinline
func allContiguous(operands []device.Operand) bool {
	for i := range operands {
		if !operands[i].IsContiguous() {
			return false
		}
	}
	return true
}

// rowAt is elements lo to hi-1 of a contiguous operand. Inlined, it would be three times in each kernel for each type.
// SAFETY: see slice.
//
//go:noinline
func rowAt[T any](o *device.Operand, lo, hi int64) []T {
	return slice[T](unsafe.Add(o.Addr, lo*int64(unsafe.Sizeof(*new(T)))), hi-lo)
}

// addressOf is where element i of a contiguous operand lies.
// SAFETY: see slice.
func addressOf(o *device.Operand, i int64) unsafe.Pointer {
	return unsafe.Add(o.Addr, i*o.DType.Size())
}

// isScalar reports whether all elements of an operand are the same one in memory, as those of a number that
// was broadcast are.
func isScalar(o *device.Operand) bool {
	for i, d := range o.Dims[:o.Rank] {
		if d != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}

// arranged gives the operands of a call with their axes in descending order of the output's strides. The
// order in which elements are computed is free, and this way an operation in place on a transposed tensor
// walks memory forwards. All parts of a call get the same order. Operands that had to be changed are
// appended to room, so that up to its capacity nothing is allocated.
func arranged(c *device.Call, room []device.Operand) (out *device.Operand, in []device.Operand) {
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
		return int(max(min(abs(out.Strides[j])-abs(out.Strides[i]), 1), -1))
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

// abs wraps around: that of the smallest integer is itself.
func abs[T signed | float32 | float64](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// signed are the integer types that can be negative.
type signed interface {
	int8 | int16 | int32 | int64
}

// integer are the types of all integer dtypes; bools are stored as uint8 too.
type integer interface{ signed | uint8 }

// number are all types that kernels compare and combine.
type number interface{ integer | float32 | float64 }
