package program

import "time"

// Stats are the figures of a cache. An entry for a program that the device lacks counts too, with no
// bytes.
type Stats struct {
	Entries int64
	Bytes   int64 // as far as programs know theirs

	// Since the start or ResetAccumulated:

	Hits         int64         // look-ups that found an entry
	Misses       int64         // look-ups that had to compile, or to wait for a compilation
	Evictions    int64         // entries evicted because a limit was exceeded
	Cleared      int64         // entries removed by Clear
	Compilations int64         // calls of the device's compiler
	Failures     int64         // compilations that made no program, for whatever reason
	CompileTime  time.Duration // of all compilations together
}

// sums are the figures that are counted as things happen. Hits follow from the counters of the entries:
// they are all references ever taken, less those whose look-up had missed.
type sums struct {
	Stats
	notHits int64 // references taken by look-ups that had missed
	past    int64 // references to entries that have been closed
}

// Stats returns the figures. Look-ups under way may be included or not.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.count()
	return Stats{
		Entries: int64(c.order.Len()), Bytes: c.bytes,
		Hits: now.Hits - c.base.Hits, Misses: now.Misses - c.base.Misses,
		Evictions: now.Evictions - c.base.Evictions, Cleared: now.Cleared - c.base.Cleared,
		Compilations: now.Compilations - c.base.Compilations, Failures: now.Failures - c.base.Failures,
		CompileTime: now.CompileTime - c.base.CompileTime,
	}
}

// ResetAccumulated sets all figures but Entries and Bytes to zero.
func (c *Cache) ResetAccumulated() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = c.count()
}

// count is the sums with the hits. The lock is held.
func (c *Cache) count() sums {
	now := c.sums
	now.Hits = now.past - now.notHits
	for at := c.order.Front(); at != nil; at = at.Next() {
		now.Hits += at.Value.(*Entry).uses()
	}
	for e := range c.leaving {
		now.Hits += e.uses()
	}
	return now
}

// forget moves the count of a closed entry's references into the sums.
func (c *Cache) forget(e *Entry, uses int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leaving, e)
	c.sums.past += uses
}
