package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// reduction folds the elements along some axes; see reduce.metal. How many threads work on an output
// depends on how many there are: one where outputs are plenty, a threadgroup, or several with a second pass.
type reduction struct {
	variants
	operator string
	in, out  dtype.DType
}

func init() {
	for i := range op.Table {
		row := &op.Table[i]
		if row.Kind != op.Reduce {
			continue
		}
		for _, d := range elements.Members() {
			if _, ok := msl.Reduction(row.Name, d, d, false); ok {
				shaders.Add(row.Name, dtype.SetOf(d), kernels.Portable, way{make: makeReduction})
			}
		}
	}
}

func makeReduction(d *Device, c *device.Call) (kernel, error) {
	k := &reduction{operator: op.ByID(c.Op).Name, in: c.In[0].DType, out: c.Out[0].DType}
	k.device = d
	return k, nil
}

// The kernels of reduce.metal.
const (
	reduceAlone = iota
	reduceGrouped
	reduceParts
	reduceWhole
)

var reduceNames = []string{reduceAlone: "alone", reduceGrouped: "grouped", reduceParts: "parts", reduceWhole: "whole"}

// What is enough for a GPU to be busy, and for one of its threads or groups to be worth its while.
const (
	plentyOutputs = 4096
	fewElements   = 32
	partElements  = 8192
	plentyGroups  = 256
	mostParts     = 256
	accumulator   = 16 // bytes, at most
)

// partsOf is into how many parts the elements of each output go: 0 for one thread an output, 1 for one group.
func partsOf(outputs, count int64) int64 {
	switch {
	case count <= fewElements || outputs >= plentyOutputs:
		return 0
	case outputs >= plentyGroups || count <= partElements:
		return 1
	}
	return min((count+partElements-1)/partElements, mostParts)
}

// folded parts the axes of the input into those that are kept, which the output walks, and those that are
// reduced.
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
	return joined(&kept), joined(&reduced)
}

func (k *reduction) plan(c *device.Call) (outputs, count, parts int64) {
	_, reduced := folded(c)
	outputs, count = c.Out[0].Numel(), reduced.Numel()
	return outputs, count, partsOf(outputs, count)
}

func (k *reduction) workspace(c *device.Call) int64 {
	if outputs, _, parts := k.plan(c); parts > 1 {
		return outputs * parts * accumulator
	}
	return 0
}

func (k *reduction) encode(b *batch, c *device.Call) error {
	outputs, count, parts := k.plan(c)
	if outputs == 0 {
		return nil
	}
	if err := numbered(&c.In[0]); err != nil {
		return err
	}
	key := wideness(&c.In[0], &c.Out[0])
	p, err := k.get(key, reduceNames, func() (string, error) {
		text, ok := msl.Reduction(k.operator, k.in, k.out, wide(key))
		if !ok {
			return "", status.Errorf(status.Unsupported, "there is no shader for this call")
		}
		return text, nil
	})
	if err != nil {
		return err
	}
	if parts > 1 {
		return k.twoPasses(b, c, p, key, outputs, count, parts)
	}
	return k.onePass(b, c, p[parts], key, outputs, count, parts == 1)
}

// onePass computes each output by one thread or by one group.
func (k *reduction) onePass(b *batch, c *device.Call, p pipeline, key uint64, outputs, count int64, group bool) error {
	d := b.arguments()
	to, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	from := to
	if count == 0 {
		_, err = place(d, &c.Out[0]) // a reduction of nothing reads nothing
	} else {
		from, err = place(d, &c.In[0])
	}
	if err != nil {
		return err
	}
	kept, reduced := folded(c)
	out := joined(&c.Out[0].Layout)
	bindWalk(d, &out, to, key)
	bindWalk(d, &kept, from, key)
	bindWalk(d, &reduced, 0, key)
	bindCounts(d, count)
	if group {
		groups(d, outputs, p.threadsOf(count))
	} else {
		p.line(d, uint64(outputs))
	}
	return b.dispatch(p.state, d)
}

// twoPasses computes parts of each output, then puts them together.
func (k *reduction) twoPasses(b *batch, c *device.Call, p []pipeline, key uint64, outputs, count, parts int64) error {
	d := b.arguments()
	if err := bindScratch(d, c); err != nil {
		return err
	}
	from, err := place(d, &c.In[0])
	if err != nil {
		return err
	}
	kept, reduced := folded(c)
	bindWalk(d, &kept, from, key)
	bindWalk(d, &reduced, 0, key)
	each := (count + parts - 1) / parts
	bindCounts(d, each, parts)
	bindCounts(d, count)
	groups(d, outputs*parts, p[reduceParts].threadsOf(each))
	if err := b.dispatch(p[reduceParts].state, d); err != nil {
		return err
	}
	d = b.arguments()
	to, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	out := joined(&c.Out[0].Layout)
	bindWalk(d, &out, to, key)
	bindCounts(d, each, parts)
	bindCounts(d, count)
	groups(d, outputs, p[reduceWhole].threadsOf(parts))
	return b.dispatch(p[reduceWhole].state, d)
}
