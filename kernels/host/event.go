package host

import (
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
)

// timeline is what a point needs of its stream.
type timeline interface {
	Done() device.Ticket
	Sync(t device.Ticket)
}

// point is a place in the work of a stream; the zero point lies before all work.
type point struct {
	stream timeline
	ticket device.Ticket
}

// passed reports whether the stream has come to the point. It does not block.
func (p point) passed() bool { return p.stream == nil || p.stream.Done() >= p.ticket }

// sync blocks until the stream has come to the point.
func (p point) sync() {
	if p.stream != nil {
		p.stream.Sync(p.ticket)
	}
}

// event is a movable mark at a point. A waiter keeps a copy of the point, so recording the event again does
// not disturb it.
type event struct {
	mu    sync.Mutex
	at    point
	time  int64
	timed bool
}

// point is where the event was recorded last.
func (e *event) point() point {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// move marks a point that has not been passed.
func (e *event) move(to point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.timed = to, false
}

// pass stamps the time, unless the event has been moved on.
func (e *event) pass(at point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at == at {
		e.time, e.timed = int64(time.Since(engine.Epoch)), true
	}
}

// Done reports whether the recorded point has been passed.
func (e *event) Done() bool { return e.point().passed() }

// Sync blocks until Done.
func (e *event) Sync() { e.point().sync() }

// Time is when the stream passed the point, on a clock that starts with the process.
func (e *event) Time() (ns int64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.time, e.timed
}

// Close does nothing: an event holds no memory of its own.
func (e *event) Close() error { return nil }
