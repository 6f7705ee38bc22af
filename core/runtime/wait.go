package runtime

import (
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
)

// Wait names a wait that its caller does in slices, because it has to look at something else, such as
// signals, now and then. 0 is a wait that has not begun or is over. What had been submitted when the
// first slice began is waited for and nothing later, so a wait ends however much others submit.
//
// A wait that its caller gives up ends by itself with the work. A number that names no wait counts as
// one that is over.
type Wait uint64

// waits are the waits under way, each with a goroutine that blocks in the device.
type waits struct {
	mu    sync.Mutex
	last  Wait
	under map[Wait]chan struct{}
}

// slice goes on with w, or begins to wait for uses if w is 0, for at most d.
func (ws *waits) slice(w Wait, d time.Duration, uses []alloc.Use) Wait {
	if w == 0 {
		w = ws.begin(uses)
	}
	over := ws.find(w)
	if over == nil {
		return 0
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-over:
		return 0
	case <-timer.C:
		return w
	}
}

// begin starts to wait for uses; 0 when there are none.
func (ws *waits) begin(uses []alloc.Use) Wait {
	if len(uses) == 0 {
		return 0
	}
	over := make(chan struct{})
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.under == nil {
		ws.under = map[Wait]chan struct{}{}
	}
	ws.last++
	w := ws.last
	ws.under[w] = over
	go func() {
		syncAll(uses)
		ws.mu.Lock()
		delete(ws.under, w)
		ws.mu.Unlock()
		close(over)
	}()
	return w
}

// find is closed when a wait is over; nil for one that is, or never was.
func (ws *waits) find(w Wait) chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.under[w]
}

func syncAll(uses []alloc.Use) {
	for _, u := range uses {
		u.Stream.Sync(u.Ticket)
	}
}

// passed reports whether the work of a use has finished.
func passed(u alloc.Use) bool { return u.Stream == nil || u.Stream.Done() >= u.Ticket }

// WaitFor goes on with a wait, or begins one if w is 0, for at most d.
func (rt *Runtime) WaitFor(w Wait, d time.Duration) Wait { return rt.waits.slice(w, d, nil) }

// WaitFor is Synchronize in slices.
func (c *Context) WaitFor(w Wait, d time.Duration) (Wait, error) {
	var uses []alloc.Use
	if w == 0 {
		for _, s := range c.open() {
			uses = append(uses, s.unfinished()...)
		}
	}
	if w = c.rt.waits.slice(w, d, uses); w != 0 {
		return w, nil
	}
	return 0, c.report()
}

// WaitFor is Synchronize in slices.
func (s *Stream) WaitFor(w Wait, d time.Duration) (Wait, error) {
	var uses []alloc.Use
	if w == 0 {
		uses = s.unfinished()
	}
	if w = s.ctx.rt.waits.slice(w, d, uses); w != 0 {
		return w, nil
	}
	return 0, s.report()
}

// unfinished is all work of the stream so far, unless it has finished.
func (s *Stream) unfinished() []alloc.Use {
	if u := (alloc.Use{Stream: s.dev, Ticket: s.last.Load()}); !passed(u) {
		return []alloc.Use{u}
	}
	return nil
}

// WaitFor is Synchronize in slices.
func (e *Event) WaitFor(w Wait, d time.Duration) Wait {
	var uses []alloc.Use
	if at := e.at.Load(); w == 0 && at != nil && !e.dev.Done() {
		uses = []alloc.Use{*at}
	}
	return e.ctx.rt.waits.slice(w, d, uses)
}

// WaitFor waits in slices for the work that computes the tensor, and before writing to it also for
// the work that reads it. It returns why the tensor was never computed.
func (t *Tensor) WaitFor(w Wait, d time.Duration, writes bool) (Wait, error) {
	var uses []alloc.Use
	if w == 0 {
		uses = t.store.unsettled(writes)
	}
	if w = t.store.ctx.rt.waits.slice(w, d, uses); w != 0 {
		return w, nil
	}
	return 0, t.store.failure()
}

// Busy is the wait that a call on the tensor would begin with, 0 for a call that would not block: for
// room on its stream, or for a copy from or to it. It is for callers who hold a lock.
func (t *Tensor) Busy(on *Stream) Wait {
	switch st := t.store; {
	case !st.ctx.inOrder:
		return st.ctx.pick(on).busy()
	case st.late.Load():
		return st.ctx.rt.waits.begin(st.unsettled(true))
	}
	return 0
}

// Late is the wait that Read would begin with, 0 if it would not block.
func (t *Tensor) Late() Wait { return t.store.ctx.rt.waits.begin(t.store.unsettled(false)) }

// Busy is the wait that a call on the device would begin with, 0 for a call that would not block.
func (c *Context) Busy(on *Stream) Wait { return c.pick(on).busy() }
