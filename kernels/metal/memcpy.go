package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// copyInline is the longest copy that an idle stream makes on its caller: a few microseconds.
const copyInline = 64 << 10

// Copy copies bytes: on the caller while nothing else is to be done, with the GPU between heaps of this
// device, and otherwise with the CPU when the stream comes to it.
func (s *stream) Copy(c *device.Call) device.Ticket {
	from, to := &c.In[0], &c.Out[0]
	n := bytesOf(from)
	if t, done := s.copyHere(c, n); done {
		return t
	}
	source, ok := locate(from)
	target, ok2 := locate(to)
	if !ok || !ok2 || source.first != 0 || target.first != 0 || n%bindable != 0 || n != bytesOf(to) {
		return s.submitHost(c, func() error { return copyBytes(c) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.admit()
	b.calls = append(b.calls, pending{call: c, word: -1})
	b.calls[len(b.calls)-1].err = b.blit(source, target, uint64(n))
	b.bytes += 2 * n
	return s.number(b)
}

// copyHere makes a short copy on the caller if the stream is idle and waits for nothing.
func (s *stream) copyHere(c *device.Call, n int64) (t device.Ticket, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > copyInline || s.done.Load() != s.submitted {
		return 0, false
	}
	s.forgetPassed()
	if len(s.behind) > 0 {
		return 0, false
	}
	err := c.Owner.Ready()
	if err == nil {
		err = copyBytes(c)
	}
	c.Owner.Done(err)
	s.submitted++
	s.sealed = s.submitted
	s.done.Store(s.submitted)
	return s.submitted, true
}

// submitHost adds work for the CPU, of a call or of nobody, between the command buffers before it and
// those after it, which the GPU holds back until it is done.
func (s *stream) submitHost(c *device.Call, work func() error) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open != nil || len(s.flight) >= mostInFlight {
		s.push()
	}
	b := s.blank()
	b.host = work
	b.awaits = append(b.awaits, s.behind...)
	if c == nil {
		c = &device.Call{Owner: nobody{}}
	}
	b.calls = append(b.calls, pending{call: c, word: -1})
	s.submitted++
	b.last, s.sealed = s.submitted, s.submitted
	s.launch(b)
	s.stayBehind(point{s, b.last})
	return b.last
}

// nobody owns work that the stream does for itself.
type nobody struct{}

func (nobody) Ready() error { return nil }
func (nobody) Done(error)   {}

// copyBytes copies between contiguous operands.
// SAFETY: both ranges belong to the call until its owner hears of the end; see device.Stream.Copy.
func copyBytes(c *device.Call) error {
	from, to := &c.In[0], &c.Out[0]
	n := bytesOf(from)
	if n != bytesOf(to) {
		return status.Errorf(status.Internal, "got %d bytes for %d; want as many", n, bytesOf(to))
	}
	if n > 0 {
		copy(unsafe.Slice((*byte)(to.Addr), n), unsafe.Slice((*byte)(from.Addr), n))
	}
	return nil
}
