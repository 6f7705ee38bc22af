package runtime

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// limits are the bytes that a device may reserve.
type limits struct {
	mu       sync.Mutex
	standard int64 // the limit unless SetLimit was called
	hard     int64 // the limit now
}

// ceiling is the highest limit, in bytes: below the memory of the machine, so that an allocation fails here,
// with an error, before the system runs out of memory and kills a process.
func ceiling(i *device.Info) int64 { return i.TotalMemory / 100 * 95 }

// soft is the limit above which idle heaps are returned early.
func soft(hard int64) int64 { return hard / 95 * 80 }

func (c *Context) startMemory(cfg Config) {
	c.limits.standard = cfg.Limit
	if c.limits.standard <= 0 {
		c.limits.standard = c.info.Recommended / 100 * 95
	}
	c.limits.hard = c.limits.standard
	age := cfg.MaxAge
	if age == 0 {
		age = time.Minute
	}
	c.memory = alloc.New(alloc.Config{
		Source: heapSource{c}, Hard: c.limits.hard, Soft: soft(c.limits.hard), MaxAge: age, Reclaim: c.reclaim,
		Budget: c.budget(),
	})
	c.ageing = ageing{every: age, look: c.age}
}

// budget is what the device may reserve together with the others: devices with unified memory share one
// ceiling, in addition to the limit of each. It is nil for a device with memory of its own.
func (c *Context) budget() *alloc.Budget {
	if c.info.Unified {
		return c.Runtime.budget
	}
	return nil
}

// heapSource is the device as alloc.Source. It also logs, and starts the timer that returns idle heaps.
type heapSource struct{ *Context }

// NewHeap takes a heap from the device; see alloc.Source.
func (h heapSource) NewHeap(size int64) (device.Heap, error) {
	heap, err := h.Device.NewHeap(size)
	if err != nil {
		h.logf("[memory] %s: a heap of %d bytes was refused: %v", h.place, size, err)
		return nil, err
	}
	h.logf("[memory] %s: a heap of %d bytes was made", h.place, size)
	h.ageing.start()
	return heap, nil
}

// logf logs a diagnostic message; no lock is held.
func (c *Context) logf(format string, args ...any) {
	if c.Runtime.log != nil {
		c.Runtime.log(false, fmt.Sprintf(format, args...))
	}
}

// Warnf logs a warning; no lock is held.
func (c *Context) Warnf(format string, args ...any) {
	if c.Runtime.log != nil {
		c.Runtime.log(true, fmt.Sprintf(format, args...))
	}
}

// ageing returns a device's idle heaps while the program allocates nothing: allocations do it too, but a program
// that waits for input makes none. The timer runs only while there are heaps.
type ageing struct {
	every time.Duration
	look  func() (more bool)

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// start starts the timer unless it runs already.
func (a *ageing) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil && !a.stopped {
		a.timer = time.AfterFunc(a.every, a.tick)
	}
}

// tick returns old heaps and starts the timer again while there are heaps left.
func (a *ageing) tick() {
	more := a.look()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	if more && !a.stopped {
		a.timer = time.AfterFunc(a.every, a.tick)
	}
}

// stop ends the timer for good. A tick that is running completes.
func (a *ageing) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

// age returns heaps that have been idle for long and reports whether any heaps are left.
func (c *Context) age() bool {
	if n := c.memory.Age(); n > 0 {
		c.logf("[memory] %s: %d bytes of idle heaps returned", c.place, n)
		c.Level()
	}
	return c.memory.Stats().Reserved.Current > 0
}

// Allocate allocates a block; all memory of the device comes from here. The call stack is recorded first, if a
// history is kept, because that calls the host program and no lock may be held.
func (c *Context) Allocate(bytes int64, on device.Stream) (*alloc.Block, error) {
	cause := uint64(0)
	if f := c.cause.Load(); f != nil {
		cause = (*f)()
	}
	block, err := c.memory.AllocFor(bytes, on, cause)
	if err != nil {
		c.logf("[memory] %s: %v", c.place, err)
	}
	c.Level()
	return block, err
}

// reclaim is alloc.Config.Reclaim, called when the device has no free memory: it evicts compiled programs, waits for
// the work in flight, which may be the last holder of some of them, has other devices return idle heaps of the same
// memory, and then asks the host program.
func (c *Context) reclaim(need int64) bool {
	c.programs.Clear()
	return c.Drain() || c.reclaimOthers(need) || c.Runtime.reclaim != nil && c.Runtime.reclaim(need)
}

