package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The bounds of one stream's calls in flight. A caller that submits to a full stream waits until half of the
// calls have completed, so that it is not woken up for each of them; callers that must not wait are refused
// earlier (see Busy). There is no bound on bytes: a stream reuses at once what was freed on it.
const (
	maxInFlight = 1024
	nearlyFull  = maxInFlight / 4 * 3
)

// Stream is a queue of work of one device.
type Stream struct {
	ctx        *Context
	Device     device.Stream
	bounded    device.Bounded // dev, where it is bounded itself; else nil
	id         uint64
	last       atomic.Uint64                // the highest ticket handed out
	unreported atomic.Pointer[status.Error] // the first failure that has not been returned by Synchronize
	reported   atomic.Pointer[status.Error] // the last failure that was returned
	roomWait   atomic.Uint64                // the Wait that Busy returned last
	closing    atomic.Bool
	Tracer     Tracer // calls on the stream are traced and not run
}

// Tracer takes the calls of a stream that are traced. Operands are of the trace, or have memory.
type Tracer interface {
	// Context is the device that the program will run on.
	Context() *Context
	// Mark is what Storage.MadeIn is of tensors that the function makes of elements.
	Mark() uint64
	// IsNumber reports whether the function has made t of elements that no call of the graph changes.
	IsNumber(t *Tensor) bool
	// Folds reports whether a call for c runs while the function is traced, and FoldsInto whether one that writes does.
	Folds(row *op.Row, in []Operand, c *Context) bool
	FoldsInto(row *op.Row, in []Operand, c *Context, out *Tensor) bool
	// Call adds a call; RecordDetached notes which of its operands get no gradients.
	Call(row *op.Row, in []Operand, at op.Attrs, c *Context) ([]*Tensor, error)
	RecordDetached(in []Operand, recording bool)
	// Write adds a call that writes into out. AskOrigin is asked before, and Done records the change.
	Write(row *op.Row, in []Operand, at op.Attrs, c *Context, out *Tensor) error
	AskOrigin(c *Change, out *Tensor) error
	Done(c *Change, out *Tensor)
	// Copy adds a copy of a tensor, recorded in the mode.
	Copy(t *Tensor, mode Mode) (*Tensor, error)
}

// NewStream makes another stream of the device. The caller closes it; those that are open at Runtime.Close are
// closed then.
func (c *Context) NewStream() (*Stream, error) {
	dev, err := c.Device.NewStream()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Stream{ctx: c, Device: dev, id: c.made}
	s.bounded, _ = dev.(device.Bounded)
	s.nameTrack()
	c.made++
	c.setOpen(append(slices.Clone(c.OpenStreams()), s))
	return s, nil
}

// NewTracedStream makes a stream whose calls a trace takes. dev gets no work.
func (c *Context) NewTracedStream(dev device.Stream, tr Tracer) *Stream {
	return &Stream{ctx: c, Device: dev, Tracer: tr}
}

// OpenStreams are the streams that have not been closed. The slice is never changed: setOpen replaces it.
func (c *Context) OpenStreams() []*Stream {
	if all := c.streams.Load(); all != nil {
		return *all
	}
	return nil
}

// setOpen replaces the list of open streams; Context.mu is held.
func (c *Context) setOpen(all []*Stream) { c.streams.Store(&all) }

// Context is the device that the stream belongs to.
func (s *Stream) Context() *Context { return s.ctx }

// ID numbers the streams of a device: 0 is the default one, and none is used twice.
func (s *Stream) ID() uint64 { return s.id }

// submitted records a ticket that the device returned. Tickets may arrive in any order.
func (s *Stream) submitted(t device.Ticket) {
	for {
		old := s.last.Load()
		if t <= old || s.last.CompareAndSwap(old, t) {
			return
		}
	}
}

// inFlight is the number of tickets that have not passed. A ticket may pass before it is recorded in last, hence
// the min.
func (s *Stream) inFlight() uint64 {
	last, done := s.last.Load(), s.Device.Done()
	return last - min(last, done)
}

// admit blocks while the stream is full. The caller holds no lock.
func (s *Stream) admit() {
	if s.inFlight() >= maxInFlight {
		defer waited("wait for room")()
		s.Device.Sync(s.last.Load() - maxInFlight/2)
	}
}

