package host

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/profile"
)

// queueLength is how many entries a queue has room for before it grows; a power of two.
const queueLength = 1 << 6

// queue is a stream with a worker, as a GPU's streams are. At most one piece of work runs at a time.
// It accepts everything that is submitted and never makes its caller wait: the runtime bounds how much is in
// flight.
//
// Work runs on the goroutine that submits it, if the queue is idle and the work small, or else on
// the worker. The flag busy is the right to run: holding it rather than the lock lets others look
// at, add to and wait for the queue meanwhile.
//
// An owner's Done runs while the queue is busy; it must not submit to the same stream.
type queue struct {
	device *Device
	track  *profile.Track
	done   atomic.Uint64 // highest ticket that has ended

	mu        sync.Mutex
	ready     sync.Cond     // the worker waits here for entries and for its turn
	moved     sync.Cond     // everyone else waits here for tickets to end
	awaited   device.Ticket // the lowest that a goroutine waits for; 0: none
	busy      bool          // a goroutine runs a piece of work
	closing   bool
	submitted device.Ticket
	ring      []entry // entries head to tail-1, modulo its length
	head      uint64
	tail      uint64
	ended     chan struct{} // closed when the worker has ended
}

// newQueue starts the worker.
func newQueue(d *Device) *queue {
	s := &queue{device: d, track: profile.NewTrack("emulated stream %d"), ring: make([]entry, queueLength), ended: make(chan struct{})}
	s.ready.L, s.moved.L = &s.mu, &s.mu
	go s.work()
	return s
}

// Run submits a run of p.
func (s *queue) Run(p device.Program, c *device.Call) device.Ticket {
	return s.submit(entry{program: programOf(p), call: c})
}

// Copy submits a copy of bytes.
func (s *queue) Copy(c *device.Call) device.Ticket { return s.submit(entry{call: c}) }

// Record moves e to the end of what has been submitted.
func (s *queue) Record(e device.Event) device.Ticket { return s.submit(entry{event: recorded(e)}) }

// Wait queues a wait: the worker blocks, not the caller.
func (s *queue) Wait(e device.Event) {
	if w := waitFor(s, e); w != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.push(entry{wait: w})
	}
}

// submit numbers an entry and runs it here or leaves it to the worker.
func (s *queue) submit(e entry) device.Ticket {
	s.mu.Lock()
	s.submitted++
	e.ticket = s.submitted
	if e.event != nil {
		e.event.move(point{s, e.ticket})
	}
	if s.busy || s.head != s.tail || !s.inline(&e) {
		s.push(e)
		s.mu.Unlock()
		return e.ticket
	}
	s.busy = true
	s.mu.Unlock()
	s.execute(&e)
	return e.ticket
}

// inline reports whether an entry is so small that waking the worker would take longer than its work. A record
// always is.
func (s *queue) inline(e *entry) bool {
	limit := s.device.inline
	switch {
	case limit < 0:
		return false
	case e.program != nil:
		return e.program.kernel.Cost(e.call) <= limit
	case e.call != nil:
		return bytesOf(&e.call.In[0]) <= limit*4
	}
	return true
}

// push adds an entry; the lock is held.
func (s *queue) push(e entry) {
	if s.tail-s.head == uint64(len(s.ring)) {
		s.grow()
	}
	*s.slot(s.tail) = e
	s.tail++
	s.ready.Signal()
}

// grow doubles the ring; the lock is held.
func (s *queue) grow() {
	larger := make([]entry, 2*len(s.ring))
	for i := s.head; i < s.tail; i++ {
		larger[i&uint64(len(larger)-1)] = *s.slot(i)
	}
	s.ring = larger
}

// slot is where the i-th entry of all lies; the lock is held.
func (s *queue) slot(i uint64) *entry { return &s.ring[i&uint64(len(s.ring)-1)] }

// pop takes the first entry; the lock is held and the queue not empty.
func (s *queue) pop() (e entry) {
	slot := s.slot(s.head)
	e, *slot = *slot, entry{} // the ring keeps nothing alive
	s.head++
	return e
}

// work is the worker: it runs entries in order, each when no other goroutine runs one.
func (s *queue) work() {
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
	}
}

// execute does one entry and ends the turn, which the caller has.
func (s *queue) execute(e *entry) {
	switch {
	case e.call != nil:
		perform(s.device.threads, e.program, e.call, s.track)
	case e.event != nil:
		e.event.pass(point{s, e.ticket})
	default:
		e.wait.sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if e.ticket != 0 {
		s.done.Store(e.ticket)
	}
	if s.awaited != 0 && s.awaited <= s.done.Load() {
		s.awaited = 0 // goroutines that wait for later tickets say so again
		s.moved.Broadcast()
	}
	if s.head != s.tail || s.closing {
		s.ready.Signal()
	}
}

// Track is the line of a trace for the work of the stream.
func (s *queue) Track() *profile.Track { return s.track }

// Done is the highest ticket up to which all work has ended.
func (s *queue) Done() device.Ticket { return s.done.Load() }

// Sync blocks until ticket t has ended.
func (s *queue) Sync(t device.Ticket) {
	if s.done.Load() >= t {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.done.Load() < t {
		if s.awaited == 0 || t < s.awaited {
			s.awaited = t
		}
		s.moved.Wait()
	}
}

// Close waits for all work and ends the worker.
func (s *queue) Close() error {
	s.mu.Lock()
	s.closing = true
	s.ready.Signal()
	s.mu.Unlock()
	<-s.ended
	return nil
}
