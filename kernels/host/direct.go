package host

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// direct is a stream of the cpu place: work is done when the method that submits it returns.
// Callers that race take turns. An owner's Done must not submit to the same stream.
type direct struct {
	threads   *threads
	done      atomic.Uint64
	mu        sync.Mutex // held while work runs
	submitted device.Ticket
	waits     []waiter // to be passed before the next piece of work
}

// Run does the call.
func (s *direct) Run(p device.Program, c *device.Call) device.Ticket {
	s.mu.Lock()
	t := s.begin()
	perform(s.threads, hosted(p), c)
	s.done.Store(t)
	s.mu.Unlock()
	return t
}

// Copy does the copy.
func (s *direct) Copy(c *device.Call) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.begin()
	perform(s.threads, nil, c)
	s.done.Store(t)
	return t
}

// Record marks now.
func (s *direct) Record(e device.Event) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := point{s, s.begin()}
	mark := marking(e)
	mark.move(at)
	mark.pass(at)
	s.done.Store(at.ticket)
	return at.ticket
}

// begin numbers a piece of work, once what it has to wait for has passed; the lock is held.
func (s *direct) begin() device.Ticket {
	for _, w := range s.waits {
		w.sync()
	}
	s.waits = s.waits[:0]
	s.submitted++
	return s.submitted
}

// Wait holds back the next piece of work; the goroutine that submits it will block.
func (s *direct) Wait(e device.Event) {
	if w := waitFor(s, e); w != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waits = append(s.waits, w)
	}
}

// Done is the highest ticket up to which all work has ended.
func (s *direct) Done() device.Ticket { return s.done.Load() }

// Sync blocks until ticket t has ended: while it runs, its submitter holds the lock.
func (s *direct) Sync(t device.Ticket) {
	for s.done.Load() < t {
		s.settle()
	}
}

// settle waits for work that is running.
func (s *direct) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

// Close has nothing to wait for but another caller's work.
func (s *direct) Close() error {
	s.settle()
	return nil
}
