package runtime

import (
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Tensor is a view with a handle, which keeps it alive: Free ends both. A caller that uses a *Tensor while another
// goroutine may free its handle acquires it first.
type Tensor struct {
	View
	handle      uint64
	IsView      bool                    // made as a view of another tensor
	hidden      bool                    // no caller has the handle: see hide and withHistory
	ViewOrigin  *Origin                 // of a view, from when it is made until it is dropped
	SeenState   atomic.Uint64           // the state of the origin that the history is of
	own         atomic.Pointer[Origin]  // of a tensor that views were made of, and of further handles of it
	History     atomic.Pointer[History] // of tensors that ask for gradients
	ChangedFrom atomic.Pointer[History] // what the tensor was before it changed in place, if it was to retain its gradient
	weak        *History                // what the tensor is without keeping it: see Weak
}

// Adopt makes a tensor of a view and takes over its reference to the storage. On an error the reference is
// released.
func (rt *Runtime) Adopt(v *View) (*Tensor, error) {
	h, t := rt.tensors.New()
	if t == nil {
		v.Store.Release()
		return nil, tooManyTensors(rt)
	}
	t.View, t.handle = *v, h
	return t, nil
}

// drop clears a tensor whose handle and references are gone, and releases its storage.
func (t *Tensor) drop() {
	st := t.Store
	t.Store, t.Addr, t.handle, t.IsView = nil, nil, 0, false
	if o := t.Origin(); o != nil { // first, because its other views keep their histories
		if t.ViewOrigin != nil && t.History.Load() != nil {
			o.asked.Add(-1)
		}
		if t.ViewOrigin = nil; t.own.Load() != nil {
			t.own.Store(nil)
		}
		if t.SeenState.Load() != 0 {
			t.SeenState.Store(0)
		}
		o.Release()
	}
	if t.History.Load() != nil {
		t.ForgetHistory()
	}
	t.hidden, t.weak = false, nil
	st.Release()
}

// Acquire returns the tensor of a handle and keeps it alive until Release; nil for an invalid handle.
func (rt *Runtime) Acquire(handle uint64) *Tensor { return rt.tensors.Pin(handle) }

// Release ends what Acquire began.
func (t *Tensor) Release() { t.Store.Context.Runtime.tensors.Unpin(t.handle) }

// Free invalidates a handle and drops its reference; false for an invalid handle. It does not wait for the work
// on the tensor.
func (rt *Runtime) Free(handle uint64) bool { return rt.tensors.Free(handle) }

// FreeAll frees tensors; nil is none.
func (rt *Runtime) FreeAll(list []*Tensor) {
	for _, t := range list {
		if t != nil {
			rt.Free(t.handle)
		}
	}
}

// Handle is the integer that identifies the tensor outside the runtime.
func (t *Tensor) Handle() uint64 { return t.handle }

// Place is where the tensor lives. The index of the CPU is 1 + that of the mps device from which a tensor is displaced.
func (t *Tensor) Place() place.Place {
	p := t.Store.Context.place
	p.Index += t.Store.Displacement
	return p
}

// StorageID is equal for views of one storage and different for storages that are alive at the same time. It is
// reused when a storage is freed.
func (t *Tensor) StorageID() uint64 {
	// SAFETY: a number, never turned back into a pointer; records do not move.
	return uint64(uintptr(t.Store.identity()))
}

// Empty makes a contiguous tensor whose elements are undefined, for use on a stream (nil: the default one).
func (rt *Runtime) Empty(c *Context, d dtype.DType, s shape.Shape, on *Stream) (*Tensor, error) {
	v, err := c.EmptyView("empty", d, &s, c.StreamFor(on))
	if err != nil {
		return nil, err
	}
	return rt.Adopt(&v)
}

// FromHost makes a tensor with a copy of src, the elements in row-major order. It takes memory that no stream
// uses, so that it waits for none.
func (rt *Runtime) FromHost(c *Context, d dtype.DType, s shape.Shape, src []byte) (*Tensor, error) {
	v, err := c.EmptyView("tensor", d, &s, nil)
	if err != nil {
		return nil, err
	}
	t, err := rt.Adopt(&v)
	if err != nil {
		return nil, err
	}
	if err := t.Write(src); err != nil {
		rt.Free(t.handle)
		return nil, err
	}
	t.Store.Version.Store(0) // these are the first contents
	return t, nil
}

// Import makes a CPU tensor over foreign memory, without a copy. addr is the element with all indices zero, and any
// address where there are no elements. The memory stays valid until free, which may be nil, is called: once, from any
// goroutine, when the last view is gone and no stream uses it; not when Import fails.
func (rt *Runtime) Import(d dtype.DType, l shape.Layout, addr unsafe.Pointer, free func()) (*Tensor, error) {
	if !d.Valid() {
		return nil, status.Errorf(status.Type, "[tensor] got dtype %d; want one of the C header", d)
	}
	bytes, err := l.Bytes(d.Size())
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[tensor] %s", err)
	}
	if addr == nil && bytes > 0 {
		return nil, status.Errorf(status.Invalid, "[tensor] got null data for shape %s; want an address", &l.Shape)
	}
	if bytes > 0 && uintptr(addr)%uintptr(d.Align()) != 0 { // SAFETY: only its alignment is looked at.
		return nil, status.Errorf(status.Invalid, "[tensor] the address of %s data is not aligned; want a multiple of %d", d, d.Align())
	}
	store := rt.newStorage(rt.CPU, addr, bytes)
	if low, high, ok := l.Extent(); ok {
		store.Base, store.Size = at(addr, low, d), (high-low+1)*d.Size()
	}
	v := View{Store: store, Addr: addr, DType: d, Layout: l}
	t, err := rt.Adopt(&v)
	if err != nil {
		return nil, err
	}
	store.free = free // set last: a failed import must not notify the owner
	return t, nil
}

