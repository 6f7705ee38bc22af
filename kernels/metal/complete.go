package metal

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// complete is the stream's goroutine: batches in order, each when it has ended.
func (s *stream) complete() {
	defer close(s.ended.all)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b := s.next(); b != nil; b = s.next() {
		s.advance(b)
		s.finish(b)
	}
}

// advance commits the oldest batch, if it was deferred, once the work of other streams that it waits for is with the
// GPU, and all batches behind it that wait for nothing more.
func (s *stream) advance(b *batch) {
	if b.committed || b.host != nil {
		return
	}
	for _, p := range b.awaits {
		p.await()
	}
	defer objc.Pool().Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renew()
	s.give(b)
	for _, next := range s.flight[1:] {
		if next.committed || next.host != nil || !allPassed(next.awaits) {
			break
		}
		s.give(next)
	}
	s.moved.Broadcast() // for those that await
}

// give encodes a deferred batch and commits it; the lock is held.
func (s *stream) give(b *batch) {
	b.release()
	b.seal()
}

// next is the oldest batch in flight, which stays there; nil when the stream is closed.
func (s *stream) next() *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.flight) == 0 {
		if s.closing {
			return nil
		}
		s.ready.Wait()
	}
	return s.flight[0]
}

// finish waits for a batch, notifies the owners of its calls, and then publishes that it has ended. Owners are
// notified before the ticket counts as done, so that a caller who has waited for the ticket finds the results of
// its calls recorded.
func (s *stream) finish(b *batch) {
	defer objc.Pool().Close()
	failure := b.wait()
	if failure != nil {
		b.suspect()
	}
	for _, p := range b.awaits {
		if p.stream != s {
			p.sync() // its owners have been notified by now, so that Ready knows what failed
		}
	}
	if profile.On() {
		b.measure()
	}
	for i := range b.calls {
		b.end(&b.calls[i], failure)
	}
	for _, m := range b.events {
		m.event.pass(m.at, s.time(b))
	}
	s.retire(b, failure != nil)
}

// wait blocks until the GPU has ended the batch and returns why it failed.
func (b *batch) wait() (first *status.Error) {
	for i := range len(b.before) + 1 {
		c := b.buffer
		if i < len(b.before) {
			c = b.before[i]
		}
		if c == 0 {
			continue
		}
		c.WaitUntilCompleted()
		if c.Status() == mtl.CommandBufferStatusCompleted {
			continue
		}
		if i < len(b.before) {
			b.passMarks(i)
		}
		if first == nil {
			first = b.stream.explain(c.Error())
		}
	}
	return first
}

// suspect notes which custom kernels are in a batch that has failed. It comes before the owners are notified, because
// calls are gone afterwards.
func (b *batch) suspect() {
	for i := range b.calls {
		if g := b.calls[i].call.Grid; g != nil && !slices.Contains(b.suspects, g.Kernel) {
			b.suspects = append(b.suspects, g.Kernel)
		}
	}
}

// blame is the failure of a command buffer as it is reported for one call: with the custom kernels that were in it
// too, because all calls of the buffer fail, and the cause is mostly one of those.
func (b *batch) blame(p *pending, failure *status.Error) *status.Error {
	others := slices.DeleteFunc(slices.Clone(b.suspects), func(name string) bool { return name == p.name() })
	if len(others) == 0 {
		return failure
	}
	return status.Errorf(failure.Code, "%s; in it ran %s of the program's own", failure.Msg, strings.Join(others, ", "))
}

// explain is the error of a command buffer. After one that is no lack of memory the queue takes no more work: the
// stream needs another (renew), and what is in flight fails too.
func (s *stream) explain(e objc.Error) *status.Error {
	const what = "the GPU stopped the command buffer"
	if e != 0 && e.Code() == mtl.CommandBufferErrorOutOfMemory {
		return e.Status(status.OutOfMemory, what)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	failure := e.Status(status.Device, what)
	if e != 0 && e.Code() == mtl.CommandBufferErrorAccessRevoked {
		failure = s.ignored(failure)
	}
	if s.fault == nil {
		s.fault = failure
		s.device.noteFault(failure)
		if s.open != nil && !s.open.deferred && len(s.open.before) == 0 {
			s.open.unencode() // its command buffer is the dead queue's
		}
	}
	return failure
}

// ignored explains why the GPU has not run a command buffer; the lock is held.
func (s *stream) ignored(failure *status.Error) *status.Error {
	if s.fault != nil {
		return status.Errorf(status.Device, "%s; it came behind one that failed: %s", failure.Msg, s.fault.Msg)
	}
	first := "in another part of the process"
	if f := s.device.fault.Load(); f != nil {
		first = f.Msg
	}
	return status.Errorf(status.Device, "%s; macOS takes no more work of this process for now: start a new process if that stays so. The first failure was %s", failure.Msg, first)
}

// end notifies the owner of a call. A call whose inputs failed fails with their error.
func (b *batch) end(p *pending, failure *status.Error) {
	owner := p.call.Owner
	err := owner.Ready()
	if err == nil {
		err = b.outcome(p, failure)
	}
	owner.Done(err)
}

// outcome is how a call ended by itself: it could not be encoded, the GPU failed, or its kernel reports an error.
// Work of the CPU is done here.
func (b *batch) outcome(p *pending, failure *status.Error) error {
	switch {
	case p.err != nil:
		return p.err
	case failure != nil:
		return named(p.name(), b.blame(p, failure))
	case b.host != nil:
		if err := b.hosted(p); err != nil {
			return named(p.name(), err)
		}
		return nil
	}
	return b.finish(p)
}

// named puts the name of an operator in front of an error.
func named(name string, err error) error {
	e := status.From(err)
	return &status.Error{Code: e.Code, Msg: fmt.Sprintf("[%s] %s", name, e.Msg)}
}

// time is when a batch ended, in nanoseconds of the system's clock. A command buffer without work may know
// only when the CPU was done with it; a batch without one ended when those before it did.
func (s *stream) time(b *batch) int64 {
	seconds := b.buffer.GPUEndTime()
	if seconds == 0 {
		seconds = b.buffer.KernelEndTime()
	}
	s.latest = max(s.latest, int64(seconds*1e9))
	return s.latest
}

// retire publishes that a batch has ended and makes it a spare one. The caller holds a pool.
func (s *stream) retire(b *batch, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signalFromCPU(b, failed)
	s.done.Store(b.last)
	b.reset()
	copy(s.flight, s.flight[1:])
	s.flight[len(s.flight)-1] = nil
	s.flight = s.flight[:len(s.flight)-1]
	s.packed.Store(len(s.flight) >= mostInFlight)
	s.spare = append(s.spare, b)
	s.keepUp()
	s.moved.Broadcast()
}

// signalFromCPU signals in place of the GPU where that may have failed to: for work of the CPU, for what never
// reached the GPU, and after a failure for all that was committed by then. The lock is held.
func (s *stream) signalFromCPU(b *batch, failed bool) {
	if failed || b.buffer == 0 {
		s.unsure = s.sealed
	}
	if value := s.clock.at(b.last); b.last <= s.unsure && s.clock.event.SignaledValue() < value {
		s.clock.event.SetSignaledValue(value)
	}
}
