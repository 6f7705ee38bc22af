package runtime

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Copies between tensors, places and host memory. All memory is visible to the CPU, so a copy from or to
// memory of the caller waits for the work on the tensor and then copies bytes; strided views are gathered and
// scattered by the CPU device's assign operator. A copy from one place to another is work on a stream like any
// other: it holds its source until it is complete, and readers of the result wait for it.

// Read copies the elements, in row-major order, to dst, which has exactly their size in bytes. It waits for the
// work that computes the tensor. If that failed, Read returns its error and leaves dst unchanged, as often as it
// is called.
func (t *Tensor) Read(dst []byte) error {
	if err := t.Store.Known("read"); err != nil {
		return err
	}
	if err := t.checkBytes(len(dst)); err != nil {
		return err
	}
	if err := t.Store.Wait(false); err != nil {
		return err
	}
	if len(dst) == 0 {
		return nil
	}
	t.Store.Context.copies.count(int64(len(dst)))
	defer t.Store.Context.copied("read", int64(len(dst)))()
	if t.IsContiguous() {
		copy(dst, t.Memory())
		return nil
	}
	rt := t.Store.Context.Runtime
	to := rt.HostView(dst, t.DType, &t.Shape)
	defer to.Store.Release()
	return rt.CPU.main.copy(&t.View, &to)
}

// Write copies src, the elements in row-major order, into the tensor. It waits for the work that
// still reads or writes the tensor.
func (t *Tensor) Write(src []byte) error {
	if err := t.checkBytes(len(src)); err != nil {
		return err
	}
	if err := Writable("write", &t.View); err != nil {
		return err
	}
	if err := t.Store.Known("write"); err != nil {
		return err
	}
	t.Store.Wait(true) // an earlier failure does not matter: it is overwritten
	t.Store.Version.Add(1)
	if len(src) == 0 {
		return nil
	}
	t.Store.Context.copies.count(int64(len(src)))
	defer t.Store.Context.copied("write", int64(len(src)))()
	if t.IsContiguous() {
		copy(t.Memory(), src)
		if int64(len(src)) == t.Store.Size {
			t.Store.fault.Store(nil)
		}
		return nil
	}
	rt := t.Store.Context.Runtime
	from := rt.HostView(src, t.DType, &t.Shape)
	defer from.Store.Release()
	return rt.CPU.main.copy(&from, &t.View)
}

// checkBytes refuses a buffer of n bytes whose size is not that of the elements.
func (t *Tensor) checkBytes(n int) error {
	if want := t.Numel() * t.DType.Size(); int64(n) != want {
		return status.Errorf(status.Invalid, "[memcpy] got %d bytes for a %s tensor of shape %s; want %d", n, t.DType, &t.Shape, want)
	}
	return nil
}

// Memory is the memory of a contiguous view.
func (v *View) Memory() []byte {
	// SAFETY: the caller holds the storage, and a contiguous view lies within it.
	return unsafe.Slice((*byte)(v.Addr), v.Numel()*v.DType.Size())
}

// HostView is host memory as a contiguous view on the CPU. The caller keeps the memory, and releases the storage.
func (rt *Runtime) HostView(b []byte, d dtype.DType, s *shape.Shape) View {
	// SAFETY: the bytes are used only while the caller of Read or Write, or the program whose constant they are, holds them.
	p := unsafe.Pointer(unsafe.SliceData(b))
	return View{Store: rt.newStorage(rt.CPU, p, int64(len(b))), Addr: p, DType: d, Layout: shape.Contiguous(*s)}
}

// Borrow makes a tensor on the CPU of src, the elements in row-major order, without a copy. The bytes stay as they are until
// the tensor is freed and what reads it is complete. status.Invalid where their number or address does not suit the type.
func (rt *Runtime) Borrow(d dtype.DType, s shape.Shape, src []byte) (*Tensor, error) {
	l := shape.Contiguous(s)
	if want, err := l.Bytes(d.Size()); err != nil || want != int64(len(src)) {
		return nil, status.Errorf(status.Invalid, "[tensor] got %d bytes for a %s tensor of shape %s", len(src), d, &s)
	}
	// SAFETY: the caller keeps the bytes, and the storage refers to them, so that Go keeps them as well.
	return rt.Import(d, l, unsafe.Pointer(unsafe.SliceData(src)), nil)
}

// Map waits for the work that reads or writes the tensor and returns the address of its first element for the
// CPU. The address is valid as long as the tensor. From now on the caller may write there at any time, which
// the runtime does not notice: see Storage.addressTaken.
func (t *Tensor) Map() (unsafe.Pointer, error) {
	if err := t.Store.Known("data_ptr"); err != nil {
		return nil, err
	}
	if err := t.Store.Wait(true); err != nil {
		return nil, err
	}
	t.Store.Expose()
	return t.Addr, nil
}

// To is the tensor on a device: a copy, or with copy false another handle of the same view where it is on that
// device already. The copy may not be complete when To returns. It asks for no gradient.
func (t *Tensor) To(c *Context, copy bool, on *Stream) (*Tensor, error) {
	rt := t.Store.Context.Runtime
	if t.Store.Traced != nil {
		return t.ToTraced(c, copy, 0)
	}
	if c == t.Store.Context {
		if !copy {
			return t.Alias()
		}
		v, err := c.StreamFor(on).Contiguous(&t.View)
		if err != nil {
			return nil, err
		}
		return rt.Adopt(&v)
	}
	if err := c.Supports("to", t.DType); err != nil {
		return nil, err
	}
	defer c.copied("to", t.Numel()*t.DType.Size())()
	s := t.copyStream(c, on)
	v, err := c.EmptyView("to", t.DType, &t.Shape, s)
	if err != nil {
		return nil, err
	}
	u, err := rt.Adopt(&v)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Numel() == 0:
	case s == nil:
		c.copies.count(v.Store.Size) // Read counts it for the other device
		err = t.Read(v.Memory())
	default:
		err = s.submitCopy(&t.View, &v)
	}
	if err != nil {
		rt.Free(u.handle)
		return nil, err
	}
	return u, nil
}

