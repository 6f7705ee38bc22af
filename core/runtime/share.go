package runtime

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Foreign memory: memory that was not allocated by the device, but by another library or by another of our
// devices. Its owner is notified once, when no view is left and every stream has passed its uses.

// Share is a tensor on another device in the same memory: a write through either is visible through the other.
// The storage lives until both are freed. Share waits for the work submitted so far; later each device orders
// only its own work, and a caller that uses both has to synchronize in between. status.Unsupported where the
// device cannot use that memory.
func (t *Tensor) Share(c *Context) (*Tensor, error) {
	from := t.Store
	if c == from.Context {
		return t.Alias()
	}
	if err := c.Supports("share", t.DType); err != nil {
		return nil, err
	}
	if _, err := t.Map(); err != nil {
		return nil, err
	}
	heap, err := c.heapOver(from)
	if err != nil {
		return nil, err
	}
	from.Retain()
	v := t.View
	v.Store = c.Runtime.newStorage(c, from.Base, from.Size)
	v.Store.foreignHeap, v.Store.free = heap, from.Release
	v.Store.Expose()
	return c.Runtime.Adopt(&v)
}

// heapOver makes a heap of the device over the memory of a storage; nil for the CPU, which needs none, and for
// an empty storage.
func (c *Context) heapOver(st *Storage) (device.Heap, error) {
	if c == c.Runtime.CPU || st.Size == 0 {
		return nil, nil
	}
	dev, ok := c.Device.(device.Adopter)
	if !ok {
		return nil, status.Errorf(status.Unsupported, "[share] %s runs on device %s, which cannot use memory of others", c.place, c.info.Backend)
	}
	// SAFETY: the caller holds the storage, whose memory stays where it is.
	return dev.Adopt(unsafe.Slice((*byte)(st.Base), st.Size))
}

// releaseForeign notifies the owner of foreign memory that it is no longer used: at once or, while streams
// still use it, from another goroutine, so that neither the caller that frees the tensor nor a stream waits for
// the owner.
func (st *Storage) releaseForeign() {
	c, l := st.Context, foreignRelease{st.foreignHeap, st.free, slices.Clone(st.pending())}
	if len(l.uses) == 0 {
		l.run(c)
		return
	}
	c.Runtime.releases.Go(func() { l.run(c) })
}

// foreignRelease is foreign memory that is about to be returned to its owner.
type foreignRelease struct {
	heap device.Heap // over the memory, on devices that need one
	free func()      // notifies the owner; may be nil
	uses []alloc.Use // have to pass first
}

// run waits for the uses, closes the heap and notifies the owner, in this order. No caller is left to return an
// error to, so it is logged.
func (l *foreignRelease) run(c *Context) {
	syncAll(l.uses)
	if l.heap != nil {
		if err := l.heap.Close(); err != nil {
			c.Warnf("[share] %s: %v", c.place, err)
		}
	}
	if l.free != nil {
		l.free()
	}
}
