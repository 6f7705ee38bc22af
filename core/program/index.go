package program

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/core/device"
)

// index finds the entries of a cache by key: a hash table with open addressing that is read without a
// lock while one writer at a time changes it.
//
// What makes that safe: a slot gets its hash once and keeps it. Removing an entry only empties the slot's
// entry, and a table with too many used slots is replaced as a whole, never rearranged. A reader therefore
// passes over no slot that it needs. What it finds may have been removed since, or sit in a table that has
// been replaced, so Find checks Entry.evicted. What it does not find may have been added since, so a
// negative answer is final only with the cache's lock held.
type index struct {
	table atomic.Pointer[table]
	live  int // entries in the table; guarded by the cache's lock
	used  int // slots with a hash, including those of removed entries; likewise
}

// table is a power of two of slots, of which at most half are used: every search ends at a free one.
type table struct{ slots []slot }

// slot is 16 bytes, four to a cache line.
type slot struct {
	hash  atomic.Uint64 // 0: free
	entry atomic.Pointer[Entry]
}

// smallest is the length of a new table with few entries.
const smallest = 64

func (x *index) init() { x.table.Store(&table{make([]slot, smallest)}) }

// find returns the entry with a key and its hash, or nil.
func (x *index) find(k *device.Key, h uint64) *Entry {
	slots := x.table.Load().slots
	mask := uint64(len(slots) - 1)
	for i := h; ; i++ {
		s := &slots[i&mask]
		switch s.hash.Load() {
		case 0:
			return nil
		case h:
			if e := s.entry.Load(); e != nil && same(&e.key, k) {
				return e
			}
		}
	}
}

// add adds an entry whose key the index does not have.
func (x *index) add(e *Entry) {
	t := x.table.Load()
	if 2*(x.used+1) > len(t.slots) {
		t = x.rebuild(t)
	}
	t.put(e)
	x.live++
	x.used++
}

// rebuild replaces the table by one without removed entries that is at most a quarter full.
func (x *index) rebuild(old *table) *table {
	size := smallest
	for size < 4*(x.live+1) {
		size *= 2
	}
	t := &table{make([]slot, size)}
	for i := range old.slots {
		if e := old.slots[i].entry.Load(); e != nil {
			t.put(e)
		}
	}
	x.used = x.live
	x.table.Store(t)
	return t
}

// put fills the first free slot. The entry is stored first, so that a reader that sees the hash finds it.
func (t *table) put(e *Entry) {
	mask := uint64(len(t.slots) - 1)
	for i := e.hash; ; i++ {
		s := &t.slots[i&mask]
		if s.hash.Load() == 0 {
			s.entry.Store(e)
			s.hash.Store(e.hash)
			return
		}
	}
}

// remove takes an entry out; its slot stays used until the table is replaced.
func (x *index) remove(e *Entry) {
	slots := x.table.Load().slots
	mask := uint64(len(slots) - 1)
	for i := e.hash; ; i++ {
		if s := &slots[i&mask]; s.entry.Load() == e {
			s.entry.Store(nil)
			x.live--
			return
		}
	}
}

// same is ==, in the order in which keys usually differ.
func same(a, b *device.Key) bool {
	return a.Op == b.Op && a.DTypes == b.DTypes && a.Class == b.Class && a.Outs == b.Outs && a.Ins == b.Ins &&
		a.Rest == b.Rest
}

// hash is a hash of a key for this cache, never 0. Each step multiplies to 128 bits and folds the halves,
// as in wyhash (https://github.com/wangyi-fudan/wyhash), so that each bit of the key changes all bits that
// choose a slot. The seed keeps keys from being chosen to collide.
func (c *Cache) hash(k *device.Key) uint64 {
	h := fold(c.mix[0]^uint64(k.Op)<<16^uint64(k.Outs)<<8^uint64(k.Ins), c.mix[1]^k.DTypes[0])
	h = fold(h^k.DTypes[1], c.mix[1]^k.Class)
	rest := uint64(0)
	if k.Rest != "" {
		rest = maphash.String(c.seed, k.Rest)
	}
	// Without this step the high bits of a class would reach a slot through one product alone, whose upper half
	// counts up evenly: for one seed in twenty, classes that differ there filled long runs of slots.
	h = fold(h^rest, c.mix[0])
	return h | 1<<63 // slots are chosen by the lowest bits
}

// fold is the product of two numbers, its upper half folded into the lower one.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
