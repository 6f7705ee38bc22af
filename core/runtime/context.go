package runtime

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Context is a device with its memory, streams, generator and compiled programs.
type Context struct {
	Runtime       *Runtime
	place         place.Place
	Device        device.Device
	info          *device.Info
	composes      graph.Composes // nil where the device composes nothing
	fuses         graph.Fuses    // nil where the device runs no groups
	passes        graph.Passes   // over programs
	refuser       device.Refuser // nil where no compiler of the system refuses kernels
	refusals      refusals
	memory        *alloc.Allocator
	limits        limits
	ageing        ageing
	fallbacks     fallbacks
	copies        copies
	cause         atomic.Pointer[func() uint64] // returns a number for the call stack of an allocation, while a history is recorded
	recipes       recipes
	programs      *program.Cache
	compileErrors sync.Map // by device.Key: the error of a compilation whose caller was refused; see Context.later
	random        generator
	exposed       exposed
	inOrder       bool // calls are complete when Run returns: there is nothing to wait for

	submit sync.Mutex // held while the hazards of a call are checked and recorded; unused when inOrder

	mu      sync.Mutex // guards changes of streams and made
	streams atomic.Pointer[[]*Stream]
	made    uint64 // streams so far
	main    *Stream
	events  sync.Pool // device.Event, for ordering streams
	started started
}

// newContext takes over a device and gives it an allocator, a program cache and a default stream. On an error
// the context is returned too: Runtime.Close closes it.
func newContext(rt *Runtime, p place.Place, d device.Device, cfg Config) (*Context, error) {
	c := &Context{Runtime: rt, place: p, Device: d, info: d.Info(), inOrder: !d.Info().Async, passes: graph.AllPasses &^ cfg.WithoutPasses, recipes: recipes{seed: maphash.MakeSeed()}}
	c.startRefusals()
	if f, ok := d.(device.Fuser); ok && c.passes&graph.Groups != 0 {
		c.fuses = f.Fuses
	}
	c.startMemory(cfg)
	c.startPrograms(cfg)
	var err error
	c.main, err = c.NewStream()
	return c, err
}

// Place is where the tensors of this device live.
func (c *Context) Place() place.Place { return c.place }

// InOrder reports whether calls are complete when the device's Run returns: there is nothing to wait for.
func (c *Context) InOrder() bool { return c.inOrder }

// Allocator has the memory of the device.
func (c *Context) Allocator() *alloc.Allocator { return c.memory }

// Cache has the compiled programs of the device.
func (c *Context) Cache() *program.Cache { return c.programs }

// Passes are those over programs.
func (c *Context) Passes() graph.Passes { return c.passes }

// Composes says which composites the device composes; nil where it composes none.
func (c *Context) Composes() graph.Composes { return c.composes }

// Fuses says which groups the device runs; nil where it runs none.
func (c *Context) Fuses() graph.Fuses { return c.fuses }

// Info describes the device.
func (c *Context) Info() *device.Info { return c.info }

// Default is the stream that is used when none is named.
func (c *Context) Default() *Stream { return c.main }

// Synchronize waits for all work on all streams and returns the first failure not yet reported.
func (c *Context) Synchronize() error {
	c.finish()
	return c.report()
}

// report returns the first failure that has not been reported yet, and marks all of them as reported.
func (c *Context) report() (first error) {
	for _, s := range c.OpenStreams() {
		if err := s.report(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Idle reports whether Synchronize would return nil at once.
func (c *Context) Idle() bool {
	for _, s := range c.OpenStreams() {
		if !s.Idle() {
			return false
		}
	}
	return true
}

// StreamFor is the stream of a call: on if it belongs to this device and runs what is submitted, otherwise the default one.
func (c *Context) StreamFor(on *Stream) *Stream {
	if on != nil && on.ctx == c && on.Tracer == nil {
		return on
	}
	return c.main
}

// Supports refuses dtypes that the device does not have.
func (c *Context) Supports(who string, d dtype.DType) error {
	if (d == dtype.Float64 || d.IsComplex()) && !c.info.Float64 || d == dtype.BFloat16 && !c.info.BFloat16 {
		instead := "use dtype='float32'"
		if d.IsComplex() {
			instead = "keep the tensor on the CPU"
		}
		return status.Errorf(status.Type, "[%s] %s does not exist on %s; %s", who, d, c.place, instead)
	}
	return nil
}

// EmptyView makes a contiguous view of new memory; who is the operator that errors name. With a stream, earlier
// work on that stream may still use the memory: only later work on it, or the CPU after waiting, may access
// it.
func (c *Context) EmptyView(who string, d dtype.DType, s *shape.Shape, on *Stream) (v View, err error) {
	if err := c.Supports(who, d); err != nil {
		return v, err
	}
	bytes, err := s.Bytes(d.Size())
	if err != nil {
		return v, status.Errorf(status.Invalid, "[%s] %s", who, strings.TrimPrefix(err.Error(), "[shape] "))
	}
	store, err := c.NewStorage(bytes, on)
	if err != nil {
		return v, err
	}
	return View{Store: store, Addr: store.Base, DType: d, Layout: shape.Contiguous(*s)}, nil
}

// NewStorage allocates a storage with one reference. The former use of its block is recorded as a use of the
// storage, so that it is a hazard like any other.
func (c *Context) NewStorage(bytes int64, on *Stream) (*Storage, error) {
	var dev device.Stream
	if on != nil && !c.inOrder {
		dev = on.Device
	}
	block, err := c.Allocate(bytes, dev)
	if err != nil {
		return nil, err
	}
	store := c.Runtime.newStorage(c, block.Addr, bytes)
	store.block = block
	if dev != nil && block.After > 0 {
		store.uses = append(store.uses, alloc.Use{Stream: dev, Ticket: block.After})
	}
	return store, nil
}

// close waits for the device's work and closes it. The order matters: programs hold constants in the memory,
// and the allocator returns its heaps to the device.
func (c *Context) close() error {
	c.mu.Lock()
	streams := c.OpenStreams()
	c.setOpen(nil)
	c.mu.Unlock()
	for _, s := range streams {
		if err := s.Device.Close(); err != nil {
			return err
		}
	}
	c.programs.Close()
	c.ageing.stop()
	if err := c.memory.Close(); err != nil {
		return err
	}
	return c.Device.Close()
}

// at is the address of an element, given as its distance from p. Layouts have been checked to stay within
// their memory. Layouts without elements have no address
// and stay without one.
func at(p unsafe.Pointer, elements int64, d dtype.DType) unsafe.Pointer {
	if p == nil {
		return nil
	}
	// SAFETY: p points into a storage that the caller holds, and the offset stays within it.
	return unsafe.Add(p, elements*d.Size())
}