// copyStream is the stream that copies the tensor to another device: one of the device that has queues. It is
// nil where the caller copies: where both devices have queues or neither does, because a stream orders only the
// work of its own device, and where the source is memory that may be written outside the runtime before the
// stream reads it.
func (t *Tensor) copyStream(c *Context, on *Stream) *Stream {
	from := t.Store.Context
	switch {
	case from.inOrder == c.inOrder:
		return nil
	case c.inOrder:
		return from.StreamFor(on)
	case t.Store.block == nil || t.Store.addressTaken.Load():
		return nil
	}
	return c.StreamFor(on)
}

// submitCopy submits a copy between two devices on s; to is contiguous.
func (s *Stream) submitCopy(from, to *View) error {
	if !from.IsContiguous() {
		whole, err := from.Store.Context.StreamFor(s).Contiguous(from)
		if err != nil {
			return err
		}
		defer whole.Store.Release()
		from = &whole
	}
	l := s.ctx.Runtime.NewLaunch(s.ctx, s)
	l.ReadView(from)
	l.Write(to)
	from.Store.Context.copies.count(to.Store.Size)
	to.Store.Context.copies.count(to.Store.Size)
	return l.Dispatch(nil)
}

// copies counts the copies of elements between the memory of a device and memory of the caller or of another
// device.
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

// ScalarValue reads a 0-d CPU tensor as a scalar operand. It waits for the work that computes it.
func (t *Tensor) ScalarValue() (op.Value, error) {
	if t.DType.IsComplex() {
		return op.Value{}, status.Errorf(status.Type, "[operand] got a tensor of %s beside tensors on another place; want one place", t.DType)
	}
	var b [8]byte
	if err := t.Read(b[:t.DType.Size()]); err != nil {
		return op.Value{}, err
	}
	raw := uint64(0)
	for i, x := range b {
		raw |= uint64(x) << (8 * i)
	}
	shift := 64 - 8*t.DType.Size()
	switch t.DType {
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

// Writable refuses outputs in which two indices name one element: which of two writes wins would depend on
// the device.
func Writable(name string, v *View) error {
	if !v.MayOverlap() {
		return nil
	}
	for i := range v.Rank {
		if v.Dims[i] > 1 && v.Strides[i] == 0 {
			return status.Errorf(status.Invalid, "[%s] the output repeats elements along axis %d (stride 0); want one element per index", name, i)
		}
	}
	return status.Errorf(status.Invalid, "[%s] elements of the output may overlap: its shape is %s and its strides are %v; want one element per index", name, &v.Shape, v.Strides[:v.Rank])
}

// ToTraced is Tensor.To for a traced tensor. A copy is a call of assign, and no copy another handle, as for tensors with
// elements; what leaves the device would leave the program.
func (t *Tensor) ToTraced(to *Context, copy bool, mode Mode) (*Tensor, error) {
	if to != t.Store.Context {
		return nil, status.Errorf(status.Traced, "[to] the function is traced for %s; want no move to %s within it", t.Store.Context.place, to.place)
	}
	if !copy {
		return t.Same()
	}
	return t.Store.Traced.Tracer().Copy(t, mode)
}

// A server has the elements of a batch in as many pieces as there are requests, in memory of its own, and wants each row of
// the result somewhere else. Both ways take one copy.

// Gather makes a tensor of the elements, in row-major order, that the pieces hold one after the other. Together they have
// exactly the size of the tensor. One piece that lies as programs need it is not copied where c is the CPU: it then stays
// valid and unchanged until the tensor is freed.
func (rt *Runtime) Gather(c *Context, d dtype.DType, s shape.Shape, pieces [][]byte) (*Tensor, error) {
	want, err := s.Bytes(d.Size())
	if err != nil {
		return nil, status.Errorf(status.Invalid, "[tensor] %s", err)
	}
	total := int64(0)
	for _, p := range pieces {
		total += int64(len(p))
	}
	if total != want {
		made := s // s itself stays on the stack
		return nil, status.Errorf(status.Invalid, "[tensor] got %d bytes for a %s tensor of shape %s; want %d", total, d, &made, want)
	}
	if c == rt.CPU && len(pieces) == 1 && want > 0 {
		at := unsafe.Pointer(unsafe.SliceData(pieces[0]))
		// SAFETY: only the alignment is looked at; the caller keeps the piece until the tensor is freed.
		if uintptr(at)%device.PlanAlign == 0 {
			return rt.Import(d, shape.Contiguous(s), at, nil)
		}
	}
	v, err := c.EmptyView("tensor", d, &s, nil)
	if err != nil {
		return nil, err
	}
	to := v.Memory()
	for _, p := range pieces {
		to = to[copy(to, p):]
	}
	c.copies.count(want)
	return rt.Adopt(&v)
}

// Contents waits for what computes the tensor and returns its elements in row-major order: the memory of the tensor itself,
// which is only read, and only until the tensor is freed.
func (t *Tensor) Contents() ([]byte, error) {
	if err := t.Store.Known("read"); err != nil {
		return nil, err
	}
	if err := t.Store.Wait(false); err != nil {
		return nil, err
	}
	if !t.IsContiguous() {
		return nil, status.Errorf(status.Unsupported, "[read] a tensor of shape %s has no elements in one piece; want one that is contiguous", &t.Shape)
	}
	return t.Memory(), nil
}
