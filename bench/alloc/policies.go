package main

import (
	"slices"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
)

// policy is a way to serve a trace.
type policy interface {
	name() string
	alloc(bytes int64) (handle any)
	free(handle any)
	reserved() int64 // bytes taken from the system
}

// policies are made anew for each trace.
var policies = []func() policy{
	func() policy { return newOurs() },
	func() policy { return &wholeBuffers{} },
	func() policy { return &nearlyExact{} },
}

// ours is package alloc over heaps that are nothing but a size.
type ours struct{ memory *alloc.Allocator }

type nowhere struct{}

func (nowhere) NewHeap(int64) (device.Heap, error) { return nowhere{}, nil }
func (nowhere) Bytes() []byte                      { return nil }
func (nowhere) Close() error                       { return nil }

func newOurs() *ours {
	return &ours{alloc.New(alloc.Config{Source: nowhere{}, MaxAge: time.Hour})}
}

func (*ours) name() string { return "alloc" }

func (o *ours) alloc(bytes int64) any {
	b, err := o.memory.Alloc(bytes, nil)
	if err != nil {
		panic(err) // heaps that are only a size do not run out
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

// wholeBuffers keeps whole buffers by size, as PyTorch's MPS backend did up to 2.13 (its
// aten/src/ATen/mps/MPSAllocator.mm): a buffer is cut from a heap of its tier, stays as long as it was
// cut, and serves a later request of up to 32 MiB less. Nothing splits and nothing merges. No limit is
// reached here, so that nothing is collected either.
type wholeBuffers struct {
	total int64
	tiers [3]struct {
		room int64   // left in the heaps, each of them cut from the front
		free []int64 // sizes of cached buffers, in order
	}
}

var wholeTiers = [...]struct{ below, heap int64 }{{mib + 1, 8 * mib}, {10 * mib, 32 * mib}, {512 * mib, gib}}

func (*wholeBuffers) name() string      { return "whole buffers" }
func (w *wholeBuffers) reserved() int64 { return w.total }

func (w *wholeBuffers) tier(bytes int64) int {
	for i, t := range wholeTiers {
		if bytes < t.below {
			return i
		}
	}
	return len(wholeTiers) - 1
}

func (w *wholeBuffers) alloc(bytes int64) any {
	bytes = up(bytes, 256)
	t := &w.tiers[w.tier(bytes)]
	if i, _ := slices.BinarySearch(t.free, bytes); i < len(t.free) && t.free[i] <= bytes+32*mib {
		size := t.free[i]
		t.free = slices.Delete(t.free, i, i+1)
		return size
	}
	heap := wholeTiers[w.tier(bytes)].heap
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

// nearlyExact gives every request a buffer of its own from the system and keeps freed ones for
// requests of nearly the same size, as MLX does (its mlx/backend/common/buffer_cache.h): a cached
// buffer serves if it is shorter than twice the request and than the request and two pages.
type nearlyExact struct {
	total int64
	cache []int64 // sizes in order
}

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

func up(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }
