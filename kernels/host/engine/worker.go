package engine

import (
	"sync/atomic"
	"time"
)

// worker is a goroutine of the pool. Between two batches it watches for the next one, and after a while it sleeps.
type worker struct {
	state    atomic.Int32
	wake     chan struct{}
	patience time.Duration // how long it watches before it sleeps
	_        [64]byte      // the next worker's state is in another cache line
}

// States of a worker. It sets them itself, except that the thread that wakes it sets watching.
const (
	watching = iota
	asleep
	busy
)

// rouse wakes a worker that sleeps.
func (w *worker) rouse() bool {
	if !w.state.CompareAndSwap(asleep, watching) {
		return false
	}
	w.wake <- struct{}{}
	return true
}

// serve does portions of batches until the pool is closed.
func (w *worker) serve(t *Threads) {
	for {
		shelf, b := w.await(t)
		if b == nil {
			return
		}
		w.state.Store(busy)
		own := int(b.came.Add(1))
		if own >= len(b.portions)-1 {
			shelf.CompareAndSwap(b, nil) // it is the last that the batch has a portion for
		}
		if own < len(b.portions) {
			b.work(own)
			shelf.CompareAndSwap(b, nil) // no chunk is left
		}
		b.leave()
		w.state.Store(watching)
	}
}

// await joins the next batch; none when the pool is closed.
func (w *worker) await(t *Threads) (*atomic.Pointer[batch], *batch) {
	for watch := newWatch(w.patience); ; pause() {
		for i := range t.shelves {
			if b := t.shelves[i].Load(); b != nil && b.join() {
				return &t.shelves[i], b
			}
		}
		if t.closed.Load() {
			return nil, nil
		}
		if !watch.lasts(t.Running.Load() > 0) {
			w.sleep(t)
			watch = newWatch(w.patience)
		}
	}
}

// sleep returns when the worker has been woken, or at once if work has come since it looked.
func (w *worker) sleep(t *Threads) {
	begun := time.Since(Epoch)
	w.state.Store(asleep)
	if !(t.closed.Load() || t.offered()) || !w.state.CompareAndSwap(asleep, watching) {
		<-w.wake
	}
	w.learn(time.Since(Epoch) - begun)
}

// learn sets how long the worker watches from now on: longer if it has slept so shortly that it need not have slept at all, else no
// longer than at first. So a training step finds its workers awake behind what Python and small calls do between two large ones.
func (w *worker) learn(slept time.Duration) {
	if slept > mostPatience {
		w.patience = patience
		return
	}
	w.patience = min(2*w.patience, mostPatience)
}

// watch says how long a thread watches for what it waits for.
type watch struct{ begun, quiet, patience time.Duration }

func newWatch(patience time.Duration) watch {
	now := time.Since(Epoch)
	return watch{now, now, patience}
}

// lasts reports whether to go on watching: for a while beyond the last time that a call was running, and with a limit.
// Where the processor is wanted by others, they have it.
func (w *watch) lasts(running bool) bool {
	now := time.Since(Epoch)
	if running {
		w.quiet = now
	}
	if now-w.begun > patience {
		yield()
	}
	return now-w.quiet <= w.patience && now-w.begun <= vigil
}

// Epoch is the zero of the clock of all events; times since then are monotonic.
var Epoch = time.Now()
