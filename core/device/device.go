// Package device is the interface between the device-independent core and the devices.
//
// A [Device] makes heaps, streams and events and compiles a [Plan] to a [Program]. There is no method
// per operator: for an operator that the device does not support, Compile returns status.Unsupported.
// The runtime above this interface decides shapes, dtypes, views, memory and order; a device only runs
// resolved calls. The package computes nothing and does not depend on Python, C or handles.
//
// All interfaces may be used from any goroutine unless a method says otherwise. A [Stream] runs
// its work in the order of the calls made on it; concurrent calls on one stream are serialized in some order.
package device

import (
	"github.com/paddle-mps/paddle-mps/core/op"
	_ "github.com/paddle-mps/paddle-mps/core/op/table" // devices and all above them look up rows
)

// Device is one processor with its memory.
type Device interface {
	// Info describes the device; it never changes and costs nothing.
	Info() *Info
	// NewHeap allocates size bytes (> 0), aligned to at least 4096 bytes. The contents are undefined. It
	// returns status.OutOfMemory on failure; the runtime then frees memory and tries again.
	NewHeap(size int64) (Heap, error)
	// NewStream makes an independent queue of work.
	NewStream() (Stream, error)
	// NewEvent makes an event that has not been recorded and therefore counts as done.
	NewEvent() (Event, error)
	// Key is equal for calls of an operator that can share one program, and different for all others. It
	// must not allocate when the same call has been seen before.
	Key(id op.ID, c *Call) Key
	// Compile makes the program for a plan. It returns status.Unsupported, in a [StepError] for a plan of
	// several steps, where the device lacks something; see [Refuser] for what it only turns out to lack. It may
	// take long and is called with no lock held.
	Compile(p *Plan) (Program, error)
	// Close releases everything. No other method may be running or be called later.
	Close() error
}

// Heap is a range of device memory from which the allocator cuts blocks.
type Heap interface {
	// Bytes is the memory as the CPU sees it (unified memory), valid until Close.
	// Reading or writing it does not wait for streams: the caller synchronizes.
	Bytes() []byte
	// Close returns the memory. No block of the heap may be in use by a stream.
	Close() error
}

// Ticket numbers the work of one stream: 1, 2, 3, ... in the order of submission. 0 is for work that was
// complete when the method that submitted it returned.
type Ticket = uint64

// Stream is a queue of work that runs in the order of submission. Where Info.Async is false nothing
// is queued: each call runs on the goroutine of its caller, and Wait blocks.
type Stream interface {
	// Run submits one run of p. The stream owns c from now on and calls c.Owner.Done exactly once, from any
	// goroutine, possibly before Run returns. A call that cannot run completes in the same way.
	Run(p Program, c *Call) Ticket
	// Copy submits a copy of the bytes of c.In[0] to c.Out[0]: both contiguous and equally long.
	// Either side may be CPU-visible memory of another device. Ownership of c as in Run.
	Copy(c *Call) Ticket
	// Record makes e complete when all work submitted so far has completed.
	Record(e Event) Ticket
	// Wait makes work submitted from now on wait until e, as recorded now, is complete. It does not block
	// the caller.
	Wait(e Event)
	// Done is the highest ticket such that it and all before it have completed. One atomic load.
	Done() Ticket
	// Sync blocks until ticket t has completed.
	Sync(t Ticket)
	// Close waits for all submitted work and closes the stream. Done and Sync still work afterwards.
	Close() error
}

// Bounded is implemented by streams whose methods block when too much work is in flight.
type Bounded interface {
	// Full reports whether one of the next few calls may block. It no longer does when the oldest work in
	// flight has completed: the ticket after Done. One atomic load.
	Full() bool
}

// Composer is a Device with kernels of its own for composites, the rows that say themselves in terms of others
// ([op.Row.Lower]). Such a kernel wins: what it takes is not lowered.
type Composer interface {
	// Composes reports whether the device compiles a step of a composite as it is. It does so wherever the
	// operands lie in memory, because once a step has been composed nothing lowers it any more. Operands have
	// the dtypes of the call and lie as the Frame of the row leaves them, which by default is as they were
	// given. It is asked for every call of a composite, and must not allocate.
	Composes(s *op.Step) bool
}

// Fuser is a Device that runs groups of elementwise steps block by block; see [Group].
type Fuser interface {
	// Fuses reports whether the device can run an elementwise step as part of a group, a step of a row that is a Tail as the
	// last of one, or a step of another kind as the first. The result of a run must have the same bits as that of the step alone.
	Fuses(s *op.Step) bool
}

// Event marks a point in the work of a stream. Recording again moves it.
type Event interface {
	// Done reports whether the recorded point has been reached; true when nothing was recorded.
	Done() bool
	// Sync blocks until Done.
	Sync()
	// Time is when the recorded point was reached, in nanoseconds of a clock common to all events of the
	// device, read by the worker or the GPU; ok is false while it has not been reached.
	Time() (ns int64, ok bool)
	// Close releases the event; work that waits for it is not affected.
	Close() error
}

// Program is a compiled graph: immutable, and free to run on many streams at once.
type Program interface {
	// Workspace is the number of scratch bytes that a run of c needs in c.Workspace; 0 for none.
	Workspace(c *Call) int64
	// Close releases the program. No run is in flight, but Close may be called from the Owner.Done of the
	// last one.
	Close() error
}

// Sized is implemented by programs that know how many bytes they hold, in memory of the CPU or the device.
type Sized interface{ Bytes() int64 }

// Selective is implemented by programs that do not read all inputs of their plan when they run: what Compile has made of a
// constant, such as a packed weight, may be all that they need of it. The runtime then keeps no copy of that constant for them.
type Selective interface {
	// Reads sets an element of reads, of which there is one for each input, where a run reads the elements of the input. A
	// call has an address for every input that a step names, read or not.
	Reads(reads []bool)
}

// Info describes a device.
type Info struct {
	Name         string // "Apple M3 Max", "Emulated MPS (CPU: ...)"
	Backend      string // "metal", "host" or "fake"
	System       string // "macOS 15.2", where it decides what the device can do; empty elsewhere
	TotalMemory  int64  // bytes of memory that the device can address
	Recommended  int64  // bytes that one process should stay below
	Major, Minor int    // GPU family, or 0.0 for host
	Processors   int    // GPU cores, or threads of the CPU device
	UUID         [16]byte
	Unified      bool // heaps take memory from the CPU's: both share one budget
	Async        bool // calls may be incomplete when Run returns; failures attach to outputs
	Float64      bool // has float64 and the complex types
	BFloat16     bool // has bfloat16
	ChannelsLast bool // convolutions with constant weights of float32 are faster where images have their channels last
	CountsFirst  bool // kernels of counted rows write no more rows than the result has, which may be fewer than there could be
	Compiles     bool // Compile may take milliseconds: callers that hold a lock compile on another goroutine
}
