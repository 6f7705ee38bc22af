package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What one stream may have in flight. Whoever submits to a stream that is full waits until half of it
// has ended, so that nobody wakes up for every single call; callers who must not wait are refused a
// while before (see Busy). Bytes need no bound of their own: a stream reuses what it has freed at once.
const (
	full    = 1024
	crowded = full / 4 * 3
)

// Stream is a queue of work of one device.
type Stream struct {
	ctx     *Context
	dev     device.Stream
	bounded device.Bounded // dev, where it is bounded itself; else nil
	id      uint64
	last    atomic.Uint64                // the highest ticket handed out
	failed  atomic.Pointer[status.Error] // the first failure not yet reported
	told    atomic.Pointer[status.Error] // the last one reported
	room    atomic.Uint64                // the Wait of those who were refused last
	closing atomic.Bool
}

// NewStream makes another stream of the device.
func (c *Context) NewStream() (*Stream, error) {
	dev, err := c.dev.NewStream()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Stream{ctx: c, dev: dev, id: c.made}
	s.bounded, _ = dev.(device.Bounded)
	c.made++
	c.keep(append(slices.Clone(c.open()), s))
	return s, nil
}

// open are the streams that have not been closed; the slice never changes.
func (c *Context) open() []*Stream {
	if all := c.streams.Load(); all != nil {
		return *all
	}
	return nil
}

// keep makes all the open streams; Context.mu is held.
func (c *Context) keep(all []*Stream) { c.streams.Store(&all) }

// Context is the device that the stream belongs to.
func (s *Stream) Context() *Context { return s.ctx }

// ID numbers the streams of a device: 0 is the default one, and none is used twice.
func (s *Stream) ID() uint64 { return s.id }

// submitted notes a ticket that the device handed out.
func (s *Stream) submitted(t device.Ticket) {
	for {
		old := s.last.Load()
		if t <= old || s.last.CompareAndSwap(old, t) {
			return
		}
	}
}

// inFlight is how many pieces of work have not finished. Work may be done before last says that it was
// submitted.
func (s *Stream) inFlight() uint64 {
	last, done := s.last.Load(), s.dev.Done()
	return last - min(last, done)
}

// admit waits while the stream is full. The caller holds no lock.
func (s *Stream) admit() {
	if s.inFlight() >= full {
		s.dev.Sync(s.last.Load() - full/2)
	}
}

// busy is the wait for room of a caller who must not wait, 0 where there is room.
func (s *Stream) busy() Wait {
	if s.ctx.inOrder {
		return 0
	}
	until := s.last.Load() - crowded/2
	if s.inFlight() < crowded {
		if s.bounded == nil || !s.bounded.Full() {
			return 0
		}
		until = min(s.dev.Done()+1, s.last.Load()) // everything may have ended by now
	}
	ws := &s.ctx.rt.waits
	if w := Wait(s.room.Load()); ws.find(w) != nil {
		return w
	}
	w := ws.begin([]alloc.Use{{Stream: s.dev, Ticket: until}})
	s.room.Store(uint64(w))
	return w
}

// Query reports whether all work submitted so far has finished.
func (s *Stream) Query() bool { return s.inFlight() == 0 }

// Idle reports whether Synchronize would return nil at once.
func (s *Stream) Idle() bool { return s.inFlight() == 0 && s.failed.Load() == nil }

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
		s.told.Store(e)
		return e
	}
	return nil
}

// fail remembers a failure for the next Synchronize, unless one is waiting already. One that was
// reported is not repeated for the work that comes upon it later.
func (s *Stream) fail(e *status.Error) {
	if s.told.Load() != e {
		s.failed.CompareAndSwap(nil, e)
	}
}

// WaitEvent makes work submitted from now on wait for e; the caller does not wait.
func (s *Stream) WaitEvent(e *Event) {
	if e.ctx == s.ctx {
		s.dev.Wait(e.dev)
		return
	}
	e.Synchronize() // events do not cross devices
}

// Close ends the stream when its work has finished. A failure that nobody has heard of is left to
// the default stream, which stays.
func (s *Stream) Close() error {
	c := s.ctx
	if s == c.main || s.closing.Swap(true) {
		return nil
	}
	s.dev.Sync(s.last.Load())
	if e := s.failed.Swap(nil); e != nil {
		c.main.fail(e)
	}
	c.mu.Lock()
	if all := c.open(); slices.Contains(all, s) {
		c.keep(slices.DeleteFunc(slices.Clone(all), func(other *Stream) bool { return other == s }))
	}
	c.mu.Unlock()
	err := s.dev.Close()
	c.memory.Forget(s.dev)
	c.rt.cpu.memory.Forget(s.dev) // of copies between the two
	return err
}

// Event marks a point in a stream's work.
type Event struct {
	ctx   *Context
	dev   device.Event
	timed bool
	at    atomic.Pointer[alloc.Use] // nil until recorded
}

// NewEvent makes an event of the device; Elapsed wants timed ones.
func (c *Context) NewEvent(timed bool) (*Event, error) {
	dev, err := c.dev.NewEvent()
	if err != nil {
		return nil, err
	}
	return &Event{ctx: c, dev: dev, timed: timed}, nil
}

// Record moves the event to the end of what has been submitted to s.
func (e *Event) Record(s *Stream) error {
	if s.ctx != e.ctx {
		return status.Errorf(status.Invalid, "[event] an event of %s cannot be recorded on a stream of %s", e.ctx.place, s.ctx.place)
	}
	s.admit()
	t := s.dev.Record(e.dev)
	s.submitted(t)
	e.at.Store(&alloc.Use{Stream: s.dev, Ticket: t})
	return nil
}

// Query reports whether the recorded point has been passed.
func (e *Event) Query() bool { return e.dev.Done() }

// Synchronize waits for the recorded point.
func (e *Event) Synchronize() { e.dev.Sync() }

// Elapsed is the time from e to end in milliseconds, as the device passed them.
func (e *Event) Elapsed(end *Event) (float64, error) {
	if e.ctx != end.ctx {
		return 0, status.Errorf(status.Invalid, "[elapsed_time] events of %s and %s have no common clock", e.ctx.place, end.ctx.place)
	}
	if !e.timed || !end.timed {
		return 0, status.Errorf(status.Invalid, "[elapsed_time] got an event that was made without enable_timing; want two made with it")
	}
	from, ok := e.dev.Time()
	to, ok2 := end.dev.Time()
	if e.at.Load() == nil || end.at.Load() == nil || !ok || !ok2 {
		return 0, status.Errorf(status.Invalid, "[elapsed_time] got events that have not been recorded or passed; want two that have (synchronize first)")
	}
	return float64(to-from) / 1e6, nil
}

// Close releases the event.
func (e *Event) Close() error { return e.dev.Close() }
