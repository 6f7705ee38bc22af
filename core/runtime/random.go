package runtime

import "sync"

// generator is the state of a device's random numbers: a Philox key and how many counters have
// been handed out. A call takes one counter an element, which is never too few.
type generator struct {
	mu            sync.Mutex
	seed, counter uint64
}

// take hands out n counters.
func (g *generator) take(n int64) [2]uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := [2]uint64{g.seed, g.counter}
	g.counter += uint64(n)
	return at
}

// Seed starts the device's generator anew.
func (c *Context) Seed(seed uint64) { c.SetState(seed, 0) }

// State is the generator's key and the next counter.
func (c *Context) State() (seed, counter uint64) {
	c.random.mu.Lock()
	defer c.random.mu.Unlock()
	return c.random.seed, c.random.counter
}

// SetState continues from what State answered.
func (c *Context) SetState(seed, counter uint64) {
	c.random.mu.Lock()
	defer c.random.mu.Unlock()
	c.random.seed, c.random.counter = seed, counter
}
