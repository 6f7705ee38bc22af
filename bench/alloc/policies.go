package main

import (
	"slices"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
)

// policy is an allocation strategy that can serve a trace. Only sizes matter: there is no memory behind the handles.
type policy interface {
	// name is that of the table's column.
	name() string
	// alloc serves a request of bytes > 0; handle is whatever free needs.
	alloc(bytes int64) (handle any)
	// free takes back what alloc returned, once.
	free(handle any)
	// reserved is the number of bytes taken from the system and not returned.
	reserved() int64
}

// policies make the strategies, a new one for each trace; ours is the first.
var policies = []func() policy{
	func() policy { return newOurs() },
	func() policy { return &wholeBuffers{} },
	func() policy { return &nearlyExact{} },
}

// ours is package alloc. Its heaps have a size and no memory.
type ours struct{ memory *alloc.Allocator }

// nowhere is a source of heaps, and a heap, without memory.
type nowhere struct{}

func (nowhere) NewHeap(int64) (device.Heap, error) { return nowhere{}, nil }
func (nowhere) Bytes() []byte                      { return nil }
func (nowhere) Close() error                       { return nil }

// newOurs disables ageing, so that a replay does not depend on its speed.
func newOurs() *ours {
	return &ours{alloc.New(alloc.Config{Source: nowhere{}, MaxAge: time.Hour})}
}

func (*ours) name() string { return "alloc" }

func (o *ours) alloc(bytes int64) any {
	b, err := o.memory.Alloc(bytes, nil)
	if err != nil {
		panic(err) // heaps without memory and limits do not run out
	}
	return b
}

func (o *ours) free(h any)      { o.memory.Free(h.(*alloc.Block), nil) }
func (o *ours) reserved() int64 { return o.memory.Stats().Reserved.Current }

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// wholeBuffers caches whole buffers by size, as PyTorch's MPS backend did up to 2.13 (its
// aten/src/ATen/mps/MPSAllocator.mm): a buffer is cut from a heap of its tier, keeps its length, and serves later
// requests that are up to 32 MiB shorter. Buffers are never split or merged. There is no limit here, so that no
// garbage collection takes place either.
type wholeBuffers struct {
	total int64
	tiers [3]struct {
		room int64   // left in the heaps, each of them cut from the front
		free []int64 // sizes of cached buffers, in order
	}
}

// wholeTiers are PyTorch's tiers: requests below the first number are cut from heaps of the second.
var wholeTiers = [...]struct{ below, heap int64 }{{mib + 1, 8 * mib}, {10 * mib, 32 * mib}, {512 * mib, gib}}

func (*wholeBuffers) name() string      { return "whole buffers" }
func (w *wholeBuffers) reserved() int64 { return w.total }

// tier is the index of the tier of a request.
func (w *wholeBuffers) tier(bytes int64) int {
	for i, t := range wholeTiers {
		if bytes < t.below {
			return i
		}
	}
	return len(wholeTiers) - 1
}

func (w *wholeBuffers) alloc(bytes int64) any {
	// The shortest cached buffer that is long enough, unless it is too long.
	bytes = up(bytes, 256)
	t := &w.tiers[w.tier(bytes)]
	if i, _ := slices.BinarySearch(t.free, bytes); i < len(t.free) && t.free[i] <= bytes+32*mib {
		size := t.free[i]
		t.free = slices.Delete(t.free, i, i+1)
		return size
	}
	heap := wholeTiers[w.tier(bytes)].heap
	// A huge buffer gets a heap of its own; what is left of a heap when the next buffer does not fit is lost.
	switch {
	case bytes >= 512*mib:
		w.total += up(bytes, 2*mib)
	case t.room >= bytes:
		t.room -= bytes
	default:
		w.total += heap
		t.room = heap - bytes
	}
	return bytes
}

func (w *wholeBuffers) free(h any) {
	size := h.(int64)
	t := &w.tiers[w.tier(size)]
	i, _ := slices.BinarySearch(t.free, size)
	t.free = slices.Insert(t.free, i, size)
}

// nearlyExact allocates every buffer from the system and caches freed ones for requests of nearly the same size, as
// MLX does (its mlx/backend/common/buffer_cache.h): a cached buffer is used if it is shorter than twice the request
// and shorter than the request plus two pages.
type nearlyExact struct {
	total int64
	cache []int64 // sizes in order
}

// applePage is the page size of Apple silicon.
const applePage = 16 * kib

func (*nearlyExact) name() string      { return "nearly exact" }
func (n *nearlyExact) reserved() int64 { return n.total }

func (n *nearlyExact) alloc(bytes int64) any {
	if bytes > applePage {
		bytes = up(bytes, applePage)
	}
	if i, _ := slices.BinarySearch(n.cache, bytes); i < len(n.cache) && n.cache[i] < min(2*bytes, bytes+2*applePage) {
		size := n.cache[i]
		n.cache = slices.Delete(n.cache, i, i+1)
		return size
	}
	n.total += bytes
	return bytes
}

func (n *nearlyExact) free(h any) {
	i, _ := slices.BinarySearch(n.cache, h.(int64))
	n.cache = slices.Insert(n.cache, i, h.(int64))
}

// up rounds n up to a multiple.
func up(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }
