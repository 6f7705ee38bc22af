package alloc

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
)

const (
	sweepBatch  = 8 // blocks that one allocation moves to the common pool
	sweepShared = 2 // blocks with several users that one allocation looks at
	sweepAll    = math.MaxInt
)

// pool is a set of blocks that the same callers may use: everybody for the common pool, one stream
// for the others. Neighbours in one pool are always merged.
type pool struct {
	bins      // blocks of heaps that were made for many
	own  bins // blocks of heaps that were made for one
	// The queue has a stream's blocks in the order of their last free. Tickets of later blocks
	// are nearly always higher; where they are not, a block waits a little longer than it must.
	queue
	stream device.Stream // nil for the common pool
	ended  bool          // the stream is closed: all its work is done
}

// done is the ticket that the pool's stream has passed.
func (p *pool) done() device.Ticket {
	if p.ended {
		return math.MaxUint64
	}
	return p.stream.Done()
}

// binsOf is where a block of the pool hangs.
func (p *pool) binsOf(b *Block) *bins {
	if b.heap.own {
		return &p.own
	}
	return &p.bins
}

// find answers a block for n bytes, nearly the best, or nil. A block of an own heap serves only
// requests that leave little of it: cut for anything smaller, the heap would be held by something
// that has room elsewhere, and its size would be lost to the next request like the first.
func (p *pool) find(n int64) *Block {
	if n <= ownAbove {
		return p.bins.find(n)
	}
	return near(p.own.find(n), n)
}

// findAll is find for when missing a block would cost a heap: it looks everywhere.
func (p *pool) findAll(n int64) *Block {
	if n > ownAbove {
		if b := near(p.own.findAll(n), n); b != nil {
			return b
		}
	}
	return p.bins.findAll(n)
}

// near is b unless it is longer than n by more than an eighth.
func near(b *Block, n int64) *Block {
	if b == nil || b.Size > n+n/8 {
		return nil
	}
	return b
}

// longest is the size of the longest block, 0 when there is none.
func (p *pool) longest() int64 { return max(p.bins.longest(), p.own.longest()) }

// has reports whether b is in the pool. A live block may name a pool without being in it.
func (p *pool) has(b *Block) bool { return b != nil && b.pool == p && b.state != Live }

// poolOf finds the pool of a stream, nil when it never had a block. Programs have few streams, so
// that comparing beats hashing.
func (a *Allocator) poolOf(s device.Stream) *pool {
	for _, p := range a.pools {
		if p.stream == s {
			return p
		}
	}
	return nil
}

func (a *Allocator) poolFor(s device.Stream) *pool {
	p := a.poolOf(s)
	if p == nil {
		p = &pool{stream: s}
		a.pools = append(a.pools, p)
	}
	return p
}

// enter puts a block that is in no pool into p.
func (a *Allocator) enter(b *Block, p *pool) {
	b.pool = p
	p.binsOf(b).insert(b)
	if p == &a.common {
		b.state = Free
		a.counts.freeBlocks++
		return
	}
	b.state = Pending
	p.push(b)
	a.wakeLater(b)
}

// leave takes a free or pending block out of its pool.
func (a *Allocator) leave(b *Block) {
	p := b.pool
	p.binsOf(b).remove(b)
	if p == &a.common {
		a.counts.freeBlocks--
		return
	}
	p.queue.remove(b)
	a.wake(b)
}

func (a *Allocator) wakeLater(b *Block) {
	a.pending++
	a.counts.pendingBytes += b.Size
}

func (a *Allocator) wake(b *Block) {
	a.pending--
	a.counts.pendingBytes -= b.Size
}

// settle finds the place of a block that is being freed and that streams may still use.
func (a *Allocator) settle(b *Block, uses []Use) {
	b.uses = b.uses[:0]
	if b.After != 0 && !b.pool.ended {
		b.addUse(Use{b.pool.stream, b.After})
	}
	for _, u := range uses {
		b.addUse(u)
	}
	a.place(b)
}

// addUse notes a use that is not over yet, one a stream.
func (b *Block) addUse(u Use) {
	if u.Stream == nil || u.Ticket <= u.Stream.Done() {
		return
	}
	for i := range b.uses {
		if b.uses[i].Stream == u.Stream {
			b.uses[i].Ticket = max(b.uses[i].Ticket, u.Ticket)
			return
		}
	}
	b.uses = append(b.uses, u)
}

// place puts a block where its uses say.
func (a *Allocator) place(b *Block) {
	switch len(b.uses) {
	case 0:
		a.release(b)
	case 1:
		p := a.poolFor(b.uses[0].Stream)
		b.After = b.uses[0].Ticket
		b.uses[0].Stream = nil // a header does not keep a stream alive
		a.join(b, p)
	default:
		b.state, b.pool = Pending, nil
		a.shared.push(b)
		a.wakeLater(b)
	}
}

// release puts a block that nobody uses into the common pool.
func (a *Allocator) release(b *Block) {
	if invariants {
		poison(b)
	}
	b.After = 0
	b = a.join(b, &a.common)
	if b.prev == nil && b.next == nil {
		a.idle.push(b.heap)
	}
}

