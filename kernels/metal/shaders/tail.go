package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
)

// tail is how the work of a group that ends in a reduction is shared: as by the reduction alone, of rows that follow each other
// from a line of memory on. There is one dispatch, and a second one where parts of rows have to be joined. The last output of the
// call is the result of the reduction.
//
// Reads and writes of the steps are bound as for a group without a tail, and nothing repeats: a thread has vectors of one row.
type tail struct {
	share
	count int64 // elements of a row
}

// The layout of what is reduced is no concern of the device: core/graph only ends groups in a reduction of a result in its order.

// FusesTail reports whether a reduction of the last axes can end a group.
func FusesTail(s *op.Step) bool {
	in, out := s.In[0].DType, s.Out[0].DType
	return gpu.Elements.Has(in) && gpu.Elements.Has(out) && msl.TailTakes(s.Row.ID, out, in)
}

// end gives a group of so many elements its tail; the pipelines are those of reductionNames. Sizes are those of every call, because a
// plan has them.
func (k *group) end(g *msl.Group, n int64, c *device.Call) error {
	reduced := g.Steps[g.Tail.Step].Out
	rows := c.Out[len(c.Out)-1].Numel()
	count := n / rows
	kept := shape.Layout{Shape: shape.Shape{Rank: 1}}
	kept.Dims[0], kept.Strides[0] = rows, count
	alone := reduction{k.compiled, msl.Rows}
	k.tail = &tail{alone.shareRows(&device.Call{In: []device.Operand{{DType: reduced}}}, &kept, count), count}
	bytes := reduced.Size()
	for _, list := range [2][]msl.Operand{g.Reads, g.Writes} {
		for i := range list {
			bytes += list[i].DType.Size()
		}
	}
	k.tail.cost = k.tail.cost / reduced.Size() * bytes
	return k.wantLanes()
}

// Accumulators begin the workspace of the step, which lies behind the arena of the plan. They are written by the first pass before
// the second one reads them, so that nothing has to clear them.

// Workspace has an accumulator for each part of each row of a tail, where there are several.
func (k *group) Workspace(c *device.Call) int64 {
	if k.tail == nil || k.tail.parts == 1 {
		return 0
	}
	return c.Out[len(c.Out)-1].Numel() * k.tail.parts * accumulator
}

// A piece begins at a threadgroup, which has whole rows or a part of one, so that no accumulator is of two pieces. What a group
// moves is more than what its reduction alone would: the cost counts all reads and writes.

// encodeTail encodes the first pass, in pieces that are short enough, and the second where there is one.
func (k *group) encodeTail(e gpu.Encoder, c *device.Call) error {
	t, out := k.tail, &c.Out[len(c.Out)-1]
	err := inPieces(t.groups, t.width, t.cost, func(first, groups int64) error {
		d := e.Arguments()
		err := k.bind(d, c)
		if err == nil && t.parts > 1 {
			err = bindScratch(d, c)
		} else if err == nil {
			var to int64
			if to, err = place(d, out); err == nil {
				l := out.Collapse()
				bindWalk(d, &l, to, k.wide())
			}
		}
		if err != nil {
			return err
		}
		bindCounts(d, t.count, t.lanes, out.Numel(), first, t.each, t.parts)
		gpu.Groups(d, groups, uint64(t.width))
		return e.Dispatch(k.pipelines[t.kernel].State, d)
	})
	if err != nil || t.parts == 1 {
		return err
	}
	return k.join(e, c, out, &t.share, t.count)
}

// A group without elements has no row to fold; the runtime divides it, and its steps have kernels that know what to write then.

// errNoElements has the reduction run by itself, which knows its result.
var errNoElements = status.Errorf(status.Unsupported, "got a group without elements that ends in a reduction")
