// Package runtime has the devices of a process, the tensors on them, and what orders their work.
//
// A [Runtime] has a [Context] for each place: the device with its memory, streams, generator and compiled
// programs. A [Tensor] is a view (offset, layout, dtype) of a reference-counted [Storage]. A call takes the same
// steps on every device: legalize (core/graph), which infers, casts and lays out the operands; find or compile the
// program of each step; submit it to a stream.
//
// The invariant: a read of a storage waits for, or is ordered after, the writes before it, and a write after
// the reads and writes before it, whichever streams and threads they come from. Each storage records the stream
// and ticket of its last write and of the reads since; hazards are tracked in hazards.go alone.
//
// The package computes nothing, does not depend on the kind of device, and decides no call. Packages above it do, each
// with its own part: core/eager calls operators, core/native runs kernels of callers, core/tape walks the tape,
// core/execute has programs, core/trace makes them of functions, core/holdings and core/snapshot look at what there is.
// What is exported for them, such as fields of nodes and launches, is for packages in core alone.
//
// # Calls
//
// A call is run step by step (eagercall.go). What legalizing makes is kept as a recipe (recipe.go), so that a call like
// an earlier one only looks it up, allocates and launches. All submit launches (launch.go): on devices with queues a
// launch outlives the call that made it, and its stream returns it through device.Owner.
//
// # Histories
//
// Tensors name what they were computed from (history.go), nodes of a tape that keep values for gradients (node.go); views
// share the history of their whole (origin.go). The package counts and releases nodes and walks none.
//
// # Failures
//
// An error that is known during a call is returned by it. A later one is stored in the storages that the call
// writes, so that every read of them, and of what was computed from them, returns it; the stream reports it once
// at its next Synchronize and stays usable.
//
// # What a device lacks
//
// A step that the device cannot compile (status.Unsupported) runs on the CPU, on the same memory, with a warning
// (fallback.go), unless Config.NoFallback makes it an error. Devices whose kernels the compilers of the system may
// refuse (device.Refuser) learn what they lack while they compile, and then try the next kernel that they have; the
// keys of calls may change by that (callprograms.go). A composite that a device claims and then refuses is lowered
// (refusals.go). A program is divided where the device lacks steps (core/execute/split.go). All of this happens before anything of
// the call is submitted. Errors of any other code are those of the call, and change nothing for the next one.
//
// # Locks
//
// Context.submit is held while the hazards of a launch are checked and recorded; Storage.mu is taken inside it.
// Context.mu guards the list of streams. The locks of the tape and of what is above it are in history.go. Compilers and callbacks of the
// host program (Config.Log, Config.Reclaim, the free function of Import) run with no lock held.
package runtime

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/slot"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Config says which devices a runtime has.
type Config struct {
	CPU    device.Device
	MPS    []device.Device // none where the machine has none
	NoMPS  string          // why there is none: the complete text of the error
	Limit  int64           // bytes that each device may reserve; 0: 95 % of what it recommends
	MaxAge time.Duration   // how long an idle heap is kept; 0: 60 s

	Programs program.Config // bounds each device's compiled programs; Failed is set by the runtime

	// WithoutPasses are the passes over programs that are switched off: none in the zero Config.
	WithoutPasses graph.Passes

	// NoFallback makes calls of an operator that a device lacks fail, instead of running on the CPU.
	NoFallback bool

	// Reclaim, which may be nil, is called to free memory when an allocation of need bytes has tried
	// everything else; true means that another try is worth it. It is called on the goroutine that
	// allocates, with no lock held, and may use the runtime.
	Reclaim func(need int64) bool
	// Log, which may be nil, receives diagnostics: heaps made and returned, failed allocations; and as
	// warnings, operators that a device lacks. It is called from any goroutine, with no lock held.
	Log func(warning bool, text string)
}

// Runtime is the devices of a process and the tensors on them.
type Runtime struct {
	CPU     *Context
	mps     []*Context
	noMPS   string
	tensors *slot.Table[Tensor]

	launches  sync.Pool     // *launch
	lanes     atomic.Uint32 // launches made so far
	eagers    sync.Pool     // *eager
	stores    sync.Pool     // *storage
	origins   sync.Pool     // *origin
	waits     waits
	releases  sync.WaitGroup // what Close waits for: foreign memory that streams are still at, and started runs
	reclaim   func(need int64) bool
	log       func(warning bool, text string)
	fallback  bool
	displaces atomic.Bool   // there have been displaced tensors
	budget    *alloc.Budget // of the machine's memory, for the devices that share it
}

