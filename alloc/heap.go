package alloc

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// pageSize is what heaps are multiples of: a page of Apple's processors.
const pageSize = 16 << 10

// tiers are the sizes of heaps. A tier is used until so many bytes are reserved: large heaps
// fragment less and cost fewer system calls, but a small program should not hold one.
var tiers = [...]struct{ size, until int64 }{
	{8 << 20, 64 << 20},
	{32 << 20, 512 << 20},
	{256 << 20, math.MaxInt64},
}

// ownAbove is the size above which a block gets a heap of its own, of just its length. A heap is given
// back as a whole or not at all, so large blocks of many sizes that share heaps waste what they leave
// between them; alone they waste nothing, and what a heap costs to make is little beside their work.
const ownAbove = 32 << 20

// heapSize is the length of the heap to make for a block of n bytes.
func heapSize(n, reserved int64) int64 {
	if n > ownAbove {
		return pages(n)
	}
	for _, t := range tiers {
		if n <= t.size && reserved < t.until {
			return t.size
		}
	}
	return tiers[len(tiers)-1].size
}

func pages(n int64) int64 { return (n + pageSize - 1) &^ (pageSize - 1) }

// heap is a range of memory that blocks cover without gaps.
type heap struct {
	owner  *Allocator
	mem    device.Heap
	base   unsafe.Pointer // nil where the CPU does not see the memory
	size   int64
	own    bool // made for one block, and divided only where little is left
	serial uint64
	first  *Block // the lowest, which stays when blocks split and merge
	index  index

	isIdle        bool // nothing but one block of the common pool
	since         int64
	elder, junior *heap // in the list of idle heaps; junior also chains heaps to give back
}

func (h *heap) addr(offset int64) unsafe.Pointer {
	if h.base == nil {
		return nil
	}
	// SAFETY: offset is that of a block, so it lies inside the size bytes that mem keeps valid
	// until Close, which comes after the last block. Any thread.
	return unsafe.Add(h.base, offset)
}

// newHeap describes fresh memory; it refuses memory that is not what was asked for.
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
	h.index = newIndex(size)
	return h, nil
}

func byAddress(h, other *heap) int {
	return cmp.Compare(uintptr(h.base), uintptr(other.base))
}

// link adds a heap as one free block.
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
	h.index.add(b)
	a.noteHeap(DidGrow, h)
	a.enter(b, &a.common)
	a.idle.push(h)
}

// unlink removes an idle heap; its bytes stay committed until it is closed.
func (a *Allocator) unlink(h *heap) {
	a.idle.remove(h)
	a.leave(h.first)
	a.slab.put(h.first)
	a.heaps = remove(a.heaps, h)
	a.counts.unreserve(h.size)
	a.noteHeap(DidShrink, h)
}

func remove[T comparable](list []T, x T) []T {
	i := slices.Index(list, x)
	return slices.Delete(list, i, i+1)
}

// fresh marks a heap that has become idle since the clock was last read.
const fresh = math.MinInt64

// idleList has the heaps without a live or pending block, in the order in which they became so.
type idleList struct {
	eldest, youngest *heap
	bytes            int64
	count            int64
}

func (l *idleList) push(h *heap) {
	h.isIdle, h.since = true, fresh
	l.bytes += h.size
	l.count++
	h.elder, h.junior = l.youngest, nil
	if l.youngest == nil {
		l.eldest = h
	} else {
		l.youngest.junior = h
	}
	l.youngest = h
}

func (l *idleList) remove(h *heap) {
	h.isIdle = false
	l.bytes -= h.size
	l.count--
	if h.elder == nil {
		l.eldest = h.junior
	} else {
		h.elder.junior = h.junior
	}
	if h.junior == nil {
		l.youngest = h.elder
	} else {
		h.junior.elder = h.elder
	}
}

// stamp dates the heaps that became idle since the last stamp. Reading the clock here and not on
// every free makes a heap seem younger than it is, never older.
func (l *idleList) stamp(now int64) {
	for h := l.youngest; h != nil && h.since == fresh; h = h.elder {
		h.since = now
	}
}
