package alloc

import (
	"fmt"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// slack is how many bytes of idle heaps are kept beyond the peak of active memory: as much as the largest
// heap that is made for many blocks.
const slack = 256 << 20

// maxReclaims is how often an allocation calls Config.Reclaim, so that one that always returns true cannot
// make it loop forever.
const maxReclaims = 8

// allocSlow is Alloc for when take has found no block. It may wait, and calls Config.Reclaim between tries.
func (a *Allocator) allocSlow(size, n int64, on device.Stream, cause uint64) (*Block, error) {
	for tries := 0; ; tries++ {
		b, err := a.obtain(size, n, on, cause)
		if b != nil || status.CodeOf(err) != status.OutOfMemory {
			return b, err
		}
		if tries == maxReclaims || a.reclaim == nil || !a.reclaim(n) {
			return nil, a.outOfMemory(size, err)
		}
	}
}

// obtain tries to grow, then frees memory step by step, from cheap to expensive, and tries again after each
// step that freed some. Other goroutines may take what was freed: there is no reservation, so that such an
// allocation may fail although it freed enough.
func (a *Allocator) obtain(size, n int64, on device.Stream, cause uint64) (*Block, error) {
	b, err := a.grow(size, n, on, cause)
	for _, step := range [...]func() bool{a.releaseIdle, a.wait, a.releaseIdle} {
		if b != nil || status.CodeOf(err) != status.OutOfMemory {
			break
		}
		if !step() {
			continue
		}
		a.lock()
		a.counts.retries++
		a.mu.Unlock()
		b, err = a.grow(size, n, on, cause)
	}
	if b == nil && status.CodeOf(err) == status.OutOfMemory {
		if b = a.cutDedicated(size, n, on, cause); b != nil {
			err = nil
		}
	}
	return b, err
}

// cutDedicated takes a block from a heap that was made for a single block, however little of the heap it
// needs: a fragmented heap is better than no memory.
func (a *Allocator) cutDedicated(size, n int64, on device.Stream, cause uint64) *Block {
	a.lock()
	defer a.unlock()
	b := a.common.dedicated.findAll(n)
	if p := a.poolOf(on); b == nil && p != nil {
		b = p.dedicated.findAll(n)
	}
	if b == nil {
		return nil
	}
	return a.issue(a.cut(b, n), size, cause)
}

// releaseIdle closes the idle heaps or, if there are none, waits until other goroutines have closed those that
// they unlinked. It reports whether memory was returned.
func (a *Allocator) releaseIdle() bool {
	if a.EmptyCache() > 0 {
		return true
	}
	a.lock()
	defer a.mu.Unlock()
	some := a.closing > 0
	for a.closing > 0 {
		a.allClosed.Wait()
	}
	return some
}

// grow searches completely for a block and then makes a heap for it. Goroutines that need a heap wait for
// each other here, because the heap of the first is often long enough for all.
func (a *Allocator) grow(size, n int64, on device.Stream, cause uint64) (*Block, error) {
	a.growing.Lock()
	defer a.growing.Unlock()
	if b := a.search(size, n, on, cause); b != nil {
		return b, nil
	}
	a.trim(heapSize(n, a.reserved()))
	length, err := a.commit(n)
	if err != nil {
		return nil, err
	}
	mem, err := a.source.NewHeap(length)
	// A heap of a tier is longer than the block needs: where that is refused, the block alone may still fit.
	if short := pages(n); status.CodeOf(err) == status.OutOfMemory && length > short {
		a.uncommit(length - short)
		length = short
		mem, err = a.source.NewHeap(length)
	}
	if err != nil {
		a.uncommit(length)
		return nil, err
	}
	return a.adopt(mem, length, size, n, cause)
}

// search is take for when a miss would cost a new heap: it looks at every block that the stream may use.
func (a *Allocator) search(size, n int64, on device.Stream, cause uint64) *Block {
	a.lock()
	defer a.unlock()
	a.sweep(sweepAll)
	b := a.take(n, on)
	if b == nil {
		b = a.searchAll(n, on)
	}
	if b != nil {
		b = a.issue(b, size, cause)
	}
	return b
}

// searchAll looks at the blocks that find skips to bound its time. The lock is held.
func (a *Allocator) searchAll(n int64, on device.Stream) *Block {
	if b := a.common.findAll(n); b != nil {
		return a.cut(b, n)
	}
	if on == nil {
		return nil
	}
	if p := a.poolOf(on); p != nil {
		if b := p.findAll(n); b != nil {
			return a.cut(b, n)
		}
	}
	return a.bridge(n, on)
}

// adopt makes new memory a heap and takes the first block from it under the same lock, so that no other
// goroutine can take it.
func (a *Allocator) adopt(mem device.Heap, length, size, n int64, cause uint64) (*Block, error) {
	h, err := newHeap(a, mem, length)
	if err != nil {
		_ = mem.Close() // the error to report is the one above
		a.uncommit(length)
		return nil, err
	}
	h.dedicated = n > dedicatedAbove
	a.lock()
	defer a.unlock()
	a.link(h)
	return a.issue(a.cut(h.first, n), size, cause), nil
}

// commit chooses the length of a heap for a block of n bytes and claims it under the hard limit and the
// budget. The length is less than that of the tier where only the block itself still fits.
func (a *Allocator) commit(n int64) (int64, error) {
	a.lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, status.Errorf(status.Invalid, "[alloc] the allocator is closed; want an open one")
	}
	length := heapSize(n, a.counts.reserved.current)
	if a.hard > 0 {
		length = min(length, max(a.hard-a.committed, 0)&^(pageSize-1))
	}
	if length < n {
		return 0, status.Errorf(status.OutOfMemory, "the limit is exceeded")
	}
	if length = a.budget.claim(n, length); length == 0 {
		return 0, status.Errorf(status.OutOfMemory, "the limit of %s for all devices that share this memory is exceeded", bytes(a.budget.limit))
	}
	a.committed += length
	return length, nil
}

