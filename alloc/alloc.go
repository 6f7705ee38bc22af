// Package alloc is the memory manager of one device: it takes large heaps from the device and cuts
// them into blocks, so that a tensor costs tens of nanoseconds and not a system call.
//
// # Objects
//
// A heap is a range of device memory, 8, 32 or 256 MiB long, or as long as one request above 32 MiB.
// The blocks of a heap cover it without gaps; every block knows its neighbours. A block is live (the
// caller has it), pending (the caller has freed it, but a stream still works on it) or free.
//
// The one invariant: two neighbours that the same callers could use are one block. A freed block
// merges with both neighbours at once (the one freed last, when the next call begins), so the largest
// free run is always a single block, and finding it never needs a pass over the memory.
//
// # Finding a block
//
// Free blocks hang in bins, one bin to a class of sizes. Classes have two levels: a row for each
// power of two, divided into 32 columns, so that the sizes of one bin differ by at most 1/32 (see
// bins.go). Bitmaps say which rows and columns hold anything. An allocation looks at a few blocks
// of its own class, where some may be too short, then takes the first block of the next class that
// has one: there every block is long enough. That is good fit in constant time. What the request
// does not need goes back to the bins as a new block. Requests are rounded to 256 bytes and to
// nothing coarser, because blocks that merge need no common sizes to be used again.
//
// Heaps that were made for one large block have bins of their own and serve only requests that leave
// at most an eighth of what they find. Large blocks of many sizes would otherwise cut each other's
// memory up: docs/design/memory.md has the numbers of a replayed random walk. When memory is short they are cut
// like any other.
//
// # Streams
//
// A caller frees memory when it has submitted the last work on it, which is long before that work
// has run. Each stream therefore has its own pool: bins of blocks that only this stream still uses,
// each with the ticket at which that ends. An allocation for the same stream takes from this pool at
// once, because its work runs after the work that still uses the block. Other callers get the block
// when the stream has passed the ticket; then it moves to the common pool. A block that several
// streams use waits in a separate list. Allocations that miss their own pool check a few waiting
// blocks each, and no call waits for a stream unless memory has run out, and then with no lock held.
// See pool.go.
//
// Block.After carries the rule to the caller: work of others on a block that came out of a
// stream's pool has to wait for that ticket. Host code that writes to the block itself allocates
// with no stream and then does not have to wait.
//
// # Growing and shrinking
//
// Small programs stay small: heaps have 8 MiB until eight of them are full, then 32, then 256. A
// heap without a live or pending block is idle. Idle heaps are kept for MaxAge, because the next
// step of a program usually needs them again. Above the soft limit the oldest ones are returned at the
// next check, and a new heap replaces the oldest ones where all heaps together would exceed the peak of
// active memory by more than 5 % and 256 MiB. Age is checked every 256 calls and by Age.
//
// An allocation that fits no block and may not grow past the hard limit, or past the budget that it
// shares with other allocators of the same memory (budget.go), tries, in this order: pending blocks that
// have become free, returning all idle heaps, waiting for the streams, and Config.Reclaim. If all fail,
// the error is status.OutOfMemory with the numbers in its message. See grow.go.
//
// # Cost
//
// One mutex guards everything; it is held for a few dozen instructions. Headers of blocks are Go
// memory beside the heaps, recycled through a slab, so that an allocation which finds a block makes
// no garbage. The memory of heaps is never touched: a fresh heap costs no pages until it is used.
//
// The package does not copy, zero or interpret memory, and does not count references.
package alloc

