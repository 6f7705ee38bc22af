package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// softmax is that operator: see softmax.metal of package msl. Which kernel runs is decided by the dimensions; the class
// says, besides the width of offsets, whether the elements of lines lie next to each other.
//
// A line is read once where the threads that share it can keep it in registers, and twice where they cannot. There is no
// third way for short lines: lanes of a SIMD group share one, so that it works on several.
type softmax struct{ compiled }

// The class alone tells calls apart; no call that the GPU can reach is refused.
func init() {
	gpu.Register(gpu.Shader, op.IDSoftmax, op.ByID(op.IDSoftmax).Accepts&gpu.Elements, gpu.Variant{Accepts: softmaxClass, Make: makeSoftmax})
}

// dense is the bit of the class for lines without gaps.
const dense = 2

// softmaxClass is whether lines have no gaps and, in the lowest bit, whether offsets have 64 bits.
func softmaxClass(d *gpu.Device, c *device.Call) (class uint64, ok bool) {
	if class, ok = walked(d, c); !ok {
		return 0, false
	}
	x, y := &c.In[0], &c.Out[0]
	if x.Rank == 0 || x.Numel() == 0 {
		return class, true
	}
	// Kernels of rows count from a multiple of 128 bytes on, and up to the end of the last vector.
	_, high, _ := x.Extent()
	if _, other, _ := y.Extent(); max(high, other) > min(narrow, wideOffsets-2*msl.LineSize) {
		class = 1
	}
	if axis := c.Axes.First(); x.Strides[axis] == 1 && y.Strides[axis] == 1 {
		class |= dense
	}
	return class, true
}

// The kernels for any line, and for lines without gaps.
const (
	softmaxParts = iota
	softmaxFinish
	softmaxColumns
	softmaxLongColumns
)

// softmaxRows and softmaxStaged are where the kernels for lines without gaps stand in their list, which has the passes over
// parts too.
const (
	softmaxRows   = 2
	softmaxStaged = 3
)

// softmaxNames are their names in the source, for any line and for lines without gaps.
var softmaxNames = [2][]string{
	{softmaxParts: "parts", softmaxFinish: "finish", softmaxColumns: "columns", softmaxLongColumns: "long_columns"},
	{softmaxParts: "parts", softmaxFinish: "finish", softmaxRows: "rows", softmaxStaged: "staged"},
}

// Lines that threads cannot keep are cut into parts: for a group the most that is worth its while, for a line the most
// that a group joins. Columns that are longer than longColumn are no work for one group.
const (
	softmaxPart      = 1 << 14
	softmaxMostParts = 1 << 10
	longColumn       = 1 << 17
)

// makeSoftmax compiles all kernels of a class, because lengths are no part of a key.
func makeSoftmax(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
	s, err := compile(d, class, msl.Softmax(c.In[0].DType, class&1 == 1), softmaxNames[class/dense]...)
	if err != nil {
		return nil, err
	}
	return &softmax{s}, s.wantLanes()
}

// across is an operand without the axis of its lines, and the step along them. A scalar is one line of one element.
func across(c *device.Call, o *device.Operand) (rest shape.Layout, step int64) {
	rest = o.Layout
	if o.Rank == 0 {
		return rest, 0
	}
	axis := c.Axes.First()
	step = o.Strides[axis]
	rest.Remove(axis)
	return rest.Collapse(), step
}

// rowThreads is how many threads share a line of the kernel for rows: as many as it has vectors, up to a SIMD group, and
// more where they would have to keep too much. ok is false where that is more than the pipeline takes.
func (k *softmax) rowThreads(length int64, d dtype.DType) (threads int64, ok bool) {
	// At most so many, because they count from the beginning of a line of memory on.
	vectors := (length*d.Size() + msl.LineSize + msl.VectorSize - 1) / msl.VectorSize
	threads = powerOfTwo((length*d.Size()+msl.VectorSize-1)/msl.VectorSize, gpu.Lanes)
	for threads*msl.KeptVectors(d) < vectors {
		threads *= 2
	}
	return threads, threads <= int64(k.pipelines[softmaxRows].ThreadsOf(gpu.MostGroup))
}

