package engine

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// batch is the work of one call while threads share it. It is cut into chunks, of which each thread has a portion that lies
// together: it takes its own chunks from the front, where its cache may have their data from the call before, and then those
// that others have not begun, from the back.
//
// A batch is used again only when all have left it. A worker that has seen it before that may come to the next call instead,
// which is as good.
type batch struct {
	pieces   Splitter
	call     *device.Call
	n        int64 // pieces
	chunks   int64
	portions []portion

	done     atomic.Int64  // chunks
	waiting  atomic.Bool   // the caller sleeps until all are done
	finished chan struct{} // wakes it

	mu  sync.Mutex
	err error // the first

	users atomic.Int64 // the caller and the workers that have come; 0: the call has ended
	came  atomic.Int64 // workers, which have portions by this number
	home  *sync.Pool
}

// portion is the chunks of a thread that are left: the first in the upper half of the number, the end in the lower.
type portion struct {
	left atomic.Uint64
	_    [56]byte // each in a cache line of its own
}

// newBatch has room for the portions of so many threads.
func newBatch(home *sync.Pool, threads int) *batch {
	return &batch{portions: make([]portion, threads), finished: make(chan struct{}, 1), home: home}
}

// open begins a call for its caller, with a portion of the chunks for each of so many threads.
func (b *batch) open(pieces Splitter, c *device.Call, n, chunks, threads int64) {
	b.pieces, b.call, b.n, b.chunks = pieces, c, n, chunks
	b.portions = b.portions[:threads]
	for i := range threads {
		b.portions[i].left.Store(uint64(chunks*i/threads<<32 | chunks*(i+1)/threads))
	}
	b.done.Store(0)
	b.came.Store(0)
	b.users.Store(1) // last: from here on workers may come
}

// join makes a worker a user of a call that has not ended.
func (b *batch) join() bool {
	for users := b.users.Load(); users > 0; users = b.users.Load() {
		if b.users.CompareAndSwap(users, users+1) {
			return true
		}
	}
	return false
}

// leave ends the use of a batch by one of its users.
func (b *batch) leave() {
	if b.users.Add(-1) == 0 {
		b.pieces, b.call, b.err = nil, nil, nil
		b.home.Put(b)
	}
}

// work does the chunks of a portion, and then those of others.
func (b *batch) work(own int) {
	for {
		chunk, ok := b.take(own)
		if !ok {
			return
		}
		if err := guarded(b.pieces, b.call, b.n*chunk/b.chunks, b.n*(chunk+1)/b.chunks); err != nil {
			b.fail(err)
		}
		if b.done.Add(1) == b.chunks && b.waiting.Swap(false) {
			b.finished <- struct{}{}
		}
	}
}

// take is the next chunk for the thread with a portion of its own.
func (b *batch) take(own int) (chunk int64, ok bool) {
	if chunk, ok = b.portions[own].take(true); ok {
		return chunk, true
	}
	for i := range b.portions {
		if chunk, ok = b.portions[(own+1+i)%len(b.portions)].take(false); ok {
			return chunk, true
		}
	}
	return 0, false
}

// take is the first or the last chunk of a portion.
func (p *portion) take(first bool) (chunk int64, ok bool) {
	for {
		left := p.left.Load()
		from, to := left>>32, left&(1<<32-1)
		if from >= to {
			return 0, false
		}
		chunk, rest := from, left+1<<32
		if !first {
			chunk, rest = to-1, left-1
		}
		if p.left.CompareAndSwap(left, rest) {
			return int64(chunk), true
		}
	}
}

// fail keeps the first error.
func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// wait returns when all chunks are done. The caller has found none to take, so that each is done or another thread is at it.
func (b *batch) wait() {
	for w := newWatch(patience); b.done.Load() < b.chunks; pause() {
		if w.lasts(true) {
			continue
		}
		b.waiting.Store(true)
		if b.done.Load() < b.chunks || !b.waiting.Swap(false) {
			<-b.finished
		}
		return
	}
}
