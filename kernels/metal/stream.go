package metal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// mostInFlight is how many command buffers a stream has committed and not yet heard the end of. Whoever
// submits beyond that waits for one to end.
const mostInFlight = 10

// stream is a queue of command buffers. Calls are encoded by whoever submits them, into the open batch;
// batches end in the order in which they were committed, and a goroutine tells their owners.
//
// The stream's clock says on the GPU what done says on the CPU: each command buffer ends by signalling its
// last ticket, and work of other streams waits for that.
//
// An owner's Done must not submit to the same stream.
type stream struct {
	device *Device
	queue  mtl.CommandQueue
	clock  clock
	done   atomic.Uint64 // highest ticket that has ended
	packed atomic.Bool   // as many batches are in flight as may be
	latest int64         // when the last batch that was asked ended; the goroutine's own

	mu        sync.Mutex
	moved     sync.Cond     // callers wait here for tickets to end and for room
	ready     sync.Cond     // the goroutine waits here for batches
	submitted device.Ticket // handed out
	sealed    device.Ticket // committed: the rest is in the open batch
	open      *batch        // nil: nothing
	flight    []*batch      // committed, in order
	spare     []*batch      // ended, to be filled again
	behind    []point       // that work submitted from now on waits for
	unsaid    int           // how many of them the open command buffer has not been told of
	doubt     device.Ticket // up to here the GPU may have failed to signal
	closing   bool
	timer     *time.Timer
	armed     bool          // the timer will call hurry
	opened    time.Time     // when the open batch began
	record    objc.Dispatch // that is being put together
	ended     chan struct{} // closed when the goroutine has ended
}

// NewStream makes a queue with a goroutine of its own.
func (d *Device) NewStream() (device.Stream, error) {
	defer objc.Pool().Close()
	queue, clock := d.gpu.NewCommandQueue(), d.takeClock()
	if queue == 0 || clock.event == 0 {
		objc.Release(queue)
		d.putClock(clock)
		return nil, status.Errorf(status.Device, "[stream] the GPU gave no command queue")
	}
	s := &stream{device: d, queue: queue, clock: clock, ended: make(chan struct{})}
	s.moved.L, s.ready.L = &s.mu, &s.mu
	s.timer = time.AfterFunc(time.Hour, s.hurry)
	s.timer.Stop()
	go s.complete()
	return s, nil
}

// Run encodes a run of p.
func (s *stream) Run(p device.Program, c *device.Call) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, ok := p.(*program)
	if !ok {
		own = &program{alien{}}
	}
	b := s.admit()
	b.calls = append(b.calls, pending{call: c, word: -1})
	err := own.encode(b, c)
	at := &b.calls[len(b.calls)-1]
	at.err = err
	at.finisher, _ = own.kernel.(finisher)
	for i := range c.In {
		b.bytes += bytesOf(&c.In[i])
	}
	for i := range c.Out {
		b.bytes += bytesOf(&c.Out[i])
	}
	return s.number(b)
}

// admit is the open batch with room for a call. It waits while the batch is full and too many others are
// on their way; the lock is held, but not while waiting.
func (s *stream) admit() *batch {
	for s.open != nil && s.open.full() {
		s.push()
	}
	if s.open == nil {
		s.open = s.blank()
		if s.device.linger > 0 {
			s.lingers()
		}
	}
	return s.open
}

// push commits the open batch, or waits for a change where there is no room; the lock is held, but not
// while waiting.
func (s *stream) push() {
	if len(s.flight) >= mostInFlight {
		s.moved.Wait()
		return
	}
	s.commit()
}

// blank is a batch to fill; the lock is held.
func (s *stream) blank() *batch {
	s.forgetPassed()
	s.unsaid = len(s.behind)
	n := len(s.spare)
	if n == 0 {
		return &batch{stream: s}
	}
	b := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return b
}

// number gives out the ticket of what has just been added to the open batch, and commits the batch if it
// is full and there is room; the lock is held.
func (s *stream) number(b *batch) device.Ticket {
	s.submitted++
	b.last = s.submitted
	if b.full() && len(s.flight) < mostInFlight {
		s.commit()
	}
	return b.last
}

// commit hands the open batch to the GPU and to the goroutine; the lock is held.
func (s *stream) commit() {
	defer objc.Pool().Close()
	b := s.open
	s.open = nil
	b.seal()
	s.sealed = b.last
	s.launch(b)
}

