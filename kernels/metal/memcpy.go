package metal

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
)

// copyInline is the longest copy that an idle stream makes on its caller: a few microseconds.
const copyInline = 64 << 10

// Copy copies bytes: on the caller while nothing else is to be done, with the GPU between heaps of this
// device, and otherwise with the CPU when the stream comes to it. Ranges that overlap are the CPU's, because
// Metal refuses them.
func (s *stream) Copy(c *device.Call) device.Ticket {
	from, to := &c.In[0], &c.Out[0]
	n := bytesOf(from)
	if t, done := s.copyHere(c, n); done {
		return t
	}
	source, ok := gpu.Locate(from)
	target, ok2 := gpu.Locate(to)
	if !ok || !ok2 || overlap(from, to, n) || source.First != 0 || target.First != 0 || n%gpu.Bindable != 0 || n != bytesOf(to) {
		return s.submitHost(c, func() error { return copyBytes(c) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(pending{call: c})
}

// copy encodes a copy that the GPU can make.
func (b *batch) copy(c *device.Call) error {
	from, _ := gpu.Locate(&c.In[0])
	to, _ := gpu.Locate(&c.Out[0])
	n := bytesOf(&c.In[0])
	b.bytes += 2 * n
	return b.Blit(from, to, uint64(n))
}

// overlap reports whether two contiguous operands of n bytes share memory.
// SAFETY: the addresses are compared as numbers.
func overlap(x, y *device.Operand, n int64) bool {
	a, b := uintptr(x.Addr), uintptr(y.Addr)
	return a < b+uintptr(n) && b < a+uintptr(n)
}

// copyHere makes a short copy on the caller if the stream is idle and waits for nothing.
func (s *stream) copyHere(c *device.Call, n int64) (t device.Ticket, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > copyInline || s.done.Load() != s.submitted {
		return 0, false
	}
	s.dropPassedWaits()
	if len(s.waits) > 0 {
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

// submitHost adds work for the CPU, of a call or of the stream itself (c is nil), behind the command buffers before it.
// Those after it are deferred until it is done.
func (s *stream) submitHost(c *device.Call, work func() error) device.Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open != nil || len(s.flight) >= mostInFlight {
		s.push()
	}
	b := s.blank()
	b.host = work
	if c == nil {
		c = &device.Call{Owner: noOwner{}}
	}
	b.calls = append(b.calls, pending{call: c})
	s.submitted++
	b.last, s.sealed = s.submitted, s.submitted
	s.launch(b)
	return b.last
}

// noOwner owns work that the stream does for itself.
type noOwner struct{}

// Ready is always so.
func (noOwner) Ready() error { return nil }

// Done has no one to notify.
func (noOwner) Done(error) {}

// copyBytes copies between contiguous operands.
// SAFETY: both ranges belong to the call until its owner is notified; see device.Stream.Copy.
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
