package host

import (
	"sync/atomic"
	"time"
)

// worker is a goroutine of the pool. Between two batches it watches for the next one, and after a while it sleeps.
type worker struct {
	state atomic.Int32
	next  atomic.Pointer[batch] // set by who has made the worker busy
	own   int                   // portion of the next batch; set before next is
	wake  chan struct{}
	_     [64]byte // the next worker's state is in another cache line
}

// States of a worker. The thread that changes the first or the second into the third has to give it a batch.
const (
	watching = iota
	asleep
	busy
)

// lastBatch is the batch that ends a worker.
var lastBatch = new(batch)

// give hands a batch over, if the worker has none; one that sleeps is woken only if that is wanted.
func (w *worker) give(b *batch, own int, rouse bool) bool {
	state := w.state.Load()
	if state == busy || state == asleep && !rouse || !w.state.CompareAndSwap(state, busy) {
		return false
	}
	w.own = own
	w.next.Store(b)
	if state == asleep {
		w.wake <- struct{}{}
	}
	return true
}

// serve does portions of batches until the last one.
func (w *worker) serve() {
	for {
		b := w.await()
		if b == lastBatch {
			return
		}
		b.work(w.own)
		b.leave()
		w.state.Store(watching)
	}
}

// await is the next batch.
func (w *worker) await() *batch {
	for start := time.Since(epoch); w.next.Load() == nil; pause() {
		if time.Since(epoch)-start > patience && w.state.CompareAndSwap(watching, asleep) {
			<-w.wake
		}
	}
	return w.next.Swap(nil)
}
