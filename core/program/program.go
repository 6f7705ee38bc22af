// Package program keeps the compiled programs of a device.
//
// A [Cache] finds the program of a call by its key, compiles what it does not have, and lets the
// programs go that nobody has used for long when there are too many or they are too large. An [Entry]
// is a program, or why the device has none; whoever is given one holds it until Release.
//
// The invariant: a program is closed exactly once, as soon as it has left the cache and nobody holds it.
//
// # Cost
//
// A warm look-up takes no lock and writes to no list: it is a load from a small direct-mapped table and
// an addition to a counter. Counters are split into lanes, so that callers who keep to lanes of their own
// do not meet. Which programs are in use is read from the counters when one has to go: those used since
// the last look get a second chance, and the first in order that was not goes. That is as good as an exact
// order of use, which every call would have to write down.
//
// The package does not know how programs are compiled or what they do.
package program

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// What a cache holds where nobody says otherwise. A program with its layout takes an entry, so the number
// is what a training script with many shapes needs, several times over.
const (
	DefaultEntries = 4096
	DefaultBytes   = 256 << 20
)

// Config bounds a cache. One program always stays, however large.
type Config struct {
	Entries int64       // most programs; 0 for DefaultEntries
	Bytes   int64       // most bytes, as far as programs know theirs; 0 for DefaultBytes
	Failed  func(error) // hears of programs that could not be closed; nil: nobody does
}

// Cache is the programs of one device. All methods may be called from any goroutine.
type Cache struct {
	front  [256]atomic.Pointer[Entry]
	seed   maphash.Seed
	limits Config

	mu      sync.Mutex // guards everything below
	all     map[device.Key]*Entry
	order   list.List                    // of *Entry: the first is looked at first when one has to go
	making  map[device.Key]chan struct{} // closed when the compilation is over
	leaving map[*Entry]struct{}          // out of the cache and not closed yet
	bytes   int64
	sums    sums
	base    sums // at the last reset
}

// New makes an empty cache.
func New(c Config) *Cache {
	if c.Entries <= 0 {
		c.Entries = DefaultEntries
	}
	if c.Bytes <= 0 {
		c.Bytes = DefaultBytes
	}
	return &Cache{
		seed: maphash.MakeSeed(), limits: c,
		all: map[device.Key]*Entry{}, making: map[device.Key]chan struct{}{}, leaving: map[*Entry]struct{}{},
	}
}

func (c *Cache) slot(k *device.Key) *atomic.Pointer[Entry] {
	h := uint64(k.Op)*0x9e3779b97f4a7c15 ^ k.DTypes*0xbf58476d1ce4e5b9 ^ k.Class*0x94d049bb133111eb
	if k.Dims != "" {
		h ^= maphash.String(c.seed, k.Dims)
	}
	return &c.front[(h^h>>29)%uint64(len(c.front))]
}

// same is ==, in the order in which keys differ and without a call where they have no Dims.
func same(a, b *device.Key) bool {
	return a.DTypes == b.DTypes && a.Op == b.Op && a.Class == b.Class && (a.Dims == "" && b.Dims == "" || a.Dims == b.Dims)
}

// Find is the entry of a key, held, if it is at hand; nil sends the caller to Get.
func (c *Cache) Find(k *device.Key, on Lane) *Entry {
	e := c.slot(k).Load()
	if e == nil || !same(&e.key, k) {
		return nil
	}
	e.hold(on)
	if e.gone.Load() {
		e.retreat(on)
		return nil
	}
	return e
}

// Get is the entry of a key, held, compiled when there is none yet. Of callers who want the same one
// compiles and the others wait. status.Unsupported is an answer that is kept like a program; any other
// error is returned and forgotten, so that the next caller tries again. compile is called with no lock
// held.
func (c *Cache) Get(k device.Key, on Lane, compile func() (device.Program, error)) (*Entry, error) {
	e, over := c.lookUp(&k, on)
	if e != nil {
		return e, nil
	}
	defer c.made(&k, over)
	began := time.Now()
	p, err := compile()
	e, old := c.add(&k, p, err, time.Since(began), on)
	for _, o := range old {
		o.bury()
	}
	if e == nil {
		return nil, err
	}
	return e, nil
}

// lookUp finds an entry, after waiting for whoever compiles it. Without one the caller is who compiles,
// and says so with made.
func (c *Cache) lookUp(k *device.Key, on Lane) (e *Entry, over chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for missed := false; ; missed = true {
		if e = c.all[*k]; e != nil {
			e.hold(on)
			c.slot(k).Store(e)
			if missed {
				c.sums.late++
			}
			return e, nil
		}
		if !missed {
			c.sums.Misses++
		}
		wait := c.making[*k]
		if wait == nil {
			break
		}
		c.mu.Unlock()
		<-wait
		c.mu.Lock()
	}
	over = make(chan struct{})
	c.making[*k] = over
	return nil, over
}

// made ends a compilation, whatever came of it.
func (c *Cache) made(k *device.Key, over chan struct{}) {
	c.mu.Lock()
	delete(c.making, *k)
	c.mu.Unlock()
	close(over)
}

// add counts a compilation and keeps what came of it, held; nil where that is not worth keeping. The
// entries that had to go are for the caller to bury, when no lock is held.
func (c *Cache) add(k *device.Key, p device.Program, err error, took time.Duration, on Lane) (e *Entry, old []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums.Compilations++
	c.sums.CompileTime += took
	if err != nil {
		c.sums.Failures++
	}
	if err != nil && status.CodeOf(err) != status.Unsupported {
		return nil, nil
	}
	e = newEntry(c, k, p, err)
	e.hold(on)
	e.seen = 1 // that is no use yet
	c.sums.late++
	c.all[*k] = e
	e.place = c.order.PushBack(e)
	c.bytes += e.bytes
	c.slot(k).Store(e)
	return e, c.shrink(e)
}

// shrink takes entries out until the limits are kept; the newest stays. The lock is held.
func (c *Cache) shrink(newest *Entry) (old []*Entry) {
	for looks := 2 * len(c.all); len(c.all) > 1 && c.over(); looks-- {
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

// over reports whether a limit is passed.
func (c *Cache) over() bool { return int64(len(c.all)) > c.limits.Entries || c.bytes > c.limits.Bytes }

// remove takes an entry out; the lock is held and the caller buries it later.
func (c *Cache) remove(e *Entry) {
	delete(c.all, e.key)
	c.order.Remove(e.place)
	c.bytes -= e.bytes
	c.slot(&e.key).CompareAndSwap(e, nil)
	c.leaving[e] = struct{}{}
	e.gone.Store(true)
}

// Clear takes all entries out. What nobody holds is closed when it returns, the rest when its last
// holder lets it go.
func (c *Cache) Clear() {
	c.mu.Lock()
	old := make([]*Entry, 0, len(c.all))
	for _, e := range c.all {
		c.remove(e)
		old = append(old, e)
	}
	c.sums.Cleared += int64(len(old))
	c.mu.Unlock()
	for _, e := range old {
		e.bury()
	}
}
