package alloc

// Stat is one quantity over time, in bytes or a number of things.
type Stat struct {
	Current   int64
	Peak      int64 // highest Current since the start or ResetPeak
	Allocated int64 // sum of all increases since the start or ResetAccumulated
	Freed     int64 // sum of all decreases, likewise
}

// meter is a Stat as it is stored: Freed follows from the rest, which saves a store per call.
type meter struct {
	current, peak, allocated int64
	base                     int64 // current at the last reset of the sums
}

// up increases the quantity by n >= 0.
func (m *meter) up(n int64) {
	m.current += n
	m.allocated += n
	if m.current > m.peak {
		m.peak = m.current
	}
}

// down decreases it by n >= 0.
func (m *meter) down(n int64) { m.current -= n }

// set changes it to n, which counts as an increase or a decrease.
func (m *meter) set(n int64) {
	if d := n - m.current; d > 0 {
		m.up(d)
	} else {
		m.current = n
	}
}

// stat derives what is not stored: freed = current at the reset + increases - current now.
func (m *meter) stat() Stat {
	return Stat{Current: m.current, Peak: m.peak, Allocated: m.allocated, Freed: m.allocated + m.base - m.current}
}

// Stats are the allocator's numbers at one moment, in bytes where not said otherwise.
type Stats struct {
	Allocated     Stat // live blocks
	Requested     Stat // what was asked for in live blocks, before rounding
	Active        Stat // live and pending blocks
	Reserved      Stat // heaps
	InactiveSplit Stat // free blocks of heaps that are not idle: what EmptyCache cannot return

	Blocks         Stat // number of live blocks
	ActiveBlocks   Stat // number of live and pending blocks
	Heaps          Stat // number of heaps
	InactiveSplits Stat // number of free blocks in heaps that are not idle

	Retries  int64 // times that an allocation freed memory and tried again
	OOMs     int64 // allocations that ended with status.OutOfMemory
	BadFrees int64 // frees of blocks that were not live
	Hard     int64 // the limits; 0 for none
	Soft     int64
}

// Cached is the number of bytes that are reserved and not in use.
func (s *Stats) Cached() int64 { return s.Reserved.Current - s.Active.Current }

// counters are the numbers as the allocator stores them. Those of active and split blocks follow from others
// and are updated when the lock is released: see derive.
type counters struct {
	allocated, requested, blocks meter
	reserved, heaps              meter
	active, activeBlocks         meter
	split, splits                meter
	pendingBytes, freeBlocks     int64
	retries, ooms, badFrees      int64
}

// alloc counts a block that has become live.
func (c *counters) alloc(b *Block) {
	c.allocated.up(b.Size)
	c.requested.up(b.Requested)
	c.blocks.up(1)
}

// free counts a block that is live no more.
func (c *counters) free(b *Block) {
	c.allocated.down(b.Size)
	c.requested.down(b.Requested)
	c.blocks.down(1)
}

// reserve counts a new heap of n bytes.
func (c *counters) reserve(n int64) {
	c.reserved.up(n)
	c.heaps.up(1)
}

// unreserve counts a heap of n bytes that has been unlinked.
func (c *counters) unreserve(n int64) {
	c.reserved.down(n)
	c.heaps.down(1)
}

// unlock releases the lock after a section that changed blocks.
func (a *Allocator) unlock() {
	a.derive()
	a.mu.Unlock()
}

// derive updates the numbers that follow from others. The lock is held.
func (a *Allocator) derive() {
	c := &a.counts
	active := c.allocated.current + c.pendingBytes
	c.active.set(active)
	c.activeBlocks.set(c.blocks.current + int64(a.pending))
	c.split.set(c.reserved.current - active - a.idle.bytes)
	c.splits.set(c.freeBlocks - a.idle.count)
}

// Stats returns the numbers, after moving pending blocks that have become free to the common pool. The peak
// of Active may be too high, never too low, because a block that became free is counted until it is moved.
func (a *Allocator) Stats() Stats {
	a.lock()
	defer a.mu.Unlock()
	a.sweep(sweepAll)
	a.derive()
	return a.stats()
}

// Levels are the bytes that blocks and heaps take now: Allocated and Reserved of Stats, without its price.
func (a *Allocator) Levels() (allocated, reserved int64) {
	a.lock()
	defer a.mu.Unlock()
	return a.counts.allocated.current, a.counts.reserved.current
}

// stats is Stats without moving blocks. The lock is held.
func (a *Allocator) stats() Stats {
	c := &a.counts
	return Stats{
		Allocated: c.allocated.stat(), Requested: c.requested.stat(), Active: c.active.stat(),
		Reserved: c.reserved.stat(), InactiveSplit: c.split.stat(),
		Blocks: c.blocks.stat(), ActiveBlocks: c.activeBlocks.stat(),
		Heaps: c.heaps.stat(), InactiveSplits: c.splits.stat(),
		Retries: c.retries, OOMs: c.ooms, BadFrees: c.badFrees, Hard: a.hard, Soft: a.soft,
	}
}

// each calls f for every meter.
func (c *counters) each(f func(*meter)) {
	for _, m := range [...]*meter{
		&c.allocated, &c.requested, &c.blocks, &c.reserved, &c.heaps,
		&c.active, &c.activeBlocks, &c.split, &c.splits,
	} {
		f(m)
	}
}

// ResetPeak sets the peaks to the current values.
func (a *Allocator) ResetPeak() {
	a.lock()
	defer a.mu.Unlock()
	a.counts.each(func(m *meter) { m.peak = m.current })
}

// ResetAccumulated sets the sums and the counts of retries, OOMs and bad frees to zero.
func (a *Allocator) ResetAccumulated() {
	a.lock()
	defer a.mu.Unlock()
	a.counts.each(func(m *meter) { m.allocated, m.base = 0, m.current })
	a.counts.retries, a.counts.ooms, a.counts.badFrees = 0, 0, 0
}
