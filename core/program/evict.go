package program

// add puts an entry into the cache, with a reference on the lane of a holder, and returns the entries
// that were evicted for it. The lock is held.
func (c *Cache) add(e *Entry, holder *Lane) (old []*Entry) {
	if holder != nil {
		e.hold(*holder)
		e.seen = 1 // the first use gives no second chance
		c.sums.notHits++
	}
	c.live.add(e)
	e.place = c.order.PushBack(e)
	c.bytes += e.bytes
	return c.shrink(e)
}

// shrink evicts entries until the cache is within its limits; the newest stays. In the worst case all
// entries have been used: then it passes over each once before it evicts. The lock is held.
func (c *Cache) shrink(newest *Entry) (old []*Entry) {
	for looks := 2 * c.order.Len(); c.order.Len() > 1 && c.exceeded(); looks-- {
		e := c.order.Front().Value.(*Entry)
		if e == newest || e.wasUsed() && looks > 0 {
			c.order.MoveToBack(e.place)
			continue
		}
		c.remove(e)
		c.sums.Evictions++
		old = append(old, e)
	}
	return old
}

// exceeded reports whether the cache is beyond a limit. The lock is held.
func (c *Cache) exceeded() bool {
	return int64(c.order.Len()) > c.limits.Entries || c.bytes > c.limits.Bytes
}

// remove takes an entry out. The lock is held; the caller closes the entry when it no longer is.
func (c *Cache) remove(e *Entry) {
	c.order.Remove(e.place)
	c.bytes -= e.bytes
	c.live.remove(e)
	c.leaving[e] = struct{}{}
	e.evicted.Store(true)
}

// closeUnused closes those of some removed entries that nothing refers to. No lock is held.
func closeUnused(old []*Entry) {
	for _, e := range old {
		e.closeIfUnused()
	}
}
