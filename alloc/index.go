package alloc

import (
	"math/bits"
	"slices"
	"unsafe"
)

const (
	regionShift = 14 // a region has 16 KiB, so at most 64 blocks start in it
	chunkShift  = 9  // regions of one chunk of the table: 8 MiB of memory
)

// index finds the block at an offset of a heap. It has the first block that starts in each region;
// the blocks after that are reached through their next. Splits and merges change one entry, however
// long the blocks are. Chunks are made when the first block starts in them, so that one long block
// has a short table.
type index struct {
	chunks []*[1 << chunkShift]*Block
	starts bitset // regions in which a block starts
}

func newIndex(size int64) index {
	regions := (size-1)>>regionShift + 1
	return index{
		chunks: make([]*[1 << chunkShift]*Block, (regions-1)>>chunkShift+1),
		starts: newBitset(int(regions)),
	}
}

func (x *index) slot(region int64) **Block {
	return &x.chunks[region>>chunkShift][region&(1<<chunkShift-1)]
}

// add enters a block whose Offset and neighbours are set.
func (x *index) add(b *Block) {
	r := b.Offset >> regionShift
	if c := &x.chunks[r>>chunkShift]; *c == nil {
		*c = new([1 << chunkShift]*Block)
	}
	first := x.slot(r)
	if *first == nil {
		x.starts.set(int(r))
	}
	if *first == nil || (*first).Offset > b.Offset {
		*first = b
	}
}

// drop removes a block that is about to be merged into its left neighbour.
func (x *index) drop(b *Block) {
	r := b.Offset >> regionShift
	first := x.slot(r)
	if *first != b {
		return
	}
	if b.next != nil && b.next.Offset>>regionShift == r {
		*first = b.next
		return
	}
	*first = nil
	x.starts.clear(int(r))
}

// rename makes c stand for b, which it copies.
func (x *index) rename(b, c *Block) {
	if b.heap.first == b {
		b.heap.first = c
	}
	if first := x.slot(b.Offset >> regionShift); *first == b {
		*first = c
	}
}

// find answers the block that covers an offset of the heap.
func (x *index) find(offset int64) *Block {
	b := *x.slot(int64(x.starts.last(int(offset >> regionShift))))
	if b.Offset > offset {
		return b.prev // it starts in an earlier region
	}
	for b.next != nil && b.next.Offset <= offset {
		b = b.next
	}
	return b
}

// Find answers the live block that an address lies in and the offset of the address in the block.
// An address one past the end of a block is in the next one. The block may be freed at any time by
// its owner; the caller sees to it that it is not.
func (a *Allocator) Find(p unsafe.Pointer) (b *Block, offset int64, ok bool) {
	a.lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.heaps, uintptr(p), func(h *heap, p uintptr) int {
		if uintptr(h.base) <= p {
			return -1 // keeps going right until past the heap that may have p
		}
		return 1
	})
	if i == 0 {
		return nil, 0, false
	}
	h := a.heaps[i-1]
	at := int64(uintptr(p) - uintptr(h.base))
	if h.base == nil || at >= h.size {
		return nil, 0, false
	}
	b = h.index.find(at)
	if b.state != Live {
		return nil, 0, false
	}
	return b, at - b.Offset, true
}

// bitset is a set of small integers. Each level above the lowest has a bit for every word of the
// level below that is not zero, so that no search reads more than two words a level.
type bitset [][]uint64

func newBitset(n int) bitset {
	var s bitset
	for {
		n = (n + 63) / 64
		s = append(s, make([]uint64, n))
		if n == 1 {
			return s
		}
	}
}

func (s bitset) set(i int) {
	for _, level := range s {
		w := &level[i/64]
		had := *w
		*w |= 1 << (i % 64)
		if had != 0 {
			return
		}
		i /= 64
	}
}

func (s bitset) clear(i int) {
	for _, level := range s {
		w := &level[i/64]
		*w &^= 1 << (i % 64)
		if *w != 0 {
			return
		}
		i /= 64
	}
}

// last is the greatest member that is at most i; there has to be one.
func (s bitset) last(i int) int {
	level, word := 0, s[0][i/64]&(2<<(i%64)-1)
	for word == 0 {
		level, i = level+1, i/64
		word = s[level][i/64] & (1<<(i%64) - 1)
	}
	i = i&^63 + bits.Len64(word) - 1
	for level > 0 {
		level--
		i = i*64 + bits.Len64(s[level][i]) - 1
	}
	return i
}
