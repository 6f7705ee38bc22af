package alloc

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// pageSize divides the length of every heap: the page size of Apple silicon.
const pageSize = 16 << 10

// tiers are the sizes of heaps. A tier is used until the given number of bytes is reserved: large heaps
// fragment less and cost fewer system calls, but a small program should not hold one.
var tiers = [...]struct{ size, until int64 }{
	{8 << 20, 64 << 20},
	{32 << 20, 512 << 20},
	{256 << 20, math.MaxInt64},
}

// dedicatedAbove is the size above which a block gets a dedicated heap of just its length. Only whole heaps
// can be returned, so large blocks of many sizes that share heaps waste the gaps between them; dedicated
// heaps have no gaps, and the cost of making one is small compared with the work on so much memory.
const dedicatedAbove = 32 << 20

// heapSize is the length of the heap to make for a block of n bytes.
func heapSize(n, reserved int64) int64 {
	if n > dedicatedAbove {
		return pages(n)
	}
	for _, t := range tiers {
		if n <= t.size && reserved < t.until {
			return t.size
		}
	}
	return tiers[len(tiers)-1].size
}

// pages rounds a size up to whole pages.
func pages(n int64) int64 { return (n + pageSize - 1) &^ (pageSize - 1) }

// heap is a range of memory that blocks cover without gaps.
type heap struct {
	owner     *Allocator
	mem       device.Heap
	base      unsafe.Pointer // nil where the CPU does not see the memory
	size      int64
	dedicated bool   // made for one block, and split only where little is left
	serial    uint64 // counts heaps from 1, for snapshots
	first     *Block // the block at offset 0, whose header stays when blocks split and merge

	isIdle       bool  // its only block is in the common pool
	idleSince    int64 // of Allocator.now; undated until the next stamp
	older, newer *heap // in the list of idle heaps; newer also links heaps to close
}

// addr is the address of an offset; nil where the CPU does not see the memory.
func (h *heap) addr(offset int64) unsafe.Pointer {
	if h.base == nil {
		return nil
	}
	// SAFETY: offset is that of a block, so it lies inside the size bytes that mem keeps valid
	// until Close, which comes after the last block. Any thread.
	return unsafe.Add(h.base, offset)
}

// newHeap describes new memory. status.Device is for a source that returned less than size bytes or an
// address that is not aligned: blocks would then overlap other memory.
func newHeap(a *Allocator, mem device.Heap, size int64) (*heap, error) {
	h := &heap{owner: a, mem: mem, size: size}
	if bytes := mem.Bytes(); bytes != nil {
		// SAFETY: the address is kept, not the slice; mem keeps the memory until Close.
		h.base = unsafe.Pointer(unsafe.SliceData(bytes))
		if int64(len(bytes)) < size || uintptr(h.base)%Alignment != 0 {
			return nil, status.Errorf(status.Device, "[alloc] heap has %d bytes at %p; want %d bytes aligned to %d",
				len(bytes), h.base, size, Alignment)
		}
	}
	return h, nil
}

// byAddress compares heaps by the address of their memory.
func byAddress(h, other *heap) int {
	return cmp.Compare(uintptr(h.base), uintptr(other.base))
}

// link adds a new heap, as one free block. The lock is held.
func (a *Allocator) link(h *heap) {
	a.serial++
	h.serial = a.serial
	i, _ := slices.BinarySearchFunc(a.heaps, h, byAddress)
	a.heaps = slices.Insert(a.heaps, i, h)
	a.counts.reserve(h.size)
	b := a.slab.get()
	b.Heap, b.heap, b.Addr, b.Offset, b.Size = h.mem, h, h.base, 0, h.size
	b.prev, b.next, b.After = nil, nil, 0
	h.first = b
	a.recordHeap(DidGrow, h)
	a.enter(b, &a.common)
	a.idle.push(h)
}

// unlink removes an idle heap. Its bytes stay committed until it is closed, because the system does not have
// them back yet. The lock is held.
func (a *Allocator) unlink(h *heap) {
	a.idle.remove(h)
	a.leave(h.first)
	a.slab.put(h.first)
	a.heaps = remove(a.heaps, h)
	a.counts.unreserve(h.size)
	a.recordHeap(DidShrink, h)
}

// remove removes x, which is in the list, and keeps the order of the others.
func remove[T comparable](list []T, x T) []T {
	i := slices.Index(list, x)
	return slices.Delete(list, i, i+1)
}

// undated is idleSince of a heap that has become idle since the clock was last read.
const undated = math.MinInt64

// idleList is a doubly linked list of the heaps without a live or pending block, in the order in which they
// became idle.
type idleList struct {
	oldest, newest *heap
	bytes          int64
	count          int64
}

// push adds a heap that has just become idle. It does not read the clock: see stamp.
func (l *idleList) push(h *heap) {
	h.isIdle, h.idleSince = true, undated
	l.bytes += h.size
	l.count++
	h.older, h.newer = l.newest, nil
	if l.newest == nil {
		l.oldest = h
	} else {
		l.newest.newer = h
	}
	l.newest = h
}

// remove takes out a heap, because a block of it is used again or because it is to be closed.
func (l *idleList) remove(h *heap) {
	h.isIdle = false
	l.bytes -= h.size
	l.count--
	if h.older == nil {
		l.oldest = h.newer
	} else {
		h.older.newer = h.newer
	}
	if h.newer == nil {
		l.newest = h.older
	} else {
		h.newer.older = h.older
	}
}

// stamp sets the time at which the heaps that are not dated yet became idle. Reading the clock here and not
// on every free makes a heap seem younger than it is, never older.
func (l *idleList) stamp(now int64) {
	for h := l.newest; h != nil && h.idleSince == undated; h = h.older {
		h.idleSince = now
	}
}