// uncommit returns n bytes that commit claimed.
func (a *Allocator) uncommit(n int64) {
	a.budget.unclaim(n)
	a.lock()
	a.committed -= n
	a.mu.Unlock()
}

// reserved is the number of bytes of all heaps. The lock is not held.
func (a *Allocator) reserved() int64 {
	a.lock()
	defer a.mu.Unlock()
	return a.counts.reserved.current
}

// trim closes the oldest idle heaps while another heap of n bytes would exceed what is worth keeping: the
// soft limit, or the peak of active memory plus 5 % and slack. None of the idle heaps is long enough for the
// block that the new heap is for, so without this a program whose sizes change would keep heaps of all the
// sizes that it ever used.
func (a *Allocator) trim(n int64) {
	a.lock()
	peak := max(a.counts.active.peak, a.counts.active.current+n)
	keep := peak + peak/20 + slack
	if a.soft > 0 {
		keep = min(keep, a.soft)
	}
	var old *heap
	for a.counts.reserved.current+n > keep && a.idle.oldest != nil {
		old = a.discard(a.idle.oldest, old)
	}
	a.unlock()
	a.closeHeaps(old)
}

// retire unlinks the idle heaps that are older than maxAge, and the oldest ones while the soft limit is
// exceeded. The caller holds the lock and passes the result to closeHeaps after unlocking.
func (a *Allocator) retire() *heap {
	now := a.now()
	a.sweep(sweepAll)
	a.idle.stamp(now)
	var old *heap
	for h := a.idle.oldest; h != nil; h = a.idle.oldest {
		aged := a.maxAge > 0 && now-h.idleSince >= a.maxAge
		if !aged && (a.soft == 0 || a.counts.reserved.current <= a.soft) {
			break
		}
		old = a.discard(h, old)
	}
	return old
}

