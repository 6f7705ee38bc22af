package program

import (
	"container/list"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// lanes is how many callers may hold an entry side by side without meeting in a counter; a power of two.
const lanes = 8

// Lane says which of an entry's counters a caller uses; any number will do. Callers that run at the
// same time should have different ones.
type Lane uint8

// lane counts the holders that came and those that went. It fills a cache line.
type lane struct {
	begun, ended atomic.Int64
	_            [48]byte
}

// assumed is what a program counts for that does not know its size: a pipeline and its text.
const assumed = 16 << 10

// Entry is a program, or why the device has none.
type Entry struct {
	cache   *Cache
	key     device.Key
	program device.Program
	lacking error
	bytes   int64
	place   *list.Element // in the order; the cache's lock guards it
	seen    int64         // uses at the last look; likewise

	gone   atomic.Bool // out of the cache
	buried atomic.Bool
	_      [64]byte // what all look at is not beside what one of them counts in
	lanes  [lanes]lane
}

func newEntry(c *Cache, k *device.Key, p device.Program, lacking error) *Entry {
	e := &Entry{cache: c, key: *k, program: p, lacking: lacking}
	if lacking != nil {
		e.program = nil
		return e
	}
	e.bytes = assumed
	if s, ok := p.(device.Sized); ok {
		e.bytes = s.Bytes()
	}
	return e
}

// Program is the program, or the status.Unsupported that says why there is none. It is valid until
// Release.
func (e *Entry) Program() (device.Program, error) { return e.program, e.lacking }

// hold adds a holder. Without the cache's lock the entry may have left the cache meanwhile: whoever takes
// it out first says so and then counts, and a holder first counts and then looks, so that one of the two
// notices the other. A holder who came too late retreats.
func (e *Entry) hold(on Lane) { e.lanes[on%lanes].begun.Add(1) }

// retreat takes a hold back that came too late.
func (e *Entry) retreat(on Lane) {
	e.lanes[on%lanes].begun.Add(-1)
	e.bury()
}

// Release ends a hold; on is the lane of its beginning.
func (e *Entry) Release(on Lane) {
	e.lanes[on%lanes].ended.Add(1)
	if e.gone.Load() {
		e.bury()
	}
}

// uses is how often the entry has been held so far.
func (e *Entry) uses() (n int64) {
	for i := range e.lanes {
		n += e.lanes[i].begun.Load()
	}
	return n
}

// wasUsed reports whether somebody has held the entry since it was last asked. The cache's lock is held.
func (e *Entry) wasUsed() bool {
	n := e.uses()
	used := n != e.seen
	e.seen = n
	return used
}

// bury closes the program of an entry that has left the cache, unless somebody still holds it, who will
// then bury it. No lock is held.
func (e *Entry) bury() {
	ended := int64(0) // counted first: equal to those who had begun later on, it means that all had ended
	for i := range e.lanes {
		ended += e.lanes[i].ended.Load()
	}
	if ended != e.uses() || e.buried.Swap(true) {
		return
	}
	e.cache.forget(e, ended)
	if e.program == nil {
		return
	}
	if err := e.program.Close(); err != nil && e.cache.limits.Failed != nil {
		e.cache.limits.Failed(err)
	}
}
