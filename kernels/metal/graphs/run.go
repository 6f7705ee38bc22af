package graphs

import (
	"encoding/binary"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/metal/gpu"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

// run is one call of an executable while it is encoded. Workspace is taken from its start, piece by piece, each
// aligned as MPSGraph's buffers have to be.
type run struct {
	x       *executable
	e       gpu.Encoder
	c       *device.Call
	inputs  []mpsgraph.TensorData // retained
	results []mpsgraph.TensorData // retained
	staged  device.Operand        // where the output goes first; no address: straight to its memory
	word    gpu.Span              // what the graph tells
	next    uint64                // free workspace, in bytes from the start of its heap
}

// workspace is room for the operands that cannot be fed as they lie.
func (x *executable) Workspace(c *device.Call) (n int64) {
	need := func(p *port) {
		takes := x.device.Need(gpu.RoundUp(p.bytes(), gpu.Granule))
		n += int64(gpu.RoundUp(takes.Size, gpu.Granule) + takes.Align - gpu.Granule) // the workspace itself is aligned to a granule
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
	return o == nil || o.Heap == nil && p.memory == p.dtype && gpu.IsFixed(o)
}

// result finds the output if MPSGraph can write there: it lies well, and is not also read.
func (x *executable) result(c *device.Call) (s gpu.Span, ok bool) {
	for i := range c.In {
		if x.writesEarly && c.In[i].Addr == c.Out[0].Addr {
			return s, false
		}
	}
	return x.out[0].span(&c.Out[0])
}

// fits reports whether an operand can be fed as it lies.
func (p *port) fits(o *device.Operand) bool { _, ok := p.span(o); return ok }

// stages compiles what takes the operands of such calls to the graph and its result to the output. c has the
// memory of a call of the class, but not its workspace.
func (x *executable) stages(c *device.Call) error {
	room := func(p *port) *device.Operand {
		o := x.device.Staged(device.Operand{DType: p.dtype, Layout: shape.Contiguous(p.layout.Shape)})
		return &o
	}
	for i := range x.in {
		p := &x.in[i]
		o := p.of(c, i)
		if p.isNumber(o) || p.fits(o) {
			continue
		}
		from := p.operand(o)
		if err := x.device.Copier.Prepare(room(p), &from); err != nil {
			return err
		}
	}
	if _, ok := x.result(c); ok {
		return nil
	}
	to := x.out[0].operand(&c.Out[0])
	return x.device.Copier.Prepare(&to, room(&x.out[0]))
}

// begin wraps the operands, and stages those that cannot be fed as they lie. Inputs and results are in the order
// that the program wants them in.
func (r *run) begin() error {
	// Without workspace nothing is taken from it; room refuses.
	_, r.next, _ = gpu.Scratch(r.c)
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
	heap   *gpu.Heap
	offset uint64
	buffer mtl.Buffer
}

// input is the memory that feeds a port: a number's own buffer, the operand itself, or workspace with a copy of it.
func (r *run) input(p *port, o *device.Operand) (source, error) {
	if p.isNumber(o) {
		buffer, err := r.e.Number(p.number(r.c, o))
		return source{buffer: buffer}, err
	}
	if s, ok := p.span(o); ok {
		return source{heap: gpu.HeapOf(o), offset: s.Offset}, nil
	}
	if _, ok := gpu.Locate(o); !ok && !gpu.IsFixed(o) {
		return source{}, status.Errorf(status.Unsupported, "got an operand in memory that the GPU does not have")
	}
	to, s, err := r.room(p)
	if err != nil {
		return s, err
	}
	from := p.operand(o)
	return s, r.x.device.Copier.Copy(r.e, &to, &from)
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

// output is the memory that a result goes to: the output itself, or workspace, from where end takes it on. Result 0
// is the operator's; result 1, where there is one, the word.
func (r *run) output(i int) (source, error) {
	p := &r.x.out[i]
	if i > 0 {
		o, s, err := r.room(p)
		if err == nil {
			r.word, _ = gpu.Locate(&o)
		}
		return s, err
	}
	if s, ok := r.x.result(r.c); ok {
		return source{heap: gpu.HeapOf(&r.c.Out[0]), offset: s.Offset}, nil
	}
	if _, ok := gpu.Locate(&r.c.Out[0]); !ok {
		return source{}, status.Errorf(status.Unsupported, "got an output in memory that the GPU does not have")
	}
	o, s, err := r.room(p)
	r.staged = o
	return s, err
}

// room takes a part of the workspace for what goes through a port. Workspace has counted it with the same alignment.
func (r *run) room(p *port) (o device.Operand, s source, err error) {
	h, _, ok := gpu.Scratch(r.c)
	if !ok {
		return o, s, status.Errorf(status.Internal, "got no workspace; want %d bytes", r.x.Workspace(r.c))
	}
	// Offsets count from the start of the heap, because it is there that Metal places buffers.
	takes := r.x.device.Need(gpu.RoundUp(p.bytes(), gpu.Granule))
	at := gpu.RoundUp(r.next, takes.Align)
	r.next = at + gpu.RoundUp(takes.Size, gpu.Granule)
	o = device.Operand{Addr: h.At(at), Heap: h, DType: p.dtype, Layout: shape.Contiguous(p.layout.Shape)}
	return o, source{heap: h, offset: at}, nil
}

// wrap appends memory as MPSGraph takes it: a buffer that begins with the elements, with their shape and dtype.
func (r *run) wrap(list []mpsgraph.TensorData, p *port, s source) ([]mpsgraph.TensorData, error) {
	buffer := s.buffer
	if s.heap != nil {
		buffer = s.heap.Window(s.offset, p.bytes())
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

// end takes the results to where they belong: a staged output to the output, and the word to the encoder's.
func (r *run) end() error {
	if r.staged.Addr != nil {
		to := r.x.out[0].operand(&r.c.Out[0])
		if err := r.x.device.Copier.Copy(r.e, &to, &r.staged); err != nil {
			return err
		}
	}
	if r.x.ended == nil {
		return nil
	}
	words, offset, err := r.e.Word()
	if err != nil {
		return err
	}
	return r.e.Blit(r.word, gpu.Span{Buffer: words, Offset: offset}, 4)
}

// release drops the wrapped memory; the command buffer keeps what it uses.
func (r *run) release() {
	for _, t := range append(r.inputs, r.results...) {
		objc.Release(t)
	}
}