// lines are the lines of a call and how many elements each has; a scalar is one of one.
func linesOf(c *device.Call) (lines, length int64) {
	length = 1
	if c.In[0].Rank > 0 {
		length = c.In[0].Dims[c.Axes.First()]
	}
	return c.Out[0].Numel() / max(length, 1), length
}

// inParts reports whether a call is computed in parts, how many a line has, and the elements of each: whole lines of
// memory.
func (k *softmax) inParts(c *device.Call) (parts, each int64, ok bool) {
	lines, length := linesOf(c)
	if k.class&dense != 0 {
		_, ok = k.rowThreads(length, c.In[0].DType)
		ok = !ok
	} else {
		ok = lines < gpu.Lanes || length > longColumn
	}
	each = max(softmaxPart, (length+softmaxMostParts-1)/softmaxMostParts)
	each = (each + msl.LineSize - 1) / msl.LineSize * msl.LineSize
	return (length + each - 1) / each, each, ok
}

// Workspace has a sum for each part of a line.
func (k *softmax) Workspace(c *device.Call) int64 {
	parts, _, ok := k.inParts(c)
	if !ok {
		return 0
	}
	lines, _ := linesOf(c)
	return lines * parts * accumulator
}

// Encode chooses the kernel, and dispatches it in pieces that are short enough.
func (k *softmax) Encode(e gpu.Encoder, c *device.Call) error {
	lines, length := linesOf(c)
	if parts, each, ok := k.inParts(c); ok {
		return k.parts(e, c, lines*parts, each, parts)
	}
	if k.class&dense != 0 {
		if k.stages(c, length, lines) {
			return k.staged(e, c, length, lines)
		}
		threads, _ := k.rowThreads(length, c.In[0].DType)
		return k.rows(e, c, length, lines, threads)
	}
	kernel, width := k.columns(length)
	return inPieces((lines+gpu.Lanes-1)/gpu.Lanes, width, gpu.Lanes*k.bytes(c, length), func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bind(d, c); err != nil {
			return err
		}
		bindCounts(d, length, lines, first, 0)
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(k.pipelines[kernel].State, d)
	})
}

// bytes is what is moved for so many elements of a line at most, read twice and written: each a line of memory where
// neither the line nor its neighbours are without gaps.
func (k *softmax) bytes(c *device.Call, elements int64) int64 {
	rest, step := across(c, &c.In[0])
	if step == 1 || rest.Rank > 0 && rest.Strides[rest.Rank-1] == 1 && rest.Numel() >= gpu.Lanes {
		return 3 * elements * c.In[0].DType.Size()
	}
	return 3 * elements * msl.LineSize
}

