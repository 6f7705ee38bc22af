package alloc

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
)

const (
	sweepBatch  = 8 // most blocks of a stream's pool that one allocation moves to the common pool
	sweepShared = 2 // most blocks with several users that one allocation checks
	sweepAll    = math.MaxInt
)

// pool is a set of blocks that the same callers may use: all callers for the common pool, one stream for the
// others. Neighbours in one pool are always merged.
type pool struct {
	bins           // blocks of heaps that were made for many
	dedicated bins // blocks of heaps that were made for one
	// The queue has a stream's blocks in the order of their last free. Tickets of later blocks
	// are nearly always higher; where they are not, a block waits longer than necessary.
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

// binsOf is which bins of the pool a block belongs to.
func (p *pool) binsOf(b *Block) *bins {
	if b.heap.dedicated {
		return &p.dedicated
	}
	return &p.bins
}

// find returns a block for n bytes, nearly the best, or nil. A block of a dedicated heap serves only
// requests that leave little of it: cut for anything smaller, the heap would be kept by a block that has
// room elsewhere, and could not serve the next request of its own size.
func (p *pool) find(n int64) *Block {
	if n <= dedicatedAbove {
		return p.bins.find(n)
	}
	return closeFit(p.dedicated.find(n), n)
}

// findAll is find for when a miss would cost a new heap: it looks at every block that find may skip.
func (p *pool) findAll(n int64) *Block {
	if n > dedicatedAbove {
		if b := closeFit(p.dedicated.findAll(n), n); b != nil {
			return b
		}
	}
	return p.bins.findAll(n)
}

// closeFit is b, or nil where b is longer than n by more than an eighth.
func closeFit(b *Block, n int64) *Block {
	if b == nil || b.Size > n+n/8 {
		return nil
	}
	return b
}

// longest is the size of the longest block in bytes, 0 when there is none.
func (p *pool) longest() int64 { return max(p.bins.longest(), p.dedicated.longest()) }

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

// poolFor is poolOf that makes the pool where there is none.
func (a *Allocator) poolFor(s device.Stream) *pool {
	p := a.poolOf(s)
	if p == nil {
		p = &pool{stream: s}
		a.pools = append(a.pools, p)
	}
	return p
}

// enter puts a block that is in no pool into p, without merging. The lock is held.
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
	a.addPending(b)
}

// leave takes a free or pending block out of its pool. The caller gives it a new state.
func (a *Allocator) leave(b *Block) {
	p := b.pool
	p.binsOf(b).remove(b)
	if p == &a.common {
		a.counts.freeBlocks--
		return
	}
	p.queue.remove(b)
	a.removePending(b)
}

// addPending counts a block that has become pending.
func (a *Allocator) addPending(b *Block) {
	a.pending++
	a.counts.pendingBytes += b.Size
}

// removePending counts a block that is no longer pending.
func (a *Allocator) removePending(b *Block) {
	a.pending--
	a.counts.pendingBytes -= b.Size
}

// freeInUse frees a block that streams may still use: up to After, and as uses say.
func (a *Allocator) freeInUse(b *Block, uses []Use) {
	b.uses = b.uses[:0]
	if b.After != 0 && !b.pool.ended {
		b.uses = AddUse(b.uses, Use{b.pool.stream, b.After})
	}
	for _, u := range uses {
		b.uses = AddUse(b.uses, u)
	}
	a.place(b)
}

// place puts a block where its uses say: into the common pool without any, into a stream's pool with one,
// and into the queue of shared blocks with several.
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
		a.addPending(b)
	}
}

// release puts a block without a user into the common pool, and its heap into the idle list where it is the
// only block.
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

// join puts a block that is in no pool into p and merges it with its neighbours there. The merged block is
// free when all parts are: its ticket is the highest of theirs.
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

// absorb drops the header of r, whose bytes belong to its left neighbour b now. The caller sets the size.
func (a *Allocator) absorb(b, r *Block) {
	b.After = max(b.After, r.After)
	b.next = r.next
	if r.next != nil {
		r.next.prev = b
	}
	a.slab.put(r)
}

// cut takes n bytes out of a free or pending block of at least as many: the whole block or its end. The rest
// keeps its header and nearly always its bin, so that cutting from a long block and merging with it again
// do not touch the bins.
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

// split makes a block of the n bytes behind f, which the caller has shortened by them.
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
	return b
}

// renew gives a block another header, so that a pointer to the old one is recognised as stale. Used with the
// build tag invariants only.
func (a *Allocator) renew(b *Block) *Block {
	c := new(Block)
	*c = *b
	if c.prev != nil {
		c.prev.next = c
	}
	if c.next != nil {
		c.next.prev = c
	}
	if c.heap.first == b {
		c.heap.first = c
	}
	a.slab.put(b)
	return c
}

// sweep moves blocks whose streams have passed their tickets to the common pool, at most `most` of each
// pool, the oldest first.
func (a *Allocator) sweep(most int) {
	for _, p := range a.pools {
		if p.oldest == nil {
			continue
		}
		done := p.done()
		for n := 0; n < most && p.oldest != nil && p.oldest.After <= done; n++ {
			b := p.oldest
			a.leave(b)
			a.release(b)
		}
	}
	if most < sweepAll {
		most = sweepShared
	}
	a.sweepShared(most)
}

// sweepShared checks the uses of at most `most` shared blocks, the oldest first, and appends those that
// several streams still use to the queue again, so that the next call checks others.
func (a *Allocator) sweepShared(most int) {
	last := a.shared.newest
	for n := 0; n < most && last != nil; n++ {
		b := a.shared.oldest
		a.shared.remove(b)
		a.removePending(b)
		old := b.uses
		b.uses = Unpassed(old)
		clear(old[len(b.uses):]) // a header does not keep a stream alive
		a.place(b)
		if b == last {
			return
		}
	}
}

// bridge makes a block of n bytes for a stream from neighbours of which some are in its pool and some in the
// common pool, or returns nil. Usually these stay unmerged, because a merged block would have to wait for
// the stream as a whole.
func (a *Allocator) bridge(n int64, on device.Stream) *Block {
	p := a.poolOf(on)
	if p == nil {
		return nil
	}
	usable := func(b *Block) bool { return p.has(b) || a.common.has(b) }
	for b := p.oldest; b != nil; b = b.newer {
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
		if size >= n && (!first.heap.dedicated || size <= n+n/8) {
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

// Forget moves the blocks that wait for a stream to the common pool. It is called after the stream's Close,
// which has waited for all its work; the allocator does not use the stream again.
func (a *Allocator) Forget(s device.Stream) {
	a.lock()
	defer a.unlock()
	if p := a.poolOf(s); p != nil {
		p.ended = true
		a.sweep(sweepAll)
		a.pools = remove(a.pools, p)
	}
	for b := a.shared.oldest; b != nil; b = b.newer {
		b.dropUse(s)
	}
	a.sweepShared(sweepAll)
}

// dropUse removes the use of a stream; AddUse skips what has no stream.
func (b *Block) dropUse(s device.Stream) {
	for i, u := range b.uses {
		if u.Stream == s {
			b.uses[i].Stream = nil
		}
	}
}