// launch hands a batch to the goroutine; the lock is held.
func (s *stream) launch(b *batch) {
	s.flight = append(s.flight, b)
	s.packed.Store(len(s.flight) >= mostInFlight)
	s.ready.Signal()
}

// Full reports whether the open batch is the last that callers can fill without waiting.
func (s *stream) Full() bool { return s.packed.Load() }

// lingers has the batch that has just been opened committed after a while. Setting a timer costs more than a
// call, so it is not set anew for each batch: it finds out when it rings. The lock is held.
func (s *stream) lingers() {
	s.opened = time.Now()
	if !s.armed {
		s.armed = true
		s.timer.Reset(s.device.linger)
	}
}

// hurry commits a batch that has been open for long; the timer calls it.
func (s *stream) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
	if s.open == nil || s.closing {
		return
	}
	if rest := s.device.linger - time.Since(s.opened); rest > 0 {
		s.armed = true
		s.timer.Reset(rest)
		return
	}
	s.open.due = true
	s.keepUp()
}

// keepUp commits the open batch if it is full or due and there is room; the lock is held.
func (s *stream) keepUp() {
	if s.open != nil && (s.open.full() || s.open.due) && len(s.flight) < mostInFlight {
		s.commit()
	}
}

// Record moves e to the end of what has been submitted, and commits that as soon as there is room: the
// event's time is when its command buffer ends. The caller does not wait for room, since it may be another
// stream's; only where later waits would come before an earlier event, which could then wait for itself.
func (s *stream) Record(e device.Event) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open != nil && s.open.shut && (s.unsaid > 0 || s.open.buffer == 0) {
		s.push()
	}
	if s.open == nil {
		s.open = s.blank()
	}
	b := s.open
	_ = b.begin() // without a command buffer the point is passed when all before it is
	s.submitted++
	b.last = s.submitted
	if own, ok := e.(*event); ok {
		at := point{s, b.last}
		own.move(at)
		b.events = append(b.events, mark{own, at})
	}
	t := b.last
	b.shut = true
	s.keepUp()
	return t
}

// Wait holds back what is submitted from now on. The GPU waits for events of this device; for others the
// stream's goroutine does.
func (s *stream) Wait(e device.Event) {
	own, ok := e.(*event)
	if !ok {
		if !e.Done() {
			s.submitHost(nil, func() error { e.Sync(); return nil })
		}
		return
	}
	p := own.point()
	if p.stream == s || p.passed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stayBehind(p)
}

// stayBehind adds to what later work waits for; the lock is held.
func (s *stream) stayBehind(p point) {
	s.behind = append(s.behind, p)
	s.unsaid++
}

// forgetPassed drops the points that nothing has to wait for any more, and all but the last of each
// stream; the lock is held and no command buffer is being filled.
func (s *stream) forgetPassed() {
	kept := s.behind[:0]
next:
	for _, p := range s.behind {
		if p.passed() {
			continue
		}
		for i := range kept {
			if kept[i].stream == p.stream {
				kept[i].ticket = max(kept[i].ticket, p.ticket)
				continue next
			}
		}
		kept = append(kept, p)
	}
	clear(s.behind[len(kept):])
	s.behind = kept
}

// Done is the highest ticket up to which all work has ended.
func (s *stream) Done() device.Ticket { return s.done.Load() }

// Sync blocks until ticket t has ended, and commits what it waits for.
func (s *stream) Sync(t device.Ticket) {
	if s.done.Load() >= t {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.done.Load() < t {
		if s.open != nil && t > s.sealed && t <= s.open.last {
			s.push()
			continue
		}
		s.moved.Wait()
	}
}

// Close waits for all work and ends the goroutine.
func (s *stream) Close() error {
	s.mu.Lock()
	last := s.submitted
	s.mu.Unlock()
	s.Sync(last)
	s.mu.Lock()
	s.closing = true
	s.timer.Stop()
	s.ready.Signal()
	s.mu.Unlock()
	<-s.ended
	s.release()
	return nil
}

// release gives back what the stream has of Metal; nothing is in flight.
func (s *stream) release() {
	defer objc.Pool().Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.spare {
		objc.Release(b.words)
		for _, n := range b.scalars {
			objc.Release(n)
		}
	}
	s.spare = nil
	objc.Release(s.queue)
	s.clock.base += s.submitted
	s.device.putClock(s.clock)
}

func bytesOf(o *device.Operand) int64 { return o.Numel() * o.DType.Size() }
