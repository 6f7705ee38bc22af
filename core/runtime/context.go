package runtime

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Context is a device with its memory, streams, generator and compiled programs.
type Context struct {
	rt        *Runtime
	place     place.Place
	dev       device.Device
	info      *device.Info
	memory    *alloc.Allocator
	limits    limits
	ageing    ageing
	fallbacks fallbacks
	copies    copies
	cause     atomic.Pointer[func() uint64] // names the call stack of an allocation, while a history is kept
	programs  *program.Cache
	random    generator
	inOrder   bool // calls are complete when Run returns: nothing needs waiting for

	submit sync.Mutex // around ordering, submitting and noting; unused when inOrder

	mu      sync.Mutex // around changing streams and made
	streams atomic.Pointer[[]*Stream]
	made    uint64 // streams so far
	main    *Stream
	events  sync.Pool // device.Event, for ordering streams
}

func newContext(rt *Runtime, p place.Place, d device.Device, cfg Config) (*Context, error) {
	c := &Context{rt: rt, place: p, dev: d, info: d.Info(), inOrder: !d.Info().Async}
	c.startMemory(cfg)
	c.startPrograms(cfg)
	var err error
	c.main, err = c.NewStream()
	return c, err
}

// Place is where the tensors of this device live.
func (c *Context) Place() place.Place { return c.place }

// Info describes the device.
func (c *Context) Info() *device.Info { return c.info }

// Default is the stream that is used when none is named.
func (c *Context) Default() *Stream { return c.main }

// Synchronize waits for all work on all streams and returns the first failure not yet reported.
func (c *Context) Synchronize() error {
	for _, s := range c.open() {
		if t := s.last.Load(); s.dev.Done() < t {
			s.dev.Sync(t)
		}
	}
	return c.report()
}

// report takes the failures that have not been reported yet and returns the first.
func (c *Context) report() (first error) {
	for _, s := range c.open() {
		if err := s.report(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Idle reports whether Synchronize would return nil at once.
func (c *Context) Idle() bool {
	for _, s := range c.open() {
		if !s.Idle() {
			return false
		}
	}
	return true
}

// pick is the stream of a call: the wanted one if it belongs to this device, else the default.
func (c *Context) pick(on *Stream) *Stream {
	if on != nil && on.ctx == c {
		return on
	}
	return c.main
}

// supports refuses dtypes that the device does not have.
func (c *Context) supports(who string, d dtype.DType) error {
	if d == dtype.Float64 && !c.info.Float64 || d == dtype.BFloat16 && !c.info.BFloat16 {
		return status.Errorf(status.Type, "[%s] %s does not exist on %s; use dtype='float32'", who, d, c.place)
	}
	return nil
}

// empty makes a contiguous view of new memory. With a stream, the memory may still be in use by
// earlier work on it, and only work on that stream, or the CPU after waiting, may touch it.
func (c *Context) empty(who string, d dtype.DType, s *shape.Shape, on *Stream) (v view, err error) {
	if err := c.supports(who, d); err != nil {
		return v, err
	}
	bytes, err := s.Bytes(d.Size())
	if err != nil {
		return v, status.Errorf(status.Invalid, "[%s] %s", who, err)
	}
	store, err := c.newStorage(bytes, on)
	if err != nil {
		return v, err
	}
	return view{store: store, addr: store.base, dtype: d, Layout: shape.Contiguous(*s)}, nil
}

func (c *Context) newStorage(bytes int64, on *Stream) (*storage, error) {
	var dev device.Stream
	if on != nil && !c.inOrder {
		dev = on.dev
	}
	block, err := c.allocate(bytes, dev)
	if err != nil {
		return nil, err
	}
	store := c.rt.newStorage(c, block.Addr, bytes)
	store.block = block
	if dev != nil && block.After > 0 {
		store.uses = append(store.uses, alloc.Use{Stream: dev, Ticket: block.After})
	}
	return store, nil
}

// close finishes the device's work and closes it.
func (c *Context) close() error {
	c.mu.Lock()
	streams := c.open()
	c.keep(nil)
	c.mu.Unlock()
	for _, s := range streams {
		if err := s.dev.Close(); err != nil {
			return err
		}
	}
	c.programs.Clear()
	c.ageing.stop()
	if err := c.memory.Close(); err != nil {
		return err
	}
	return c.dev.Close()
}

// at is the address some elements further on. Layouts have been checked to stay within their memory.
func at(p unsafe.Pointer, elements int64, d dtype.DType) unsafe.Pointer {
	// SAFETY: p points into a storage that the caller holds, and the offset stays within it.
	return unsafe.Add(p, elements*d.Size())
}
