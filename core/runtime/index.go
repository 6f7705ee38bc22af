package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// IndexKind is the kind of an index item; the numbers are those of the C header.
type IndexKind int32

// The kinds of index items.
const (
	IndexInt IndexKind = iota
	IndexSlice
	IndexNewAxis
	IndexEllipsis
)

// IndexItem is one item between the brackets of x[...]. Has says which bounds of a slice are given: bit 0 for
// Start, bit 1 for Stop, bit 2 for Step. The index of an IndexInt is in Start.
type IndexItem struct {
	Kind              IndexKind
	Has               uint8
	Start, Stop, Step int64
}

// Index makes a view by basic indexing, with the rules of NumPy. Axes beyond the items are kept whole.
func (t *Tensor) Index(items []IndexItem) (*Tensor, error) {
	p := op.Part{Layout: t.Layout}
	left, err := EllipsisAxes(items, t.Rank)
	if err != nil {
		return nil, err
	}
	axis := 0
	for i := range items {
		switch it := &items[i]; it.Kind {
		case IndexEllipsis:
			axis += left
		case IndexNewAxis:
			if p.Rank == shape.MaxRank {
				return nil, status.Errorf(status.Invalid, "[index] the result has %d dimensions; want at most %d", p.Rank+1, shape.MaxRank)
			}
			step := int64(1)
			if axis < p.Rank {
				step = p.Strides[axis] * p.Dims[axis]
			}
			p.Insert(axis)
			p.Strides[axis] = step
			axis++
		case IndexInt:
			if err := selectIndex(&p, axis, it.Start); err != nil {
				return nil, err
			}
		default:
			if err := slice(&p, axis, it); err != nil {
				return nil, err
			}
			axis++
		}
	}
	return t.showing(&p)
}

// showing makes a view of a part of the tensor. It fills the new tensor in place, because a layout is long, and copies of it take
// a good part of what a view takes.
func (t *Tensor) showing(p *op.Part) (*Tensor, error) {
	rt := t.Store.Context.Runtime
	h, u := rt.tensors.New()
	if u == nil {
		return nil, tooManyTensors(rt)
	}
	t.Store.Retain()
	u.Store, u.Addr, u.Offset, u.DType, u.handle = t.Store, at(t.Addr, p.Offset, t.DType), t.Offset+p.Offset, t.DType, h
	u.Layout = p.Layout
	u.DeriveFrom(t)
	return u, nil
}

// EllipsisAxes is the number of axes that an ellipsis covers. It also checks the kinds and number of items.
func EllipsisAxes(items []IndexItem, rank int) (int, error) {
	used, dots := 0, 0
	for i := range items {
		switch items[i].Kind {
		case IndexInt, IndexSlice:
			used++
		case IndexEllipsis:
			dots++
		case IndexNewAxis:
		default:
			return 0, status.Errorf(status.Invalid, "[index] item %d has kind %d; want one of the C header", i, items[i].Kind)
		}
	}
	if dots > 1 {
		return 0, status.Errorf(status.Index, "[index] got %d ellipses; want at most one", dots)
	}
	if used > rank {
		return 0, status.Errorf(status.Index, "[index] got %s for a tensor of %s; want at most one per dimension", status.Count(used, "index item", "index items"), status.Count(rank, "dimension", "dimensions"))
	}
	return rank - used, nil
}

// selectIndex keeps one index of an axis, which may be negative, and removes the axis.
func selectIndex(p *op.Part, axis int, i int64) error {
	n := p.Dims[axis]
	if i < -n || i >= n {
		return status.Errorf(status.Index, "[index] index %d is out of range for axis %d with %d elements", i, axis, n)
	}
	if i < 0 {
		i += n
	}
	p.Offset += i * p.Strides[axis]
	p.Remove(axis)
	return nil
}