// reclaimOthers has other devices of the same memory return idle heaps. It does nothing where the device's own
// limit is what need exceeds: memory of others would not help.
func (c *Context) reclaimOthers(need int64) (some bool) {
	if !c.info.Unified || c.Limit()-c.memory.Stats().Reserved.Current < need {
		return false
	}
	for _, other := range c.Runtime.contexts() {
		if other != c && other.info.Unified && other.memory.Relinquish() {
			c.logf("[memory] %s: idle heaps returned for %s", other.place, c.place)
			some = true
		}
	}
	return some
}

// Stats are the figures of the device's memory.
func (c *Context) Stats() alloc.Stats { return c.memory.Stats() }

// Limit is the number of bytes that the device may reserve.
func (c *Context) Limit() int64 {
	c.limits.mu.Lock()
	defer c.limits.mu.Unlock()
	return c.limits.hard
}

// Available is how many bytes the device may still reserve: what its limit leaves, and what all devices
// of the same memory have left together.
func (c *Context) Available() int64 {
	return max(min(c.Limit()-c.memory.Stats().Reserved.Current, c.budget().Left()), 0)
}

// SetLimit changes the number of bytes that the device may reserve; 0 restores the initial limit. A limit above
// 95 % of the machine's memory is refused. Memory that is reserved beyond a lower limit stays until it is
// free.
func (c *Context) SetLimit(bytes int64) error {
	if most := ceiling(c.info); bytes < 0 || bytes > most {
		return status.Errorf(status.Invalid, "[memory_set_limit] limit is %d bytes; want 0 to %d, which is 95 %% of the memory", bytes, most)
	}
	c.limits.mu.Lock()
	defer c.limits.mu.Unlock()
	if bytes == 0 {
		bytes = c.limits.standard
	}
	c.limits.hard = bytes
	c.memory.SetLimits(bytes, soft(bytes))
	return nil
}

// ResetPeak sets the peaks of the memory statistics to the current values.
func (c *Context) ResetPeak() { c.memory.ResetPeak() }

// ResetAccumulated sets the sums and counts to zero, those of the programs too.
func (c *Context) ResetAccumulated() {
	c.memory.ResetAccumulated()
	c.programs.ResetAccumulated()
	c.resetRefusals()
	if d, ok := c.Device.(device.Storer); ok {
		d.ResetStored()
	}
}

// Stored is what the device has stored for later processes; all 0 where it stores nothing.
func (c *Context) Stored() (s device.Stored) {
	if d, ok := c.Device.(device.Storer); ok {
		s = d.Stored()
	}
	return s
}

// EmptyCache evicts all compiled programs and returns all idle heaps. What compilers have refused is forgotten too.
// It waits for no stream.
func (c *Context) EmptyCache() {
	c.retryRefused()
	c.programs.Clear()
	if n := c.memory.EmptyCache(); n > 0 {
		c.logf("[memory] %s: %d bytes of idle heaps returned", c.place, n)
		c.Level()
	}
}

// ReturnMemory returns to the system what Go's heap has kept of closed programs: constants that the CPU has packed, and files
// that were read. Otherwise the heap keeps that memory until as much again has been allocated. It runs the garbage collector,
// which takes milliseconds, so it is for the end of a model and not of each program.
func ReturnMemory() {
	goruntime.GC() // a sync.Pool in a kernel refers to it until the second collection
	debug.FreeOSMemory()
}

// RecordHistory records the latest n events of the memory from now on; 0 stops it. cause, which may be nil,
// returns a number for the call stack of each allocation; it is called on the goroutine that allocates, with no
// lock held.
func (c *Context) RecordHistory(n int, cause func() uint64) {
	if n <= 0 || cause == nil {
		c.cause.Store(nil)
	} else {
		c.cause.Store(&cause)
	}
	c.memory.Record(max(n, 0))
}

// Drain waits for all work so far, and reports whether any was in flight. Its failures stay to be reported by the next
// Synchronize.
func (c *Context) Drain() (some bool) {
	for _, s := range c.OpenStreams() {
		some = some || s.inFlight() > 0
		s.Device.Sync(s.last.Load())
	}
	return some
}
