package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// reduction folds the elements along some axes. How depends on how they lie, which is the class, and on how many there
// are: see the files that are named reduce in package msl.
//
// All of them want a SIMD group to read neighbouring memory at once, because memory comes in lines of 128 bytes: the
// lanes of a group share a row, or have some neighbouring columns each. Then they want threads enough to keep a GPU busy.
// Where there are few outputs of many elements, a first pass folds parts of each and a second one joins those. Sums keep
// what rounding drops, so the result is as exact in each case.
type reduction struct {
	compiled
	lie msl.Arrangement
}

// Each reduction that package msl has an accumulator for is registered, dtype by dtype. The composites among them are claimed
// for all steps, so that operands are not cast first. One that a shader cannot address is refused when it runs, and lowered then.
func init() {
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Reduce {
			continue
		}
		for _, d := range gpu.Elements.Members() {
			if msl.HasReduction(row.ID, d) {
				gpu.Register(gpu.Shader, row.ID, dtype.SetOf(d), gpu.Variant{Accepts: reductionClass, Total: row.Lower != nil, Make: makeReduction})
			}
		}
	}
}

// reductionClass is how elements lie and, in the lowest bit, whether offsets have 64 bits.
func reductionClass(d *gpu.Device, c *device.Call) (class uint64, ok bool) {
	if class, ok = walked(d, c); !ok {
		return 0, false
	}
	// Kernels of rows count from a multiple of 128 bytes on, and up to the end of the last vector.
	if _, high, _ := c.In[0].Extent(); c.In[0].Numel() > 0 && high > min(narrow, wideOffsets-2*msl.LineSize) {
		class = 1
	}
	kept, reduced := folded(c)
	return class | uint64(arrangement(&kept, &reduced))<<1, true
}

// arrangement is how the elements of an output lie.
func arrangement(kept, reduced *shape.Layout) msl.Arrangement {
	switch {
	case kept.Numel() == 0 || reduced.Numel() <= 1:
		return msl.Anyhow
	case reduced.Rank == 1 && reduced.Strides[0] == 1:
		return msl.Rows
	case kept.Rank > 0 && kept.Strides[kept.Rank-1] == 1:
		return msl.Columns
	}
	return msl.Anyhow
}

// The kernels of reduce.metal: a thread for each output, a threadgroup for each, or one for each part of an output.
const (
	anyhowAlone = iota
	anyhowGrouped
	anyhowParts
	anyhowWhole
)

// The kernels of reduce_rows.metal: short rows through threadgroup memory, lanes of a SIMD group for each row, or a
// threadgroup for each part of a row.
const (
	rowsStaged = iota
	rowsDirect
	rowsParts
	rowsWhole
)

// The kernels of reduce_columns.metal: a threadgroup for each tile of columns, or for each part of its rows.
const (
	columnsDirect = iota
	columnsParts
	columnsWhole
)

// reductionNames are their names in the source. The last of each is the second pass, which joins parts.
var reductionNames = [...][]string{
	msl.Anyhow:  {anyhowAlone: "alone", anyhowGrouped: "grouped", anyhowParts: "parts", anyhowWhole: "whole"},
	msl.Rows:    {rowsStaged: "staged", rowsDirect: "rows", rowsParts: "parts", rowsWhole: "whole"},
	msl.Columns: {columnsDirect: "columns", columnsParts: "column_parts", columnsWhole: "whole"},
}

// makeReduction compiles all kernels of an arrangement, because which of them runs depends on the call's dimensions,
// which are no part of its key.
func makeReduction(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
	lie := msl.Arrangement(class >> 1)
	text, ok := msl.Reduction(c.Op, c.In[0].DType, c.Out[0].DType, lie, class&1 == 1)
	if !ok {
		return nil, status.Errorf(status.Unsupported, "there is no shader for this call")
	}
	s, err := compile(d, class, text, reductionNames[lie]...)
	if err != nil {
		return nil, err
	}
	return &reduction{s, lie}, s.wantLanes()
}

// What is enough for a GPU to be busy, and for one of its threads or groups to be worth its while. These are
// estimates: no real GPU has confirmed them.
const (
	plentyOutputs = 4096  // of one thread each
	fewElements   = 32    // for one thread
	longElements  = 1024  // for one thread where outputs are plenty
	partElements  = 8192  // of a part
	plentyGroups  = 256   // of outputs
	mostParts     = 256   // of an output
	plentyThreads = 16384 // in all
	partVectors   = 2048  // of a part of a row
	shortRow      = 1024  // bytes
	columnRows    = 8     // for one thread, before there are parts
	accumulator   = 16    // bytes, at most
)

// folded divides the axes of the input into those that are kept, which the output walks, and those that are reduced.
// Each part is collapsed, so the threads walk few axes.
func folded(c *device.Call) (kept, reduced shape.Layout) {
	x := &c.In[0]
	for i := range x.Rank {
		part := &kept
		if c.Axes.Has(i) {
			part = &reduced
		}
		part.Append(x.Dims[i])
		part.Strides[part.Rank-1] = x.Strides[i]
	}
	return kept.Collapse(), reduced.Collapse()
}

