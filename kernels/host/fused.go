package host

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// fused is the kernel of a group of elementwise steps: it runs all of them for a block of elements, then for the
// next one, with the kernels that the steps have alone. Intermediate results are a block long and stay in
// the cache; memory sees what the group reads and writes. Threads divide the elements of the group, once.
//
// A kernel gets a block as a call of one axis, contiguous in all operands but those of one value, so that it takes the
// path without lanes. Operands that lie in memory in another way are gathered for each block, results scattered.
type fused struct {
	steps    []device.Step
	kernels  []elementwise // of the steps
	elements int64
	weight   int64 // cost of an element
	size     int64 // bytes of the largest element
	locals   int
	tail     *tail     // the reduction at the end; nil: there is none
	fence    bool      // a kernel writes past the cache
	ready    sync.Pool // *blocks
}

// elementwise is a kernel whose part computes elements lo to hi-1 of a call, whatever its layouts.
type elementwise interface {
	kernel
	splitter
	// perElement reports whether element i of the result depends on elements i of the inputs alone, and has the
	// same bits in whichever block it is computed. A kernel that fails on some elements reports false: a group would
	// answer with the error of another step than the steps one by one.
	perElement() bool
}

func (k *binary) perElement() bool { return k.check == nil }
func (copier) perElement() bool    { return true }

// Memory for the intermediate results of a thread. blockBytes is what one of them takes, a quarter of a first-level cache
// of 32 KiB; where there are so many that all would take more than cacheBytes, half of a small second-level cache, blocks are
// shorter, but not below the block of a lane.
const (
	blockBytes = 8 << 10
	cacheBytes = 256 << 10
)

// Fuses reports whether a step has a kernel that works element by element, or one that can be a head or a tail; see
// device.Fuser.
func (d *Device) Fuses(s *op.Step) bool {
	c := device.Call{Op: s.Row.ID, Out: []device.Operand{{DType: s.Out[0].DType, Layout: s.Out[0].Layout}}}
	for i := range s.In {
		c.In = append(c.In, device.Operand{DType: s.In[i].DType, Layout: s.In[i].Layout})
	}
	k, err := d.kernelFor(&c)
	if err != nil {
		return false
	}
	if h, ok := k.(head); ok {
		return h.leads(&c)
	}
	if _, ok := k.(*reduction); ok {
		return true
	}
	return elementwiseOf(k, &c) != nil
}

// elementwiseOf is the kernel of a step as a group runs it; nil for one that cannot be part of a group.
func elementwiseOf(k kernel, c *device.Call) elementwise {
	if _, ok := k.(convert); ok {
		k = castOf(c)
	}
	if e, ok := k.(elementwise); ok && e.perElement() {
		return e
	}
	return nil
}

// fuse makes the kernel of a group of steps from theirs. status.Unsupported where one of these is not elementwise.
func fuse(steps []device.Step, ks []kernel, elements int64, locals int) (*fused, error) {
	f := &fused{steps: steps, elements: elements, locals: locals, size: 1}
	for i, k := range ks {
		c := steps[i].Call
		e := elementwiseOf(k, c)
		if e == nil {
			return nil, status.Errorf(status.Unsupported, "[%s] has no kernel that can be part of a group", op.ByID(c.Op).Name)
		}
		f.kernels = append(f.kernels, e)
		f.weight += max(1, e.cost(c)/elements)
		for _, list := range [2][]device.Operand{c.Out, c.In} {
			for j := range list {
				f.size = max(f.size, list[j].DType.Size())
			}
		}
	}
	return f, nil
}

// cost and workspace follow from the plan: a step block by block costs three times what it does in one go. The memory of blocks
// belongs to the threads, not to the call.
func (f *fused) cost(*device.Call) int64 { return 3 * f.elements * f.weight }

func (f *fused) workspace(*device.Call) int64 {
	if f.tail == nil {
		return 0
	}
	return f.tail.bytes()
}

// bytes is the memory of one thread for locals; there is more for strided operands, and for more threads.
func (f *fused) bytes() int64 { return int64(f.locals) * blockBytes }

// run splits the elements over the threads: once for all steps, so that threads meet once a group and not once a step.
// c is the call of the program, whose operands the slots of the steps name.
func (f *fused) run(t *threads, c *device.Call) error {
	if f.tail == nil {
		return t.each(f, c, f.elements, f.cost(c))
	}
	err := t.each(f, c, f.tail.units(), f.cost(c))
	if err == nil && f.tail.segments > 1 {
		f.tail.join(c)
	}
	return err
}

// part runs the steps for the elements lo to hi-1, block by block; with a tail, for so many units of it.
func (f *fused) part(run *device.Call, lo, hi int64) error {
	b := f.open(run)
	defer f.close(b)
	if f.tail != nil {
		return f.reduce(b, run, lo, hi)
	}
	return f.span(b, lo, hi)
}

// open is what a thread needs for a run, until close.
func (f *fused) open(run *device.Call) *blocks {
	b, _ := f.ready.Get().(*blocks)
	if b == nil {
		b = f.newBlocks()
	}
	b.open(run)
	return b
}

func (f *fused) close(b *blocks) {
	if f.fence {
		vec.Fence()
	}
	b.close()
	f.ready.Put(b)
}

// span runs the steps for the elements lo to hi-1. Blocks begin at lo, wherever that is: no result depends on where a block
// begins.
func (f *fused) span(b *blocks, lo, hi int64) error {
	if lo == hi {
		return nil
	}
	b.seek(lo)
	for {
		n := min(b.length, hi-lo)
		b.resize(n)
		b.load(n)
		for i, k := range f.kernels {
			if err := k.part(&b.calls[i], 0, n); err != nil {
				return err
			}
		}
		b.store(n)
		if f.tail != nil {
			f.tail.take(b.ending, b.calls[f.tail.from].Out[0].Addr, n)
		}
		if lo += n; lo == hi {
			return nil
		}
		b.advance(n)
	}
}
