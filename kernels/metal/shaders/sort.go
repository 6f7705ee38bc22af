package shaders

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/kernels/metal/msl"
	"github.com/paddle-mps/paddle-mps/objc"
)

// sorting is sort or topk along an axis; see sorting.metal. All lines of a call are sorted at once, in runs of a list in the
// workspace. The order of keys and places is total, so that equals stay in their order, and the result is the host's.
// MPSGraph says nothing about the order of equals, so that there is no other way.
type sorting struct {
	compiled
	place int64 // the size of a place
	flip  int   // the attribute that says whether the largest come first
}

// What is sorted: a run that the network of a GPU sorts as fast as the CPU's radix sort does, which goes over a line a few
// times, and the network 231 times at that length; and places for the lines of a call. Other calls are left to the CPU.
const (
	mostRun    = 1 << 20
	mostPlaces = 1 << 26
)

// The kernels of sorting.metal and network.metal: draw makes places, far and near are steps of the sort across threadgroups
// and within one, give writes the result.
const (
	sortDraw = iota
	sortFar
	sortNear
	sortGive
)

// sortNames are their names in the source.
var sortNames = []string{sortDraw: "draw", sortFar: "far", sortNear: "near", sortGive: "give"}

// Attributes are arguments: one program sorts both ways and for any number of elements that are wanted.
func init() {
	for id, flip := range map[op.ID]int{op.IDSort: op.SortDescending, op.IDTopk: op.TopkLargest} {
		gpu.Register(gpu.Shader, id, op.ByID(id).Accepts&gpu.Elements, gpu.Variant{
			Accepts: func(d *gpu.Device, c *device.Call) (uint64, bool) {
				class, ok := walked(d, c)
				run, places := runsOf(c)
				// What is sorted is read again when the result is written.
				return class, ok && run <= mostRun && places <= mostPlaces && !d.Same(&c.In[0], &c.Out[0])
			},
			Make: func(d *gpu.Device, c *device.Call, class uint64) (gpu.Kernel, error) {
				kind, index := c.In[0].DType, dtype.Invalid
				if len(c.Out) > 1 {
					index = c.Out[1].DType
				}
				s, err := compile(d, class, msl.Sort(kind, index, class == 1), sortNames...)
				return &sorting{s, msl.SortedPlace(kind), flip}, err
			},
		})
	}
}

// along is the length of an operand's lines; a scalar is one of one.
func along(c *device.Call, o *device.Operand) int64 {
	if o.Rank == 0 {
		return 1
	}
	return o.Dims[c.Axes.First()]
}

// Lines need not be as long as a threadgroup has places: several short ones share a group, and a network of their length
// sorts each of them by itself.
//
// runsOf is the places of a run, and of all runs: whole threadgroups.
func runsOf(c *device.Call) (run, places int64) {
	x := &c.In[0]
	length := along(c, x)
	run = powerOfTwo(length, 1<<40)
	lines := x.Numel() / max(length, 1)
	return run, int64(gpu.RoundUp(uint64(lines*run), 2*gpu.MostGroup))
}

// Workspace has all places.
func (k *sorting) Workspace(c *device.Call) int64 {
	_, places := runsOf(c)
	return k.place * places
}

// Encode makes places of the elements, sorts them, and writes the elements and where they were.
func (k *sorting) Encode(e gpu.Encoder, c *device.Call) error {
	run, places := runsOf(c)
	err := inScattered(places, func(first, count int64) error {
		d, p := e.Arguments(), &k.pipelines[sortDraw]
		if err := bindScratch(d, c); err != nil {
			return err
		}
		if err := k.bind(d, c, run, first); err != nil {
			return err
		}
		p.Line(d, uint64(count))
		return e.Dispatch(p.State, d)
	})
	if err != nil {
		return err
	}
	if err := network(e, c, &k.pipelines[sortFar], &k.pipelines[sortNear], places, run); err != nil {
		return err
	}
	return inScattered(c.Out[0].Numel(), func(first, count int64) error { return k.give(e, c, run, first, count) })
}

// bind binds the operand, the steps along all lines, and the numbers of a call.
func (k *sorting) bind(d *objc.Dispatch, c *device.Call, run, first int64) error {
	x, y := &c.In[0], &c.Out[0]
	from, err := place(d, x)
	if err != nil {
		return err
	}
	lines, inStep := across(c, x)
	_, outStep := across(c, y)
	_, indexStep := across(c, &c.Out[len(c.Out)-1])
	bindWalk(d, &lines, from, k.wide())
	bindOffsets(d, k.wide(), inStep, outStep, indexStep)
	length := along(c, x)
	bindCounts(d, length, run, x.Numel()/max(length, 1), first, along(c, y), c.Attrs[k.flip].I)
	return nil
}

// give encodes the writing of some elements of the result. Elements are taken from the operand again, because a key does
// not tell zeros and nan apart.
func (k *sorting) give(e gpu.Encoder, c *device.Call, run, first, count int64) error {
	d, p := e.Arguments(), &k.pipelines[sortGive]
	to, err := place(d, &c.Out[0])
	if err != nil {
		return err
	}
	if err := k.bind(d, c, run, first); err != nil {
		return err
	}
	if err := bindScratch(d, c); err != nil {
		return err
	}
	lines, _ := across(c, &c.Out[0])
	bindWalk(d, &lines, to, k.wide())
	if len(c.Out) > 1 {
		if to, err = place(d, &c.Out[1]); err != nil {
			return err
		}
		lines, _ = across(c, &c.Out[1])
		bindWalk(d, &lines, to, k.wide())
	}
	p.Line(d, uint64(count))
	return e.Dispatch(p.State, d)
}
