package runtime

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// storage is counted memory: a block of the device, or memory of somebody else (see share.go).
//
// Two counts, each of what there is beyond one, so that a record with one holder costs no atomic
// writes: refs are the views that can reach it; when they are gone the memory goes back. pins are
// whoever holds the record itself, which calls in flight do to report failures after the last view
// is gone; the views together are one of them.
type storage struct {
	ctx     *Context
	base    unsafe.Pointer // the lowest address
	bytes   int64
	block   *alloc.Block // nil for foreign memory
	lent    device.Heap  // over foreign memory, on devices that want one
	free    func()       // tells the owner of foreign memory
	refs    atomic.Int32
	pins    atomic.Int32
	fault   atomic.Pointer[status.Error] // why the contents were never computed
	late    atomic.Bool                  // of a device without queues: streams of another copy from or to it
	exposed atomic.Bool                  // somebody outside has the address and may write at any time

	mu    sync.Mutex
	write alloc.Use   // the last write
	uses  []alloc.Use // reads since, at most one a stream
}

// newStorage makes a record with one reference.
func (rt *Runtime) newStorage(c *Context, base unsafe.Pointer, bytes int64) *storage {
	st := rt.stores.Get().(*storage)
	st.ctx, st.base, st.bytes = c, base, bytes
	return st
}

func (st *storage) retain() { st.refs.Add(1) }

// release drops a view's reference; the last one gives the memory back, to be reused at once on the
// only stream that still uses it, and elsewhere when all streams have passed.
func (st *storage) release() {
	if !lastOf(&st.refs) {
		return
	}
	switch {
	case st.block != nil:
		st.ctx.memory.Free(st.block, st.pending())
	case st.free != nil || st.lent != nil:
		st.giveBack()
	}
	st.unpin()
}

// pending lists what streams still do with the storage; nobody else can reach it any more.
func (st *storage) pending() []alloc.Use {
	if st.settled() {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.write.Stream != nil {
		st.uses = append(st.uses, st.write)
	}
	return latest(st.uses)
}

// latest keeps the highest ticket of each stream that has not passed it.
func latest(uses []alloc.Use) []alloc.Use {
	kept := uses[:0]
next:
	for _, u := range uses {
		if u.Stream.Done() >= u.Ticket {
			continue
		}
		for i := range kept {
			if kept[i].Stream == u.Stream {
				kept[i].Ticket = max(kept[i].Ticket, u.Ticket)
				continue next
			}
		}
		kept = append(kept, u)
	}
	return kept
}

// lastOf gives up one holder and reports whether it was the last. A count of 0 cannot change under
// its only holder; among several the one that goes below 0 is the last and leaves 0 behind.
func lastOf(count *atomic.Int32) bool {
	if count.Load() == 0 {
		return true
	}
	if count.Add(-1) >= 0 {
		return false
	}
	count.Store(0)
	return true
}

// unpin drops a pin; the last one recycles the record.
func (st *storage) unpin() {
	if !lastOf(&st.pins) {
		return
	}
	rt := st.ctx.rt
	st.ctx, st.base, st.block, st.lent, st.free = nil, nil, nil, nil, nil
	if st.fault.Load() != nil {
		st.fault.Store(nil)
	}
	if st.late.Load() || st.exposed.Load() {
		st.late.Store(false)
		st.exposed.Store(false)
	}
	st.write, st.uses = alloc.Use{}, st.uses[:0]
	rt.stores.Put(st)
}

// failure is why the contents were never computed, nil when they were or still may be.
func (st *storage) failure() error {
	if e := st.fault.Load(); e != nil {
		return e
	}
	return nil
}

// view is a tensor without a handle: part of a storage under a dtype and a layout. Copying one does
// not count; whoever keeps a view retains its storage.
type view struct {
	store  *storage
	addr   unsafe.Pointer // of the element with all indices zero
	offset int64          // that element in its storage, in elements
	dtype  dtype.DType
	shape.Layout
}

// part is another view of the same storage.
func (v *view) part(offset int64, l *shape.Layout) view {
	return view{store: v.store, addr: at(v.addr, offset, v.dtype), offset: v.offset + offset, dtype: v.dtype, Layout: *l}
}

// span is the range of addresses that a view touches, end exclusive; empty views touch none.
func (v *view) span() (start, end uintptr) {
	low, high, ok := v.Extent()
	if !ok {
		return 0, 0
	}
	size := v.dtype.Size()
	// SAFETY: only compared, never turned back into a pointer.
	p := uintptr(v.addr)
	return p + uintptr(low*size), p + uintptr((high+1)*size)
}

// overlaps reports whether two views share memory.
func (v *view) overlaps(w *view) bool {
	a, b := v.span()
	c, d := w.span()
	return a < d && c < b
}
