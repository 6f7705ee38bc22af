// Package slot has tables of records that code outside the library refers to by handle. A handle is an integer
// of kind, index and generation, which are checked at every look-up, so that a stale, foreign or invented handle
// finds nothing.
//
// A look-up takes no lock: one atomic load and one compare-and-swap pin a record, and a pinned record stays valid
// until it is unpinned, even if its handle is freed meanwhile. Records are in chunks that never move, and are
// reused; a table never shrinks.
//
// The package does not know what the records are. It is safe for use by any number of goroutines.
package slot

import (
	"sync"
	"sync/atomic"
)

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
	chunks    = 1 << 14 // 16 Mi records a table

	alive    = 1 << 31 // in state: the handle has not been freed
	pinsMask = alive - 1
)

// Table is records of one kind.
type Table[T any] struct {
	kind   uint64
	drop   func(*T)
	chunks [chunks]atomic.Pointer[[chunkSize]record[T]]

	mu   sync.Mutex
	free []uint32 // indices of unused records, last in first out
	size uint32   // records in chunks that exist
	live int64    // records in use

	histories histories // with the build tag invariants: where handles were made and freed
}

// record is a value with its state: generation << 32 | alive | pins. A live handle counts as a pin.
type record[T any] struct {
	state atomic.Uint64
	value T
}

// NewTable makes a table. kind (1 to 15) is part of every handle, so that a handle of another table is refused.
// drop is called with no lock held, by the goroutine that frees the handle or removes the last pin, whichever
// comes later. What it leaves in *T is what the next New returns.
func NewTable[T any](kind uint8, drop func(*T)) *Table[T] {
	return &Table[T]{kind: uint64(kind) << 60, drop: drop}
}

// New takes a record and returns its handle, which keeps the record until Free, and its value, zero or as drop
// left it. It returns 0 and nil when the table is full.
func (t *Table[T]) New() (handle uint64, value *T) {
	index, ok := t.take()
	if !ok {
		return 0, nil
	}
	r := t.at(index)
	generation := r.state.Load()>>32 + 1
	r.state.Store(generation<<32 | alive | 1)
	handle = t.kind | (generation&0xffffffff)<<28 | uint64(index)
	t.histories.begin(handle)
	return handle, &r.value
}

// take takes an unused record, and makes a chunk of new ones where there is none.
func (t *Table[T]) take() (index uint32, ok bool) {
	t.mu.Lock()
	n := len(t.free)
	if n == 0 {
		defer t.mu.Unlock()
		return t.grow()
	}
	index, t.free = t.free[n-1], t.free[:n-1]
	t.live++
	t.mu.Unlock()
	return index, true
}

// grow makes a chunk of records and takes one of them; mu is held.
func (t *Table[T]) grow() (index uint32, ok bool) {
	if t.size == chunks*chunkSize {
		return 0, false
	}
	t.live++
	t.chunks[t.size>>chunkBits].Store(new([chunkSize]record[T]))
	for i := t.size + chunkSize - 1; i > t.size; i-- {
		t.free = append(t.free, i)
	}
	t.size += chunkSize
	return t.size - chunkSize, true
}

// at is a record of a chunk that exists.
func (t *Table[T]) at(index uint32) *record[T] {
	return &t.chunks[index>>chunkBits].Load()[index&(chunkSize-1)]
}

// find is the record that a handle names, nil for a handle that was never given out.
func (t *Table[T]) find(handle uint64) *record[T] {
	index := uint32(handle & (1<<28 - 1))
	if handle>>60<<60 != t.kind || index >= chunks*chunkSize {
		return nil
	}
	chunk := t.chunks[index>>chunkBits].Load()
	if chunk == nil {
		return nil
	}
	return &chunk[index&(chunkSize-1)]
}

// current reports whether a state belongs to a handle that has not been freed.
func current(state, handle uint64) bool {
	return state&alive != 0 && state>>32 == handle>>28&0xffffffff
}

// Pin finds the value of a handle and keeps it until Unpin; nil for an invalid handle.
func (t *Table[T]) Pin(handle uint64) *T {
	r := t.find(handle)
	if r == nil {
		return nil
	}
	for {
		s := r.state.Load()
		if !current(s, handle) {
			return nil
		}
		if r.state.CompareAndSwap(s, s+1) {
			return &r.value
		}
	}
}

// Unpin removes a pin that Pin with the same handle added. The last one drops the record, if its handle has been
// freed.
func (t *Table[T]) Unpin(handle uint64) {
	r := t.find(handle)
	if s := r.state.Add(^uint64(0)); s&(alive|pinsMask) == 0 {
		t.recycle(r, handle)
	}
}

// Free invalidates a handle: no Pin succeeds from now on. It returns false for an invalid handle, so that of two
// concurrent frees one succeeds.
func (t *Table[T]) Free(handle uint64) bool {
	r := t.find(handle)
	if r == nil {
		return false
	}
	for {
		s := r.state.Load()
		if !current(s, handle) {
			return false
		}
		if r.state.CompareAndSwap(s, (s&^alive)-1) {
			t.histories.end(handle)
			if (s-1)&pinsMask == 0 {
				t.recycle(r, handle)
			}
			return true
		}
	}
}

// recycle drops a record without pins and makes it available to New. The generation changes with the next use.
func (t *Table[T]) recycle(r *record[T], handle uint64) {
	t.drop(&r.value)
	t.mu.Lock()
	t.live--
	t.free = append(t.free, uint32(handle&(1<<28-1)))
	t.mu.Unlock()
}

// Live is the number of records in use: the handle has not been freed, or there are pins.
func (t *Table[T]) Live() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}
