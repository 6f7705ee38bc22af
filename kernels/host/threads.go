package host

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Work is split by what it costs, in additions. It costs less than a microsecond to hand work to a worker that watches for
// it, and tens of microseconds to wake one that sleeps.
const (
	grain  = 1 << 15   // the least that is worth a thread: some two microseconds
	rousal = 4 * grain // the least that is worth waking one
	finest = 4         // chunks for a thread, so that another can do the rest of one that is late or slow
)

// patience is how long a thread watches for what it waits for before it sleeps: calls that follow each other closely, as
// those of a program do, find the workers awake.
const patience = 50 * time.Microsecond

// splitter is work that falls into independent pieces numbered from 0.
type splitter interface {
	// part does pieces lo to hi-1 of a call. It runs on any goroutine, beside other parts.
	part(c *device.Call, lo, hi int64) error
}

// threads is the pool of goroutines that one device computes with. The goroutine that asks always takes part itself, so a
// pool of one has no workers, and no work waits for a worker to begin: a caller whose workers are busy or slow to wake
// does all of it.
type threads struct {
	workers []worker // one less than there are threads
	ended   sync.WaitGroup
	batches sync.Pool // of *batch
}

// startThreads starts count-1 workers: the caller is one of the threads.
func startThreads(count int) *threads {
	t := &threads{workers: make([]worker, count-1)}
	t.batches.New = func() any { return newBatch(&t.batches, count) }
	for i := range t.workers {
		t.workers[i].wake = make(chan struct{}, 1)
		t.ended.Go(t.workers[i].serve)
	}
	return t
}

// count is how many threads there are, with the caller.
func (t *threads) count() int { return len(t.workers) + 1 }

// close ends the workers; no call may be running.
func (t *threads) close() {
	for i := range t.workers {
		for !t.workers[i].give(lastBatch, 0, true) {
			runtime.Gosched() // it has seen a batch whose call has ended already
		}
	}
	t.ended.Wait()
}

// each does n pieces of work that cost so many additions together, and answers the first error. How work is cut depends on
// the number of threads and on chance, so a kernel's pieces must not depend on each other.
func (t *threads) each(work splitter, c *device.Call, n, cost int64) error {
	if cost < 2*grain || n < 2 || len(t.workers) == 0 {
		return work.part(c, 0, n)
	}
	count := min(int64(t.count()), n, cost/grain)
	b := t.batches.Get().(*batch)
	b.open(work, c, n, min(finest*count, n, cost/grain), count)
	for i, next := 0, 1; i < len(t.workers) && next < len(b.portions); i++ {
		b.users.Add(1)
		if t.workers[i].give(b, next, cost >= rousal) {
			next++
		} else {
			b.users.Add(-1)
		}
	}
	b.work(0)
	b.wait()
	err := b.err
	b.leave()
	return err
}

// guarded turns a panic of a kernel into an error, so that it costs the call and not the process.
func guarded(work splitter, c *device.Call, lo, hi int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return work.part(c, lo, hi)
}

// panicked is a panic as an error, with the stack: it is a mistake of ours.
func panicked(p any) error {
	return status.Errorf(status.Internal, "[host] a kernel panicked: %v\n%s", p, debug.Stack())
}
