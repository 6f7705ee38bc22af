package metal

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// point is a place in the work of a stream; the zero point lies before all work.
type point struct {
	stream *stream
	ticket uint64
}

func (p point) passed() bool { return p.stream == nil || p.stream.Done() >= p.ticket }

func (p point) sync() {
	if p.stream != nil {
		p.stream.Sync(p.ticket)
	}
}

// clock is an event of Metal on which a stream signals its tickets. Streams take turns with one: the next
// begins where the last has ended, so that whoever still names a ticket of the last finds it passed.
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
		return clock{event: d.gpu.NewSharedEvent()}
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

// event is a movable mark at a point, which is always in a command buffer that has been committed.
// Whoever waits takes the point along, so recording again disturbs nobody.
type event struct {
	mu    sync.Mutex
	at    point
	time  int64
	timed bool
}

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
