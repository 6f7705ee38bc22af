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
// merges with both neighbours at once (the one freed last, when the next call begins), so the largest free run is always a single block, and no
// pass over the memory is ever needed to find it.
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
// memory up: in the replayed random walk of bench/alloc that was the difference between 1.42 and 1.18
// times the peak. When memory is short they are cut like any other.
//
// # Streams
//
// A caller frees memory when it has submitted the last work on it, which is long before that work
// has run. Each stream therefore has a pool of its own: bins of blocks that only this stream still
// uses, each with the ticket at which that ends. An allocation for the same stream takes from this
// pool at once, since its work will run after the work that still uses the block. For everybody
// else the block waits until the stream has passed the ticket; then it moves to the common pool.
// A block that several streams use waits in a list of its own. Waiting blocks are looked at a few
// at a time by allocations that miss their own pool, and nothing here blocks for a stream unless
// memory has run out, and then with no lock held. See pool.go.
//
// Block.After carries the rule to the caller: work of others on a block that came out of a
// stream's pool has to wait for that ticket. Host code that writes to the block itself allocates
// with no stream and then need not wait for anything.
//
// # Growing and shrinking
//
// Small programs stay small: heaps have 8 MiB until eight of them are full, then 32, then 256. A
// heap without a live or pending block is idle. Idle heaps are kept for MaxAge, because the next
// step of a program usually wants them back; above the soft limit the oldest go as soon as anybody
// looks, and a new heap takes the place of the oldest ones where all together would hold more than the
// most that was ever in use, a twentieth and 256 MiB. Age is checked every 256 calls and by Age. An allocation that does not fit in what is
// there and may not grow past the hard limit, or past what it shares with other allocators of the same
// memory (budget.go), tries, in this order: pending blocks that have become
// free, giving back all idle heaps, waiting for the streams, and Config.Reclaim. What is left is
// status.OutOfMemory with the numbers in its message. See grow.go.
//
// # Addresses
//
// Find resolves any address inside a live block. Heaps are sorted by address, and within a heap a
// table has the first block of every 16 KiB (see index.go).
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
	// Alignment is that of every block, and what sizes are rounded to.
	Alignment = 256
	// MaxSize is the largest request that is looked at: 4 TiB, beyond any machine with one device.
	MaxSize = 1 << maxBits
	maxBits = 42

	// checkEvery is how many calls pass between looks at the clock; a power of two.
	checkEvery = 256
)

// Source is where heaps come from; a device.Device is one.
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
	common    pool       // blocks that nobody uses
	pools     []*pool    // blocks that one stream uses, a pool a stream
	shared    queue      // blocks that several streams use
	hot       *Block     // freed by the last call and not merged yet
	slab      slab
	heaps     []*heap // by address
	idle      idleList
	committed int64 // reserved, and heaps that are being made or closed
	calls     uint64
	pending   int // blocks in pools and shared
	counts    counters
	history   history
	closing   int       // heaps that have been taken out and are not given back yet
	given     sync.Cond // of mu: closing is 0
	hard      int64
	soft      int64
	maxAge    int64
	serial    uint64 // of the last heap made
	closed    bool
	closeErr  error // what heaps said that could not be given back

	empty Block // stands for every allocation of 0 bytes
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
	a.given.L = &a.mu
	a.empty = Block{Heap: emptyHeap{}, state: Live}
	return a
}

// Alloc returns a block of at least size bytes whose contents are undefined. The work that will use
// it first is submitted to stream on; nil stands for the host, or for anybody. A size of 0 gives
// one and the same block of 0 bytes each time, with no address. The error is status.Invalid for a
// negative size and status.OutOfMemory when everything was tried.
func (a *Allocator) Alloc(size int64, on device.Stream) (*Block, error) {
	return a.AllocFor(size, on, 0)
}

// AllocFor is Alloc with a number that the history and the snapshot keep with the block: whoever
// records call stacks names one by it. 0 stands for none.
func (a *Allocator) AllocFor(size int64, on device.Stream, cause uint64) (*Block, error) {
	if size <= 0 || size > MaxSize {
		return a.allocOdd(size)
	}
	n := (size + Alignment - 1) &^ (Alignment - 1)
	a.mu.Lock()
	b := a.again(n)
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
		a.giveBack(old)
	}
	if b == nil {
		return a.allocSlow(size, n, on, cause)
	}
	return b, nil
}

func (a *Allocator) allocOdd(size int64) (*Block, error) {
	if size == 0 {
		return &a.empty, nil
	}
	if size < 0 {
		return nil, status.Errorf(status.Invalid, "[alloc] size is %d bytes; want 0 or more", size)
	}
	a.lock()
	a.refuse(size)
	a.mu.Unlock()
	return nil, status.Errorf(status.OutOfMemory, "[alloc] size is %d bytes; want at most %d", size, int64(MaxSize))
}

// take finds and cuts a block of n bytes that stream on may use now, or answers nil.
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

// warm is release for the block that has just been freed: it waits one call unmerged, because programs
// free and ask for the same size in turn. Whoever else takes the lock settles it first; see lock.
func (a *Allocator) warm(b *Block) {
	if invariants || last(b) {
		a.release(b)
		return
	}
	b.state, b.pool = Free, nil
	a.hot = b
}

// last reports whether b is all that is in use of its heap, which is about to be idle.
func last(b *Block) bool {
	l, r := b.prev, b.next
	return (l == nil || l.state == Free && l.prev == nil) && (r == nil || r.state == Free && r.next == nil)
}

// again answers the block that was freed last if it has n bytes.
func (a *Allocator) again(n int64) *Block {
	b := a.hot
	if b == nil {
		return nil
	}
	if b.Size == n {
		a.hot = nil
		return b
	}
	a.cool()
	return nil
}

// cool releases the block that was freed last.
func (a *Allocator) cool() {
	if b := a.hot; b != nil {
		a.hot = nil
		a.release(b)
	}
}

// lock begins a section in which all free blocks are merged and in their bins.
func (a *Allocator) lock() {
	a.mu.Lock()
	a.cool()
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
		a.noteBlock(DidAlloc, b)
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
		a.noteBlock(DidFree, b)
	}
	a.cool()
	if len(uses) == 0 && b.After == 0 {
		a.warm(b)
	} else {
		a.settle(b, uses)
	}
	old := a.tick()
	a.derive()
	a.mu.Unlock()
	if old != nil {
		a.giveBack(old)
	}
}

// refuse counts an allocation that failed for want of memory.
func (a *Allocator) refuse(size int64) {
	a.counts.ooms++
	a.note(Event{Action: DidRefuse, Size: size})
}

// tick counts a call and now and then looks for heaps to give back.
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

// SetMaxAge changes how long idle heaps are kept; 0 for as long as the limits allow.
func (a *Allocator) SetMaxAge(age time.Duration) {
	a.lock()
	a.maxAge = int64(max(age, 0))
	a.mu.Unlock()
}

// Close waits for pending blocks and gives all heaps back. While blocks are live it answers
// status.Internal with their number, leaves them their heaps and may be called again. It also
// reports heaps that failed to close before.
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
