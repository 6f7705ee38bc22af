package alloc

import (
	"fmt"
	"math"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// slack is what idle heaps may hold besides: the largest heap that is not made for one block.
const slack = 256 << 20

// maxReclaims bounds how often a host that always says "again" is believed.
const maxReclaims = 8

// allocSlow is Alloc for when no block was found at a glance.
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

// obtain tries to grow, then makes room step by step and tries again after each step that made
// some. Other goroutines may take what it made room for; then that is how it is.
func (a *Allocator) obtain(size, n int64, on device.Stream, cause uint64) (*Block, error) {
	b, err := a.grow(size, n, on, cause)
	for _, step := range [...]func() bool{a.empties, a.wait, a.empties} {
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
		if b = a.scrape(size, n, on, cause); b != nil {
			err = nil
		}
	}
	return b, err
}

// scrape takes from heaps that were made for one block, however much it leaves there: better a heap
// that is cut up than no memory.
func (a *Allocator) scrape(size, n int64, on device.Stream, cause uint64) *Block {
	a.lock()
	defer a.unlock()
	b := a.common.own.findAll(n)
	if p := a.poolOf(on); b == nil && p != nil {
		b = p.own.findAll(n)
	}
	if b == nil {
		return nil
	}
	return a.issue(a.cut(b, n), size, cause)
}

// empties gives back the idle heaps, or waits until others have given back theirs.
func (a *Allocator) empties() bool {
	if a.EmptyCache() > 0 {
		return true
	}
	a.lock()
	defer a.mu.Unlock()
	some := a.closing > 0
	for a.closing > 0 {
		a.given.Wait()
	}
	return some
}

// grow looks for a block with all means and then makes a heap for it. Goroutines that need a heap
// queue here, because the heap of the first will often do for all.
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

// search is take for when missing a block would cost a heap.
func (a *Allocator) search(size, n int64, on device.Stream, cause uint64) *Block {
	a.lock()
	defer a.unlock()
	a.sweep(sweepAll)
	b := a.take(n, on)
	if b == nil {
		b = a.comb(n, on)
	}
	if b != nil {
		b = a.issue(b, size, cause)
	}
	return b
}

// comb looks where find does not.
func (a *Allocator) comb(n int64, on device.Stream) *Block {
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

// adopt makes fresh memory a heap and takes n bytes of it before anybody else can.
func (a *Allocator) adopt(mem device.Heap, length, size, n int64, cause uint64) (*Block, error) {
	h, err := newHeap(a, mem, length)
	if err != nil {
		_ = mem.Close() // the error to report is the one above
		a.uncommit(length)
		return nil, err
	}
	h.own = n > ownAbove
	a.lock()
	defer a.unlock()
	a.link(h)
	return a.issue(a.cut(h.first, n), size, cause), nil
}

// commit decides on the length of a heap for n bytes and claims as many under the hard limit.
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
		return 0, status.Errorf(status.OutOfMemory, "over the limit")
	}
	if length = a.budget.claim(n, length); length == 0 {
		return 0, status.Errorf(status.OutOfMemory, "over the limit of %s for all devices of this memory together", bytes(a.budget.limit))
	}
	a.committed += length
	return length, nil
}

func (a *Allocator) uncommit(n int64) {
	a.budget.give(n)
	a.lock()
	a.committed -= n
	a.mu.Unlock()
}

func (a *Allocator) reserved() int64 {
	a.lock()
	defer a.mu.Unlock()
	return a.counts.reserved.current
}

// trim gives back the eldest idle heaps if another of n bytes would pass what is worth keeping: the
// soft limit, and a little more than the program ever had in use. None of them is long enough for the
// block that the heap is for, so without this a program whose sizes change collects heaps of all
// sizes it ever had.
func (a *Allocator) trim(n int64) {
	a.lock()
	peak := max(a.counts.active.peak, a.counts.active.current+n)
	keep := peak + peak/20 + slack
	if a.soft > 0 {
		keep = min(keep, a.soft)
	}
	var old *heap
	for a.counts.reserved.current+n > keep && a.idle.eldest != nil {
		old = a.discard(a.idle.eldest, old)
	}
	a.unlock()
	a.giveBack(old)
}

// retire unlinks the idle heaps that are too old, and the eldest ones while the soft limit is
// passed. The caller holds the lock and gives them back when it no longer does.
func (a *Allocator) retire() *heap {
	now := a.now()
	a.sweep(sweepAll)
	a.idle.stamp(now)
	var old *heap
	for h := a.idle.eldest; h != nil; h = a.idle.eldest {
		aged := a.maxAge > 0 && now-h.since >= a.maxAge
		if !aged && (a.soft == 0 || a.counts.reserved.current <= a.soft) {
			break
		}
		old = a.discard(h, old)
	}
	return old
}

// discard unlinks an idle heap and puts it in front of those that are to be given back.
func (a *Allocator) discard(h, others *heap) *heap {
	a.unlink(h)
	a.closing++
	h.junior = others
	return h
}

// giveBack closes heaps that are unlinked and answers their bytes. No lock is held: it may be a
// system call each.
func (a *Allocator) giveBack(h *heap) int64 {
	total := int64(0)
	for h != nil {
		err := h.mem.Close()
		a.budget.give(h.size)
		a.lock()
		a.committed -= h.size
		if a.closing--; a.closing == 0 {
			a.given.Broadcast()
		}
		if err != nil && a.closeErr == nil {
			a.closeErr = fmt.Errorf("[alloc] heap of %d bytes: %w", h.size, err)
		}
		a.mu.Unlock()
		total += h.size
		h = h.junior
	}
	return total
}

// Age gives back the idle heaps that are older than MaxAge, or above the soft limit, and answers
// their bytes. A program that may stop allocating calls it from a timer.
func (a *Allocator) Age() int64 {
	a.lock()
	old := a.retire()
	a.unlock()
	return a.giveBack(old)
}

// EmptyCache gives back all idle heaps and answers their bytes. It does not wait for streams.
func (a *Allocator) EmptyCache() int64 {
	a.lock()
	a.sweep(sweepAll)
	var old *heap
	for a.idle.eldest != nil {
		old = a.discard(a.idle.eldest, old)
	}
	a.unlock()
	return a.giveBack(old)
}

// Relinquish makes room for another allocator of the same memory: it gives back all idle heaps or, where
// there are none, waits for the streams and gives back those that are idle then. It reports whether there
// were any.
func (a *Allocator) Relinquish() bool { return a.empties() || a.wait() && a.empties() }

// wait waits for everything that streams still use, and reports whether there was anything.
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

// awaited lists the uses of all pending blocks.
func (a *Allocator) awaited() []Use {
	var uses []Use
	for _, p := range a.pools {
		last := device.Ticket(0)
		for b := p.eldest; b != nil; b = b.junior {
			last = max(last, b.After)
		}
		if last > 0 {
			uses = append(uses, Use{p.stream, last})
		}
	}
	for b := a.shared.eldest; b != nil; b = b.junior {
		uses = append(uses, b.uses...)
	}
	return uses
}

// outOfMemory is the error of an allocation for which everything has been tried.
func (a *Allocator) outOfMemory(size int64, cause error) error {
	a.lock()
	defer a.mu.Unlock()
	a.refuse(size)
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

// bytes writes a size for people.
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
