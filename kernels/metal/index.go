package metal

import (
	"encoding/binary"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// indexing reads (index) or writes (index_put) the slices of a tensor that index tensors name; see
// index.metal. The tensor is In[0] of the one and Out[0] of the other; the other of the two, here called
// list, holds the slices one behind the other.
type indexing struct {
	variants
	write   bool
	size    int64 // of an element
	tensors int   // of indices
}

// mostTensors is how many index tensors a dispatch has room for; a tensor has no more axes.
const mostTensors = shape.MaxRank

func init() {
	for name, write := range map[string]bool{"index": false, "index_put": true} {
		shaders.Add(name, elements, kernels.Portable, way{
			class: func(_ *Device, c *device.Call) (uint64, bool) { return uint64(len(c.In)), len(c.In) <= mostTensors+1 },
			make: func(d *Device, c *device.Call) (kernel, error) {
				k := &indexing{write: write, size: c.In[0].DType.Size(), tensors: len(c.In) - 1}
				k.device = d
				return k, nil
			},
		})
	}
}

// The kernels of index.metal.
const (
	indexCheck = iota
	indexTake
	indexClear
	indexClaim
	indexPut
)

var indexNames = []string{indexCheck: "check", indexTake: "take", indexClear: "clear", indexClaim: "claim", indexPut: "put"}

// operands tells the tensor that is indexed from the list.
func (k *indexing) operands(c *device.Call) (x, list *device.Operand) {
	if k.write {
		return &c.Out[0], &c.In[0]
	}
	return &c.In[0], &c.Out[0]
}

// places is how many slices the indexed tensor has.
func (k *indexing) places(c *device.Call) int64 {
	x, _ := k.operands(c)
	n := int64(1)
	for _, d := range x.Dims[:k.tensors] {
		n *= d
	}
	return n
}

// workspace has a number for each place, of the slice that goes there.
func (k *indexing) workspace(c *device.Call) int64 {
	if !k.write {
		return 0
	}
	return 4 * max(k.places(c), 1)
}

func (k *indexing) encode(b *batch, c *device.Call) error {
	x, list := k.operands(c)
	slices := c.In[1].Numel()
	if slices == 0 {
		return nil
	}
	if err := numbered(x, list, &c.In[1]); err != nil {
		return err
	}
	key := wideness(x, list)
	for i := range c.In[1:] {
		key |= wideness(&c.In[i+1])
	}
	p, err := k.get(key, indexNames, func() (string, error) { return msl.Index(k.size, k.tensors, wide(key)), nil })
	if err != nil {
		return err
	}
	run := func(which int, threads int64) error {
		d := b.arguments()
		if err := k.bind(d, b, c, key); err != nil {
			return err
		}
		p[which].line(d, uint64(max(threads, 1)))
		return b.dispatch(p[which].state, d)
	}
	if err := run(indexCheck, slices); err != nil {
		return err
	}
	if !k.write {
		return run(indexTake, list.Numel())
	}
	if err := run(indexClear, k.places(c)); err != nil {
		return err
	}
	if err := run(indexClaim, slices); err != nil {
		return err
	}
	return run(indexPut, list.Numel())
}

// bind makes the arguments that all kernels of index.metal have.
func (k *indexing) bind(d *objc.Dispatch, b *batch, c *device.Call, key uint64) error {
	words, offset, err := b.word()
	if err != nil {
		return err
	}
	x, list := k.operands(c)
	base, err := placeOr(d, x, words, offset)
	if err != nil {
		return err
	}
	first, err := placeOr(d, list, words, offset)
	if err != nil {
		return err
	}
	if k.write {
		err = bindScratch(d, c)
	} else {
		d.Bind(objc.ID(words), offset)
	}
	if err != nil {
		return err
	}
	d.Bind(objc.ID(words), offset)
	var spans [mostTensors]span
	for i := range k.tensors {
		s, ok := locate(&c.In[i+1])
		if !ok {
			return status.Errorf(status.Unsupported, "got indices in memory that the GPU does not have")
		}
		spans[i] = s
	}
	k.bindIndices(d, c, spans[:k.tensors], key)
	slots := joined(&list.Layout)
	_, slice := cut(x, k.tensors)
	bindWalk(d, &slots, first, key)
	bindWalk(d, &slice, base, key)
	bindCounts(d, slice.Numel(), list.Numel())
	for _, s := range spans[:k.tensors] {
		d.Bind(objc.ID(s.buffer), s.offset)
	}
	return nil
}

// placeOr is place, but of an operand without elements, which has no memory, it binds other memory.
func placeOr(d *objc.Dispatch, o *device.Operand, other mtl.Buffer, offset uint64) (first int64, err error) {
	if o.Numel() == 0 {
		d.Bind(objc.ID(other), offset)
		return 0, nil
	}
	return place(d, o)
}

// bindIndices makes an Indices the next argument: the shape that the index tensors have in common, how each
// lies, and the axes of x that they count along.
func (k *indexing) bindIndices(d *objc.Dispatch, c *device.Call, spans []span, key uint64) {
	x, _ := k.operands(c)
	common := &c.In[1]
	offset := 4 + 4*int(key)
	block := d.Constant(4 + 4*shape.MaxRank + k.tensors*offset*(3+shape.MaxRank))
	binary.LittleEndian.PutUint32(block, uint32(common.Rank))
	for i := range shape.MaxRank {
		binary.LittleEndian.PutUint32(block[4+4*i:], uint32(max(common.Dims[i], 1)))
	}
	at := block[:4+4*shape.MaxRank]
	for _, s := range spans {
		at = appendOffset(at, s.first, key)
	}
	for i := range spans {
		for axis := range shape.MaxRank {
			at = appendOffset(at, c.In[i+1].Strides[axis], key)
		}
	}
	for i := range spans {
		at = appendOffset(at, x.Dims[i], key)
	}
	for i := range spans {
		at = appendOffset(at, x.Strides[i], key)
	}
}

// cut cuts the layout of an operand before an axis.
func cut(o *device.Operand, axis int) (outer, inner shape.Layout) {
	for i := range o.Rank {
		part := &inner
		if i < axis {
			part = &outer
		}
		part.Append(o.Dims[i])
		part.Strides[part.Rank-1] = o.Strides[i]
	}
	return joined(&outer), joined(&inner)
}

// finish hears whether an index was out of range.
func (k *indexing) finish(c *device.Call, w word) error {
	if w[0] == 0 {
		return nil
	}
	x, _ := k.operands(c)
	axis, i := w[1], int64(uint64(w[3])<<32|uint64(w[2]))
	size := x.Dims[axis]
	return status.Errorf(status.Index, "index %d is out of range for axis %d of %d elements; want %d to %d", i, axis, size, -size, size-1)
}
