// Package slot keeps records that outsiders name by handle. A handle is an integer: kind, index and
// generation, checked at every look-up, so that a stale, foreign or invented one finds nothing.
//
// Look-up takes no lock: one atomic load and one compare-and-swap pin a record, and a pinned record
// stays valid until it is unpinned even if its handle is freed meanwhile. Records live in chunks that
// never move and are recycled; a table never shrinks.
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
	live int64

	stories stories
}

// record is a value with its state: generation << 32 | alive | pins. A live handle counts as a pin.
type record[T any] struct {
	state atomic.Uint64
	value T
}

// NewTable makes a table. kind (1 to 15) is part of every handle; drop is called, with no lock held,
// when a record's handle has been freed and its last pin is gone; it must leave *T as a zero value.
func NewTable[T any](kind uint8, drop func(*T)) *Table[T] {
	return &Table[T]{kind: uint64(kind) << 60, drop: drop}
}

// New takes a record and returns its handle, which holds the record until Free, and its value, zero
// or as drop left it. A table that is full answers 0 and nil.
func (t *Table[T]) New() (handle uint64, value *T) {
	index, ok := t.take()
	if !ok {
		return 0, nil
	}
	r := t.at(index)
	generation := r.state.Load()>>32 + 1
	r.state.Store(generation<<32 | alive | 1)
	handle = t.kind | (generation&0xffffffff)<<28 | uint64(index)
	t.stories.begin(handle)
	return handle, &r.value
}

func (t *Table[T]) take() (index uint32, ok bool) {
	t.mu.Lock()
	if n := len(t.free); n > 0 {
		index, t.free = t.free[n-1], t.free[:n-1]
		t.live++
		t.mu.Unlock()
		return index, true
	}
	defer t.mu.Unlock()
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

// Pin finds the value of a handle and holds it until Unpin; nil for a handle that is not valid.
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

// Unpin gives back what Pin found; handle is the same.
func (t *Table[T]) Unpin(handle uint64) {
	r := t.find(handle)
	if s := r.state.Add(^uint64(0)); s&(alive|pinsMask) == 0 {
		t.recycle(r, handle)
	}
}

// Free ends a handle: no Pin succeeds from now on. It is false for a handle that is not valid.
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
			t.stories.end(handle)
			if (s-1)&pinsMask == 0 {
				t.recycle(r, handle)
			}
			return true
		}
	}
}

// recycle drops a record that nobody holds.
func (t *Table[T]) recycle(r *record[T], handle uint64) {
	t.drop(&r.value)
	t.mu.Lock()
	t.live--
	t.free = append(t.free, uint32(handle&(1<<28-1)))
	t.mu.Unlock()
}

// Live is the number of records whose handle or pins hold them.
func (t *Table[T]) Live() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// Each pins every valid handle in turn and calls f, until f is false. Handles made or freed
// meanwhile may or may not be seen.
func (t *Table[T]) Each(f func(handle uint64, value *T) bool) {
	t.mu.Lock()
	size := t.size
	t.mu.Unlock()
	for i := range size {
		s := t.at(i).state.Load()
		handle := t.kind | (s>>32)<<28 | uint64(i)
		if s&alive == 0 {
			continue
		}
		if v := t.Pin(handle); v != nil {
			more := f(handle, v)
			t.Unpin(handle)
			if !more {
				return
			}
		}
	}
}
