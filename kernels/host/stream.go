package host

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// queueLength is how many entries a stream holds before whoever submits has to wait.
const queueLength = 1 << 10

// stream is a queue of work with at most one piece running, wherever it runs.
//
// Work runs on the goroutine that submits it, if nothing is queued or running and it is small
// enough, or else on the worker; a stream of the cpu place has no worker and always runs it on the
// caller, waiting for its turn. In each case the flag busy is the right to run, and holding it
// rather than the lock lets others look at, add to and wait for the queue meanwhile.
//
// An owner's Done runs while the stream is busy: it must not submit to the same stream.
type stream struct {
	device *Device
	async  bool

	done atomic.Uint64 // highest ticket that has ended

	mu        sync.Mutex
	ready     sync.Cond // the worker waits here for entries and for its turn
	moved     sync.Cond // everyone else waits here for done, for room or for a turn
	waiters   int       // goroutines at moved
	busy      bool      // somebody runs a piece of work
	closing   bool
	submitted device.Ticket
	queue     [queueLength]entry // a ring: entries head to tail-1, modulo its length
	head      uint64
	tail      uint64
	ended     chan struct{} // closed when the worker has ended
}

// entry is a piece of work: a run (program and call), a copy (call), a record (event) or a wait.
type entry struct {
	program *program
	call    *device.Call
	event   *event
	wait    waiter
	ticket  device.Ticket // 0 for a wait, which has none
}

// waiter is what a stream can wait for: a point, or an event of another device.
type waiter interface{ sync() }

type foreign struct{ device.Event }

func (f foreign) sync() { f.Sync() }

func newStream(d *Device) *stream {
	s := &stream{device: d, async: d.info.Async, ended: make(chan struct{})}
	s.ready.L, s.moved.L = &s.mu, &s.mu
	if s.async {
		go s.work()
	} else {
		close(s.ended)
	}
	return s
}

// Run submits a run of p, which is a program of a host device.
func (s *stream) Run(p device.Program, c *device.Call) device.Ticket {
	prog, ok := p.(*program)
	if !ok {
		prog = &program{alien{}}
	}
	return s.submit(entry{program: prog, call: c})
}

// Copy submits a copy of bytes.
func (s *stream) Copy(c *device.Call) device.Ticket { return s.submit(entry{call: c}) }

// Record moves e to the end of what has been submitted.
func (s *stream) Record(e device.Event) device.Ticket {
	mark, ok := e.(*event)
	if !ok {
		mark = new(event) // an event of another device cannot be moved here; the ticket still counts
	}
	return s.submit(entry{event: mark})
}

// Wait queues a wait: the worker blocks, not the caller. A stream without a worker waits before the
// next piece of work instead.
func (s *stream) Wait(e device.Event) {
	var w waiter = foreign{e}
	if mark, ok := e.(*event); ok {
		p := mark.point()
		if p.stream == s || p.passed() {
			return
		}
		w = p
	} else if e.Done() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full() && !s.async {
		w.sync() // nothing would ever make room
		return
	}
	for s.full() {
		s.wait()
	}
	s.push(entry{wait: w})
}

// submit numbers an entry and runs it here or leaves it to the worker.
func (s *stream) submit(e entry) device.Ticket {
	s.mu.Lock()
	for s.async && s.full() || !s.async && s.busy {
		s.wait() // before the ticket, so that the queue stays in the order of tickets
	}
	s.submitted++
	e.ticket = s.submitted
	if e.event != nil {
		e.event.move(point{s, e.ticket})
	}
	if s.async && (s.busy || s.head != s.tail || !s.inline(&e)) {
		s.push(e)
		s.mu.Unlock()
		return e.ticket
	}
	s.busy = true
	for !s.async && s.head != s.tail {
		w := s.pop()
		s.mu.Unlock()
		w.wait.sync()
		s.mu.Lock()
	}
	s.mu.Unlock()
	s.execute(&e)
	s.finish(e.ticket)
	return e.ticket
}

// inline reports whether an entry is too small for a worker.
func (s *stream) inline(e *entry) bool {
	limit := s.device.inline
	switch {
	case limit < 0:
		return false
	case e.program != nil:
		return e.program.kernel.cost(e.call) <= limit
	case e.call != nil:
		return bytesOf(&e.call.In[0]) <= limit*4
	}
	return true
}

func (s *stream) full() bool { return s.tail-s.head == queueLength }

// push adds an entry; the lock is held and the queue not full.
func (s *stream) push(e entry) {
	s.queue[s.tail%queueLength] = e
	s.tail++
	s.ready.Signal()
}

// pop takes the first entry; the lock is held and the queue not empty.
func (s *stream) pop() (e entry) {
	slot := &s.queue[s.head%queueLength]
	e, *slot = *slot, entry{} // the ring keeps nothing alive
	s.head++
	return e
}

// wait blocks until something has moved; the lock is held.
func (s *stream) wait() {
	s.waiters++
	s.moved.Wait()
	s.waiters--
}

// work is the worker: entries in order, each when nobody else runs one.
func (s *stream) work() {
	defer close(s.ended)
	for {
		s.mu.Lock()
		for s.busy || s.head == s.tail {
			if s.closing && !s.busy {
				s.mu.Unlock()
				return
			}
			s.ready.Wait()
		}
		e := s.pop()
		s.busy = true
		s.mu.Unlock()
		s.execute(&e)
		s.finish(e.ticket)
	}
}

// finish ends the turn of whoever ran ticket t, or a wait, which has ticket 0.
func (s *stream) finish(t device.Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if t != 0 {
		s.done.Store(t)
	}
	if s.waiters > 0 {
		s.moved.Broadcast()
	}
	if s.async && (s.head != s.tail || s.closing) {
		s.ready.Signal()
	}
}

// execute does one entry. The caller has the turn.
func (s *stream) execute(e *entry) {
	switch {
	case e.call != nil:
		owner := e.call.Owner
		err := owner.Ready()
		if err == nil {
			err = s.compute(e)
		}
		owner.Done(err)
	case e.event != nil:
		e.event.pass(point{s, e.ticket})
	default:
		e.wait.sync()
	}
}

// compute runs a program or a copy; a panic of it is its error.
func (s *stream) compute(e *entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if e.program == nil {
		return copyBytes(e.call)
	}
	return e.program.kernel.run(s.device.threads, e.call)
}

// copyBytes copies between contiguous operands.
// SAFETY: both ranges belong to the call until its owner hears of the end; see Stream.Copy.
func copyBytes(c *device.Call) error {
	from, to := &c.In[0], &c.Out[0]
	n := bytesOf(from)
	if n != bytesOf(to) {
		return status.Errorf(status.Internal, "[copy] got %d bytes for %d; want as many", n, bytesOf(to))
	}
	if n > 0 {
		copy(unsafe.Slice((*byte)(to.Addr), n), unsafe.Slice((*byte)(from.Addr), n))
	}
	return nil
}

func bytesOf(o *device.Operand) int64 { return o.Numel() * o.DType.Size() }

// Done is the highest ticket up to which all work has ended.
func (s *stream) Done() device.Ticket { return s.done.Load() }

// Sync blocks until ticket t has ended.
func (s *stream) Sync(t device.Ticket) {
	if s.done.Load() >= t {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.done.Load() < t {
		s.wait()
	}
}

// Close waits for all work and ends the worker.
func (s *stream) Close() error {
	s.mu.Lock()
	last := s.submitted
	s.closing = true
	s.ready.Signal()
	s.mu.Unlock()
	s.Sync(last)
	<-s.ended
	return nil
}

// alien is the kernel of a program that another device compiled.
type alien struct{ simple }

func (alien) run(*threads, *device.Call) error {
	return status.Errorf(status.Internal, "[host] got a program of another device")
}
