package runtime

import "sync"

// generator is the state of a device's random numbers: the key of a Philox generator (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC11) and the next unused counter. A call uses one counter per element,
// which is always enough.
type generator struct {
	mu            sync.Mutex
	seed, counter uint64
}

// take reserves n counters and returns the key and the first of them.
func (g *generator) take(n int64) [2]uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := [2]uint64{g.seed, g.counter}
	g.counter += uint64(n)
	return at
}

// Draw takes the counters of n random elements.
func (c *Context) Draw(n int64) [2]uint64 { return c.random.take(n) }

// Seed restarts the device's generator with a key.
func (c *Context) Seed(seed uint64) { c.SetState(seed, 0) }

// State is the generator's key and the next counter.
func (c *Context) State() (seed, counter uint64) {
	c.random.mu.Lock()
	defer c.random.mu.Unlock()
	return c.random.seed, c.random.counter
}

// SetState continues from what State returned.
func (c *Context) SetState(seed, counter uint64) {
	c.random.mu.Lock()
	defer c.random.mu.Unlock()
	c.random.seed, c.random.counter = seed, counter
}
