// Package program keeps the compiled programs of a device.
//
// A [Cache] finds the program of a call by its key, compiles the programs that it lacks, and evicts
// programs that have not been used for long when there are too many or they are too large. An [Entry] is
// a program, or the reason why the device has none. A caller that gets an entry holds a reference to it
// until Release.
//
// The invariant: a program is closed exactly once, as soon as it has left the cache and its last
// reference has been released.
//
// # Cost
//
// A warm look-up takes no lock and writes to no list: it reads an [index] that holds all live entries and
// adds to a counter. Counters are split into lanes, so that callers that keep to lanes of their own do not
// share a cache line. Eviction reads from the counters which programs are in use: those used since the
// last look get a second chance, and the first in order that was not used is evicted. An exact order of
// use would not choose much better, and every call would have to write it down.
//
// The package does not know how programs are compiled or what they do.
package program

import (
	"container/list"
	"hash/maphash"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// The default bounds of a cache. A program with its layout takes an entry, so the number is what a
// training script with many shapes needs, several times over.
const (
	DefaultEntries = 4096
	DefaultBytes   = 256 << 20
)

// Config bounds a cache. The newest program always stays, however large.
type Config struct {
	Entries int64       // most programs; 0 for DefaultEntries
	Bytes   int64       // most bytes, as far as programs know theirs; 0 for DefaultBytes
	Failed  func(error) // is called when a program fails to close; may be nil
}

// Cache is the programs of one device. All methods may be called from any goroutine.
type Cache struct {
	live   index // of all entries; changed only with mu held, read without it
	seed   maphash.Seed
	mix    [2]uint64 // of the seed; see hash
	limits Config

	background sync.WaitGroup // compilations that TryGet started

	mu        sync.Mutex // guards everything below
	order     list.List  // of *Entry; eviction looks at the first one first
	compiling map[device.Key]*Compilation
	leaving   map[*Entry]struct{} // evicted or cleared, and not closed yet
	bytes     int64
	sums      sums
	base      sums // at the last reset
}

// New makes an empty cache.
func New(c Config) *Cache {
	if c.Entries <= 0 {
		c.Entries = DefaultEntries
	}
	if c.Bytes <= 0 {
		c.Bytes = DefaultBytes
	}
	seed := maphash.MakeSeed()
	n := &Cache{
		seed: seed, limits: c,
		mix:       [2]uint64{maphash.String(seed, "first"), maphash.String(seed, "second")},
		compiling: map[device.Key]*Compilation{}, leaving: map[*Entry]struct{}{},
	}
	n.live.init()
	return n
}

// Find returns the entry of a key with a reference for the caller, or nil where the cache has none: then
// the caller turns to Get or TryGet. It takes no lock. Find may overlook an entry that is being added at the
// same time; Get does not.
func (c *Cache) Find(k *device.Key, on Lane) *Entry {
	e := c.live.find(k, c.hash(k))
	if e == nil || !e.tryHold(on) {
		return nil
	}
	return e
}

// Get returns the entry of a key with a reference for the caller. When there is no entry, the caller
// compiles it; callers that want the same entry meanwhile wait. compile is called with no lock held.
//
// status.Unsupported is kept in an entry, like a program. Any other error is returned and forgotten, so
// that the next caller, or one that has been waiting, tries again. A panic of compile is returned as
// status.Internal.
func (c *Cache) Get(k device.Key, on Lane, compile func() (device.Program, error)) (*Entry, error) {
	return c.get(&k, on, compile, false)
}

// TryGet is Get for callers that must not wait. When there is no entry, it starts to compile on another
// goroutine, or joins a compilation under way, and returns that instead of an entry; exactly one of the
// two results is nil. compile may run after TryGet has returned, so everything that it refers to must stay
// valid and unchanged.
func (c *Cache) TryGet(k device.Key, on Lane, compile func() (device.Program, error)) (*Entry, *Compilation) {
	e, job, started := c.lookUp(&k, on, compile, false)
	if started {
		c.background.Go(func() { c.run(job, nil) })
	}
	return e, job
}

// get is Get; missed says that the look-up has been counted as a miss before.
func (c *Cache) get(k *device.Key, on Lane, compile func() (device.Program, error), missed bool) (*Entry, error) {
	for {
		e, job, started := c.lookUp(k, on, compile, missed)
		if e != nil {
			return e, nil
		}
		if started {
			e = c.run(job, &on)
			return e, job.err
		}
		missed = true
		<-job.done
	}
}

// lookUp finds an entry and adds a reference, or finds the compilation under way. With neither it adds a
// compilation, which the caller runs: started is true.
func (c *Cache) lookUp(k *device.Key, on Lane, compile func() (device.Program, error), missed bool) (e *Entry, job *Compilation, started bool) {
	h := c.hash(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.live.find(k, h); e != nil {
		e.hold(on)
		if missed {
			c.sums.notHits++
		}
		return e, nil, false
	}
	if !missed {
		c.sums.Misses++
	}
	if job = c.compiling[*k]; job != nil {
		return nil, job, false
	}
	job = &Compilation{cache: c, key: *k, compile: compile, done: make(chan struct{})}
	c.compiling[*k] = job
	return nil, job, true
}

// Clear removes all entries. Programs without references are closed when it returns, the others with
// their last Release. Compilations under way are not disturbed; their programs enter the cache later.
func (c *Cache) Clear() { c.Discard(func(*device.Key) bool { return true }) }

// Discard is Clear for the entries whose keys match. match is called with the cache's lock held.
func (c *Cache) Discard(match func(*device.Key) bool) {
	c.mu.Lock()
	old := make([]*Entry, 0, c.order.Len())
	for place := c.order.Front(); place != nil; {
		e := place.Value.(*Entry)
		place = place.Next()
		if match(&e.key) {
			c.remove(e)
			old = append(old, e)
		}
	}
	c.sums.Cleared += int64(len(old))
	c.mu.Unlock()
	closeUnused(old)
}

// Close waits for the compilations that TryGet started and clears the cache. No Get or TryGet may be
// running or follow.
func (c *Cache) Close() {
	c.background.Wait()
	c.Clear()
}