// busy is the wait, for callers that must not block, until the stream accepts calls again; 0 where it does now.
// All callers share one wait, because each costs a goroutine.
func (s *Stream) busy() Wait {
	if s.ctx.inOrder {
		return 0
	}
	until := s.last.Load() - nearlyFull/2
	if s.inFlight() < nearlyFull {
		if s.bounded == nil || !s.bounded.Full() {
			return 0
		}
		until = min(s.Device.Done()+1, s.last.Load()) // all work may have completed by now
	}
	ws := &s.ctx.Runtime.waits
	if w := Wait(s.roomWait.Load()); ws.find(w) != nil {
		return w
	}
	w := ws.begin([]alloc.Use{{Stream: s.Device, Ticket: until}})
	s.roomWait.Store(uint64(w))
	return w
}

// Query reports whether all work submitted so far has finished.
func (s *Stream) Query() bool { return s.inFlight() == 0 }

// Idle reports whether Synchronize would return nil at once.
func (s *Stream) Idle() bool { return s.inFlight() == 0 && s.unreported.Load() == nil }

// Synchronize waits for all work submitted so far and returns the first failure not yet reported.
func (s *Stream) Synchronize() error {
	s.finish()
	return s.report()
}

// report returns the failure that has not been reported yet, and marks it as reported.
func (s *Stream) report() error {
	if s.unreported.Load() == nil {
		return nil
	}
	if e := s.unreported.Swap(nil); e != nil {
		s.reported.Store(e)
		return e
	}
	return nil
}

// fail stores a failure for the next Synchronize, unless an earlier one is stored. A failure that was reported
// is not stored again when later work fails because of it.
func (s *Stream) fail(e *status.Error) {
	if s.reported.Load() != e {
		s.unreported.CompareAndSwap(nil, e)
	}
}

// WaitEvent makes work submitted from now on wait for e; the caller does not wait. An event of another device is
// waited for by the caller, because a device cannot wait for it. An event that was not recorded is complete.
func (s *Stream) WaitEvent(e *Event) {
	if e.ctx == s.ctx {
		s.Device.Wait(e.dev)
		return
	}
	e.Synchronize() // events do not cross devices
}

// Close waits for the work of the stream and closes it. A failure that was not reported is passed to the default
// stream, which stays open: closing that one does nothing. A second Close does nothing either.
func (s *Stream) Close() error {
	c := s.ctx
	if s == c.main || s.closing.Swap(true) {
		return nil
	}
	s.Device.Sync(s.last.Load())
	if e := s.unreported.Swap(nil); e != nil {
		c.main.fail(e)
	}
	c.mu.Lock()
	if all := c.OpenStreams(); slices.Contains(all, s) {
		c.setOpen(slices.DeleteFunc(slices.Clone(all), func(other *Stream) bool { return other == s }))
	}
	c.mu.Unlock()
	err := s.Device.Close()
	c.memory.Forget(s.Device)
	c.Runtime.CPU.memory.Forget(s.Device) // copies between the CPU and the device use memory of both
	return err
}

// Event marks a point in a stream's work. It may be recorded again, which moves it.
type Event struct {
	ctx   *Context
	dev   device.Event
	timed bool
	at    atomic.Pointer[alloc.Use] // nil until recorded
}

// NewEvent makes an event of the device; Elapsed needs timed ones.
func (c *Context) NewEvent(timed bool) (*Event, error) {
	dev, err := c.Device.NewEvent()
	if err != nil {
		return nil, err
	}
	return &Event{ctx: c, dev: dev, timed: timed}, nil
}

// Record moves the event to the end of the work submitted to s so far. status.Invalid where s is a stream of
// another device.
func (e *Event) Record(s *Stream) error {
	if s.ctx != e.ctx {
		return status.Errorf(status.Invalid, "[event] an event of %s cannot be recorded on a stream of %s", e.ctx.place, s.ctx.place)
	}
	s.admit()
	t := s.Device.Record(e.dev)
	s.submitted(t)
	e.at.Store(&alloc.Use{Stream: s.Device, Ticket: t})
	return nil
}

// Query reports whether the recorded point has been reached.
func (e *Event) Query() bool { return e.dev.Done() }

// Synchronize waits for the recorded point.
func (e *Event) Synchronize() {
	if !e.dev.Done() {
		defer waited("wait for an event")()
		e.dev.Sync()
	}
}

// Elapsed is the time from e to end in milliseconds, measured where the work runs: by the GPU or the worker.
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
		return 0, status.Errorf(status.Invalid, "[elapsed_time] got an event that has not been recorded or not been reached; want two that have (synchronize first)")
	}
	return float64(to-from) / 1e6, nil
}

// Close releases the event. Work that waits for it is not affected.
func (e *Event) Close() error { return e.dev.Close() }

// Traces reports whether calls on the stream are traced; false for nil.
func (s *Stream) Traces() bool { return s != nil && s.Tracer != nil }