// Alias makes another handle of the same view, which asks for no gradient.
func (t *Tensor) Alias() (*Tensor, error) { return t.ShareView(&t.View) }

// Again is Same for a handle that goes on to be the same tensor: each has the history that a write through the other gives it.
func (t *Tensor) Again() (*Tensor, error) {
	if Differentiable(t.DType) && t.weak == nil { // a weak handle keeps no history, and an origin does
		t.EnsureOrigin()
	}
	return t.Same()
}

// ReplacedBy notes that a variable of the caller's which held t holds u from now on: what was captured as t is another tensor then.
func (t *Tensor) ReplacedBy(u *Tensor) {
	if t.Store != u.Store || t.Offset != u.Offset || t.Layout != u.Layout || t.DType != u.DType {
		t.Store.Replaced.Add(1)
	}
}

// Same makes another handle of the same tensor: it asks for gradients where the tensor does.
func (t *Tensor) Same() (*Tensor, error) {
	t.LatestHistory()
	return t.SameAsSeen()
}

// SameAsSeen is Same without a look at what other tensors of the origin have written: the new handle looks when it is used. It takes
// no lock of a node, and calls nothing of the caller's, so that holders of one may use it.
func (t *Tensor) SameAsSeen() (*Tensor, error) {
	same, err := t.Alias()
	if err != nil {
		return nil, err
	}
	if o := t.Origin(); o != nil && t.weak == nil {
		seen := t.SeenState.Load() // before the history, which may be newer
		same.IsView = t.IsView
		same.JoinOrigin(o, t.ViewOrigin == nil)
		same.SeenState.Store(seen)
	}
	h := t.holdSeen()
	if h == nil && t.weak != nil && t.weak.Node.Retain() {
		h = t.weak
	}
	if h != nil {
		watched()
		same.exchange(h)
	}
	return same, nil
}

// Weak makes another handle of the same view, which asks for no gradient and does not keep what the tensor was computed from. Same
// of it is the tensor again as long as something else does. A function that is kept by its results keeps them so, for its gradient.
func (t *Tensor) Weak() (*Tensor, error) {
	same, err := t.Alias()
	if err == nil {
		same.weak = t.History.Load()
	}
	return same, err
}

// ShareView makes a tensor of a view of the same storage.
func (t *Tensor) ShareView(v *View) (*Tensor, error) {
	v.Store.Retain()
	return v.Store.Context.Runtime.Adopt(v)
}

// Traced reports whether the tensor has no elements, because the call that makes it was traced.
func (t *Tensor) Traced() bool { return t.Store.Traced != nil }

// Differentiable reports whether tensors of a dtype have gradients. That of a complex number has the derivative with respect
// to its real part as its real part, and that to its imaginary part as its imaginary part.
func Differentiable(d dtype.DType) bool { return d.IsFloat() || d.IsComplex() }

func tooManyTensors(rt *Runtime) error {
	return status.Errorf(status.OutOfMemory, "[tensor] %d tensors are alive; want fewer (free some first)", rt.tensors.Live())
}

// Operand is an input of a call: a tensor, or a scalar; with neither it is an optional input that is left out.
type Operand struct {
	Tensor *Tensor
	Value  op.Value
}

// IsAlone reports whether no other tensor shares the memory, and each element has its own.
func (t *Tensor) IsAlone() bool {
	return t.Store.Refs.Load() == 0 && t.IsContiguous() && t.Store.Traced == nil
}

// Displace marks a tensor of the CPU that was just made and shares its memory with none as displaced from the mps device with an
// index; nothing for a tensor that is elsewhere.
func (t *Tensor) Displace(index int32) {
	if t.Store.Context.place.Kind == place.CPUKind {
		t.Store.Displace(1 + index)
	}
}
