package shaders

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// scan is an operator along one axis, a threadgroup a line; what it computes is in the file of package msl that is
// named after it, or an accumulator of accumulate.metal.
type scan struct {
	compiled
	operations float64 // of an element
}

// What package msl has a file or an accumulator for is registered, so that a new scan needs that and no line here.
func init() {
	for i := range op.Table {
		row := &op.Table[i]
		switch {
		case row.Kind != op.Scan || row.ID == op.IDSoftmax: // softmax.go has its own
		case msl.HasScan(row.Name):
			registerScan(row, math.MaxInt64, 120, func(c *device.Call, wide bool) string {
				return msl.Scan(row.Name, c.In[0].DType, wide)
			})
		case msl.Accumulates(row.ID):
			registerScan(row, mostAccumulated, 60, func(c *device.Call, wide bool) string {
				return msl.Accumulation(row.ID, c.In[0].DType, c.Out[len(c.Out)-1].DType, wide)
			})
		}
	}
}

// mostAccumulated is the longest line of those with an accumulator: a threadgroup takes some 1.5 us for 1,024 elements, by
// the model, and a line is not divided.
const mostAccumulated = 1 << 24

// registerScan registers the source of an operator for lines of at most so many elements, each of which takes so many
// operations: rounds, of which each is an addition with its barriers.
func registerScan(row *op.Row, most int64, operations float64, source func(c *device.Call, wide bool) string) {
	gpu.Register(gpu.Shader, row.ID, row.Accepts&gpu.Elements, gpu.Variant{
		Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
			class, ok := walked(d, c)
			_, length := linesOf(c)
			return class, ok && length <= most
		},
		Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
			s, err := compile(d, class, source(c, class == 1), msl.Name)
			return &scan{s, operations}, err
		},
	})
}

// Workspace is none.
func (k *scan) Workspace(*device.Call) int64 { return 0 }

// Encode dispatches a group for each line; the threads of a group share the line.
func (k *scan) Encode(e gpu.Encoder, c *device.Call) error {
	p := &k.pipelines[0]
	lines, length := linesOf(c)
	width := p.ThreadsOf(length)
	// Threads read neighbours along a line; lines whose elements are apart share lines of memory with others.
	moved := int64(0)
	for i := range len(c.Out) + 1 {
		o := &c.In[0]
		if i > 0 {
			o = &c.Out[i-1]
		}
		_, step := across(c, o)
		moved += min(msl.LineSize, max(1, magnitude(step))*o.DType.Size())
	}
	return inTime(lines, int64(width), k.operations*float64(gpu.RoundUp(uint64(length), width)), length*moved, func(first, groups int64) error {
		d := e.Arguments()
		if err := k.bind(d, c, length, first); err != nil {
			return err
		}
		gpu.Groups(d, groups, width)
		return e.Dispatch(p.State, d)
	})
}

// bind binds all tensors without the axis of the lines, the steps along it, its length and the first line, in the order of
// the arguments in the files of package msl.
func (k *scan) bind(d *objc.Dispatch, c *device.Call, length, first int64) error {
	x, y, key := &c.In[0], &c.Out[0], k.wide()
	to, err := place(d, y)
	if err != nil {
		return err
	}
	from, err := place(d, x)
	if err != nil {
		return err
	}
	lines, outStep := across(c, y)
	sources, inStep := across(c, x)
	bindWalk(d, &lines, to, key)
	bindWalk(d, &sources, from, key)
	// The kernels of one result have two steps and no indices.
	if len(c.Out) == 1 {
		bindOffsets(d, key, outStep, inStep)
		bindCounts(d, length, first)
		return nil
	}
	indices, indexStep := across(c, &c.Out[1])
	bindOffsets(d, key, outStep, inStep, indexStep)
	bindCounts(d, length, first)
	if to, err = place(d, &c.Out[1]); err != nil {
		return err
	}
	bindWalk(d, &indices, to, key)
	return nil
}
