package alloc

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// find returns the live block that an address lies in and the offset of the address in the block. It walks
// the chain of blocks: tests compare with it what the allocator says of a block.
func (a *Allocator) find(p unsafe.Pointer) (b *Block, offset int64, ok bool) {
	a.lock()
	defer a.mu.Unlock()
	for _, h := range a.heaps {
		// SAFETY: the addresses are only compared.
		at := int64(uintptr(p) - uintptr(h.base))
		if h.base == nil || at < 0 || at >= h.size {
			continue
		}
		for b := h.first; b != nil; b = b.next {
			if at < b.Offset+b.Size {
				return b, at - b.Offset, b.state == Live
			}
		}
	}
	return nil, 0, false
}

// check compares every structure of an allocator with what the chain of blocks in each heap says.
func check(a *Allocator) error {
	a.lock()
	defer a.mu.Unlock()
	a.derive()
	t := tally{inPool: map[*pool]int{}}
	for _, h := range a.heaps {
		if err := t.heap(a, h); err != nil {
			return fmt.Errorf("heap %d: %w", h.serial, err)
		}
	}
	for _, p := range append([]*pool{&a.common}, a.pools...) {
		if err := checkPool(a, p, t.inPool[p]); err != nil {
			return err
		}
	}
	return t.counts(a)
}

// tally adds up what is found in the heaps.
type tally struct {
	inPool                    map[*pool]int
	live, pending, free, idle int64 // bytes
	blocks, idles             int64
	waiting, shared           int
}

func (t *tally) heap(a *Allocator, h *heap) error {
	at := int64(0)
	var prev *Block
	for b := h.first; b != nil; b = b.next {
		switch {
		case b.Offset != at || b.Size <= 0 || b.Size%Alignment != 0:
			return fmt.Errorf("block at %d, size %d; want one at %d", b.Offset, b.Size, at)
		case b.prev != prev || b.heap != h || b.Heap != h.mem || b.Addr != h.addr(at):
			return fmt.Errorf("block at %d has wrong links", at)
		case prev != nil && b.state != Live && b.pool != nil && b.pool.has(prev):
			return fmt.Errorf("blocks at %d and %d should be one", prev.Offset, at)
		}
		if err := t.block(a, b); err != nil {
			return err
		}
		at, prev = at+b.Size, b
	}
	if at != h.size {
		return fmt.Errorf("blocks end at %d; want %d", at, h.size)
	}
	idle := h.first.next == nil && h.first.state == Free
	if idle != h.isIdle {
		return fmt.Errorf("idle is %t; want %t", h.isIdle, idle)
	}
	if idle {
		t.idles++
		t.idle += h.size
	}
	return nil
}

func (t *tally) block(a *Allocator, b *Block) error {
	switch b.state {
	case Live:
		t.blocks++
		t.live += b.Size
		return nil
	case Free:
		if b.pool != &a.common {
			return fmt.Errorf("free block at %d is not in the common pool", b.Offset)
		}
		t.free += b.Size
		t.inPool[b.pool]++
		return nil
	case Pending:
		t.pending += b.Size
		t.waiting++
		if b.pool == nil {
			t.shared++
		} else {
			t.inPool[b.pool]++
		}
		return nil
	}
	return fmt.Errorf("block at %d is %s", b.Offset, b.state)
}

func checkPool(a *Allocator, p *pool, want int) error {
	n := 0
	for _, s := range []*bins{&p.bins, &p.dedicated} {
		found, err := checkBins(p, s)
		if err != nil {
			return err
		}
		n += found
	}
	if n != want {
		return fmt.Errorf("bins have %d blocks; heaps have %d", n, want)
	}
	queued := 0
	for b := p.oldest; b != nil; b = b.newer {
		queued++
		if b.pool != p || b.newer == nil && p.newest != b {
			return fmt.Errorf("block of %d bytes is in the wrong queue", b.Size)
		}
	}
	if p != &a.common && queued != want {
		return fmt.Errorf("queue has %d blocks; heaps have %d", queued, want)
	}
	return nil
}

// checkBins counts the blocks of one of a pool's bins.
func checkBins(p *pool, s *bins) (n int, err error) {
	for row := range s.first {
		if in := s.filled>>row&1 == 1; in != (s.in[row] != 0) {
			return n, fmt.Errorf("row %d: bit is %t, columns are %b", row, in, s.in[row])
		}
		for col, first := range s.first[row] {
			if in := s.in[row]>>col&1 == 1; in != (first != nil) {
				return n, fmt.Errorf("row %d, column %d: bit is %t", row, col, in)
			}
			for b := first; b != nil; b = b.binNext {
				n++
				if r, c := class(b.Size); int(r) != row || int(c) != col || p.binsOf(b) != s || b.pool != p || b.binNext != nil && b.binNext.binPrev != b {
					return n, fmt.Errorf("block of %d bytes is in bin %d, %d", b.Size, row, col)
				}
			}
		}
	}
	if bits.Len64(s.filled) > rows {
		return n, fmt.Errorf("filled is %b; want %d rows", s.filled, rows)
	}
	return n, nil
}

func (t *tally) counts(a *Allocator) error {
	shared := 0
	for b := a.shared.oldest; b != nil; b = b.newer {
		shared++
	}
	c := &a.counts
	for _, x := range []struct {
		name      string
		got, want int64
	}{
		{"allocated", c.allocated.current, t.live},
		{"blocks", c.blocks.current, t.blocks},
		{"active", c.active.current, t.live + t.pending},
		{"active blocks", c.activeBlocks.current, t.blocks + int64(t.waiting)},
		{"reserved", c.reserved.current, t.live + t.pending + t.free},
		{"committed", a.committed, t.live + t.pending + t.free},
		{"split", c.split.current, t.free - t.idle},
		{"splits", c.splits.current, int64(t.inPool[&a.common]) - t.idles},
		{"idle", a.idle.bytes, t.idle},
		{"pending", int64(a.pending), int64(t.waiting)},
		{"shared", int64(shared), int64(t.shared)},
	} {
		if x.got != x.want {
			return fmt.Errorf("%s is %d; blocks say %d", x.name, x.got, x.want)
		}
	}
	return nil
}
