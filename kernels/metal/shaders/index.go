package shaders

import (
	"encoding/binary"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// indexing reads (index) or writes (index_put) the slices of a tensor that index tensors name; see index.metal. The
// tensor is In[0] of the one and Out[0] of the other; the other of the two, here called list, holds the slices one
// behind the other.
//
// A read checks all indices and takes the slices. A write goes in four dispatches, so that of two slices for one
// place the last wins, as it does on the CPU: it checks, clears a number for each place, has each slice claim its
// place by the largest number, and writes the slices that have won.
type indexing struct {
	compiled
	write   bool
	fold    bool // index_reduce, which writes without numbers of places
	tensors int  // of indices
}

// mostTensors is how many index tensors a dispatch has room for; a tensor has no more axes.
const mostTensors = shape.MaxRank

// Elements are moved, not computed, so the source depends only on their size. The number of index tensors is part of
// the class, because each is an argument of its own.
func init() {
	for id, write := range map[op.ID]bool{op.IDIndex: false, op.IDIndexPut: true} {
		gpu.Register(gpu.Shader, id, gpu.Elements, gpu.Variant{
			Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
				class, ok := walked(d, c)
				return class | uint64(len(c.In))<<1, ok && len(c.In) <= mostTensors+1
			},
			Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
				tensors := len(c.In) - 1
				s, err := compile(d, class, msl.Index(c.In[0].DType.Size(), tensors, class&1 != 0), indexNames...)
				return &indexing{compiled: s, write: write, tensors: tensors}, err
			},
		})
	}
}

// A call of index_reduce is one dispatch, in which each thread looks at all slices: what takes longer than a dispatch may is
// left to the CPU. A slice costs a thread some 100 ns where there is nothing else to do.
const (
	mostFolded        = 1 << 18 // slices
	mostFoldedNumbers = 1 << 25 // elements of the list, for each of which IndexLanes threads take 16 operations
)

// The class of index_reduce says how elements are joined, too: a number of op.Folds from bit foldBits on.
const foldBits = 5

func init() {
	gpu.Register(gpu.Shader, op.IDIndexReduce, gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := walked(d, c)
			how := slices.Index(op.Folds[:], c.Attrs[op.IndexReduceReduce].Str())
			if !ok || how < 0 || len(c.In) > mostTensors+1 || c.In[1].Numel() > mostFolded || c.In[0].Numel() > mostFoldedNumbers {
				return 0, false
			}
			return class | uint64(len(c.In))<<1 | uint64(how)<<foldBits, true
		},
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			tensors := len(c.In) - 1
			source := msl.IndexReduce(c.In[0].DType, int(class>>foldBits), tensors, class&1 != 0)
			s, err := compile(d, class, source, foldNames...)
			return &indexing{compiled: s, write: true, fold: true, tensors: tensors}, err
		},
	})
}

// foldNames are the kernels of index_reduce.
var foldNames = []string{indexCheck: "check", indexFold: "reduce"}

// indexFold stands where indexTake stands for a read.
const indexFold = indexTake

// The kernels of index.metal: check reports indices out of range, take reads slices, clear and claim settle
// which slice goes to which place, and put writes those that have won.
const (
	indexCheck = iota
	indexTake
	indexClear
	indexClaim
	indexPut
)

// indexNames are their names in the source. index_put runs all but one, index the first two.
var indexNames = []string{indexCheck: "check", indexTake: "take", indexClear: "clear", indexClaim: "claim", indexPut: "put"}

// operands are the tensor that is indexed, and the list of slices.
func (k *indexing) operands(c *device.Call) (x, list *device.Operand) {
	if k.write {
		return &c.Out[0], &c.In[0]
	}
	return &c.In[0], &c.Out[0]
}

// places is how many slices the indexed tensor has: the product of the axes that are indexed.
func (k *indexing) places(c *device.Call) int64 {
	x, _ := k.operands(c)
	n := int64(1)
	for _, d := range x.Dims[:k.tensors] {
		n *= d
	}
	return n
}

// indexOperations is what a thread does for each index tensor: it finds an index in nine axes, and moves it into its range.
const indexOperations = 128

// Workspace has a number for each place, of the slice that goes there; reading needs none.
func (k *indexing) Workspace(c *device.Call) int64 {
	if !k.write || k.fold {
		return 0
	}
	return 4 * max(k.places(c), 1)
}

