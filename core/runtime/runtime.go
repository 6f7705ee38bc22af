// Package runtime makes tensors and runs operators on devices.
//
// A [Runtime] has a [Context] for each place: the device with its memory, streams, generator and
// compiled programs. A [Tensor] is a view (offset, layout, dtype) of a counted storage. A call goes
// the same way on every device: find the context, infer dtypes and shape (core/op), cast and lay out
// the operands as the seam wants them (frame.go), find or compile the program, submit it to a stream.
//
// The invariant: whoever reads a storage waits for, or is ordered after, whatever writes it, and the
// other way round, whatever streams, threads and the CPU do. Each storage remembers the stream and
// ticket of its last write and of its uses; order.go alone acts on that.
//
// Nothing here computes or knows what a device is made of.
package runtime

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/slot"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Config says which devices a runtime has.
type Config struct {
	CPU    device.Device
	MPS    []device.Device // none where the machine has none
	NoMPS  string          // why there is none: the whole sentence of the error
	Limit  int64           // bytes that each device may reserve; 0: 95 % of what it recommends
	MaxAge time.Duration   // how long an idle heap is kept; 0: 60 s

	Programs program.Config // bounds each device's compiled programs; Failed is set by the runtime

	// NoFallback has an operator that a device lacks fail, instead of running on the CPU.
	NoFallback bool

	// Reclaim is asked to free memory when an allocation of need bytes has tried everything else; true
	// means that another try is worth it. nil: nobody is asked. It is called on the goroutine that
	// allocates, with no lock held, and may use the runtime.
	Reclaim func(need int64) bool
	// Log hears what may interest somebody: heaps made and given back, allocations refused; as a warning,
	// operators that a device lacks. nil drops it. It is called with no lock held.
	Log func(warning bool, text string)
}

// Runtime is the devices of a process and the tensors on them.
type Runtime struct {
	cpu     *Context
	mps     []*Context
	noMPS   string
	tensors *slot.Table[Tensor]

	launches sync.Pool     // *launch
	lanes    atomic.Uint32 // launches made so far
	plans    sync.Pool     // *plan
	stores   sync.Pool     // *storage
	waits    waits
	owed     sync.WaitGroup // foreign memory that streams are still at; see giveBack
	reclaim  func(need int64) bool
	log      func(warning bool, text string)
	fallback bool
	budget   *alloc.Budget // of the machine's memory, for the devices that share it
}

const tensorKind = 1 // in handles

// New makes a runtime over devices, which it owns from here on.
func New(cfg Config) (*Runtime, error) {
	rt := &Runtime{noMPS: cfg.NoMPS, reclaim: cfg.Reclaim, log: cfg.Log, fallback: !cfg.NoFallback}
	rt.budget = alloc.NewBudget(ceiling(cfg.CPU.Info()))
	rt.tensors = slot.NewTable(tensorKind, (*Tensor).drop)
	rt.launches.New = func() any { return &launch{lane: program.Lane(rt.lanes.Add(1))} }
	rt.plans.New = func() any { return new(plan) }
	rt.stores.New = func() any { return new(storage) }
	var err error
	if rt.cpu, err = newContext(rt, place.CPU, cfg.CPU, cfg); err != nil {
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

// abandon closes a runtime that has not come to be, with the devices that it has not got to, and answers why.
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
		return rt.cpu, nil
	case p.Kind == place.CPUKind:
		return nil, status.Errorf(status.Invalid, "[place] cpu has index %d; want 0", p.Index)
	case p.Kind != place.MPSKind:
		return nil, status.Errorf(status.Invalid, "[place] kind %d is neither cpu nor mps", p.Kind)
	case len(rt.mps) == 0:
		return nil, status.Errorf(status.Unavailable, "%s", rt.noMPS)
	case p.Index < 0 || int(p.Index) >= len(rt.mps):
		return nil, status.Errorf(status.Unavailable, "[place] %s does not exist; want mps:0 to mps:%d", p, len(rt.mps)-1)
	}
	return rt.mps[p.Index], nil
}

// contexts are all devices, the CPU first.
func (rt *Runtime) contexts() []*Context { return append([]*Context{rt.cpu}, rt.mps...) }

// Live is the number of tensors that callers hold.
func (rt *Runtime) Live() int64 { return rt.tensors.Live() }

// Story is what became of the handle of a tensor, in builds with the tag invariants; else empty.
func (rt *Runtime) Story(handle uint64) string { return rt.tensors.Story(handle) }

// Close finishes all work and closes the devices. No other method may be running or follow. Tensors
// that are still alive are status.Internal; with the build tag invariants the error says where they
// were made.
func (rt *Runtime) Close() error {
	if n := rt.Live(); n > 0 {
		return status.Errorf(status.Internal, "[close] %d tensors are alive; want none%s", n, rt.tensors.Leaks())
	}
	rt.owed.Wait()
	for _, c := range rt.contexts() {
		if err := c.close(); err != nil {
			return err
		}
	}
	return nil
}
