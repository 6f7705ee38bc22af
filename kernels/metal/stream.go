package metal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// mostInFlight is how many batches a stream has committed that have not ended. A caller that submits beyond that
// waits for one to end.
const mostInFlight = 10

// stream is a queue of command buffers. Calls are encoded on the goroutine that submits them, into the
// open batch; batches end in the order in which they were committed, and the stream's goroutine notifies the owners
// of their calls.
//
// The stream's clock is on the GPU what done is on the CPU: each command buffer ends by signalling its
// last ticket, and work of other streams waits for that.
//
// A batch that cannot be committed yet is deferred: its calls are only noted, and the stream's goroutine encodes and
// commits it when its turn comes. That is so while it waits for another stream, behind work of the CPU, and behind a
// failure, after which the stream needs another queue. So the GPU never waits for the CPU, nor for what it has not got.
//
// Everything is encoded under the stream's lock, which is therefore never held while anything is compiled or waited
// for, except by condition variables, and where MPSGraph divides a graph (batch.Execute). An owner's Done must not submit to the same stream.
type stream struct {
	device *Device
	track  *profile.Track
	queue  mtl.CommandQueue
	fence  mtl.Fence // see order
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
	waits     []point       // that work submitted from now on waits for
	fresh     bool          // there are new ones since the open batch was opened
	tail      tail          // how the last command buffer ends
	marks     mtl.SharedEvent
	mark      uint64        // the last value of it
	fault     *status.Error // that has ended the queue
	unsure    device.Ticket // up to here the GPU may have failed to signal
	closing   bool
	timer     *time.Timer
	armed     bool          // the timer will call hurry
	opened    time.Time     // when the open batch began
	record    objc.Dispatch // that is being put together
	bound     device.Call   // the step of a program that is being encoded

	// buffers are those that no batch has.
	buffers struct {
		words   []wordBlock
		numbers []mtl.Buffer
	}

	// ended belongs to the goroutine.
	ended struct {
		call device.Call   // the step of a program that is being finished
		all  chan struct{} // closed when the goroutine has ended
	}
}

// NewStream makes a queue with a goroutine of its own.
func (d *Device) NewStream() (device.Stream, error) {
	defer objc.Pool().Close()
	queue, fence, clock := d.Metal.NewCommandQueue(), d.Metal.NewFence(), d.takeClock()
	if queue == 0 || fence == 0 || clock.event == 0 {
		objc.Release(queue)
		objc.Release(fence)
		d.putClock(clock)
		return nil, status.Errorf(status.Device, "[stream] the GPU gave no command queue")
	}
	s := &stream{device: d, track: profile.NewTrack("Metal stream %d"), queue: queue, fence: fence, clock: clock}
	s.ended.all = make(chan struct{})
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
		own = &program{kernel: foreign{}}
	}
	return s.add(pending{call: c, program: own, plan: own.plan != nil})
}

// add submits a call; the lock is held.
func (s *stream) add(p pending) device.Ticket {
	b := s.admit()
	b.calls = append(b.calls, p)
	if !b.deferred {
		b.record(&b.calls[len(b.calls)-1])
	}
	return s.number(b)
}

// admit is the open batch with room for a call. It waits while the batch is full and too many others are
// on their way; the lock is held, but not while waiting.
func (s *stream) admit() *batch {
	for s.open != nil && (s.open.full() || s.fresh && !allPassed(s.waits)) {
		s.push() // a new wait is for what is submitted now, and must not hold up what came before it
	}
	if s.open == nil {
		s.open = s.blank()
		if s.device.linger > 0 {
			s.lingers()
		}
	}
	s.catchUp(s.open)
	return s.open
}

// catchUp encodes what has been deferred of the open batch when nothing stands in its way any more; the lock is held.
func (s *stream) catchUp(b *batch) {
	if b.deferred && !s.held() && allPassed(b.awaits) {
		b.release()
	}
}

