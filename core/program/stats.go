package program

import "time"

// Stats are the figures of a cache. What the device lacks is an entry too, of no bytes.
type Stats struct {
	Entries int64
	Bytes   int64 // as far as programs know theirs

	// Since the start or ResetAccumulated.

	Hits         int64         // look-ups that found an entry
	Misses       int64         // look-ups that had to compile, or to wait for somebody who did
	Evictions    int64         // entries that had to go because a limit was passed
	Cleared      int64         // entries that Clear took out
	Compilations int64         // calls of the device's compiler
	Failures     int64         // those that made no program, because the device lacks it or for another reason
	CompileTime  time.Duration // that all of them took together
}

// sums are what is counted as it happens. Hits follow from the counters of entries.
type sums struct {
	Stats
	late int64 // holds that were no hits: their look-up had missed
	past int64 // holds of entries that have been closed
}

// Stats answers the figures. Look-ups under way may be in it or not.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.count()
	return Stats{
		Entries: int64(len(c.all)), Bytes: c.bytes,
		Hits: now.Hits - c.base.Hits, Misses: now.Misses - c.base.Misses,
		Evictions: now.Evictions - c.base.Evictions, Cleared: now.Cleared - c.base.Cleared,
		Compilations: now.Compilations - c.base.Compilations, Failures: now.Failures - c.base.Failures,
		CompileTime: now.CompileTime - c.base.CompileTime,
	}
}

// ResetAccumulated sets all but Entries and Bytes to zero.
func (c *Cache) ResetAccumulated() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = c.count()
}

// count is the sums with the hits; the lock is held.
func (c *Cache) count() sums {
	now := c.sums
	now.Hits = now.past - now.late
	for _, e := range c.all {
		now.Hits += e.uses()
	}
	for e := range c.leaving {
		now.Hits += e.uses()
	}
	return now
}

// forget ends the counting of an entry.
func (c *Cache) forget(e *Entry, uses int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leaving, e)
	c.sums.past += uses
}