// join puts a block that is in no pool into p, as one with its neighbours there. The result is
// over when all parts are.
func (a *Allocator) join(b *Block, p *pool) *Block {
	if r := b.next; p.has(r) {
		a.leave(r)
		b.Size += r.Size
		a.absorb(b, r)
	}
	l := b.prev
	if !p.has(l) {
		a.enter(b, p)
		return b
	}
	p.binsOf(l).resize(l, l.Size+b.Size)
	if p != &a.common {
		p.queue.remove(l)
		p.push(l)
		a.counts.pendingBytes += b.Size
	}
	a.absorb(l, b)
	return l
}

// absorb ends the header of r, whose bytes are now those of its left neighbour b.
func (a *Allocator) absorb(b, r *Block) {
	b.heap.index.drop(r)
	b.After = max(b.After, r.After)
	b.next = r.next
	if r.next != nil {
		r.next.prev = b
	}
	a.slab.put(r)
}

// cut takes n bytes out of a free or pending block of at least as many: the whole block or its
// end. What stays does so under its header and nearly always in its bin, which makes cutting from
// a long block, and giving back, cheaper than taking from a bin and putting there.
func (a *Allocator) cut(f *Block, n int64) *Block {
	if f.heap.isIdle {
		a.idle.remove(f.heap)
	}
	if f.Size == n {
		a.leave(f)
		return f
	}
	p := f.pool
	p.binsOf(f).resize(f, f.Size-n)
	if p != &a.common {
		a.counts.pendingBytes -= n
	}
	return a.split(f, n)
}

// split makes a block of the n bytes that f, shortened already, no longer has.
func (a *Allocator) split(f *Block, n int64) *Block {
	b := a.slab.get()
	b.Heap, b.heap, b.pool, b.After = f.Heap, f.heap, f.pool, f.After
	b.Offset, b.Size = f.Offset+f.Size, n
	b.Addr = f.heap.addr(b.Offset)
	b.prev, b.next = f, f.next
	if b.next != nil {
		b.next.prev = b
	}
	f.next = b
	f.heap.index.add(b)
	return b
}

// renew gives a block another header, so that a pointer to the old one is known to be stale.
func (a *Allocator) renew(b *Block) *Block {
	c := new(Block)
	*c = *b
	if c.prev != nil {
		c.prev.next = c
	}
	if c.next != nil {
		c.next.prev = c
	}
	c.heap.index.rename(b, c)
	a.slab.put(b)
	return c
}

// sweep moves blocks whose streams are done with them to the common pool, at most so many a pool.
func (a *Allocator) sweep(most int) {
	for _, p := range a.pools {
		if p.eldest == nil {
			continue
		}
		done := p.done()
		for n := 0; n < most && p.eldest != nil && p.eldest.After <= done; n++ {
			b := p.eldest
			a.leave(b)
			a.release(b)
		}
	}
	if most < sweepAll {
		most = sweepShared
	}
	a.sweepShared(most)
}

// sweepShared looks at the uses of blocks that had several, the eldest first, and puts those that
// are still in use behind the others.
func (a *Allocator) sweepShared(most int) {
	last := a.shared.youngest
	for n := 0; n < most && last != nil; n++ {
		b := a.shared.eldest
		a.shared.remove(b)
		a.wake(b)
		old := b.uses
		b.uses = b.uses[:0]
		for _, u := range old {
			b.addUse(u)
		}
		clear(old[len(b.uses):])
		a.place(b)
		if b == last {
			return
		}
	}
}

// bridge makes a block of n bytes for a stream from neighbours of which some are in its pool and
// some in the common pool. They are kept apart otherwise, because merged they would all have to
// wait for the stream.
func (a *Allocator) bridge(n int64, on device.Stream) *Block {
	p := a.poolOf(on)
	if p == nil {
		return nil
	}
	usable := func(b *Block) bool { return p.has(b) || a.common.has(b) }
	for b := p.eldest; b != nil; b = b.junior {
		first := b
		if usable(b.prev) {
			first = b.prev
		}
		if usable(first.prev) {
			continue // pools alternate along a run, so it has a block of p further left
		}
		size, end := first.Size, first.next
		for ; usable(end); end = end.next {
			size += end.Size
		}
		if size >= n && (!first.heap.own || size <= n+n/8) {
			return a.cut(a.fuse(first, end, p), n)
		}
	}
	return nil
}

// fuse merges all blocks from first to before end into one of pool p.
func (a *Allocator) fuse(first, end *Block, p *pool) *Block {
	a.leave(first)
	for first.next != end {
		a.leave(first.next)
		first.Size += first.next.Size
		a.absorb(first, first.next)
	}
	a.enter(first, p)
	return first
}

// Forget moves what waits for a stream to the common pool. It is called after the stream's Close,
// which has waited for all its work; the allocator does not touch the stream again.
func (a *Allocator) Forget(s device.Stream) {
	a.lock()
	defer a.unlock()
	if p := a.poolOf(s); p != nil {
		p.ended = true
		a.sweep(sweepAll)
		a.pools = remove(a.pools, p)
	}
	for b := a.shared.eldest; b != nil; b = b.junior {
		b.dropUse(s)
	}
	a.sweepShared(sweepAll)
}

func (b *Block) dropUse(s device.Stream) {
	for i, u := range b.uses {
		if u.Stream == s {
			b.uses[i].Stream = nil
		}
	}
}