// discard unlinks an idle heap and adds it to the front of a list of heaps to close. The lock is held.
func (a *Allocator) discard(h, others *heap) *heap {
	a.unlink(h)
	a.closing++
	h.newer = others
	return h
}

// closeHeaps closes a list of unlinked heaps and returns their bytes. No lock is held: each may be a system
// call. The first error is kept for Allocator.Close.
func (a *Allocator) closeHeaps(h *heap) int64 {
	total := int64(0)
	for h != nil {
		err := h.mem.Close()
		a.budget.unclaim(h.size)
		a.lock()
		a.committed -= h.size
		if a.closing--; a.closing == 0 {
			a.allClosed.Broadcast()
		}
		if err != nil && a.closeErr == nil {
			a.closeErr = fmt.Errorf("[alloc] heap of %d bytes: %w", h.size, err)
		}
		a.mu.Unlock()
		total += h.size
		h = h.newer
	}
	return total
}

// Age closes the idle heaps that are older than Config.MaxAge, or above the soft limit, and returns their
// bytes. A program that may stop allocating calls it from a timer.
func (a *Allocator) Age() int64 {
	a.lock()
	old := a.retire()
	a.unlock()
	return a.closeHeaps(old)
}

// EmptyCache closes all idle heaps and returns their bytes. It does not wait for streams.
func (a *Allocator) EmptyCache() int64 {
	a.lock()
	a.sweep(sweepAll)
	var old *heap
	for a.idle.oldest != nil {
		old = a.discard(a.idle.oldest, old)
	}
	a.unlock()
	return a.closeHeaps(old)
}

// Relinquish frees memory for another allocator of the same memory: it closes all idle heaps or, if there
// are none, waits for the streams and closes those that are idle then. It reports whether there were any.
func (a *Allocator) Relinquish() bool { return a.releaseIdle() || a.wait() && a.releaseIdle() }

// wait waits until no stream uses a pending block, and reports whether there were pending blocks. No lock is
// held while it waits.
func (a *Allocator) wait() bool {
	a.lock()
	uses := a.awaited()
	a.mu.Unlock()
	for _, u := range uses {
		u.Stream.Sync(u.Ticket)
	}
	a.lock()
	a.sweep(sweepAll)
	a.unlock()
	return len(uses) > 0
}

// awaited lists the uses of all pending blocks, at most one per stream for blocks of pools. The lock is held.
func (a *Allocator) awaited() []Use {
	var uses []Use
	for _, p := range a.pools {
		last := device.Ticket(0)
		for b := p.oldest; b != nil; b = b.newer {
			last = max(last, b.After)
		}
		if last > 0 {
			uses = append(uses, Use{p.stream, last})
		}
	}
	for b := a.shared.oldest; b != nil; b = b.newer {
		uses = append(uses, b.uses...)
	}
	return uses
}

// outOfMemory is the error of an allocation for which everything has been tried.
func (a *Allocator) outOfMemory(size int64, cause error) error {
	a.lock()
	defer a.mu.Unlock()
	a.countOOM(size)
	s := a.stats()
	limit := "no limit"
	if a.hard > 0 {
		limit = "limit " + bytes(a.hard)
	}
	return status.Errorf(status.OutOfMemory,
		"[alloc] %s requested (%d bytes); allocated %s, reserved %s, cached %s, %s, largest free run %s: %v",
		bytes(size), size, bytes(s.Allocated.Current), bytes(s.Reserved.Current), bytes(s.Cached()), limit,
		bytes(a.common.longest()), cause)
}

// bytes formats a size in the largest unit that does not exceed it.
func bytes(n int64) string {
	for _, u := range [...]struct {
		shift uint
		name  string
	}{{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<u.shift {
			return fmt.Sprintf("%.2f %s", math.Ldexp(float64(n), -int(u.shift)), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
