package host

import (
	"runtime/debug"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// grain is the fewest pieces of work, each about one addition, that are worth a thread of their own.
const grain = 1 << 15

// splitter is work that falls into independent pieces numbered from 0.
type splitter interface {
	// part does pieces lo to hi-1 of a call. It runs on any goroutine, beside other parts.
	part(c *device.Call, lo, hi int64) error
}

// threads is the pool of goroutines that one device computes with. The goroutine that asks always
// takes part itself, so a pool of one has no workers and work never waits for a free one to begin.
type threads struct {
	count int
	jobs  chan job
	done  sync.WaitGroup
}

// job is one part of a call.
type job struct {
	work   splitter
	call   *device.Call
	lo, hi int64
	batch  *batch
}

// batch collects the ends of the parts of one call.
type batch struct {
	pending sync.WaitGroup
	mu      sync.Mutex
	err     error
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// fail keeps the first error.
func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// startThreads starts count-1 workers: the caller is one of the threads.
func startThreads(count int) *threads {
	t := &threads{count: count, jobs: make(chan job)}
	for range count - 1 {
		t.done.Go(t.serve)
	}
	return t
}

// serve runs parts until the pool is closed.
func (t *threads) serve() {
	for j := range t.jobs {
		j.run()
	}
}

// close ends the workers; no call may be running.
func (t *threads) close() {
	close(t.jobs)
	t.done.Wait()
}

// run does a part and reports its end to the batch.
func (j *job) run() {
	defer j.batch.pending.Done()
	if err := guarded(j.work, j.call, j.lo, j.hi); err != nil {
		j.batch.fail(err)
	}
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

// each does n pieces of work, of which least are worth a thread, and answers the first error. How work is
// cut depends on the number of threads, so a kernel's pieces must not depend on each other.
// Parts that find no idle worker run on the caller: no part ever waits in a queue of the pool.
func (t *threads) each(work splitter, c *device.Call, n, least int64) error {
	if n < 2*least || t.count == 1 { // before any division: small calls are counted in nanoseconds
		return work.part(c, 0, n)
	}
	parts := min(int64(t.count), n/least)
	b := batches.Get().(*batch)
	for i := parts - 1; i > 0; i-- {
		j := job{work, c, n * i / parts, n * (i + 1) / parts, b}
		b.pending.Add(1)
		select {
		case t.jobs <- j:
		default:
			j.run()
		}
	}
	err := guarded(work, c, 0, n/parts)
	b.pending.Wait()
	if err == nil {
		err = b.err
	}
	b.err = nil
	batches.Put(b)
	return err
}
