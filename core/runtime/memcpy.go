package runtime

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Copies between tensors, places and host memory. All memory is visible to the CPU, so a copy from or
// to memory of the caller waits for the work behind the tensor and then moves bytes; strided views are
// gathered and scattered by the CPU device's own copy. A copy from place to place is work of a stream
// like any other: it keeps its source until it is done, and whoever reads the result waits for it.

// Read copies the elements, in row-major order, to dst, which has exactly their size. It waits for
// the work that the tensor depends on and returns why that failed.
func (t *Tensor) Read(dst []byte) error {
	if err := t.sized(len(dst)); err != nil {
		return err
	}
	if err := t.store.settle(false); err != nil {
		return err
	}
	if len(dst) == 0 {
		return nil
	}
	t.store.ctx.copies.count(int64(len(dst)))
	if t.IsContiguous() {
		copy(dst, t.bytes())
		return nil
	}
	rt := t.store.ctx.rt
	to := rt.foreign(dst, t)
	defer to.store.release()
	return rt.cpu.main.copy(&t.view, &to)
}

// Write copies src, the elements in row-major order, into the tensor. It waits for the work that
// still reads or writes the tensor.
func (t *Tensor) Write(src []byte) error {
	if err := t.sized(len(src)); err != nil {
		return err
	}
	if err := writable("write", &t.view); err != nil {
		return err
	}
	t.store.settle(true) // what failed before is overwritten
	if len(src) == 0 {
		return nil
	}
	t.store.ctx.copies.count(int64(len(src)))
	if t.IsContiguous() {
		copy(t.bytes(), src)
		if int64(len(src)) == t.store.bytes {
			t.store.fault.Store(nil)
		}
		return nil
	}
	rt := t.store.ctx.rt
	from := rt.foreign(src, t)
	defer from.store.release()
	return rt.cpu.main.copy(&from, &t.view)
}

// sized checks a number of bytes against the tensor's.
func (t *Tensor) sized(n int) error {
	if want := t.Numel() * t.dtype.Size(); int64(n) != want {
		return status.Errorf(status.Invalid, "[memcpy] got %d bytes for a %s tensor of shape %s; want %d", n, t.dtype, &t.Shape, want)
	}
	return nil
}

// bytes is the memory of a contiguous view.
func (v *view) bytes() []byte {
	// SAFETY: the caller holds the storage, and a contiguous view lies within it.
	return unsafe.Slice((*byte)(v.addr), v.Numel()*v.dtype.Size())
}

// foreign is host memory as a contiguous view like t, on the CPU.
func (rt *Runtime) foreign(b []byte, t *Tensor) view {
	// SAFETY: the bytes are used only while the caller of Read or Write holds them.
	p := unsafe.Pointer(unsafe.SliceData(b))
	return view{store: rt.newStorage(rt.cpu, p, int64(len(b))), addr: p, dtype: t.dtype, Layout: shape.Contiguous(t.Shape)}
}

// Map is the address of the first element as the CPU sees it, once the work that reads or writes the
// tensor has finished. It stays valid while the tensor does.
func (t *Tensor) Map() (unsafe.Pointer, error) {
	if err := t.store.settle(true); err != nil {
		return nil, err
	}
	t.store.exposed.Store(true)
	return t.addr, nil
}

// To is the tensor on a device: a copy, or with copy false the same view under another handle when
// it lives there already. The copy may not be done yet when To returns.
func (t *Tensor) To(c *Context, copy bool, on *Stream) (*Tensor, error) {
	rt := t.store.ctx.rt
	if c == t.store.ctx {
		if !copy {
			return t.Alias()
		}
		v, err := c.pick(on).contiguous(&t.view)
		if err != nil {
			return nil, err
		}
		return rt.adopt(&v)
	}
	if err := c.supports("to", t.dtype); err != nil {
		return nil, err
	}
	s := t.carrier(c, on)
	v, err := c.empty("to", t.dtype, &t.Shape, s)
	if err != nil {
		return nil, err
	}
	u, err := rt.adopt(&v)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Numel() == 0:
	case s == nil:
		c.copies.count(v.store.bytes) // the other side counts in Read
		err = t.Read(v.bytes())
	default:
		err = s.carry(&t.view, &v)
	}
	if err != nil {
		rt.Free(u.handle)
		return nil, err
	}
	return u, nil
}

// carrier is the stream that copies the tensor to another device: one of the side that has queues. It
// is nil where the caller copies, because both sides have or none has, or because the source is memory
// that others can write to before the stream comes to it.
func (t *Tensor) carrier(c *Context, on *Stream) *Stream {
	from := t.store.ctx
	switch {
	case from.inOrder == c.inOrder:
		return nil
	case c.inOrder:
		return from.pick(on)
	case t.store.block == nil || t.store.exposed.Load():
		return nil
	}
	return c.pick(on)
}

// carry submits a copy between two devices; the target is contiguous.
func (s *Stream) carry(from, to *view) error {
	if !from.IsContiguous() {
		whole, err := from.store.ctx.pick(s).contiguous(from)
		if err != nil {
			return err
		}
		defer whole.store.release()
		from = &whole
	}
	l := s.ctx.rt.newLaunch(s.ctx, s)
	l.readView(from)
	l.write(to)
	from.store.ctx.copies.count(to.store.bytes)
	to.store.ctx.copies.count(to.store.bytes)
	return l.dispatch(nil)
}

// copies counts the copies of elements between the memory of a device and that of the caller or of
// another device.
type copies struct{ calls, bytes atomic.Int64 }

func (n *copies) count(bytes int64) {
	n.calls.Add(1)
	n.bytes.Add(bytes)
}

// CopyCount is how often elements have been copied between the device's memory and the caller's or another
// device's, and how many bytes that were. What operators copy within the device does not count.
func (c *Context) CopyCount() (calls, bytes int64) {
	return c.copies.calls.Load(), c.copies.bytes.Load()
}

// scalarValue reads a 0-d CPU tensor.
func (t *Tensor) scalarValue() (op.Value, error) {
	var b [8]byte
	if err := t.Read(b[:t.dtype.Size()]); err != nil {
		return op.Value{}, err
	}
	raw := uint64(0)
	for i, x := range b {
		raw |= uint64(x) << (8 * i)
	}
	shift := 64 - 8*t.dtype.Size()
	switch t.dtype {
	case dtype.Float64:
		return op.Value{Kind: op.Float, F: math.Float64frombits(raw)}, nil
	case dtype.Float32:
		return op.Value{Kind: op.Float, F: float64(math.Float32frombits(uint32(raw)))}, nil
	case dtype.Float16:
		return op.Value{Kind: op.Float, F: float64(dtype.F16ToF32(uint16(raw)))}, nil
	case dtype.BFloat16:
		return op.Value{Kind: op.Float, F: float64(dtype.BF16ToF32(uint16(raw)))}, nil
	case dtype.Bool:
		return op.Value{Kind: op.Bool, I: int64(raw)}, nil
	case dtype.Uint8:
		return op.Value{Kind: op.Int, I: int64(raw)}, nil
	}
	return op.Value{Kind: op.Int, I: int64(raw<<shift) >> shift}, nil
}