// tensorKind marks the handles of tensors; see slot.NewTable.
const tensorKind = 1

// New makes a runtime and takes over its devices: Close closes them, and so does New where it fails.
func New(cfg Config) (*Runtime, error) {
	rt := &Runtime{noMPS: cfg.NoMPS, reclaim: cfg.Reclaim, log: cfg.Log, fallback: !cfg.NoFallback}
	rt.budget = alloc.NewBudget(ceiling(cfg.CPU.Info()))
	rt.tensors = slot.NewTable(tensorKind, (*Tensor).drop)
	rt.launches.New = func() any { return &Launch{Lane: program.Lane(rt.lanes.Add(1))} }
	rt.eagers.New = func() any { return new(EagerCall) }
	rt.stores.New = func() any { return new(Storage) }
	rt.origins.New = func() any { return new(Origin) }
	var err error
	if rt.CPU, err = newContext(rt, place.CPU, cfg.CPU, cfg); err != nil {
		return nil, rt.abandon(err, cfg.MPS)
	}
	for i, d := range cfg.MPS {
		c, err := newContext(rt, place.MPS(int32(i)), d, cfg)
		rt.mps = append(rt.mps, c)
		if err != nil {
			return nil, rt.abandon(err, cfg.MPS[i+1:])
		}
	}
	return rt, nil
}

// abandon closes a runtime that could not be completed, and the devices that have no context yet. It returns err.
func (rt *Runtime) abandon(err error, rest []device.Device) error {
	_ = rt.Close()
	for _, d := range rest {
		_ = d.Close()
	}
	return err
}

// Count is the number of devices of a kind.
func (rt *Runtime) Count(k place.Kind) int {
	if k == place.CPUKind {
		return 1
	}
	return len(rt.mps)
}

// Context finds the device of a place; status.Unavailable says why there is none.
func (rt *Runtime) Context(p place.Place) (*Context, error) {
	switch {
	case p == place.CPU:
		return rt.CPU, nil
	case p.Kind == place.CPUKind:
		return nil, status.Errorf(status.Invalid, "[place] cpu has index %d; want 0", p.Index)
	case p.Kind != place.MPSKind:
		return nil, status.Errorf(status.Invalid, "[place] got kind %d; want 0 (cpu) or 1 (mps)", p.Kind)
	case len(rt.mps) == 0:
		return nil, status.Errorf(status.Unavailable, "%s", rt.noMPS)
	case p.Index < 0 || int(p.Index) >= len(rt.mps):
		return nil, status.Errorf(status.Unavailable, "[place] %s does not exist; want %s", p, rt.existing())
	}
	return rt.mps[p.Index], nil
}

// existing names the mps places for messages; there is at least one.
func (rt *Runtime) existing() string {
	if len(rt.mps) == 1 {
		return "mps:0"
	}
	return fmt.Sprintf("mps:0 to mps:%d", len(rt.mps)-1)
}

// Displaces reports whether there have been displaced tensors.
func (rt *Runtime) Displaces() bool { return rt.displaces.Load() }

// contexts are all devices, the CPU first.
func (rt *Runtime) contexts() []*Context { return append([]*Context{rt.CPU}, rt.mps...) }

// Live is the number of tensors whose handles have not been freed.
func (rt *Runtime) Live() int64 { return rt.tensors.Live() }

// HandleHistory is where the handle of a tensor was made and freed, in builds with the tag invariants; empty in
// others. It is for the messages of errors about handles.
func (rt *Runtime) HandleHistory(handle uint64) string { return rt.tensors.History(handle) }

// Close waits for all work and closes the devices. No other method may be running or be called later. While
// tensors are alive it returns status.Internal and closes nothing; with the build tag invariants the error says
// where they were made.
func (rt *Runtime) Close() error {
	rt.releases.Wait() // before the count: a run that was freed has its results until it ends
	if n := rt.Live(); n > 0 {
		return status.Errorf(status.Internal, "[close] %d tensors are alive; want none%s", n, rt.tensors.Leaks())
	}
	for _, c := range rt.contexts() {
		if err := c.close(); err != nil {
			return err
		}
	}
	return nil
}
