// Package fusion runs groups of steps block by block, so that intermediate results stay in the cache.
//
// A [Group] is elementwise steps; it may end in a reduction (tail.go) or follow a product or convolution, whose kernel is a [Head]
// that calls the group as its [Epilogue]. A group gives the bits of its steps one by one.
package fusion

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/nontemporal"
)

// Group is the kernel of a group of elementwise steps: it runs all of them for a block of elements, then for the
// next one, with the kernels that the steps have alone. Intermediate results are a block long and stay in
// the cache; memory sees what the group reads and writes. Threads divide the elements of the group, once.
//
// A kernel gets a block as a call of one axis, contiguous in all operands but those of one value, so that it takes the
// path without lanes. Operands that lie in memory in another way are gathered for each block, results scattered.
type Group struct {
	steps    []device.Step
	Kernels  []engine.Elementwise // of the steps
	elements int64
	weight   int64 // cost of an element
	size     int64 // bytes of the largest element
	locals   int
	Tail     *tail     // the reduction at the end; nil: there is none
	Fence    bool      // a kernel writes past the cache
	ready    sync.Pool // *blocks
}

// Memory for the intermediate results of a thread. blockBytes is what one of them takes, a quarter of a first-level cache
// of 32 KiB; where there are so many that all would take more than cacheBytes, half of a small second-level cache, blocks are
// shorter, but not below the block of a lane.
const (
	blockBytes = 8 << 10
	cacheBytes = 256 << 10
)

// Fuse makes the kernel of a group of steps from theirs. status.Unsupported where one of these is not elementwise.
func Fuse(steps []device.Step, ks []engine.Kernel, elements int64, locals int) (*Group, error) {
	f := &Group{steps: steps, elements: elements, locals: locals, size: 1}
	for i, k := range ks {
		c := steps[i].Call
		e := elem.KernelOf(k, c)
		if e == nil {
			return nil, status.Errorf(status.Unsupported, "[%s] has no kernel that can be part of a group", op.ByID(c.Op).Name)
		}
		f.Kernels = append(f.Kernels, e)
		f.weight += max(1, e.Cost(c)/elements)
		for _, list := range [2][]device.Operand{c.Out, c.In} {
			for j := range list {
				f.size = max(f.size, list[j].DType.Size())
			}
		}
	}
	return f, nil
}

// Cost follows from the plan: a step block by block costs three times what it does in one go. The memory of blocks
// belongs to the threads, not to the call.
func (f *Group) Cost(*device.Call) int64 { return 3 * f.elements * f.weight }

// Workspace is the memory of the tail, if there is one.
func (f *Group) Workspace(*device.Call) int64 {
	if f.Tail == nil {
		return 0
	}
	return f.Tail.bytes()
}

// Bytes is the memory of one thread for locals; there is more for strided operands, and for more threads.
func (f *Group) Bytes() int64 { return int64(f.locals) * blockBytes }

// Run splits the elements over the threads: once for all steps, so that threads meet once a group and not once a step.
// c is the call of the program, whose operands the slots of the steps name.
func (f *Group) Run(t *engine.Threads, c *device.Call) error {
	if f.Tail == nil {
		return t.Each(f, c, f.elements, f.Cost(c))
	}
	err := t.Each(f, c, f.Tail.Units(), f.Cost(c))
	if err == nil && f.Tail.segments > 1 {
		f.Tail.join(c)
	}
	return err
}

// Part runs the steps for the elements lo to hi-1, block by block; with a tail, for so many units of it.
func (f *Group) Part(run *device.Call, lo, hi int64) error {
	b := f.open(run)
	defer f.close(b)
	if f.Tail != nil {
		return f.Reduce(b, run, lo, hi)
	}
	return f.span(b, lo, hi)
}

// open is what a thread needs for a run, until close.
func (f *Group) open(run *device.Call) *Blocks {
	b, _ := f.ready.Get().(*Blocks)
	if b == nil {
		b = f.NewBlocks()
	}
	b.Open(run)
	return b
}

func (f *Group) close(b *Blocks) {
	if f.Fence {
		nontemporal.Fence()
	}
	b.Close()
	f.ready.Put(b)
}

// span runs the steps for the elements lo to hi-1. Blocks begin at lo, wherever that is: no result depends on where a block
// begins.
func (f *Group) span(b *Blocks, lo, hi int64) error {
	if lo == hi {
		return nil
	}
	b.SeekTo(lo)
	for {
		n := min(b.length, hi-lo)
		b.resize(n)
		b.Load(n)
		for i, k := range f.Kernels {
			if err := k.Part(&b.calls[i], 0, n); err != nil {
				return err
			}
		}
		b.store(n)
		if f.Tail != nil {
			f.Tail.take(b.Ending, b.calls[f.Tail.from].Out[0].Addr, n)
		}
		if lo += n; lo == hi {
			return nil
		}
		b.advance(n)
	}
}