// parts dispatches both passes over parts.
func (k *softmax) parts(e gpu.Encoder, c *device.Call, all, each, parts int64) error {
	_, length := linesOf(c)
	// Dispatches of one call are in order, so the second pass finds the sums of the first.
	for kernel := softmaxParts; kernel <= softmaxFinish; kernel++ {
		p := &k.pipelines[kernel]
		width := int64(p.ThreadsOf(each))
		err := inPieces(all, width, k.bytes(c, each), func(first, groups int64) error {
			d := e.Arguments()
			if err := k.bindParts(d, c, kernel == softmaxFinish); err != nil {
				return err
			}
			bindCounts(d, length, 0, first, 0)
			bindCounts(d, each, parts)
			gpu.Groups(d, groups, uint64(width))
			return e.Dispatch(p.State, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bindParts binds what bind does, and the workspace: instead of the output in the first pass, after the input in the
// second.
func (k *softmax) bindParts(d *objc.Dispatch, c *device.Call, finish bool) (err error) {
	var to, from int64
	if finish {
		to, err = placeLine(d, &c.Out[0])
	} else {
		err = bindScratch(d, c)
	}
	if err != nil {
		return err
	}
	if from, err = placeLine(d, &c.In[0]); err != nil {
		return err
	}
	outs, outStep := across(c, &c.Out[0])
	ins, inStep := across(c, &c.In[0])
	if finish {
		if err := bindScratch(d, c); err != nil {
			return err
		}
		bindWalk(d, &outs, to, k.wide())
	}
	bindWalk(d, &ins, from, k.wide())
	bindOffsets(d, k.wide(), outStep, inStep)
	return nil
}

// columns is the kernel for lines that the lanes of a SIMD group have one each, and its threads: so many SIMD groups that
// each element is read once, if a threadgroup may have as many.
func (k *softmax) columns(length int64) (kernel int, width int64) {
	p := &k.pipelines[softmaxColumns]
	// The kernel keeps much in registers, so a pipeline of it may take fewer threads than others.
	width = gpu.Lanes
	for width/gpu.Lanes*msl.HeldElements < length && 2*width <= int64(p.Most) {
		width *= 2
	}
	if width/gpu.Lanes*msl.HeldElements >= length {
		return softmaxColumns, width
	}
	return softmaxLongColumns, int64(k.pipelines[softmaxLongColumns].ThreadsOf(gpu.MostGroup))
}

// rows dispatches the kernel for lines without gaps.
func (k *softmax) rows(e gpu.Encoder, c *device.Call, length, lines, threads int64) error {
	p := &k.pipelines[softmaxRows]
	// Several lines a group where they are short, but no more threads than lines want.
	width := max(threads, int64(p.ThreadsOf(min(lines*threads, gpu.MostGroup))))
	each := width / threads
	return inPieces((lines+each-1)/each, width, 2*each*length*c.In[0].DType.Size(), func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bindLines(d, c); err != nil {
			return err
		}
		bindCounts(d, length, threads, lines, first)
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(p.State, d)
	})
}

// stages reports whether rows go through threadgroup memory: short ones without a gap between them, whose vectors have
// elements of two rows.
func (k *softmax) stages(c *device.Call, length, lines int64) bool {
	bytes := length * c.In[0].DType.Size()
	if bytes%msl.VectorSize == 0 || bytes > shortRow || lines == 1 {
		return false
	}
	ins, _ := across(c, &c.In[0])
	outs, _ := across(c, &c.Out[0])
	return ins.Rank == 1 && ins.Strides[0] == length && outs.Rank == 1 && outs.Strides[0] == length
}

// staged dispatches the kernel for those.
func (k *softmax) staged(e gpu.Encoder, c *device.Call, length, lines int64) error {
	p := &k.pipelines[softmaxStaged]
	width, bytes := int64(p.ThreadsOf(gpu.MostGroup)), length*c.In[0].DType.Size()
	lanes := powerOfTwo((length+7)/8, gpu.Lanes) // about 8 elements each
	each := min(width/lanes, (msl.StageSize-msl.LineSize)/bytes)
	return inPieces((lines+each-1)/each, width, 2*(each*bytes+msl.LineSize), func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bindLines(d, c); err != nil {
			return err
		}
		bindCounts(d, length, lanes, lines, first)
		bindCounts(d, each)
		gpu.Groups(d, groups, uint64(width))
		return e.Dispatch(p.State, d)
	})
}

// bindLines binds both tensors, from lines of memory on, without the axis of the rows.
func (k *softmax) bindLines(d *objc.Dispatch, c *device.Call) error {
	to, err := placeLine(d, &c.Out[0])
	if err != nil {
		return err
	}
	from, err := placeLine(d, &c.In[0])
	if err != nil {
		return err
	}
	outs, _ := across(c, &c.Out[0])
	ins, _ := across(c, &c.In[0])
	bindWalk(d, &outs, to, k.wide())
	bindWalk(d, &ins, from, k.wide())
	return nil
}

// bind binds both tensors without the axis of the lines, and the steps along it.
func (k *softmax) bind(d *objc.Dispatch, c *device.Call) error {
	to, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	from, err := place(d, &c.In[0])
	if err != nil {
		return err
	}
	outs, outStep := across(c, &c.Out[0])
	ins, inStep := across(c, &c.In[0])
	bindWalk(d, &outs, to, k.wide())
	bindWalk(d, &ins, from, k.wide())
	bindOffsets(d, k.wide(), outStep, inStep)
	return nil
}
