package program

import (
	"container/list"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// lanes is how many callers can hold an entry without sharing a counter; a power of two.
const lanes = 8

// Lane says which of an entry's counters a caller uses; any number will do. Callers that run at the
// same time should have different ones.
type Lane uint8

// lane counts the references taken and those released. It fills a cache line.
type lane struct {
	taken, released atomic.Int64
	_               [48]byte
}

// assumedBytes is what a program counts for that does not know its size: a pipeline and its source.
const assumedBytes = 16 << 10

// Entry is a program, or the reason why the device has none.
//
// The first 64 bytes are what a look-up reads of each entry, and the counters are on cache lines of their
// own: callers that write them do not slow down those that read the rest.
type Entry struct {
	key     device.Key
	hash    uint64
	evicted atomic.Bool // out of the cache, for whatever reason; see tryHold
	closed  atomic.Bool

	program device.Program
	lacking error
	cache   *Cache
	bytes   int64
	place   *list.Element // in Cache.order; guarded by the cache's lock
	seen    int64         // uses when eviction last looked; likewise
	_       [64]byte
	lanes   [lanes]lane
}

func newEntry(c *Cache, k *device.Key, p device.Program, lacking error) *Entry {
	e := &Entry{cache: c, key: *k, hash: c.hash(k), program: p, lacking: lacking}
	if lacking != nil {
		e.program = nil
		return e
	}
	e.bytes = assumedBytes
	if s, ok := p.(device.Sized); ok {
		e.bytes = s.Bytes()
	}
	return e
}

// Program returns the program, or the status.Unsupported that says why there is none. It is valid until
// Release.
func (e *Entry) Program() (device.Program, error) { return e.program, e.lacking }

// hold adds a reference. The cache's lock is held and the entry is in the cache.
func (e *Entry) hold(on Lane) { e.lanes[on%lanes].taken.Add(1) }

// tryHold is hold without the lock. It fails when the entry has left the cache, because its program may be
// closed already.
//
// Eviction sets the flag first and counts the references then; tryHold counts its reference first and looks
// at the flag then. At least one of the two sees the other, so no program is closed under a reference.
func (e *Entry) tryHold(on Lane) bool {
	e.hold(on)
	if !e.evicted.Load() {
		return true
	}
	e.lanes[on%lanes].taken.Add(-1) // it was no use
	e.closeIfUnused()               // eviction may have counted the reference, and left closing to it
	return false
}

// Hold adds a reference to one that the caller has, on a lane of its own.
func (e *Entry) Hold(on Lane) { e.hold(on) }

// Release gives up a reference; on is the lane on which it was taken.
func (e *Entry) Release(on Lane) {
	e.lanes[on%lanes].released.Add(1)
	if e.evicted.Load() {
		e.closeIfUnused()
	}
}

// uses is how often the entry has been held so far.
func (e *Entry) uses() (n int64) {
	for i := range e.lanes {
		n += e.lanes[i].taken.Load()
	}
	return n
}

// wasUsed reports whether the entry has been held since the last call. The cache's lock is held.
func (e *Entry) wasUsed() bool {
	n := e.uses()
	used := n != e.seen
	e.seen = n
	return used
}

// closeIfUnused closes the program of an entry that has left the cache. While there are references it does
// nothing: the last Release calls it again. No lock is held.
func (e *Entry) closeIfUnused() {
	// Released is counted first: if it equals what is counted as taken later, all had been released.
	released := int64(0)
	for i := range e.lanes {
		released += e.lanes[i].released.Load()
	}
	if released != e.uses() || e.closed.Swap(true) {
		return
	}
	e.cache.forget(e, released)
	if e.program == nil {
		return
	}
	if err := e.program.Close(); err != nil && e.cache.limits.Failed != nil {
		e.cache.limits.Failed(err)
	}
}
