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

// Storage is reference-counted memory: a block of the device, or foreign memory (see share.go).
//
// It has two reference counts, stored as count-1, so that a single owner needs no atomic write. refs counts the
// views; the last one returns the memory. pins counts the holders of the record itself: all views together are
// one, and each call in flight is one, because it stores its failure in the record even after the last view is
// gone.
type Storage struct {
	Context      *Context
	Base         unsafe.Pointer // the lowest address
	Size         int64
	block        *alloc.Block // nil for foreign memory
	foreignHeap  device.Heap  // over foreign memory, on devices that need one
	free         func()       // notifies the owner of foreign memory; may be nil
	Refs         atomic.Int32
	pins         atomic.Int32
	fault        atomic.Pointer[status.Error] // why the contents were not computed; nil where they are valid
	complaint    atomic.Pointer[complaint]    // of a kernel that wrote to it, said once: the contents are what it computed
	ForeignWork  atomic.Bool                  // on a device without queues: streams of another device copy from or to it
	Asked        atomic.Uint64                // the sum of the marks of what began to ask for gradients of this memory, less what ceased; see Ask
	Version      atomic.Uint32                // how often the runtime has written to it since its first contents
	Replaced     atomic.Uint32                // how often a variable of the caller's, which was a view of it, became another tensor
	addressTaken atomic.Bool                  // the address was returned to a caller, who may write at any time
	Strings      []string                     // what the elements are numbers of, of a tensor of strings; else nil
	Displacement int32                        // 1 + the index of the mps device that would have the tensor if it had its dtype; 0: none. See core/eager/displaced.go
	MadeIn       uint64                       // the number of the trace whose function has made it of elements; 0: none
	Traced       TracedMemory                 // of results of calls that were traced and not run: there is no memory

	mu    sync.Mutex
	write alloc.Use   // the last write
	uses  []alloc.Use // the reads since, at most one per stream
}

// A storage of a traced tensor has a size, and neither an address nor a block: see core/trace/alias.go for what it stands for.

// newStorage makes a record with one reference, over foreign memory unless the caller sets block.
func (rt *Runtime) newStorage(c *Context, base unsafe.Pointer, bytes int64) *Storage {
	st := rt.stores.Get().(*Storage)
	st.Context, st.Base, st.Size = c, base, bytes
	return st
}

// Retain adds a view; the caller has one.
func (st *Storage) Retain() { st.Refs.Add(1) }

// Release drops a view's reference. The last one frees the memory: a stream that is the only one to use it
// still can reuse it at once, others when all streams have passed their uses.
func (st *Storage) Release() {
	if !st.dropView() {
		return
	}
	switch {
	case st.block != nil:
		st.Context.memory.Free(st.block, st.pending())
		st.Context.Level()
	case st.free != nil || st.foreignHeap != nil:
		st.releaseForeign()
	}
	st.unpin()
}

