package metal

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// point is a place in the work of a stream; the zero point lies before all work.
type point struct {
	stream *stream
	ticket uint64
}

// passed reports whether all work up to the point has ended.
func (p point) passed() bool { return p.stream == nil || p.stream.Done() >= p.ticket }

// sync blocks until then.
func (p point) sync() {
	if p.stream != nil {
		p.stream.Sync(p.ticket)
	}
}

// await blocks until the point has passed, or until its batch is the oldest of its stream and the GPU has been given it:
// what waits for it then waits for one batch at most. The caller holds no lock.
func (p point) await() {
	if p.passed() {
		return
	}
	defer objc.Pool().Close()
	buffer := p.stream.oldest(p.ticket)
	if buffer != 0 {
		buffer.WaitUntilScheduled()
		objc.Release(buffer)
	}
}

// oldest waits until the batch of a ticket is the oldest in flight and committed, and answers its command buffer,
// retained; nil when the ticket has ended.
func (s *stream) oldest(t device.Ticket) mtl.CommandBuffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.done.Load() < t {
		if s.open != nil && t > s.sealed && t <= s.open.last {
			s.push()
			continue
		}
		if len(s.flight) > 0 && s.flight[0].last >= t && s.flight[0].committed && s.flight[0].buffer != 0 {
			return objc.Retain(s.flight[0].buffer)
		}
		s.moved.Wait()
	}
	return 0
}

// allPassed reports whether all points have been passed.
func allPassed(points []point) bool {
	for _, p := range points {
		if !p.passed() {
			return false
		}
	}
	return true
}

// clock is an event of Metal on which a stream signals its tickets. Streams take turns with one: the next
// begins where the last has ended, so that a ticket of the last one counts as passed.
type clock struct {
	event mtl.SharedEvent
	base  uint64
}

// at is the value that stands for a ticket.
func (c clock) at(ticket uint64) uint64 { return c.base + ticket }

// takeClock is a clock for a new stream; its event is nil when there is none to be had. The caller holds a
// pool.
func (d *Device) takeClock() clock {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.clocks)
	if n == 0 {
		return clock{event: d.Metal.NewSharedEvent()}
	}
	c := d.clocks[n-1]
	d.clocks = d.clocks[:n-1]
	return c
}

// putClock keeps the clock of a stream that is closed. It is not released before the device is, because
// work of other streams may still wait for it.
func (d *Device) putClock(c clock) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.event != 0 {
		d.clocks = append(d.clocks, c)
	}
}

// releaseClocks ends all clocks; there are no streams any more.
func (d *Device) releaseClocks() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.clocks {
		objc.Release(c.event)
	}
	d.clocks = nil
}

// event is a movable mark at a point, which is committed as soon as there is room and what it waits for has been.
// A waiter keeps the point that it waits for, so recording again does not disturb it.
type event struct {
	mu    sync.Mutex
	at    point
	time  int64
	timed bool
}

// point is where the event has been recorded last.
func (e *event) point() point {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// move marks a point that has not been passed. Its time is unknown until then.
func (e *event) move(to point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.timed = to, false
}

// pass stamps the time, unless the event has been moved on.
func (e *event) pass(at point, ns int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at == at {
		e.time, e.timed = ns, true
	}
}

// Done reports whether the recorded point has been passed.
func (e *event) Done() bool { return e.point().passed() }

// Sync blocks until Done.
func (e *event) Sync() { e.point().sync() }

// Time is when the GPU ended the command buffer of the point, on the clock of the system.
func (e *event) Time() (ns int64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.time, e.timed
}

// Close does nothing: the GPU's side of an event belongs to the stream.
func (e *event) Close() error { return nil }