// share is how the work of a call is shared. It follows from the dimensions and what the pipelines take alone, so that
// Workspace and Encode agree about it: the kernel of the first pass, its groups and their threads.
type share struct {
	kernel        int
	groups, width int64
	cost          int64 // bytes that a group reads, as lines
	parts         int64 // of an output; more than one, and there is a second pass
	each          int64 // what a part or a group has: elements, vectors or rows
	lanes         int64 // of rows: for each; of columns: for a tile
	tiles         int64 // of columns
}

// share decides by the dimensions.
func (k *reduction) share(c *device.Call, kept, reduced *shape.Layout) share {
	switch k.lie {
	case msl.Rows:
		return k.shareRows(c, kept, reduced.Numel())
	case msl.Columns:
		return k.shareColumns(c, kept, reduced)
	}
	return k.shareAnyhow(kept.Numel(), reduced.Numel())
}

// shareAnyhow has a thread an output where there are many, a group where not, or several groups. An element is a line
// at worst.
func (k *reduction) shareAnyhow(outputs, count int64) share {
	width := int64(k.pipelines[anyhowGrouped].ThreadsOf(count))
	switch {
	case count <= fewElements || outputs >= plentyOutputs && count <= longElements:
		return share{kernel: anyhowAlone, groups: outputs, width: 1, cost: max(count, 1) * msl.LineSize, parts: 1}
	case outputs >= plentyGroups || count <= partElements:
		return share{kernel: anyhowGrouped, groups: outputs, width: width, cost: count * msl.LineSize, parts: 1}
	}
	parts := min((count+partElements-1)/partElements, mostParts)
	each := (count + parts - 1) / parts // the last part has what is left
	width = int64(k.pipelines[anyhowParts].ThreadsOf(each))
	return share{kernel: anyhowParts, groups: outputs * parts, width: width, cost: each * msl.LineSize, parts: parts, each: each}
}

// shareRows stages short rows in threadgroup memory, gives others a SIMD group each, and cuts long ones into parts
// where they are few.
func (k *reduction) shareRows(c *device.Call, kept *shape.Layout, count int64) share {
	rows, bytes := kept.Numel(), count*c.In[0].DType.Size()
	// Without gaps, a group may read its rows as one piece of memory.
	if adjacent := kept.Rank == 0 || kept.Rank == 1 && kept.Strides[0] == count; adjacent && bytes <= shortRow && rows > 1 {
		width := int64(k.pipelines[rowsStaged].ThreadsOf(gpu.MostGroup))
		lanes := powerOfTwo((count+7)/8, gpu.Lanes) // about 8 elements each
		each := min(width/lanes, (msl.StageSize-msl.LineSize)/bytes)
		return share{kernel: rowsStaged, groups: (rows + each - 1) / each, width: width, cost: each*bytes + msl.LineSize, parts: 1, each: each, lanes: lanes}
	}
	vectors := (bytes + msl.LineSize + msl.VectorSize - 1) / msl.VectorSize // at most, from the beginning of a line on
	if rows*gpu.Lanes >= plentyThreads || vectors <= partVectors {
		width := int64(k.pipelines[rowsDirect].ThreadsOf(min(rows*gpu.Lanes, gpu.MostGroup)))
		lanes := powerOfTwo(vectors, gpu.Lanes)
		each := width / lanes
		return share{kernel: rowsDirect, groups: (rows + each - 1) / each, width: width, cost: each * (bytes + msl.LineSize), parts: 1, lanes: lanes}
	}
	// Few and long: parts begin at lines of memory, so each is whole lines of vectors.
	const line = msl.LineSize / msl.VectorSize
	each := max(partVectors, (vectors+mostParts-1)/mostParts)
	each = (each + line - 1) / line * line
	parts := (vectors + each - 1) / each
	width := int64(k.pipelines[rowsParts].ThreadsOf(each))
	return share{kernel: rowsParts, groups: rows * parts, width: width, cost: each * msl.VectorSize, parts: parts, each: each}
}

