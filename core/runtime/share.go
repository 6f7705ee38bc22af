package runtime

import (
	"slices"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Memory that is not a block of the device: that of another library, or of another of our devices. Its
// owner hears once that it is no longer used, when the views are gone and every stream has passed them.

// Share is the tensor on another device in the memory that it has: writing through either is seen
// through the other. Its storage stays as it is until both are gone. The work so far is waited for; later
// each device orders only its own, and whoever uses both waits in between. status.Unsupported where the
// device cannot work in that memory.
func (t *Tensor) Share(c *Context) (*Tensor, error) {
	from := t.store
	if c == from.ctx {
		return t.Alias()
	}
	if err := c.supports("share", t.dtype); err != nil {
		return nil, err
	}
	if _, err := t.Map(); err != nil {
		return nil, err
	}
	heap, err := c.borrow(from)
	if err != nil {
		return nil, err
	}
	from.retain()
	v := t.view
	v.store = c.rt.newStorage(c, from.base, from.bytes)
	v.store.lent, v.store.free = heap, from.release
	v.store.exposed.Store(true)
	return c.rt.adopt(&v)
}

// borrow makes a heap of the device over the memory of a storage; the CPU needs none, nor does nothing.
func (c *Context) borrow(st *storage) (device.Heap, error) {
	if c == c.rt.cpu || st.bytes == 0 {
		return nil, nil
	}
	dev, ok := c.dev.(device.Adopter)
	if !ok {
		return nil, status.Errorf(status.Unsupported, "[share] %s runs on device %s, which works in no memory but its own", c.place, c.info.Backend)
	}
	// SAFETY: the caller holds the storage, whose memory stays where it is.
	return dev.Adopt(unsafe.Slice((*byte)(st.base), st.bytes))
}

// giveBack tells the owner of foreign memory that it is no longer used: at once, or from a goroutine of
// its own while streams are still at it, because neither whoever frees a tensor nor a stream should wait
// for what an owner does.
func (st *storage) giveBack() {
	c, l := st.ctx, loan{st.lent, st.free, slices.Clone(st.pending())}
	if len(l.uses) == 0 {
		l.repay(c)
		return
	}
	c.rt.owed.Go(func() { l.repay(c) })
}

// loan is foreign memory that is on its way back.
type loan struct {
	heap device.Heap // nil: none
	free func()      // nil: nobody
	uses []alloc.Use // that have to end before
}

func (l *loan) repay(c *Context) {
	syncAll(l.uses)
	if l.heap != nil {
		if err := l.heap.Close(); err != nil {
			c.warn("[share] %s: %v", c.place, err)
		}
	}
	if l.free != nil {
		l.free()
	}
}
