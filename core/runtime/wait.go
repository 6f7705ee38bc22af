package runtime

import (
	goruntime "runtime"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
)

// Wait identifies a wait that its caller does in slices, because it has to check for something else, such as
// signals, at times. 0 is a wait that has not started or is over. A wait covers the work submitted before its
// first slice and nothing later, so that it ends however much other callers submit.
//
// A wait that its caller abandons ends with the work; it needs no cleanup. A number of no running wait is taken
// as a wait that is over.
type Wait uint64

// waits are the running waits, each with a goroutine that blocks in the device.
type waits struct {
	mu      sync.Mutex
	last    Wait
	running map[Wait]chan struct{}
}

// slice continues w, or starts to wait for uses if w is 0, for at most d. It returns 0 when the wait is over,
// else its number.
func (ws *waits) slice(w Wait, d time.Duration, uses []alloc.Use) Wait {
	if w == 0 {
		w = ws.begin(uses)
	}
	over := ws.find(w)
	if over == nil {
		return 0
	}
	defer waited("wait")()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-over:
		return 0
	case <-timer.C:
		return w
	}
}

// begin starts a wait for uses; it returns 0 when there are none.
func (ws *waits) begin(uses []alloc.Use) Wait {
	if len(uses) == 0 {
		return 0
	}
	return ws.start(func() { syncAll(uses) })
}

// start starts a wait that is over when block returns, on a goroutine of its own.
func (ws *waits) start(block func()) Wait {
	over := make(chan struct{})
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.running == nil {
		ws.running = map[Wait]chan struct{}{}
	}
	ws.last++
	w := ws.last
	ws.running[w] = over
	go func() {
		block()
		ws.mu.Lock()
		delete(ws.running, w)
		ws.mu.Unlock()
		close(over)
	}()
	return w
}

// find returns the channel that is closed when a wait is over; nil for a number of no running wait.
func (ws *waits) find(w Wait) chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.running[w]
}

// syncAll blocks until all uses have passed.
func syncAll(uses []alloc.Use) {
	for _, u := range uses {
		u.Stream.Sync(u.Ticket)
	}
}

// WaitFor continues a wait for at most d; it returns 0 when it is over.
func (rt *Runtime) WaitFor(w Wait, d time.Duration) Wait { return rt.waits.slice(w, d, nil) }

// WaitFor is Synchronize in slices.
func (c *Context) WaitFor(w Wait, d time.Duration) (Wait, error) {
	var uses []alloc.Use
	if w == 0 {
		for _, s := range c.OpenStreams() {
			uses = append(uses, s.unfinished()...)
		}
	}
	if w = c.Runtime.waits.slice(w, d, uses); w != 0 {
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
	if w = s.ctx.Runtime.waits.slice(w, d, uses); w != 0 {
		return w, nil
	}
	return 0, s.report()
}

// unfinished is a use that covers all work submitted to the stream so far; none where it has completed.
func (s *Stream) unfinished() []alloc.Use {
	if u := (alloc.Use{Stream: s.Device, Ticket: s.last.Load()}); !u.Passed() {
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
	return e.ctx.Runtime.waits.slice(w, d, uses)
}

// WaitFor waits in slices for the work that computes the tensor and, with writes, for the work that reads it. When
// the wait is over, it returns why the tensor was not computed.
func (t *Tensor) WaitFor(w Wait, d time.Duration, writes bool) (Wait, error) {
	var uses []alloc.Use
	if w == 0 {
		uses = t.Store.hazards(writes)
	}
	if w = t.Store.Context.Runtime.waits.slice(w, d, uses); w != 0 {
		return w, nil
	}
	return 0, t.Store.failure()
}

// Busy is the wait with which a call on the tensor would start, 0 for a call that would not block: until its
// stream accepts calls, or until copies from or to the tensor have completed. It is for callers that hold a lock.
func (t *Tensor) Busy(on *Stream) Wait {
	switch st := t.Store; {
	case !st.Context.inOrder:
		return st.Context.StreamFor(on).busy()
	case st.ForeignWork.Load():
		return st.Context.Runtime.waits.begin(st.hazards(true))
	}
	return 0
}

// ReadWait is the wait with which Read would start, 0 if it would not block.
func (t *Tensor) ReadWait() Wait { return t.Store.Context.Runtime.waits.begin(t.Store.hazards(false)) }

// Busy is the wait with which a call on the device would start, 0 for a call that would not block.
func (c *Context) Busy(on *Stream) Wait { return c.StreamFor(on).busy() }

// More goroutines than CPUs would share them, and each run would hold its memory for longer. On a device with queues a
// goroutine mostly waits; with two of them one run is submitted while another is computed.
//
// Goroutines come and go with the runs, so that a process which starts none has none of them. A run that was cancelled in its turn
// stays in the list, without what it was given, until it is met there: no search is needed.

// started are the asynchronous runs of a device.
type started struct {
	mu      sync.Mutex
	making  int      // goroutines that make runs
	waiting []func() // in the order of enlist; some may have nothing to do any more
}

// Enlist has a run made, which do does: by another goroutine, or in its turn where there are enough of them.
func (c *Context) Enlist(do func()) {
	s := &c.started
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.making >= min(goruntime.NumCPU(), goruntime.GOMAXPROCS(0)) { // Go may have more processors than there are CPUs
		s.waiting = append(s.waiting, do)
		return
	}
	s.making++
	c.Runtime.releases.Go(func() {
		for ; do != nil; do = s.next() {
			do()
		}
	})
}

// next is the run that has waited longest. Where none waits it is nil, and the goroutine ends.
func (s *started) next() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting = nil
		s.making--
		return nil
	}
	do := s.waiting[0]
	s.waiting[0], s.waiting = nil, s.waiting[1:]
	return do
}