// Encode dispatches the kernels one behind the other; each sees what the one before has written.
func (k *indexing) Encode(e gpu.Encoder, c *device.Call) error {
	x, list := k.operands(c)
	count := c.In[1].Numel()
	if count == 0 {
		return nil // nothing is written, and what has been there stays
	}
	key, p := k.wide(), k.pipelines
	// A slice that is as long as a line of memory is read as such; of shorter ones each element is a line at worst.
	moved := int64(2 * msl.LineSize)
	if _, slice := cut(x, k.tensors); slice.IsContiguous() && slice.Numel()*x.DType.Size() >= msl.LineSize {
		moved = 2*x.DType.Size() + apart(list)
	}
	moved += 8 * int64(k.tensors)
	run := func(which int, threads int64) error {
		return inTime(max(threads, 1), 1, indexOperations*float64(k.tensors), moved, func(first, count int64) error {
			d := e.Arguments()
			if err := k.bind(d, e, c, key, first); err != nil {
				return err
			}
			p[which].Line(d, uint64(count))
			return e.Dispatch(p[which].State, d)
		})
	}
	if err := run(indexCheck, count); err != nil {
		return err
	}
	// Threads that share an element of all slices look at all indices, so that each place has one thread.
	switch {
	case k.fold:
		d := e.Arguments()
		if err := k.bind(d, e, c, key, 0); err != nil {
			return err
		}
		p[indexFold].Line(d, uint64(max(msl.IndexLanes*list.Numel()/count, 1)))
		return e.Dispatch(p[indexFold].State, d)
	case !k.write:
		return run(indexTake, list.Numel())
	}
	if err := run(indexClear, k.places(c)); err != nil {
		return err
	}
	if err := run(indexClaim, count); err != nil {
		return err
	}
	return run(indexPut, list.Numel())
}

// bind makes the arguments that all kernels of index.metal have, in its order: the indexed tensor, the list, the
// numbers of the places, the word for a fault, the indices' layouts, how slots and slices lie, counts, and at last
// the index tensors, of which there are as many as the source has been written for.
func (k *indexing) bind(d *objc.Dispatch, e gpu.Encoder, c *device.Call, key uint64, thread int64) error {
	words, offset, err := e.Word()
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
	if k.write && !k.fold {
		err = bindScratch(d, c)
	} else {
		d.Bind(objc.ID(words), offset) // a read has no numbers of places, and its kernels do not look
	}
	if err != nil {
		return err
	}
	d.Bind(objc.ID(words), offset)
	// Found first, because where each begins is among the constants that are bound before the tensors.
	var spans [mostTensors]gpu.Span
	for i := range k.tensors {
		s, ok := gpu.Locate(&c.In[i+1])
		if !ok {
			return status.Errorf(status.Unsupported, "got indices in memory that the GPU does not have")
		}
		spans[i] = s
	}
	k.bindIndices(d, c, spans[:k.tensors], key)
	slots := list.Layout.Collapse()
	_, slice := cut(x, k.tensors)
	bindWalk(d, &slots, first, key)
	bindWalk(d, &slice, base, key)
	bindCounts(d, slice.Numel(), list.Numel(), thread, 0)
	for _, s := range spans[:k.tensors] {
		d.Bind(objc.ID(s.Buffer), s.Offset)
	}
	return nil
}

// placeOr is place, but of an operand without elements, which has no memory, it binds other memory: Metal wants
// something to be bound, and the kernel does not touch it.
func placeOr(d *objc.Dispatch, o *device.Operand, other mtl.Buffer, offset uint64) (first int64, err error) {
	if o.Numel() == 0 {
		d.Bind(objc.ID(other), offset)
		return 0, nil
	}
	return place(d, o)
}

// bindIndices makes an Indices the next argument: the shape that the index tensors have in common, how each lies, and
// the axes of x that they count along, with their strides.
func (k *indexing) bindIndices(d *objc.Dispatch, c *device.Call, spans []gpu.Span, key uint64) {
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
		at = appendOffset(at, s.First, key)
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

// cut divides the layout of an operand before an axis, and collapses both parts.
func cut(o *device.Operand, axis int) (outer, inner shape.Layout) {
	for i := range o.Rank {
		part := &inner
		if i < axis {
			part = &outer
		}
		part.Append(o.Dims[i])
		part.Strides[part.Rank-1] = o.Strides[i]
	}
	return outer.Collapse(), inner.Collapse()
}

// Finish reports an index that was out of range: the word has a flag, its axis, and the index in two halves.
func (k *indexing) Finish(c *device.Call, w gpu.Word) error {
	if w[0] == 0 {
		return nil
	}
	x, _ := k.operands(c)
	axis, i := w[1], int64(uint64(w[3])<<32|uint64(w[2]))
	size := x.Dims[axis]
	if -size <= i && i < size {
		return status.Errorf(status.Index, "an index is out of range, and has been overwritten since")
	}
	return status.Errorf(status.Index, "index %d is out of range for axis %d of %d elements; want %d to %d", i, axis, size, -size, size-1)
}
