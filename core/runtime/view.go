package runtime

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// views makes the results of an operator that does no work: other layouts of x's storage, or copies
// of them where the row is Fresh or strides cannot say it.
func (rt *Runtime) views(row *op.Row, x *view, at op.Attrs, s *Stream) (ts []*Tensor, err error) {
	defer func() {
		if err != nil {
			for _, t := range ts {
				rt.Free(t.handle)
			}
			ts = nil
		}
	}()
	var parts []op.Part
	err = row.View(row, &x.Layout, at, &parts)
	if errors.Is(err, op.ErrCopy) {
		whole, err := s.contiguous(x)
		if err != nil {
			return nil, err
		}
		defer whole.store.release()
		return rt.views(row, &whole, at, s)
	}
	if err != nil {
		return nil, err
	}
	for i := range parts {
		v := x.part(parts[i].Offset, &parts[i].Layout)
		if row.Fresh {
			if v, err = s.contiguous(&v); err != nil {
				return ts, err
			}
		} else {
			v.store.retain()
		}
		t, err := rt.adopt(&v)
		if err != nil {
			return ts, err
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// contiguous copies a view into new memory, in row-major order.
func (s *Stream) contiguous(v *view) (view, error) { return s.cast(v, v.dtype) }

// IndexKind is the sort of an index item; the numbers are those of the C header.
type IndexKind int32

// The kinds of index items.
const (
	IndexInt IndexKind = iota
	IndexSlice
	IndexNewAxis
	IndexEllipsis
)

// IndexItem is one item between the brackets. Has says which bounds of a slice were given: bit 0
// Start, bit 1 Stop, bit 2 Step. An integer stands in Start.
type IndexItem struct {
	Kind              IndexKind
	Has               uint8
	Start, Stop, Step int64
}

// Index makes a view by basic indexing, as in Python.
func (t *Tensor) Index(items []IndexItem) (*Tensor, error) {
	p := op.Part{Layout: t.Layout}
	left, err := spare(items, t.Rank)
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
				return nil, status.Errorf(status.Invalid, "[index] the result has more than %d dimensions", shape.MaxRank)
			}
			step := int64(1)
			if axis < p.Rank {
				step = p.Strides[axis] * p.Dims[axis]
			}
			p.Insert(axis)
			p.Strides[axis] = step
			axis++
		case IndexInt:
			if err := pick(&p, axis, it.Start); err != nil {
				return nil, err
			}
		default:
			if err := cut(&p, axis, it); err != nil {
				return nil, err
			}
			axis++
		}
	}
	v := t.part(p.Offset, &p.Layout)
	return t.share(&v)
}

// spare is how many axes an ellipsis stands for; it checks the kinds and the number of items.
func spare(items []IndexItem, rank int) (int, error) {
	used, dots := 0, 0
	for i := range items {
		switch items[i].Kind {
		case IndexInt, IndexSlice:
			used++
		case IndexEllipsis:
			dots++
		case IndexNewAxis:
		default:
			return 0, status.Errorf(status.Invalid, "[index] item %d is of unknown kind %d", i, items[i].Kind)
		}
	}
	if dots > 1 {
		return 0, status.Errorf(status.Index, "[index] got %d ellipses; want at most one", dots)
	}
	if used > rank {
		return 0, status.Errorf(status.Index, "[index] got %d indices for a tensor of %d dimensions", used, rank)
	}
	return rank - used, nil
}

// pick keeps one index of an axis and drops the axis.
func pick(p *op.Part, axis int, i int64) error {
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

// cut keeps a slice of an axis.
func cut(p *op.Part, axis int, it *IndexItem) error {
	step, n := int64(1), p.Dims[axis]
	if it.Has&4 != 0 {
		step = it.Step
	}
	if step == 0 {
		return status.Errorf(status.Invalid, "[index] a slice has step 0; want another step")
	}
	start, stop := int64(0), n
	if step < 0 {
		start, stop = n-1, -n-1 // -n-1 stays before the first element
	}
	if it.Has&1 != 0 {
		start = it.Start
	}
	if it.Has&2 != 0 {
		stop = it.Stop
	}
	p.Cut(axis, start, stop, step)
	return nil
}