// slice keeps a slice of an axis; op.Part.Cut clamps the bounds as Python does.
func slice(p *op.Part, axis int, it *IndexItem) error {
	start, stop, step := it.Bounds(p.Dims[axis])
	if step == 0 {
		return status.Errorf(status.Invalid, "[index] got a slice with step 0; want a step that is not 0")
	}
	p.Cut(axis, start, stop, step)
	return nil
}

// Bounds are those of a slice of an axis of n elements, with what was not given filled in.
func (it *IndexItem) Bounds(n int64) (start, stop, step int64) {
	start, stop, step = 0, n, 1
	if it.Has&4 != 0 {
		step = it.Step
	}
	if step < 0 {
		start, stop = n-1, -n-1 // -n-1 stays before the first element
	}
	if it.Has&1 != 0 {
		start = it.Start
	}
	if it.Has&2 != 0 {
		stop = it.Stop
	}
	return start, stop, step
}

// Bits makes a view of the same bits as elements of another type, as Tensor.View of Paddle does with a dtype.
//
// Nothing is computed or copied: what is written through either view is seen through the other, and work on both is in
// order, because hazards are tracked by storage. Where the sizes of both types differ, the last axis has
// more elements or fewer, and its elements must be neighbours in memory; to become larger ones, they must also come in
// whole groups that begin where such an element may.
func (t *Tensor) Bits(d dtype.DType) (*Tensor, error) {
	if err := t.Store.Context.Supports("view", d); err != nil {
		return nil, err
	}
	v := t.View
	v.DType = d
	// Equal sizes need no more: strides and the offset count elements, and the same elements are where they were.
	if from, to := t.DType.Size(), d.Size(); from != to {
		if t.Rank == 0 {
			return nil, status.Errorf(status.Invalid, "[view] a tensor without dimensions cannot become %s: its elements have %d bytes; want %d", d, from, to)
		}
		if t.Strides[t.Rank-1] != 1 {
			return nil, status.Errorf(status.Invalid, "[view] the last stride is %d; want 1 to view %s as %s", t.Strides[t.Rank-1], t.DType, d)
		}
		if err := v.Resize(from, to); err != nil {
			return nil, err
		}
	}
	if err := t.Store.Known("view"); err != nil {
		return nil, err
	}
	// SAFETY: only its alignment is looked at. Memory of another owner may begin anywhere.
	if at := uintptr(v.Addr); v.Numel() > 0 && at%uintptr(d.Align()) != 0 {
		return nil, status.Errorf(status.Invalid, "[view] the first element lies at address %#x; want a multiple of %d to view it as %s", at, d.Align(), d)
	}
	u, err := t.ShareView(&v)
	if err == nil {
		u.IsView = true
	}
	return u, err
}

// Resize lets a view count elements of `to` bytes where it has counted those of `from`. Its dtype is already the new one.
func (v *View) Resize(from, to int64) error {
	last := v.Rank - 1
	if to < from {
		// Each element becomes n neighbours on the last axis, so that every other distance is n times as long.
		n := from / to
		v.Offset *= n
		v.Dims[last] *= n
		for i := range v.Strides[:last] {
			v.Strides[i] *= n
		}
		return nil
	}
	// The stride of an axis of one element is never followed.
	n := to / from
	whole := v.Offset%n == 0 && v.Dims[last]%n == 0
	for i, stride := range v.Strides[:last] {
		whole = whole && (stride%n == 0 || v.Dims[i] == 1)
	}
	if !whole {
		return status.Errorf(status.Invalid, "[view] shape %s, strides %v and offset %d do not divide into %s; want multiples of %d elements", &v.Shape, v.Strides[:v.Rank], v.Offset, v.DType, n)
	}
	v.Offset /= n
	v.Dims[last] /= n
	for i := range v.Strides[:last] {
		v.Strides[i] /= n
	}
	return nil
}

// LookAs makes the view one of the same memory as elements of another dtype.
func (v *View) LookAs(d dtype.DType) error {
	from := v.DType.Size()
	v.DType = d
	return v.Resize(from, d.Size())
}
