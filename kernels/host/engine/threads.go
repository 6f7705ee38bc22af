package engine

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Work is split by what it costs, in additions. It costs less than a microsecond to hand work to a worker that watches for
// it, and tens of microseconds to wake one that sleeps.
const (
	LeastForThread = 1 << 15            // the least that is worth a thread: some two microseconds
	LeastToWake    = 4 * LeastForThread // the least that is worth waking one
	finest         = 4                  // chunks for a thread, so that another can do the rest of one that is late or slow
)

// Calls that follow each other closely, as those of a program do, find the workers awake.
const (
	patience     = 50 * time.Microsecond // how long a thread watches for what it waits for before it sleeps
	mostPatience = 8 * patience          // the same for a worker that has slept for less several times
	vigil        = time.Millisecond      // the same while calls are running that have no work for it
)

// Splitter is work that falls into independent pieces numbered from 0.
type Splitter interface {
	// Part does pieces lo to hi-1 of a call. It runs on any goroutine, beside other parts.
	Part(c *device.Call, lo, hi int64) error
}

// Threads is the pool of goroutines that one device computes with. The goroutine that asks always takes part itself, so a
// pool of one has no workers, and no work waits for a worker to begin: a caller whose workers are busy or slow to wake
// does all of it.
//
// A call offers its batch on a shelf, where workers look whenever they have nothing to do: one that is late for a call, or busy
// with another when it begins, still comes to it, or to the next.
type Threads struct {
	workers []worker // one less than there are threads
	ended   sync.WaitGroup
	batches sync.Pool // of *batch

	shelves [8]atomic.Pointer[batch] // batches with chunks that no thread has begun; calls beyond these share nothing
	Running atomic.Int64             // calls that are shared, and programs
	closed  atomic.Bool

	// Settings of the device, which kernels read: see host.Config.
	TermByTerm bool // convolutions are sums by definition
	Accelerate bool // the system's BLAS library computes large products
}

// StartThreads starts count-1 workers: the caller is one of the threads.
func StartThreads(count int) *Threads {
	t := &Threads{workers: make([]worker, count-1)}
	t.batches.New = func() any { return newBatch(&t.batches, count) }
	for i := range t.workers {
		t.workers[i].wake, t.workers[i].patience = make(chan struct{}, 1), patience
		t.ended.Go(func() { t.workers[i].serve(t) })
	}
	return t
}

// Count is how many threads there are, with the caller.
func (t *Threads) Count() int { return len(t.workers) + 1 }

// Close ends the workers; no call may be running.
func (t *Threads) Close() {
	t.closed.Store(true)
	for i := range t.workers {
		t.workers[i].rouse()
	}
	t.ended.Wait()
}

// offered reports whether a batch is on a shelf.
func (t *Threads) offered() bool {
	for i := range t.shelves {
		if t.shelves[i].Load() != nil {
			return true
		}
	}
	return false
}

// offer puts a batch on a shelf, and answers which; none if all are taken.
func (t *Threads) offer(b *batch) *atomic.Pointer[batch] {
	for i := range t.shelves {
		if t.shelves[i].Load() == nil && t.shelves[i].CompareAndSwap(nil, b) {
			return &t.shelves[i]
		}
	}
	return nil
}

// rouse wakes workers until so many watch.
func (t *Threads) rouse(wanted int64) {
	for i := range t.workers {
		if wanted <= 0 {
			return
		}
		if w := &t.workers[i]; w.state.Load() == watching || w.rouse() {
			wanted--
		}
	}
}

// Each does n pieces of work that cost so many additions together, and answers the first error. How work is cut depends on
// the number of threads and on chance, so a kernel's pieces must not depend on each other.
func (t *Threads) Each(work Splitter, c *device.Call, n, cost int64) error {
	if cost < 2*LeastForThread || n < 2 || len(t.workers) == 0 {
		return work.Part(c, 0, n)
	}
	count := min(int64(t.Count()), n, cost/LeastForThread)
	b := t.batches.Get().(*batch)
	b.open(work, c, n, min(finest*count, n, cost/LeastForThread), count)
	t.Running.Add(1)
	shelf := t.offer(b)
	if shelf != nil && cost >= LeastToWake {
		t.rouse(count - 1)
	}
	b.work(0)
	if shelf != nil {
		shelf.CompareAndSwap(b, nil)
	}
	b.wait()
	t.Running.Add(-1)
	err := b.err
	b.leave()
	return err
}

// guarded turns a panic of a kernel into an error, so that it costs the call and not the process.
func guarded(work Splitter, c *device.Call, lo, hi int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return work.Part(c, lo, hi)
}

// Panicked is a panic as an error, with the stack: it is a mistake of ours.
func Panicked(p any) error {
	return status.Errorf(status.Internal, "[host] a kernel panicked: %v\n%s", p, debug.Stack())
}
