package runtime

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Tensor is a view with a handle. Tensors that the runtime returns are held by their handle alone:
// a caller that keeps using the *Tensor itself acquires it first.
type Tensor struct {
	view
	handle uint64
}

// adopt gives a view a handle; the view's reference to its storage moves to the tensor.
func (rt *Runtime) adopt(v *view) (*Tensor, error) {
	h, t := rt.tensors.New()
	if t == nil {
		v.store.release()
		return nil, tooMany(rt)
	}
	t.view, t.handle = *v, h
	return t, nil
}

func tooMany(rt *Runtime) error {
	return status.Errorf(status.OutOfMemory, "[tensor] too many tensors are alive (%d)", rt.tensors.Live())
}

// drop ends a tensor that nobody holds any more.
func (t *Tensor) drop() {
	st := t.store
	t.store, t.addr, t.handle = nil, nil, 0
	st.release()
}

// Acquire finds and holds the tensor of a handle until Release; nil for a handle that is not valid.
func (rt *Runtime) Acquire(handle uint64) *Tensor { return rt.tensors.Pin(handle) }

// Release gives back what Acquire found.
func (t *Tensor) Release() { t.store.ctx.rt.tensors.Unpin(t.handle) }

// Free ends a handle; false for one that is not valid.
func (rt *Runtime) Free(handle uint64) bool { return rt.tensors.Free(handle) }

// Handle is the integer that names the tensor outside.
func (t *Tensor) Handle() uint64 { return t.handle }

// DType is the element type.
func (t *Tensor) DType() dtype.DType { return t.dtype }

// Place is where the tensor lives.
func (t *Tensor) Place() place.Place { return t.store.ctx.place }

// Context is the device that the tensor lives on.
func (t *Tensor) Context() *Context { return t.store.ctx }

// Offset is the first element's position in the storage, in elements.
func (t *Tensor) Offset() int64 { return t.offset }

// StorageID is equal for views of one storage and different for others alive at the same time.
func (t *Tensor) StorageID() uint64 {
	// SAFETY: a number, never turned back into a pointer; records do not move.
	return uint64(uintptr(unsafe.Pointer(t.store)))
}

// Empty makes a contiguous tensor whose elements are not defined.
func (rt *Runtime) Empty(c *Context, d dtype.DType, s shape.Shape, on *Stream) (*Tensor, error) {
	v, err := c.empty("empty", d, &s, c.pick(on))
	if err != nil {
		return nil, err
	}
	return rt.adopt(&v)
}

// FromHost makes a tensor with a copy of src, its elements in row-major order. Its memory is in use by
// no stream, so this waits for none.
func (rt *Runtime) FromHost(c *Context, d dtype.DType, s shape.Shape, src []byte) (*Tensor, error) {
	v, err := c.empty("tensor", d, &s, nil)
	if err != nil {
		return nil, err
	}
	t, err := rt.adopt(&v)
	if err != nil {
		return nil, err
	}
	if err := t.Write(src); err != nil {
		rt.Free(t.handle)
		return nil, err
	}
	return t, nil
}

// Import makes a CPU tensor over memory of somebody else, without a copy. addr is the element with
// all indices zero. free, which may be nil, is called once, from any goroutine, when the last view is
// gone; not when Import fails.
func (rt *Runtime) Import(d dtype.DType, l shape.Layout, addr unsafe.Pointer, free func()) (*Tensor, error) {
	if !d.Valid() {
		return nil, status.Errorf(status.Type, "[tensor] dtype %d is unknown", d)
	}
	bytes, err := l.Bytes(d.Size())
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[tensor] %s", err)
	}
	if addr == nil && bytes > 0 {
		return nil, status.Errorf(status.Invalid, "[tensor] data is null for shape %s", &l.Shape)
	}
	if uintptr(addr)%uintptr(d.Size()) != 0 { // SAFETY: only its alignment is looked at.
		return nil, status.Errorf(status.Invalid, "[tensor] data of %s lies at an address that is not a multiple of %d", d, d.Size())
	}
	store := rt.newStorage(rt.cpu, addr, bytes)
	if low, high, ok := l.Extent(); ok {
		store.base, store.bytes = at(addr, low, d), (high-low+1)*d.Size()
	}
	v := view{store: store, addr: addr, dtype: d, Layout: l}
	t, err := rt.adopt(&v)
	if err != nil {
		return nil, err
	}
	store.free = free // only now: a failed import must not tell the owner
	return t, nil
}

// Alias makes another handle to the same view.
func (t *Tensor) Alias() (*Tensor, error) { return t.share(&t.view) }

// share makes a handle to a view of the tensor's storage.
func (t *Tensor) share(v *view) (*Tensor, error) {
	v.store.retain()
	return v.store.ctx.rt.adopt(v)
}
