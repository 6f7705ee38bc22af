// Package profile records what a process does and when: calls of operators, runs of programs, compilations, work of
// devices, copies, waits, spans of the host program, and the levels of memory. [Stop] returns it as a trace for Perfetto.
//
// There is one recording at a time in a process. It is a ring buffer: when it is full, the next event overwrites the
// oldest one, which is counted as dropped. The memory of a recording is therefore bounded, however long it lasts.
//
// The invariant: while nothing is recorded, a place that could record something costs one atomic load ([On]) and
// changes nothing. All functions may be called from any goroutine at any time. Events that begin before the recording
// or end after it are not part of it.
//
// The package does not know operators, devices or tensors: its callers say what an event is called.
package profile

import (
	"sync"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// Options say what is recorded.
type Options struct {
	Shapes bool // dtypes and shapes of the operands of each call
	Memory bool // a level of allocated and reserved bytes at each allocation and each free
	Events int  // how many events the ring has room for; 0: DefaultEvents
}

const (
	// DefaultEvents is the size of a ring for which none is given. Full, it takes about 50 MiB with shapes.
	DefaultEvents = 1 << 18
	// MaxEvents bounds a ring.
	MaxEvents = 1 << 24
	// mostText bounds a text of the host program, in bytes: the ring is to be bounded, too.
	mostText = 1 << 10
)

// The bits of flags.
const (
	recording = 1 << iota
	shapes
	memory
)

// flags says what is recorded now; 0: nothing.
var flags atomic.Uint32

// On reports whether events are recorded.
func On() bool { return flags.Load() != 0 }

// Shapes reports whether calls are to be recorded with dtypes and shapes.
func Shapes() bool { return flags.Load()&shapes != 0 }

// Memory reports whether levels of memory are to be recorded.
func Memory() bool { return flags.Load()&memory != 0 }

// current is the recording; nil for none. The lock is held for the time of a copy of an event and while a level is
// read, and no function is called with it that records events.
var current struct {
	sync.Mutex
	*ring
}

// Start begins a recording. status.Invalid where one is under way, or where the options make no sense.
func Start(o Options) error {
	if o.Events < 0 || o.Events > MaxEvents {
		return status.Errorf(status.Invalid, "[profile_start] max_events is %d; want 0 (for %d) to %d", o.Events, DefaultEvents, MaxEvents)
	}
	if o.Events == 0 {
		o.Events = DefaultEvents
	}
	current.Lock()
	defer current.Unlock()
	if current.ring != nil {
		return status.Errorf(status.Invalid, "[profile_start] a recording is under way; want it stopped first")
	}
	current.ring = newRing(o.Events)
	bits := uint32(recording)
	if o.Shapes {
		bits |= shapes
	}
	if o.Memory {
		bits |= memory
	}
	flags.Store(bits)
	return nil
}

// Stop ends the recording and returns it. status.Invalid where there is none. The caller has waited for the work of
// the devices, if that is to be part of it, and has recorded the last levels of memory.
func Stop() (*Recording, error) {
	current.Lock()
	defer current.Unlock()
	if current.ring == nil {
		return nil, status.Errorf(status.Invalid, "[profile_stop] there is no recording; want one that was started")
	}
	flags.Store(0)
	r := current.ring
	current.ring = nil
	return r.finish(Now()), nil
}

// thread is the function that says which thread the calling goroutine runs on; see SetThread.
var thread atomic.Pointer[func() uint64]

// SetThread says how threads are told apart: f is a number of the system for the thread that the calling goroutine runs on.
// Go has none. Without it all spans of threads are on one track.
func SetThread(f func() uint64) { thread.Store(&f) }

// here is the number of the calling thread.
func here() uint64 {
	if f := thread.Load(); f != nil {
		return (*f)()
	}
	return 0
}