// held reports whether what is submitted now has to be deferred, because of a batch before it or of a failure. It
// renews the queue as soon as that is possible. The lock is held.
func (s *stream) held() bool {
	if n := len(s.flight); n > 0 {
		return s.fault != nil || !s.flight[n-1].committed
	}
	s.renew()
	return false
}

// renew takes a new queue after a failure: the old one runs nothing any more. Nothing is in flight that has been
// committed. Without a new queue the old one remains, and work fails. The lock is held.
func (s *stream) renew() {
	if s.fault == nil {
		return
	}
	defer objc.Pool().Close()
	queue, fence := s.device.Metal.NewCommandQueue(), s.device.Metal.NewFence()
	if queue == 0 || fence == 0 {
		objc.Release(queue)
		objc.Release(fence)
		return
	}
	objc.Release(s.queue)
	objc.Release(s.fence)
	s.queue, s.fence, s.fault, s.tail = queue, fence, nil, tail{}
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
	s.dropPassedWaits()
	s.fresh = false
	var b *batch
	if n := len(s.spare); n > 0 {
		b = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		b = &batch{stream: s, asked: -1}
	}
	b.awaits = append(b.awaits, s.waits...)
	b.deferred = s.held() || len(b.awaits) > 0
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
	s.catchUp(b)
	if !b.deferred {
		b.seal()
	}
	s.sealed = b.last
	s.launch(b)
}

// launch hands a batch to the goroutine; the lock is held.
func (s *stream) launch(b *batch) {
	s.flight = append(s.flight, b)
	if len(s.flight) == 1 {
		s.moved.Broadcast() // for those that await
	}
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
	s.open.lingered = true
	s.keepUp()
}

// keepUp commits the open batch if it is full or has lingered and there is room; the lock is held.
func (s *stream) keepUp() {
	if s.open != nil && (s.open.full() || s.open.lingered) && len(s.flight) < mostInFlight {
		s.commit()
	}
}

// Record moves e to the end of what has been submitted, and commits that as soon as there is room: the
// event's time is when its command buffer ends. The caller does not wait for room, since it may be another
// stream's; only where later waits would come before an earlier event, which could then wait for itself.
func (s *stream) Record(e device.Event) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open != nil && s.fresh && !allPassed(s.waits) {
		s.push()
	}
	if s.open == nil {
		s.open = s.blank()
	}
	b := s.open
	if !b.deferred {
		_ = b.begin() // without a command buffer the point is passed when all before it is
	}
	s.submitted++
	b.last = s.submitted
	if own, ok := e.(*event); ok {
		at := point{s, b.last}
		own.move(at)
		b.events = append(b.events, mark{own, at})
	}
	t := b.last
	b.recorded = true
	s.keepUp()
	return t
}

// Wait holds back what is submitted from now on: the CPU until the event's work is with the GPU, and the GPU from
// there. For events of other devices the stream's goroutine waits.
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
	s.addWait(p)
}

// addWait adds to what later work waits for; the lock is held.
func (s *stream) addWait(p point) {
	s.waits = append(s.waits, p)
	s.fresh = true
}

// dropPassedWaits drops the points that nothing has to wait for any more, and all but the last of each
// stream; the lock is held.
func (s *stream) dropPassedWaits() {
	kept := s.waits[:0]
next:
	for _, p := range s.waits {
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
	clear(s.waits[len(kept):])
	s.waits = kept
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
	<-s.ended.all
	s.release()
	return nil
}

// release gives back what the stream has of Metal; nothing is in flight.
func (s *stream) release() {
	defer objc.Pool().Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.buffers.words {
		objc.Release(w.buffer)
	}
	for _, n := range s.buffers.numbers {
		objc.Release(n)
	}
	s.spare, s.buffers.words, s.buffers.numbers = nil, nil, nil
	objc.Release(s.queue)
	objc.Release(s.fence)
	objc.Release(s.marks)
	s.clock.base += s.submitted
	s.device.putClock(s.clock)
}

// bytesOf is the bytes of an operand's elements, each counted as often as it is used: it is how long work may take
// that matters, not how much memory there is.
func bytesOf(o *device.Operand) int64 { return o.Numel() * o.DType.Size() }
