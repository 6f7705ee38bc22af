package runtime

import (
	"sync"
	"unsafe"
)

// A kernel of a user's may reach tensors that are not its arguments: by addresses that the program has asked for and has
// written into a tensor. Such a kernel counts as one that writes all storages of its device whose address was returned to a
// caller. They are ordered, waited for and marked as failed as arguments are, and stay allocated until the call is submitted.

// exposed are the storages of a context whose address was returned to a caller and that have a view, in ascending order of
// address. A storage is dropped under the lock together with its last view, so that one which is listed can be retained.
type exposed struct {
	mu  sync.Mutex
	all []*Storage
}

// Expose notes that the address is returned to a caller, who holds a view. When it returns, the storage is listed, also if another
// goroutine has begun to list it: a kernel may be given the address at once.
func (st *Storage) Expose() {
	if st.addressTaken.Load() {
		return
	}
	x := &st.Context.exposed
	x.mu.Lock()
	defer x.mu.Unlock()
	// A device without queues has no kernels that could find it.
	if !st.addressTaken.Load() && !st.Context.inOrder {
		x.all = append(x.all, st)
		i := x.first(st.Base)
		copy(x.all[i+1:], x.all[i:])
		x.all[i] = st
	}
	// Last, because who reads it without the lock takes the storage for a listed one.
	st.addressTaken.Store(true)
}

// first is the place in the list, but for its last element, of the first storage that does not begin before an address.
func (x *exposed) first(base unsafe.Pointer) int {
	low, high := 0, len(x.all)-1
	for low < high {
		if middle := (low + high) / 2; Address(x.all[middle].Base) < Address(base) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// dropView drops the reference of a view, and reports whether it was the last one. Whether the storage is listed is asked once
// there is no other view: until then the holder of another one may expose it.
func (st *Storage) dropView() bool {
	for others := st.Refs.Load(); others > 0; others = st.Refs.Load() {
		if st.Refs.CompareAndSwap(others, others-1) {
			return false
		}
	}
	if !st.addressTaken.Load() || st.Context.inOrder {
		return true
	}
	x := &st.Context.exposed
	x.mu.Lock()
	defer x.mu.Unlock()
	if !dropRef(&st.Refs) { // hold has retained it meanwhile
		return false
	}
	i := x.first(st.Base)
	for x.all[i] != st { // another one over the same memory
		i++
	}
	n := copy(x.all[i:], x.all[i+1:])
	x.all[i+n] = nil
	x.all = x.all[:i+n]
	return true
}

// HoldExposed lists the storages of the device whose addresses callers have. The caller releases each.
func (c *Context) HoldExposed() []*Storage { return c.exposed.hold() }

// hold lists the storages that have memory. The caller releases each.
func (x *exposed) hold() (all []*Storage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, st := range x.all {
		if st.Size > 0 {
			st.Retain()
			all = append(all, st)
		}
	}
	return all
}

// ReleaseAll releases what HoldExposed has listed.
func ReleaseAll(all []*Storage) {
	for _, st := range all {
		st.Release()
	}
}

// Address is a pointer as a number.
// SAFETY: nothing is read.
func Address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }
