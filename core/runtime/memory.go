package runtime

import (
	"fmt"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// limits are the bytes that a device may reserve.
type limits struct {
	mu       sync.Mutex
	standard int64 // what holds while nobody has chosen
	hard     int64
}

// ceiling is the most that a limit may be: below the machine's memory, so that it is never the system
// that says no.
func ceiling(i *device.Info) int64 { return i.TotalMemory / 100 * 95 }

// soft is the limit above which idle heaps are given back early.
func soft(hard int64) int64 { return hard / 95 * 80 }

// startMemory makes the allocator.
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
		Source: heaps{c}, Hard: c.limits.hard, Soft: soft(c.limits.hard), MaxAge: age, Reclaim: c.reclaim,
		Budget: c.budget(),
	})
	c.ageing = ageing{every: age, look: c.age}
}

// budget is what the device may reserve together with others: the machine's memory has one ceiling,
// however many devices it is unified for, and each of them also has a limit of its own.
func (c *Context) budget() *alloc.Budget {
	if c.info.Unified {
		return c.rt.budget
	}
	return nil
}

// heaps is the device as a source of heaps, with what else a new heap sets going.
type heaps struct{ *Context }

func (h heaps) NewHeap(size int64) (device.Heap, error) {
	heap, err := h.dev.NewHeap(size)
	if err != nil {
		h.say("[memory] %s: a heap of %d bytes was refused: %v", h.place, size, err)
		return nil, err
	}
	h.say("[memory] %s: a heap of %d bytes", h.place, size)
	h.ageing.start()
	return heap, nil
}

func (c *Context) say(format string, args ...any) {
	if c.rt.log != nil {
		c.rt.log(false, fmt.Sprintf(format, args...))
	}
}

func (c *Context) warn(format string, args ...any) {
	if c.rt.log != nil {
		c.rt.log(true, fmt.Sprintf(format, args...))
	}
}

// ageing looks after a device's idle heaps when the program has gone quiet: allocations look as well,
// but a program that waits for input makes none. The timer runs only while there are heaps.
type ageing struct {
	every time.Duration
	look  func() (more bool)

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

func (a *ageing) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil && !a.stopped {
		a.timer = time.AfterFunc(a.every, a.tick)
	}
}

func (a *ageing) tick() {
	more := a.look()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	if more && !a.stopped {
		a.timer = time.AfterFunc(a.every, a.tick)
	}
}

// stop ends the timer for good. A look that is under way still ends.
func (a *ageing) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

// age gives back heaps that have been idle for long and reports whether any are left.
func (c *Context) age() bool {
	if n := c.memory.Age(); n > 0 {
		c.say("[memory] %s: %d bytes of idle heaps given back", c.place, n)
	}
	return c.memory.Stats().Reserved.Current > 0
}

// allocate is the way to all memory of the device. The stack that leads here is named first, while no
// lock is held.
func (c *Context) allocate(bytes int64, on device.Stream) (*alloc.Block, error) {
	cause := uint64(0)
	if f := c.cause.Load(); f != nil {
		cause = (*f)()
	}
	block, err := c.memory.AllocFor(bytes, on, cause)
	if err != nil {
		c.say("[memory] %s: %v", c.place, err)
	}
	return block, err
}

// reclaim is the last resort: compiled programs, what other devices keep of the same memory, then
// whatever the host program can free.
func (c *Context) reclaim(need int64) bool {
	c.programs.Clear()
	return c.relieve(need) || c.rt.reclaim != nil && c.rt.reclaim(need)
}

// relieve has other devices give back what they do not use, unless the limit that is in the way is the
// device's own.
func (c *Context) relieve(need int64) (some bool) {
	if !c.info.Unified || c.Limit()-c.memory.Stats().Reserved.Current < need {
		return false
	}
	for _, other := range c.rt.contexts() {
		if other != c && other.info.Unified && other.memory.Relinquish() {
			c.say("[memory] %s: idle heaps given back for %s", other.place, c.place)
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

// SetLimit changes the number of bytes that the device may reserve; 0 goes back to what it was at the
// start. What is above 95 % of the machine's memory is refused. Memory that is reserved stays until it
// is free.
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

// ResetPeak makes the current figures the peaks.
func (c *Context) ResetPeak() { c.memory.ResetPeak() }

// ResetAccumulated sets the sums and counts to zero, those of the programs too.
func (c *Context) ResetAccumulated() {
	c.memory.ResetAccumulated()
	c.programs.ResetAccumulated()
}

// EmptyCache gives idle heaps and compiled programs back.
func (c *Context) EmptyCache() {
	c.programs.Clear()
	if n := c.memory.EmptyCache(); n > 0 {
		c.say("[memory] %s: %d bytes of idle heaps given back", c.place, n)
	}
}

// RecordHistory keeps the latest n events of the memory from now on; 0 ends that. cause, which may be
// nil, names the call stack of each allocation by a number; it is called on the goroutine that
// allocates, with no lock held.
func (c *Context) RecordHistory(n int, cause func() uint64) {
	if n <= 0 || cause == nil {
		c.cause.Store(nil)
	} else {
		c.cause.Store(&cause)
	}
	c.memory.Record(max(n, 0))
}
