package metal

import (
	"encoding/binary"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// granule is what blocks are aligned to. Buffers are as long as whole ones, because MPSGraph may ask for
// more than the elements take (a row of 8 bytes counts as 16).
const granule = 256

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// run is one call of an executable while it is encoded.
type run struct {
	x       *executable
	b       *batch
	c       *device.Call
	inputs  []mpsgraph.TensorData // retained
	results []mpsgraph.TensorData // retained
	staged  device.Operand        // where the output goes first; no address: straight to its memory
	word    span                  // what the graph tells
	next    uint64                // free workspace, in bytes from the start of its heap
}

// workspace is room for the operands that cannot be fed as they lie.
func (x *executable) workspace(c *device.Call) (n int64) {
	need := func(p *port) {
		length := roundUp(p.bytes(), granule)
		n += int64(length + x.device.alignment(length) - granule) // the workspace itself is aligned to a granule
	}
	for i := range x.in {
		if o := x.in[i].of(c, i); !x.in[i].isNumber(o) && !x.in[i].fits(o) {
			need(&x.in[i])
		}
	}
	if _, ok := x.result(c); !ok {
		need(&x.out[0])
	}
	if x.ended != nil {
		need(&x.out[1])
	}
	return n
}

// of is what comes through input i: an operand, where there are no more of them the output, and nil where it
// is a number of the call.
func (p *port) of(c *device.Call, i int) *device.Operand {
	switch {
	case p.value != nil:
		return nil
	case i < len(c.In):
		return &c.In[i]
	}
	return &c.Out[0]
}

// isNumber reports whether an operand is a number of the CPU's that is fed as it is.
func (p *port) isNumber(o *device.Operand) bool {
	return o == nil || o.Heap == nil && p.memory == p.dtype && isFixed(o)
}

// result finds the output if MPSGraph can write there: it lies well, and is not also read.
func (x *executable) result(c *device.Call) (s span, ok bool) {
	for i := range c.In {
		if x.eager && c.In[i].Addr == c.Out[0].Addr {
			return s, false
		}
	}
	return x.out[0].span(&c.Out[0])
}

func (p *port) fits(o *device.Operand) bool { _, ok := p.span(o); return ok }

// begin wraps the operands, and copies those that cannot be fed as they lie.
func (r *run) begin() error {
	if h, ok := r.c.Scratch.(*heap); ok {
		// SAFETY: only a difference of addresses within the heap.
		r.next = uint64(uintptr(r.c.Workspace) - uintptr(h.base))
	}
	for _, i := range r.x.feeds {
		s, err := r.input(&r.x.in[i], r.x.in[i].of(r.c, i))
		if err == nil {
			r.inputs, err = r.wrap(r.inputs, &r.x.in[i], s)
		}
		if err != nil {
			return err
		}
	}
	for _, i := range r.x.targets {
		s, err := r.output(i)
		if err == nil {
			r.results, err = r.wrap(r.results, &r.x.out[i], s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// source is memory to wrap: a part of a heap, or a buffer of its own.
type source struct {
	heap   *heap
	offset uint64
	buffer mtl.Buffer
}

func (r *run) input(p *port, o *device.Operand) (source, error) {
	if p.isNumber(o) {
		buffer, err := r.b.scalar(p.number(r.c, o))
		return source{buffer: buffer}, err
	}
	if s, ok := p.span(o); ok {
		return source{heap: o.Heap.(*heap), offset: s.offset}, nil
	}
	if _, ok := locate(o); !ok && !isFixed(o) {
		return source{}, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	to, s, err := r.room(p)
	if err != nil {
		return s, err
	}
	from := p.operand(o)
	return s, r.x.device.transfer(r.b, &to, &from)
}

// number is the element of a number, and what follows it.
func (p *port) number(c *device.Call, o *device.Operand) (element [8]byte) {
	if o == nil {
		binary.LittleEndian.PutUint64(element[:], p.value(c))
		return element
	}
	// SAFETY: a scalar is eight bytes of the call's owner; see device.Call.
	return [8]byte(unsafe.Slice((*byte)(o.Addr), 8))
}

func (r *run) output(i int) (source, error) {
	p := &r.x.out[i]
	if i > 0 {
		o, s, err := r.room(p)
		if err == nil {
			r.word, _ = locate(&o)
		}
		return s, err
	}
	if s, ok := r.x.result(r.c); ok {
		return source{heap: r.c.Out[0].Heap.(*heap), offset: s.offset}, nil
	}
	if _, ok := locate(&r.c.Out[0]); !ok {
		return source{}, status.Errorf(status.Unsupported, "got an output in memory that the GPU does not have")
	}
	o, s, err := r.room(p)
	r.staged = o
	return s, err
}

// room takes a part of the workspace for what goes through a port.
func (r *run) room(p *port) (o device.Operand, s source, err error) {
	h, ok := r.c.Scratch.(*heap)
	if !ok {
		return o, s, status.Errorf(status.Internal, "got no workspace; want %d bytes", r.x.workspace(r.c))
	}
	length := roundUp(p.bytes(), granule)
	at := roundUp(r.next, r.x.device.alignment(length))
	r.next = at + length
	// SAFETY: the workspace is as long as workspace has said.
	o = device.Operand{Addr: unsafe.Add(h.base, at), Heap: h, DType: p.dtype, Layout: shape.Contiguous(p.layout.Shape)}
	return o, source{heap: h, offset: at}, nil
}

// wrap appends memory as MPSGraph takes it.
func (r *run) wrap(list []mpsgraph.TensorData, p *port, s source) ([]mpsgraph.TensorData, error) {
	buffer := s.buffer
	if s.heap != nil {
		buffer = s.heap.window(s.offset, p.bytes())
		defer objc.Release(buffer)
	}
	if buffer == 0 {
		return list, status.Errorf(status.Device, "the GPU gave no buffer for %d bytes at offset %d", p.bytes(), s.offset)
	}
	t := mpsgraph.NewTensorData(buffer, p.shape, elementTypes[p.dtype])
	if t == 0 {
		return list, status.Errorf(status.Device, "MPSGraph does not take %d bytes at offset %d", p.bytes(), s.offset)
	}
	return append(list, t), nil
}

// end takes the results to where they belong.
func (r *run) end() error {
	if r.staged.Addr != nil {
		to := r.x.out[0].operand(&r.c.Out[0])
		if err := r.x.device.transfer(r.b, &to, &r.staged); err != nil {
			return err
		}
	}
	if r.x.ended == nil {
		return nil
	}
	words, offset, err := r.b.word()
	if err != nil {
		return err
	}
	return r.b.blit(r.word, span{buffer: words, offset: offset}, 4)
}

func (r *run) release() {
	for _, t := range append(r.inputs, r.results...) {
		objc.Release(t)
	}
}
