package host

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
)

// indexing reads (index) or writes (index_put) the slices of a tensor that index tensors name:
//
//	index:     out[b..., r...] = x[i0[b], i1[b], ..., r...]
//	index_put: x[i0[b], i1[b], ..., r...] = value[b..., r...]
//
// The tensor that is indexed is In[0] of the one and Out[0] of the other; the other tensor, here
// called list, holds the slices one behind the other. All indices are looked at before anything is
// written.
type indexing struct {
	name  string
	write bool
}

func init() {
	registry.Add("index", dtype.All, kernels.Portable, indexing{"index", false})
	registry.Add("index_put", dtype.All, kernels.Portable, indexing{"index_put", true})
}

// operands tells the tensor that is indexed from the list.
func (k indexing) operands(c *device.Call) (indexed, list *device.Operand) {
	if k.write {
		return &c.Out[0], &c.In[0]
	}
	return &c.In[0], &c.Out[0]
}

func (k indexing) cost(c *device.Call) int64 {
	_, list := k.operands(c)
	return 4 * list.Numel()
}

func (indexing) workspace(*device.Call) int64 { return 0 }

func (k indexing) run(t *threads, c *device.Call) error {
	indices := c.In[1:]
	slices := indices[0].Numel()
	if slices == 0 {
		return nil
	}
	if err := k.check(c, indices); err != nil {
		return err
	}
	_, list := k.operands(c)
	if list.Numel() == 0 {
		return nil
	}
	if k.write {
		return k.part(c, 0, slices) // of equal indices the last wins: in order
	}
	return t.each(k, c, slices, max(grain*slices/(8*list.Numel()), 1))
}

// check refuses an index that is out of range.
func (k indexing) check(c *device.Call, indices []device.Operand) error {
	indexed, _ := k.operands(c)
	f := newFrame()
	defer f.free()
	for axis := range indices {
		size, n := indexed.Dims[axis], indices[axis].Numel()
		f.used = 0
		var from lane[int64]
		from.open(&indices[axis], &longs, f, 0)
		for n > 0 {
			m := min(block, n)
			for _, i := range from.next(m) {
				if i < -size || i >= size {
					return status.Errorf(status.Index, "[%s] index %d is out of range for axis %d of %d elements; want %d to %d", k.name, i, axis, size, -size, size-1)
				}
			}
			n -= m
		}
	}
	return nil
}

// longs reads and writes int64 as they are.
var longs codec[int64]

// part moves slices lo to hi-1.
// SAFETY: the indices have been checked, so each slice lies in the operand.
func (k indexing) part(c *device.Call, lo, hi int64) error {
	indexed, list := k.operands(c)
	indices := c.In[1:]
	size := indexed.DType.Size()
	var at [shape.MaxRank]walk
	for axis := range indices {
		at[axis].start(&indices[axis])
		at[axis].seek(lo)
	}
	b := indices[0].Rank
	slots, line := split(list, b)
	_, slice := split(indexed, len(indices))
	var slot, from, to walk
	slot.begin(list.Addr, size, &slots)
	slot.seek(lo)
	from.begin(nil, size, &slice)
	to.begin(nil, size, &line)
	if k.write {
		from, to = to, from
	}
	n := slice.Numel()
	for ; lo < hi; lo++ {
		offset := int64(0)
		for axis := range indices {
			i := *(*int64)(at[axis].here())
			at[axis].skip(1)
			if i < 0 {
				i += indexed.Dims[axis]
			}
			offset += i * indexed.Strides[axis]
		}
		from.base, to.base = unsafe.Add(indexed.Addr, offset*size), slot.here()
		if k.write {
			from.base, to.base = to.base, from.base
		}
		move(&to, &from, n)
		slot.skip(1)
	}
	return nil
}

// split cuts the layout of an operand before an axis.
func split(o *device.Operand, axis int) (outer, inner shape.Layout) {
	for i := range o.Rank {
		part := &inner
		if i < axis {
			part = &outer
		}
		part.Append(o.Dims[i])
		part.Strides[part.Rank-1] = o.Strides[i]
	}
	return outer, inner
}