// shareColumns gives the lanes of a group neighbouring columns, and its SIMD groups rows.
func (k *reduction) shareColumns(c *device.Call, kept, reduced *shape.Layout) share {
	columns, count, size := kept.Dims[kept.Rank-1], reduced.Numel(), c.In[0].DType.Size()
	s := share{kernel: columnsDirect, parts: 1, each: count}
	q := msl.InColumn(c.In[0].DType) // columns of a lane
	// Lanes that the columns leave over take further rows, so a SIMD group reads neighbouring memory in any case.
	wanted := (columns + q - 1) / q
	s.lanes = powerOfTwo(wanted, gpu.Lanes)
	s.tiles = (wanted + s.lanes - 1) / s.lanes
	s.groups = kept.Numel() / columns * s.tiles
	s.width = int64(k.pipelines[columnsDirect].ThreadsOf(count * s.lanes / columnRows))
	slices := s.width / s.lanes // rows that a group reads at once
	// Few columns of many rows are cut, until there are threads enough or parts are short.
	if threads := s.groups * s.width; threads < plentyThreads {
		s.parts = max(1, min(mostParts, plentyThreads/threads, count/(slices*columnRows)))
	}
	if s.parts > 1 {
		s.kernel = columnsParts
		s.each = (count + s.parts - 1) / s.parts
		s.each = (s.each + slices - 1) / slices * slices // so that parts begin where lines do, if rows do
		s.parts = (count + s.each - 1) / s.each
		s.groups *= s.parts
	}
	// A row of a tile is a line at least, unless rows follow each other within lines.
	apart := int64(msl.LineSize)
	if reduced.Rank == 1 {
		apart = min(msl.LineSize, max(reduced.Strides[0], -reduced.Strides[0])*size)
	}
	s.cost = s.each * max(s.lanes*q*size, apart)
	return s
}

// Workspace has an accumulator for each part of each output, where there are several.
func (k *reduction) Workspace(c *device.Call) int64 {
	kept, reduced := folded(c)
	if s := k.share(c, &kept, &reduced); s.parts > 1 {
		return kept.Numel() * s.parts * accumulator
	}
	return 0
}

// Encode decides how to share the work, then dispatches the first pass, in pieces that are short enough, and the second where there is one.
func (k *reduction) Encode(e gpu.Encoder, c *device.Call) error {
	kept, reduced := folded(c)
	s := k.share(c, &kept, &reduced)
	err := inPieces(s.groups, s.width, s.cost, func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bind(d, c, &s, &kept, &reduced, first); err != nil {
			return err
		}
		p := &k.pipelines[s.kernel]
		if s.width == 1 {
			p.Line(d, uint64(groups))
		} else {
			gpu.Groups(d, groups, uint64(s.width))
		}
		return e.Dispatch(p.State, d)
	})
	if err != nil || s.parts == 1 {
		return err
	}
	return k.join(e, c, &c.Out[0], &s, reduced.Numel())
}

// bind binds the arguments of the first pass: the output, or the workspace for parts of outputs, then the input.
func (k *reduction) bind(d *objc.Dispatch, c *device.Call, s *share, kept, reduced *shape.Layout, first int64) (err error) {
	key, count, outputs := k.wide(), reduced.Numel(), kept.Numel()
	var to, from int64
	if s.parts > 1 {
		err = bindScratch(d, c)
	} else {
		to, err = place(d, &c.Out[0])
	}
	if err != nil {
		return err
	}
	// Kernels of rows and columns tell from the number of an element in which line of memory it is.
	switch {
	case count == 0:
		_, err = place(d, &c.Out[0]) // Metal wants memory for every argument, and an input without elements has none
	case k.lie == msl.Anyhow:
		from, err = place(d, &c.In[0])
	default:
		from, err = placeLine(d, &c.In[0])
	}
	if err != nil {
		return err
	}
	// Where parts go to the workspace, the second pass finds the places of the outputs.
	if s.parts == 1 {
		out := c.Out[0].Layout.Collapse()
		bindWalk(d, &out, to, key)
	}
	switch k.lie {
	case msl.Rows:
		bindWalk(d, kept, from, key)
		bindCounts(d, count, s.lanes, outputs, first, s.each, s.parts)
	case msl.Columns:
		outer := *kept
		outer.Remove(outer.Rank - 1)
		bindWalk(d, &outer, from, key)
		bindWalk(d, reduced, 0, key)
		bindCounts(d, count, kept.Dims[kept.Rank-1], s.lanes, first, s.each, s.parts, s.tiles, outputs)
	default:
		bindWalk(d, kept, from, key)
		bindWalk(d, reduced, 0, key)
		if s.parts > 1 {
			bindCounts(d, s.each, s.parts, count, first)
			bindCounts(d, outputs)
		} else {
			bindCounts(d, count, first)
		}
	}
	return nil
}

// join is the second pass. It runs when the first has ended: dispatches of one encoder are in
// order.
// It is short whatever the call is: there are parts only where outputs are few, so all accumulators together are too.
func (k *compiled) join(e gpu.Encoder, c *device.Call, o *device.Operand, s *share, count int64) error {
	outputs := o.Numel()
	p := &k.pipelines[len(k.pipelines)-1]
	lanes := powerOfTwo(outputs, gpu.Lanes)
	width := int64(p.ThreadsOf(min(outputs/lanes*gpu.Lanes, gpu.MostGroup)))
	each := width / gpu.Lanes * lanes // outputs of a group
	d := e.Arguments()
	to, err := place(d, o)
	if err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	out := o.Layout.Collapse()
	bindWalk(d, &out, to, k.wide())
	bindCounts(d, s.parts, count, outputs, lanes)
	gpu.Groups(d, (outputs+each-1)/each, uint64(width))
	return e.Dispatch(p.State, d)
}