import (
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

const (
	// Alignment is that of the address and of the size of every block, in bytes. Metal asks for 256 at
	// most for the offset of a buffer that a kernel binds.
	Alignment = 256
	// MaxSize is the largest request that is looked at: 4 TiB, beyond any machine with one device.
	MaxSize = 1 << maxBits
	maxBits = 42

	// checkEvery is how many calls pass between checks of the clock, which is slow compared with a call; a
	// power of two.
	checkEvery = 256
)

// Source makes heaps; a device.Device is one. It is called from the goroutine that allocates, one call at a
// time, without the lock of the allocator.
type Source interface {
	// NewHeap takes size bytes from the system, aligned to at least 256 bytes, or answers
	// status.OutOfMemory; any other error ends the allocation that asked.
	NewHeap(size int64) (device.Heap, error)
}

var _ Source = device.Device(nil)

// Config says where memory comes from and how much of it to keep. Only Source is needed.
type Config struct {
	Source Source
	Hard   int64         // bytes that all heaps together never exceed; 0 for no limit
	Soft   int64         // bytes of heaps above which idle ones are given back early; 0 for no limit
	MaxAge time.Duration // how long an idle heap is kept; 0 for as long as the limits allow
	Budget *Budget       // what is shared with other allocators of the same memory; nil for none

	// Now is a monotonic clock in nanoseconds; nil for the system's. It is called with the
	// allocator locked.
	Now func() int64
	// Reclaim asks the host program to free need bytes, perhaps by collecting its garbage, when
	// everything else has been tried. True means that another try is worth it. It is called with
	// no lock held, on the goroutine that allocates, and may call the allocator.
	Reclaim func(need int64) bool
}

// Allocator manages the memory of one device. All methods may be called from any goroutine.
type Allocator struct {
	source  Source
	now     func() int64
	reclaim func(need int64) bool
	budget  *Budget

	growing sync.Mutex // held around Source.NewHeap and taken before mu, so that heaps come one by one

	mu        sync.Mutex // guards everything below
	common    pool       // free blocks, which any caller may use
	pools     []*pool    // pending blocks that one stream uses, one pool per stream
	shared    queue      // pending blocks that several streams use
	lastFreed *Block     // freed by the last call and not merged yet; see deferMerge
	slab      slab
	heaps     []*heap // by address
	idle      idleList
	committed int64 // reserved, and heaps that are being made or closed
	calls     uint64
	pending   int // blocks in pools and shared
	counts    counters
	history   history
	closing   int       // heaps that are unlinked and not closed yet
	allClosed sync.Cond // of mu: closing is 0
	hard      int64
	soft      int64
	maxAge    int64
	serial    uint64 // of the last heap made
	closed    bool
	closeErr  error // the first error of a heap's Close

	empty Block // the result of every allocation of 0 bytes
}

// New makes an allocator; it takes no memory before the first Alloc.
func New(c Config) *Allocator {
	a := &Allocator{
		source: c.Source, now: c.Now, reclaim: c.Reclaim, budget: c.Budget,
		hard: max(c.Hard, 0), soft: max(c.Soft, 0), maxAge: int64(max(c.MaxAge, 0)),
	}
	if a.now == nil {
		start := time.Now()
		a.now = func() int64 { return int64(time.Since(start)) }
	}
	a.allClosed.L = &a.mu
	a.empty = Block{Heap: emptyHeap{}, state: Live}
	return a
}

// Alloc returns a block of at least size bytes whose contents are undefined. The work that will use
// it first is submitted to stream on; nil is for use by the CPU, or by any stream. A size of 0 returns
// the same block of 0 bytes each time, with no address. The error is status.Invalid for a negative size
// and status.OutOfMemory when everything was tried. The caller owns the block until Free.
func (a *Allocator) Alloc(size int64, on device.Stream) (*Block, error) {
	return a.AllocFor(size, on, 0)
}

// AllocFor is Alloc with a number that the history and the snapshot keep with the block, such as the
// number of a recorded call stack; 0 is for none.
func (a *Allocator) AllocFor(size int64, on device.Stream, cause uint64) (*Block, error) {
	if size <= 0 || size > MaxSize {
		return a.allocOdd(size)
	}
	n := (size + Alignment - 1) &^ (Alignment - 1)
	a.mu.Lock()
	b := a.reuseLast(n)
	if b == nil {
		b = a.take(n, on)
	}
	if b != nil {
		b = a.issue(b, size, cause)
	}
	old := a.tick()
	a.derive()
	a.mu.Unlock()
	if old != nil {
		a.closeHeaps(old)
	}
	if b == nil {
		return a.allocSlow(size, n, on, cause)
	}
	return b, nil
}

// allocOdd is Alloc for sizes that need no search: zero, and those that are refused.
func (a *Allocator) allocOdd(size int64) (*Block, error) {
	if size == 0 {
		return &a.empty, nil
	}
	if size < 0 {
		return nil, status.Errorf(status.Invalid, "[alloc] size is %d bytes; want 0 or more", size)
	}
	a.lock()
	a.countOOM(size)
	a.mu.Unlock()
	return nil, status.Errorf(status.OutOfMemory, "[alloc] size is %d bytes; want at most %d", size, int64(MaxSize))
}

// take finds and cuts a block of n bytes, which is a multiple of Alignment, that stream on may use now, or
// returns nil. It takes constant time; search is the complete version. The lock is held.
func (a *Allocator) take(n int64, on device.Stream) *Block {
	if on != nil && a.pending > 0 {
		if p := a.poolOf(on); p != nil {
			if b := p.find(n); b != nil {
				return a.cut(b, n)
			}
		}
	}
	if a.pending > 0 {
		a.sweep(sweepBatch)
	}
	if b := a.common.find(n); b != nil {
		return a.cut(b, n)
	}
	return nil
}

// deferMerge is release for the block that has just been freed. The block stays unmerged until the next
// call, because programs often free a block and then ask for the same size: reuseLast then saves a merge
// and a split. Every other section that takes the lock merges it first; see lock.
func (a *Allocator) deferMerge(b *Block) {
	if invariants || last(b) {
		a.release(b)
		return
	}
	b.state, b.pool = Free, nil
	a.lastFreed = b
}

// last reports whether b is the only block in use of its heap, which becomes idle with it. Such a block is
// merged at once, so that the age of the heap counts from now.
func last(b *Block) bool {
	l, r := b.prev, b.next
	return (l == nil || l.state == Free && l.prev == nil) && (r == nil || r.state == Free && r.next == nil)
}

// reuseLast returns the block that was freed last if it has exactly n bytes; otherwise it merges that
// block and returns nil. The lock is held.
func (a *Allocator) reuseLast(n int64) *Block {
	b := a.lastFreed
	if b == nil {
		return nil
	}
	if b.Size == n {
		a.lastFreed = nil
		return b
	}
	a.mergeLast()
	return nil
}

// mergeLast releases the block that was freed last, if it has not been merged yet. The lock is held.
func (a *Allocator) mergeLast() {
	if b := a.lastFreed; b != nil {
		a.lastFreed = nil
		a.release(b)
	}
}

// lock takes the mutex and merges the block that was freed last, so that all free blocks are merged and in
// their bins. Alloc and Free take the mutex themselves.
func (a *Allocator) lock() {
	a.mu.Lock()
	a.mergeLast()
}

// issue makes a block that take returned live.
func (a *Allocator) issue(b *Block, size int64, cause uint64) *Block {
	if invariants {
		b = a.renew(b)
		b.origin = caller()
	}
	b.Requested = size
	b.cause = cause
	b.state = Live
	a.counts.alloc(b)
	if a.history.ring != nil {
		a.recordBlock(DidAlloc, b)
	}
	return b
}

// Free takes a block back. Each use names a stream and the last of its tickets that touches the
// block; the work on b up to b.After is known and need not be named. Uses are copied. Freeing nil or
// the block of 0 bytes does nothing. A block that is not live, or not of this allocator, is left
// alone and counted in Stats.BadFrees; with the build tag invariants it panics. A header is used
// again for another block sooner or later, so a normal build cannot notice every double free.
func (a *Allocator) Free(b *Block, uses []Use) {
	if b == nil || b == &a.empty {
		return
	}
	a.mu.Lock()
	if b.state != Live || b.heap == nil || b.heap.owner != a {
		a.counts.badFrees++
		a.mu.Unlock()
		badFree(b)
		return
	}
	a.counts.free(b)
	if a.history.ring != nil {
		a.recordBlock(DidFree, b)
	}
	a.mergeLast()
	if len(uses) == 0 && b.After == 0 {
		a.deferMerge(b)
	} else {
		a.freeInUse(b, uses)
	}
	old := a.tick()
	a.derive()
	a.mu.Unlock()
	if old != nil {
		a.closeHeaps(old)
	}
}

// countOOM counts and records an allocation that failed because there is no memory. The lock is held.
func (a *Allocator) countOOM(size int64) {
	a.counts.ooms++
	a.record(Event{Action: DidRefuse, Size: size})
}

// tick counts a call; every checkEvery calls it unlinks heaps that have been idle for too long and returns
// them, for the caller to close after unlocking.
func (a *Allocator) tick() *heap {
	a.calls++
	if a.calls%checkEvery != 0 {
		return nil
	}
	return a.retire()
}

// SetLimits changes the limits, in bytes; 0 for none. Reserved memory above a new hard limit stays
// until it is freed.
func (a *Allocator) SetLimits(hard, soft int64) {
	a.lock()
	a.hard, a.soft = max(hard, 0), max(soft, 0)
	a.mu.Unlock()
}

// Close waits for pending blocks and returns all heaps. While blocks are live it returns status.Internal
// with their number, keeps their heaps and may be called again. It also reports heaps that failed to close
// before.
func (a *Allocator) Close() error {
	a.wait()
	a.EmptyCache()
	a.lock()
	defer a.mu.Unlock()
	if n := a.counts.blocks.current; n > 0 {
		return status.Errorf(status.Internal, "[alloc] %d blocks (%d bytes) are live at Close; want none%s",
			n, a.counts.allocated.current, a.origins())
	}
	a.closed = true
	return a.closeErr
}
