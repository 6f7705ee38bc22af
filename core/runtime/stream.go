package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Stream is a queue of work of one device.
type Stream struct {
	ctx    *Context
	dev    device.Stream
	last   atomic.Uint64                // the highest ticket handed out
	failed atomic.Pointer[status.Error] // the first failure not yet reported

	mu     sync.Mutex
	waiter chan struct{} // closed when the Sync that WaitFor has started ends
}

// NewStream makes another stream of the device.
func (c *Context) NewStream() (*Stream, error) {
	dev, err := c.dev.NewStream()
	if err != nil {
		return nil, err
	}
	s := &Stream{ctx: c, dev: dev}
	c.mu.Lock()
	c.streams = append(c.streams, s)
	c.mu.Unlock()
	return s, nil
}

// Context is the device that the stream belongs to.
func (s *Stream) Context() *Context { return s.ctx }

// submitted notes a ticket that the device handed out.
func (s *Stream) submitted(t device.Ticket) {
	for {
		old := s.last.Load()
		if t <= old || s.last.CompareAndSwap(old, t) {
			return
		}
	}
}

// Query reports whether all work submitted so far has finished.
func (s *Stream) Query() bool { return s.dev.Done() >= s.last.Load() }

// Synchronize waits for all work submitted so far and returns the first failure not yet reported.
func (s *Stream) Synchronize() error {
	if t := s.last.Load(); s.dev.Done() < t {
		s.dev.Sync(t)
	}
	return s.report()
}

// report takes the failure that has not been reported yet.
func (s *Stream) report() error {
	if s.failed.Load() == nil {
		return nil
	}
	if e := s.failed.Swap(nil); e != nil {
		return e
	}
	return nil
}

// fail remembers a failure for the next Synchronize, unless one is waiting already.
func (s *Stream) fail(e *status.Error) { s.failed.CompareAndSwap(nil, e) }

// WaitFor is Synchronize for at most d; done says whether the stream has finished.
func (s *Stream) WaitFor(d time.Duration) (done bool, err error) {
	if s.Query() {
		return true, s.report()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.wait():
	case <-timer.C:
	}
	if !s.Query() {
		return false, nil
	}
	return true, s.report()
}

// wait is a channel that closes when a Sync in the background ends; all waiters share one.
func (s *Stream) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiter == nil {
		ch := make(chan struct{})
		s.waiter = ch
		go func() {
			s.dev.Sync(s.last.Load())
			s.mu.Lock()
			s.waiter = nil
			s.mu.Unlock()
			close(ch)
		}()
	}
	return s.waiter
}

// WaitEvent makes work submitted from now on wait for e; the caller does not wait.
func (s *Stream) WaitEvent(e *Event) {
	if e.ctx == s.ctx {
		s.dev.Wait(e.dev)
		return
	}
	e.Synchronize() // events do not cross devices
}

// Close ends the stream when its work has finished. The default stream stays.
func (s *Stream) Close() error {
	c := s.ctx
	if s == c.main {
		return nil
	}
	c.mu.Lock()
	i := slices.Index(c.streams, s)
	if i >= 0 {
		c.streams = slices.Delete(c.streams, i, i+1)
	}
	c.mu.Unlock()
	if i < 0 {
		return nil
	}
	err := s.dev.Close()
	c.memory.Forget(s.dev)
	return err
}

// Event marks a point in a stream's work.
type Event struct {
	ctx      *Context
	dev      device.Event
	recorded atomic.Bool
}

// NewEvent makes an event of the device.
func (c *Context) NewEvent() (*Event, error) {
	dev, err := c.dev.NewEvent()
	if err != nil {
		return nil, err
	}
	return &Event{ctx: c, dev: dev}, nil
}

// Record moves the event to the end of what has been submitted to s.
func (e *Event) Record(s *Stream) error {
	if s.ctx != e.ctx {
		return status.Errorf(status.Invalid, "[event] an event of %s cannot be recorded on a stream of %s", e.ctx.place, s.ctx.place)
	}
	s.submitted(s.dev.Record(e.dev))
	e.recorded.Store(true)
	return nil
}

// Query reports whether the recorded point has been passed.
func (e *Event) Query() bool { return e.dev.Done() }

// Synchronize waits for the recorded point.
func (e *Event) Synchronize() { e.dev.Sync() }

// Elapsed is the time from e to end in milliseconds, as the device passed them.
func (e *Event) Elapsed(end *Event) (float64, error) {
	if e.ctx != end.ctx {
		return 0, status.Errorf(status.Invalid, "[event] events of %s and %s have no common clock", e.ctx.place, end.ctx.place)
	}
	from, ok := e.dev.Time()
	to, ok2 := end.dev.Time()
	if !e.recorded.Load() || !end.recorded.Load() || !ok || !ok2 {
		return 0, status.Errorf(status.Invalid, "[event] elapsed time wants two events that have been recorded and are done; synchronize first")
	}
	return float64(to-from) / 1e6, nil
}

// Close releases the event.
func (e *Event) Close() error { return e.dev.Close() }