// pending lists the uses that have not passed. No view is left, so that no new use can be added.
func (st *Storage) pending() []alloc.Use {
	if st.idle() {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.write.Stream != nil {
		st.uses = append(st.uses, st.write)
	}
	return alloc.Unpassed(st.uses)
}

// dropRef decrements a count that is stored as count-1 and reports whether the holder was the last. A stored 0
// cannot change while its only holder is here, so that it needs no atomic write. Of several holders the one
// that makes it negative is the last; it restores 0 for the next use of the record.
func dropRef(count *atomic.Int32) bool {
	if count.Load() == 0 {
		return true
	}
	if count.Add(-1) >= 0 {
		return false
	}
	count.Store(0)
	return true
}

// A record that goes back to the pool has nothing of its memory left, and all of its counts are those of a new one.

// unpin drops a pin; the last one recycles the record.
func (st *Storage) unpin() {
	if !dropRef(&st.pins) {
		return
	}
	rt := st.Context.Runtime
	st.Context, st.Base, st.block, st.foreignHeap, st.free = nil, nil, nil, nil, nil
	if st.fault.Load() != nil {
		st.fault.Store(nil)
	}
	if st.complaint.Load() != nil {
		st.complaint.Store(nil)
	}
	if st.ForeignWork.Load() || st.addressTaken.Load() {
		st.ForeignWork.Store(false)
		st.addressTaken.Store(false)
	}
	st.Traced, st.Strings, st.MadeIn, st.Displacement = nil, nil, 0, 0
	if st.Version.Load() != 0 {
		st.Version.Store(0)
	}
	if st.Asked.Load() != 0 {
		st.Asked.Store(0)
	}
	if st.Replaced.Load() != 0 {
		st.Replaced.Store(0)
	}
	st.write, st.uses = alloc.Use{}, st.uses[:0]
	rt.stores.Put(st)
}

// failure is why the contents were not computed; nil where they were, or where the work has not run yet. It
// exists because a nil *status.Error is not a nil error.
func (st *Storage) failure() error {
	if e := st.fault.Load(); e != nil {
		return e
	}
	if st.complaint.Load() != nil {
		return st.complaint.Swap(nil).once()
	}
	return nil
}

// View is a tensor without a handle: part of a storage with a dtype and a layout. A copy of a view does not
// count as a reference: code that stores one retains the storage.
type View struct {
	Store  *Storage
	Addr   unsafe.Pointer // of the element with all indices zero
	Offset int64          // of that element in the storage, in elements
	DType  dtype.DType
	shape.Layout
}

// Context is the device of the memory.
func (v *View) Context() *Context { return v.Store.Context }

// Part is another view of the same storage, at an offset in elements from v; it is not retained.
func (v *View) Part(offset int64, l *shape.Layout) View {
	return View{Store: v.Store, Addr: at(v.Addr, offset, v.DType), Offset: v.Offset + offset, DType: v.DType, Layout: *l}
}

// TracedMemory is what a storage without memory stands for in a trace.
type TracedMemory interface {
	// Tracer is the trace that has it.
	Tracer() Tracer
	// Changes is how often the runtime would have written to the memory since its first contents.
	Changes() uint32
	// Identity is one address for what would share memory: see Storage.identity.
	Identity() unsafe.Pointer
	// IsView reports whether it is part of what another traced tensor stands for.
	IsView() bool
}

// TracedError is the error of a read of elements that a traced tensor does not have.
func TracedError(who string) error {
	return status.Errorf(status.Traced, "[%s] got a tensor of a function that is being traced: it has a dtype and a shape, and no elements, also after the trace; want operators (where, for a condition on elements), x.shape or paddle.shape(x) where a size is meant, the value made outside of the function, or what the function returns", who)
}

// Known refuses storages without memory.
func (st *Storage) Known(who string) error {
	if st.Traced != nil {
		return TracedError(who)
	}
	return nil
}

// Changes is how often the runtime has written to the memory, or would have, since its first contents.
func (st *Storage) Changes() uint32 {
	if st.Traced != nil {
		return st.Traced.Changes()
	}
	return st.Version.Load()
}

// SharesWith reports whether two storages are the same memory, or would be.
func (st *Storage) SharesWith(other *Storage) bool {
	return st.identity() == other.identity()
}

// identity is one address for what shares memory, or would.
//
// A captured tensor and the views that were traced of it have that of the tensor's own storage, so that callers who compare
// where tensors lie find them equal, as they are when the calls are run.
func (st *Storage) identity() unsafe.Pointer {
	// SAFETY: addresses to compare, never followed; the records do not move.
	switch {
	case st.Traced != nil:
		return st.Traced.Identity()
	default:
		return unsafe.Pointer(st)
	}
}

// AdoptTraced makes a tensor of a storage without memory, which stands for x in a trace.
func (c *Context) AdoptTraced(x TracedMemory, bytes int64, d dtype.DType, offset int64, l *shape.Layout) (*Tensor, error) {
	store := c.Runtime.newStorage(c, nil, bytes)
	store.Traced = x
	return c.Runtime.Adopt(&View{Store: store, Offset: offset, DType: d, Layout: *l})
}

// Displace marks a storage; 0 is no device.
func (st *Storage) Displace(from int32) {
	if from != 0 {
		st.Displacement = from
		st.Context.Runtime.displaces.Store(true)
	}
}

// Redisplace gives a storage another mark than it has.
func (st *Storage) Redisplace(from int32) {
	st.Displacement = 0
	st.Displace(from)
}

// Disown makes the view one of no storage, whose reference has gone to another owner.
func (v *View) Disown() { v.Store = nil }
