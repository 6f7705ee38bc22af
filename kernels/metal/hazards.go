package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// Compute encoders are concurrent: the GPU may run dispatches of one encoder at the same time and in any order, except
// across a memory barrier. So each dispatch that reads or overwrites what one since the last barrier writes, or
// overwrites what one reads, gets a barrier before it:
//
//   - Of different calls, that is known from their operands and workspaces: ranges of addresses, which are the same
//     for two heaps over the same memory.
//   - Dispatches of one call are always in order. They are the passes of an operator, each of which reads what the one
//     before has written, or the pieces of a long one, each of which keeps the GPU busy by itself.
//   - Nothing is known of what kernels of the program touch, so a barrier is before and after each.
//
// Work of different encoders is put in order by order.go.

// extent is a range of addresses. They are compared as numbers, and nothing is read through them.
type extent struct{ low, high uintptr }

// meets reports whether two ranges share a byte.
func (x extent) meets(y extent) bool { return x.low < y.high && y.low < x.high }

// mostExtents bounds the memory of an encoder's dispatches, and with it what a dispatch costs: beyond that there is a
// barrier.
const mostExtents = 64

// hazards is what the dispatches of the open encoder since its last barrier use.
type hazards struct {
	anything      bool // there is a dispatch of which nothing is known
	reads, writes extents
}

// extents is a list of ranges that allocates nothing.
type extents struct {
	list  [mostExtents]extent
	count int
}

// slice is what is in the list.
func (e *extents) slice() []extent { return e.list[:e.count] }

// meets reports whether one of the ranges shares a byte with another range.
func (e *extents) meets(x extent) bool {
	for i := range e.slice() {
		if e.list[i].meets(x) {
			return true
		}
	}
	return false
}

// add reports whether there is room for another range; one that is in the list needs none.
func (e *extents) add(x extent) bool {
	if x.low == x.high {
		return true
	}
	for i := range e.slice() {
		if e.list[i] == x {
			return true
		}
	}
	if e.count == len(e.list) {
		return false
	}
	e.list[e.count] = x
	e.count++
	return true
}

// addAll adds all ranges of another list.
func (e *extents) addAll(other *extents) bool {
	for _, x := range other.slice() {
		if !e.add(x) {
			return false
		}
	}
	return true
}

// forget empties the record: a barrier, or a new encoder, comes after all that is in it.
func (h *hazards) forget() { h.anything, h.reads.count, h.writes.count = false, 0, 0 }

// meets reports whether a call uses memory in conflict with the record.
func (h *hazards) meets(e *encoding) bool {
	if h.anything || e.unknown {
		return h.anything || h.reads.count+h.writes.count > 0
	}
	for _, x := range e.writes.slice() {
		if h.writes.meets(x) || h.reads.meets(x) {
			return true
		}
	}
	for _, x := range e.reads.slice() {
		if h.writes.meets(x) {
			return true
		}
	}
	return false
}

// add records a call, and reports whether there was room for it.
func (h *hazards) add(e *encoding) bool {
	h.anything = e.unknown
	return h.writes.addAll(&e.writes) && h.reads.addAll(&e.reads)
}

// extentOf is the memory of an operand's elements; none of a scalar, which is a constant of the dispatch.
func extentOf(o *device.Operand) (x extent) {
	low, high, ok := o.Extent()
	if !ok || gpu.HeapOf(o) == nil {
		return x
	}
	// SAFETY: only a number; nothing is read.
	at, size := int64(uintptr(o.Addr)), o.DType.Size()
	return extent{uintptr(at + low*size), uintptr(at + (high+1)*size)}
}

// linesOf is what kernels may read of an operand: they drop elements of other tensors in the same lines of memory.
// Blocks of the allocator and slots of an arena begin at multiples of lines.
func linesOf(o *device.Operand) extent {
	x := extentOf(o)
	const mask = gpu.Line - 1
	return extent{x.low &^ mask, (x.high + mask) &^ mask}
}

// encoding is the call whose kernel is being encoded.
type encoding struct {
	further       bool // the encoder has dispatches of it
	unknown       bool // what it uses
	reads, writes extents
}

// begin looks at a call.
func (e *encoding) begin(k gpu.Kernel, c *device.Call) {
	e.further, e.unknown, e.reads.count, e.writes.count = false, c.Grid != nil, 0, 0
	if e.unknown {
		return
	}
	known := true
	if c.Workspace != nil {
		// SAFETY: only a number; the memory is that of the call.
		at := uintptr(c.Workspace)
		known = e.writes.add(extent{at, at + uintptr(k.Workspace(c))})
	}
	for i := range c.Out {
		known = e.writes.add(extentOf(&c.Out[i])) && known
	}
	for i := range c.In {
		known = e.reads.add(linesOf(&c.In[i])) && known
	}
	e.unknown = !known
}

// barrier is the scope of the barrier that the next dispatch needs before it; 0: none. The dispatch is recorded.
func (b *batch) barrier() mtl.BarrierScope {
	h, e := &b.hazards, &b.encoding
	if b.stream.device.serial {
		return 0
	}
	needed := e.further || h.meets(e)
	e.further = true
	if needed {
		h.forget()
	}
	if !h.add(e) {
		needed = true
		h.forget()
		h.add(e)
	}
	if needed {
		return mtl.BarrierScopeBuffers
	}
	return 0
}
