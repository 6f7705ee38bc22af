package runtime

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// launch is one call on its way to a device: the call with room for its operands, and the storages
// that must hear how it ends. Launches are recycled, so that a warm call allocates nothing.
type launch struct {
	device.Call
	ctx    *Context
	stream *Stream
	lane   program.Lane
	held   *program.Entry // nil: none
	stores []*storage     // of inputs, then of outputs
	writes int            // how many of them are outputs
	err    error          // on devices without queues: how the call ended

	in      [4]device.Operand
	out     [1]device.Operand
	scalars [4]uint64
	scratch *alloc.Block
	count   *int64      // where the number of results goes, for data-dependent ones
	indexed shape.Shape // of Index operators: the shape of the result, or of the indices
}

// source is an input of a run: a view, or a scalar of a dtype.
type source struct {
	view
	scalar    bool
	value     op.Value
	temporary bool // the holder of the source releases its storage
}

// newLaunch begins a call; it waits while the stream is full, so the caller holds no lock.
func (rt *Runtime) newLaunch(c *Context, s *Stream) *launch {
	if !c.inOrder {
		s.admit()
	}
	l := rt.launches.Get().(*launch)
	l.ctx, l.stream = c, s
	l.Owner = l
	l.In, l.Out, l.stores = l.in[:0], l.out[:0], l.stores[:0]
	return l
}

// recycle forgets everything that points somewhere.
func (l *launch) recycle() {
	rt := l.ctx.rt
	if l.count != nil {
		*l.count = l.Count
	}
	if l.scratch != nil {
		l.ctx.memory.Free(l.scratch, nil)
	}
	if l.held != nil {
		l.held.Release(l.lane)
	}
	for i := range l.In {
		l.In[i].Addr, l.In[i].Heap = nil, nil
	}
	for i := range l.Out {
		l.Out[i].Addr, l.Out[i].Heap = nil, nil
	}
	clear(l.stores)
	l.Attrs, l.Axes, l.Workspace, l.Scratch, l.Count, l.Grid = nil, 0, nil, nil, 0, nil
	l.ctx, l.stream, l.held, l.scratch, l.count, l.err, l.writes = nil, nil, nil, nil, nil, nil, 0
	rt.launches.Put(l)
}

// read adds an input.
func (l *launch) read(src *source) {
	if !src.scalar {
		l.readView(&src.view)
		return
	}
	l.readScalar(&src.value, src.dtype)
}

// readOperand adds a tensor that needs no cast, or a scalar that stands beside like, stretched to it.
func (l *launch) readOperand(o *Operand, like *view) {
	if o.Tensor == nil {
		l.readScalar(&o.Value, like.dtype)
		l.In[len(l.In)-1].Shape = like.Shape
		return
	}
	l.readView(&o.Tensor.view)
}

// readScalar adds a scalar in dtype d.
func (l *launch) readScalar(v *op.Value, d dtype.DType) {
	i := len(l.In)
	l.scalars[i] = bits(v, d)
	// SAFETY: the launch owns the eight bytes and outlives the call.
	l.In = append(l.In, device.Operand{Addr: unsafe.Pointer(&l.scalars[i]), DType: d})
}

// readView adds an input that needs no cast.
func (l *launch) readView(v *view) {
	l.In = append(l.In, device.Operand{Addr: v.addr, Heap: v.store.heap(), DType: v.dtype, Layout: v.Layout})
	l.stores = append(l.stores, v.store)
}

// write adds an output; all inputs have been added.
func (l *launch) write(v *view) {
	l.Out = append(l.Out, device.Operand{Addr: v.addr, Heap: v.store.heap(), DType: v.dtype, Layout: v.Layout})
	l.stores = append(l.stores, v.store)
	l.writes++
}

func (st *storage) heap() device.Heap {
	if st.block == nil {
		return st.lent
	}
	return st.block.Heap
}

// submit frames the operands for the device, finds the program and hands the launch to the stream,
// which recycles it; on devices without queues the result is here already.
func (l *launch) submit(row *op.Row) error {
	l.frame(row)
	return l.submitFramed(row)
}

// submitFramed is submit for operands that are laid out already.
func (l *launch) submitFramed(row *op.Row) error {
	l.Op = row.ID
	if row.Kind == op.Convert && l.movesBytes() {
		return l.dispatch(nil)
	}
	p, err := l.program(l.ctx, row)
	if err != nil && l.ctx.fallsBack(err) {
		return l.fallBack(row, err)
	}
	if err == nil {
		err = l.reserve(p)
	}
	if err != nil {
		l.recycle()
		return err
	}
	return l.dispatch(p)
}

// movesBytes reports whether a conversion is a plain copy, which streams do without a program.
func (l *launch) movesBytes() bool {
	in, out := &l.In[0], &l.Out[0]
	return in.DType == out.DType && in.IsContiguous() && out.IsContiguous()
}

// dispatch hands the launch to its stream; p nil stands for a copy of bytes.
func (l *launch) dispatch(p device.Program) error {
	if !l.ctx.inOrder {
		l.enqueue(p)
		return nil
	}
	for i, st := range l.stores {
		if st.late.Load() {
			st.settle(i >= len(l.stores)-l.writes) // Ready meets its failure
		}
	}
	l.start(p)
	err := l.err
	l.recycle()
	return err
}

func (l *launch) start(p device.Program) device.Ticket {
	if p == nil {
		return l.stream.dev.Copy(&l.Call)
	}
	return l.stream.dev.Run(p, &l.Call)
}

// enqueue submits to a device with queues.
func (l *launch) enqueue(p device.Program) {
	c, s := l.ctx, l.stream
	c.submit.Lock()
	defer c.submit.Unlock()
	inputs := len(l.stores) - l.writes
	// The launch may be recycled before start returns: what is noted afterwards is kept here.
	var room [8]*storage
	stores := append(room[:0], l.stores...)
	for i, st := range stores {
		st.pins.Add(2) // one for the launch, one for the notes below
		s.after(st, i >= inputs)
	}
	t := l.start(p)
	s.submitted(t)
	for i, st := range stores {
		st.note(s, t, i >= inputs)
		st.unpin()
	}
}

// reserve gets the scratch memory that the program asks for on the launch's stream.
func (l *launch) reserve(p device.Program) error {
	if l.ctx.inOrder {
		return l.reserveFor(p, nil)
	}
	return l.reserveFor(p, l.stream.dev)
}

// bits is a scalar as an element of a dtype, in the low bytes.
func bits(v *op.Value, d dtype.DType) uint64 {
	switch d {
	case dtype.Float64:
		return math.Float64bits(v.Float64())
	case dtype.Float32:
		return uint64(math.Float32bits(float32(v.Float64())))
	case dtype.Float16:
		return uint64(dtype.F64ToF16(v.Float64()))
	case dtype.BFloat16:
		return uint64(dtype.F64ToBF16(v.Float64()))
	}
	n := v.I
	if v.Kind == op.Float {
		n = saturate(v.F)
	}
	if d == dtype.Bool && n != 0 {
		n = 1
	}
	return uint64(n)
}

// saturate is a float as the nearest int64 towards zero; nan is 0.
func saturate(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}
