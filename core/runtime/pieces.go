package runtime

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

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
	if c == rt.cpu && len(pieces) == 1 && want > 0 {
		at := unsafe.Pointer(unsafe.SliceData(pieces[0]))
		// SAFETY: only the alignment is looked at; the caller keeps the piece until the tensor is freed.
		if uintptr(at)%device.PlanAlign == 0 {
			return rt.Import(d, shape.Contiguous(s), at, nil)
		}
	}
	v, err := c.empty("tensor", d, &s, nil)
	if err != nil {
		return nil, err
	}
	to := v.bytes()
	for _, p := range pieces {
		to = to[copy(to, p):]
	}
	c.copies.count(want)
	return rt.adopt(&v)
}

// Contents waits for what computes the tensor and returns its elements in row-major order: the memory of the tensor itself,
// which is only read, and only until the tensor is freed.
func (t *Tensor) Contents() ([]byte, error) {
	if err := t.store.known("read"); err != nil {
		return nil, err
	}
	if err := t.store.wait(false); err != nil {
		return nil, err
	}
	if !t.IsContiguous() {
		return nil, status.Errorf(status.Unsupported, "[read] a tensor of shape %s has no elements in one piece; want one that is contiguous", &t.Shape)
	}
	return t.bytes(), nil
}
