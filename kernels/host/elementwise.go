package host

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// mapped is what the kernels of elementwise operators share: out[i] is a function of the elements i
// of the inputs. A kernel computes whole rows of type C to rows of type D.
type mapped[D, C any] struct {
	in     *codec[C]
	out    *codec[D]
	native bool  // neither codec does anything
	weight int64 // cost of an element, in additions
	least  int64 // elements that are worth a thread
}

func mapping[D, C any](in *codec[C], out *codec[D], weight int64) mapped[D, C] {
	return mapped[D, C]{in, out, in.load == nil && out.store == nil, weight, grain / weight}
}

// plain is a mapping whose rows are the elements themselves.
func plain[D, C any](weight int64) mapped[D, C] {
	return mapping(new(codec[C]), new(codec[D]), weight)
}

func (m *mapped[D, C]) cost(c *device.Call) int64    { return c.Out[0].Numel() * m.weight }
func (m *mapped[D, C]) workspace(*device.Call) int64 { return 0 }

// elements does all elements of the output.
func (m *mapped[D, C]) elements(work splitter, t *threads, c *device.Call) error {
	n := c.Out[0].Numel()
	if n == 0 {
		return nil
	}
	return t.each(work, c, n, m.least)
}

// rowAt is elements lo to hi-1 of a contiguous operand.
// SAFETY: see slice.
func rowAt[T any](o *device.Operand, lo, hi int64) []T {
	return slice[T](unsafe.Add(o.Addr, lo*int64(unsafe.Sizeof(*new(T)))), hi-lo)
}

// isScalar reports whether all elements of an operand are the same one in memory.
func isScalar(o *device.Operand) bool {
	for i, d := range o.Dims[:o.Rank] {
		if d != 1 && o.Strides[i] != 0 {
			return false
		}
	}
	return true
}

// arranged gives the operands of a call with their axes in descending order of the output's
// strides. The order in which elements are computed is free, and this way an operation in place on
// a transposed tensor walks memory forwards. All parts of a call get the same order.
func arranged(c *device.Call, store *[4]device.Operand) (out *device.Operand, in []device.Operand) {
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
	store[0] = permuted(out, perm)
	for i := range in {
		store[i+1] = permuted(&in[i], perm)
	}
	return &store[0], store[1 : 1+len(in)]
}

func permuted(o *device.Operand, perm []int64) device.Operand {
	p := *o
	p.Layout = o.Permute(perm)
	return p
}

func abs[T signed | float32 | float64](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

type signed interface {
	int8 | int16 | int32 | int64
}

type integer interface{ signed | uint8 }

type number interface{ integer | float32 | float64 }
