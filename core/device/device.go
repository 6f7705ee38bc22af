// Package device is the seam between what is true everywhere and what a device does.
//
// A [Device] makes heaps, streams and events and compiles graphs to programs. There is no method
// per operator: an operator that a device lacks is a Compile that answers status.Unsupported.
// The runtime above the seam decides shapes, dtypes, views, memory and order; a device only runs
// resolved calls. Nothing here computes, and nothing here knows of Python, C or handles.
//
// All interfaces may be used from any goroutine unless a method says otherwise. A [Stream] runs
// its own work in the order of the calls made on it; callers that race on one queue get some order,
// never a mixture.
package device

import (
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Device is one processor with its memory.
type Device interface {
	// Info describes the device; it never changes and costs nothing.
	Info() *Info
	// NewHeap takes size bytes (> 0) from the system, aligned to at least 4096 bytes; nobody may count
	// on what is in them. A refusal is status.OutOfMemory; the runtime decides what to give back before
	// it asks again.
	NewHeap(size int64) (Heap, error)
	// NewStream makes an independent queue of work.
	NewStream() (Stream, error)
	// NewEvent makes an event that has not been recorded and therefore counts as done.
	NewEvent() (Event, error)
	// Key says which calls of an operator may share one program. It must not allocate.
	Key(id op.ID, c *Call) Key
	// Compile makes the program for a graph; status.Unsupported where the device lacks something.
	Compile(g *graph.Graph) (Program, error)
	// Close gives everything back. No other method may be running or follow.
	Close() error
}

// Heap is a range of device memory from which the allocator cuts blocks.
type Heap interface {
	// Bytes is the memory as the CPU sees it (unified memory), valid until Close.
	// Reading or writing it does not wait for streams: the caller orders itself.
	Bytes() []byte
	// Close returns the memory. No block of the heap may be in use by a stream.
	Close() error
}

// Ticket numbers the work of one stream: 1, 2, 3, ... in the order in which it was submitted. 0 is
// work that was over when the method that submitted it returned.
type Ticket = uint64

// Stream is a queue of work that runs in the order of submission. Where Info.Async is false nothing
// is queued: each call runs on the goroutine of its caller, and Wait blocks.
type Stream interface {
	// Run submits one run of p. The stream owns c from here on and calls c.Done exactly once,
	// from any goroutine, perhaps before Run returns. A call that cannot run ends the same way.
	Run(p Program, c *Call) Ticket
	// Copy submits a copy of the bytes of c.In[0] to c.Out[0]: both contiguous and equally long.
	// Either side may be CPU-visible memory of another device. Ownership of c as in Run.
	Copy(c *Call) Ticket
	// Record makes e complete when all work submitted so far has finished.
	Record(e Event) Ticket
	// Wait holds back work submitted from now on until e, as recorded now, is complete.
	// It does not block the caller.
	Wait(e Event)
	// Done is the highest ticket such that it and all before it have finished. One atomic load.
	Done() Ticket
	// Sync blocks until ticket t has finished.
	Sync(t Ticket)
	// Close waits for all submitted work, then ends the stream. Done and Sync still answer.
	Close() error
}

// Bounded is a Stream that makes its callers wait when too much is on its way.
type Bounded interface {
	// Full reports whether one of the next few calls may have to wait. There is room again when the
	// eldest work has ended: the ticket after Done. One atomic load.
	Full() bool
}

// Event marks a point in the work of a stream. Recording again moves it.
type Event interface {
	// Done reports whether the recorded point has been passed; true when never recorded.
	Done() bool
	// Sync blocks until Done.
	Sync()
	// Time is when the recorded point was passed, in nanoseconds of a clock common to all events
	// of the device and taken by the worker or the GPU; ok is false while it has not been.
	Time() (ns int64, ok bool)
	// Close releases the event; work that waits for it is not disturbed.
	Close() error
}

// Program is a compiled graph: immutable, and free to run on many streams at once.
type Program interface {
	// Workspace is the number of scratch bytes that a run of c needs in c.Workspace; 0 for none.
	Workspace(c *Call) int64
	// Close releases the program. No run of it is in flight, but Close may be called by the Owner.Done
	// of the last one.
	Close() error
}

// Sized is a Program that knows how much memory it holds, on whatever side.
type Sized interface{ Bytes() int64 }

// Key is the identity of a program within one device. Two calls with equal keys run the same program.
type Key struct {
	Op     op.ID
	DTypes uint64 // four bits an operand
	Class  uint64 // whatever else the device distinguishes: layout class, attribute bits
	Dims   string // full shape where the device compiles per shape; empty elsewhere
}

// Info describes a device.
type Info struct {
	Name         string // "Apple M3 Max", "Emulated MPS (CPU: ...)"
	Backend      string // "metal", "host" or "fake"
	System       string // "macOS 15.2", where it decides what the device can do; empty elsewhere
	TotalMemory  int64  // bytes of memory that the device can address
	Recommended  int64  // bytes that one process should stay below
	Major, Minor int    // GPU family, or 0.0 for host
	Processors   int    // GPU cores, or threads
	UUID         [16]byte
	Unified      bool // the memory is the machine's: what heaps take here, the CPU's cannot have
	Async        bool // calls may be incomplete when Run returns; failures attach to outputs
	Float64      bool // has float64
	BFloat16     bool // has bfloat16
}
