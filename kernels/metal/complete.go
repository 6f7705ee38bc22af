package metal

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// complete is the stream's goroutine: batches in order, each when it has ended.
func (s *stream) complete() {
	defer close(s.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b := s.next(); b != nil; b = s.next() {
		s.finish(b)
	}
}

// next is the eldest batch in flight, which stays there; nil when the stream is closed.
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

// finish waits for a batch, tells the owners of its calls how it ended, and then everyone else. An owner
// hears of the end before the ticket counts as done, so whoever has waited for the ticket finds the owner
// informed.
func (s *stream) finish(b *batch) {
	defer objc.Pool().Close()
	failure := b.wait()
	if failure != nil {
		b.suspect()
	}
	for _, p := range b.awaits {
		if p.stream != s {
			p.sync() // its owners know by now what failed, so that Ready can say so
		}
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
func (b *batch) wait() *status.Error {
	var first *status.Error
	for _, c := range append(b.before, b.buffer) {
		if c == 0 {
			continue
		}
		c.WaitUntilCompleted()
		if c.Status() != mtl.CommandBufferStatusCompleted && first == nil {
			first = explain(c.Error())
		}
	}
	return first
}

// suspect notes which kernels of the program's own are in a batch that has failed. Afterwards the calls are
// told, and gone.
func (b *batch) suspect() {
	for i := range b.calls {
		if g := b.calls[i].call.Grid; g != nil && !slices.Contains(b.suspects, g.Kernel) {
			b.suspects = append(b.suspects, g.Kernel)
		}
	}
}

// blame is the failure of a command buffer as a call hears of it: with the kernels of the program's own that
// were in it too, because all calls fail while mostly one of those has done wrong.
func (b *batch) blame(p *pending, failure *status.Error) *status.Error {
	others := slices.DeleteFunc(slices.Clone(b.suspects), func(name string) bool { return name == nameOf(p.call) })
	if len(others) == 0 {
		return failure
	}
	return status.Errorf(failure.Code, "%s; in it ran %s of the program's own", failure.Msg, strings.Join(others, ", "))
}

// explain is the error of a command buffer.
func explain(e objc.Error) *status.Error {
	code := status.Device
	if e != 0 && e.Code() == mtl.CommandBufferErrorOutOfMemory {
		code = status.OutOfMemory
	}
	return e.Status(code, "the GPU stopped the command buffer")
}

// end tells the owner of a call how it ended.
func (b *batch) end(p *pending, failure *status.Error) {
	owner := p.call.Owner
	err := owner.Ready()
	if err == nil {
		if err = b.outcome(p, failure); err != nil {
			err = named(p, err)
		}
	}
	owner.Done(err)
}

// outcome is how a call ended by itself: it could not be encoded, the GPU failed, or its kernel says so.
// Work of the CPU is done here.
func (b *batch) outcome(p *pending, failure *status.Error) error {
	switch {
	case p.err != nil:
		return p.err
	case failure != nil:
		return b.blame(p, failure)
	case b.host != nil:
		return b.host()
	case p.finisher == nil:
		return nil
	case p.word < 0:
		return p.finisher.finish(p.call, word{})
	}
	return p.finisher.finish(p.call, b.memo[p.word])
}

// named puts the operator in front of an error.
func named(p *pending, err error) *status.Error {
	e := status.From(err)
	return &status.Error{Code: e.Code, Msg: fmt.Sprintf("[%s] %s", nameOf(p.call), e.Msg)}
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
	s.letGo(b, failed)
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

// letGo signals in place of the GPU where that may have failed to: for work of the CPU, for what never
// reached the GPU, and after a failure for all that was committed by then. The lock is held.
func (s *stream) letGo(b *batch, failed bool) {
	if failed || b.buffer == 0 {
		s.doubt = s.sealed
	}
	if value := s.clock.at(b.last); b.last <= s.doubt && s.clock.event.SignaledValue() < value {
		s.clock.event.SetSignaledValue(value)
	}
}
