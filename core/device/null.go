package device

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Null is a device that accepts every plan and computes nothing, for tests of the runtime. It counts its calls,
// and fails on demand. The zero value is ready to use.
//
// Its heaps are Go memory, zeroed like any, but aligned only as Go aligns it.
type Null struct {
	Describe Info // returned by Info

	// The number of the heap, the compilation, and the run or copy that fails, from 1; 0 for none.
	FailHeap, FailCompile, FailRun int64

	Heaps, Streams, Events, Programs atomic.Int64 // made so far
	OpenHeaps                        atomic.Int64
	Runs, Copies                     atomic.Int64
}

var _ Device = (*Null)(nil)

// Info is Describe.
func (d *Null) Info() *Info { return &d.Describe }

// NewHeap makes memory, or fails with status.OutOfMemory.
func (d *Null) NewHeap(size int64) (Heap, error) {
	if d.Heaps.Add(1) == d.FailHeap {
		return nil, status.Errorf(status.OutOfMemory, "[heap] the null device refuses %d bytes", size)
	}
	d.OpenHeaps.Add(1)
	return &nullHeap{make([]byte, size), d}, nil
}

// NewStream makes a stream whose work is complete on submission.
func (d *Null) NewStream() (Stream, error) {
	d.Streams.Add(1)
	return &nullStream{device: d}, nil
}

// NewEvent makes an event that is always done.
func (d *Null) NewEvent() (Event, error) {
	d.Events.Add(1)
	return nullEvent{}, nil
}

// Key distinguishes calls by operator and dtypes, like a device whose kernels take every layout.
func (d *Null) Key(id op.ID, c *Call) Key {
	k := Key{Op: id}
	k.SetDTypes(c.Out, c.In)
	return k
}

// Compile accepts every plan, or fails with status.Unsupported.
func (d *Null) Compile(*Plan) (Program, error) {
	if d.Programs.Add(1) == d.FailCompile {
		return nil, status.Errorf(status.Unsupported, "[compile] the null device refuses this program")
	}
	return nullProgram{}, nil
}

// Close does nothing.
func (d *Null) Close() error { return nil }

type nullHeap struct {
	mem    []byte
	device *Null
}

func (h *nullHeap) Bytes() []byte { return h.mem }

func (h *nullHeap) Close() error {
	h.mem = nil
	h.device.OpenHeaps.Add(-1)
	return nil
}

type nullStream struct {
	device *Null
	mu     sync.Mutex
	last   atomic.Uint64
}

func (s *nullStream) Run(_ Program, c *Call) Ticket { return s.end(c, &s.device.Runs) }

func (s *nullStream) Copy(c *Call) Ticket { return s.end(c, &s.device.Copies) }

// end notifies the owner that the call is complete. FailRun counts runs and copies together.
func (s *nullStream) end(c *Call, count *atomic.Int64) Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	count.Add(1)
	err := c.Owner.Ready()
	if err == nil && s.device.Runs.Load()+s.device.Copies.Load() == s.device.FailRun {
		err = status.Errorf(status.Device, "[run] the null device fails this call")
	}
	c.Owner.Done(err)
	return s.last.Add(1)
}

func (s *nullStream) Record(Event) Ticket { return s.last.Add(1) }
func (s *nullStream) Wait(Event)          {}
func (s *nullStream) Done() Ticket        { return s.last.Load() }
func (s *nullStream) Sync(Ticket)         {}
func (s *nullStream) Close() error        { return nil }

type nullEvent struct{}

func (nullEvent) Done() bool                { return true }
func (nullEvent) Sync()                     {}
func (nullEvent) Time() (ns int64, ok bool) { return 0, true }
func (nullEvent) Close() error              { return nil }

type nullProgram struct{}

func (nullProgram) Workspace(*Call) int64 { return 0 }
func (nullProgram) Close() error          { return nil }
