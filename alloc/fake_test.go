package alloc

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// fakeSource hands out Go memory, counts it and can be made to fail.
type fakeSource struct {
	mu      sync.Mutex
	limit   int64 // bytes; 0 for none
	failAt  int   // the call that fails; 0 for none
	failFor error // what it fails with; nil for out of memory
	calls   int
	open    int
	bytes   int64
	blind   bool   // heaps have no Bytes
	skew    int    // added to the address of every heap
	short   int64  // missing from every heap
	onClose func() // called by Close of every heap
	closing error  // answered by Close of every heap
}

type fakeHeap struct {
	source *fakeSource
	size   int64
	memory []byte
}

func (s *fakeSource) NewHeap(size int64) (device.Heap, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.calls == s.failAt && s.failFor != nil {
		return nil, s.failFor
	}
	if s.calls == s.failAt || s.limit > 0 && s.bytes+size > s.limit {
		return nil, status.Errorf(status.OutOfMemory, "[fake] no")
	}
	s.open++
	s.bytes += size
	h := &fakeHeap{source: s, size: size}
	if !s.blind {
		h.memory = aligned(size-s.short, s.skew)
	}
	return h, nil
}

// aligned makes memory at an address that is skew above a multiple of 4096.
func aligned(size int64, skew int) []byte {
	m := make([]byte, size+8192)
	// SAFETY: the address is only looked at.
	at := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	from := int64(-at&4095) + int64(skew)
	return m[from : from+size : from+size]
}

func (h *fakeHeap) Bytes() []byte { return h.memory }

func (h *fakeHeap) Close() error {
	h.source.mu.Lock()
	h.source.open--
	h.source.bytes -= h.size
	h.source.mu.Unlock()
	if h.source.onClose != nil {
		h.source.onClose()
	}
	return h.source.closing
}

// fakeStream does no work; tests say how far it has come. Sync makes it come as far as asked.
type fakeStream struct {
	device.Stream
	submitted atomic.Uint64
	done      atomic.Uint64
	syncs     atomic.Int64
	onSync    func()
}

func (s *fakeStream) submit() device.Ticket { return s.submitted.Add(1) }

func (s *fakeStream) finish(t device.Ticket) {
	for {
		old := s.done.Load()
		if old >= t || s.done.CompareAndSwap(old, t) {
			return
		}
	}
}

func (s *fakeStream) Done() device.Ticket { return s.done.Load() }

func (s *fakeStream) Sync(t device.Ticket) {
	s.syncs.Add(1)
	if s.onSync != nil {
		s.onSync()
	}
	s.finish(t)
}

// fakeClock is moved by hand.
type fakeClock struct{ ns atomic.Int64 }

func (c *fakeClock) now() int64 { return c.ns.Load() }
