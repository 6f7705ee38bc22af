package runtime

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Launch is one call of a program on a device: the call with storage for its operands, and the storages that
// are notified when it completes. Records are recycled, so that a warm call allocates nothing. The goroutine
// that makes a launch owns it until it is submitted; then the stream does, until Done.
type Launch struct {
	device.Call
	ctx    *Context
	stream *Stream
	Lane   program.Lane
	Entry  *program.Entry // nil: none
	Stores []*Storage     // of inputs, then of outputs
	Writes int            // how many of stores are outputs
	err    error          // on devices without queues: how the call ended

	in      [4]device.Operand
	out     [1]device.Operand
	scalars [4]uint64
	kernel  *kernelRoom // nil until the record has been one of a user's kernel
	scratch *alloc.Block
	Check   func(failed error) error // called once when a user's kernel is done: what it has reported; nil for none
	count   *int64                   // set to the number of results when the launch is recycled, where that depends on the data
	draws   int64                    // random counters; taken by submit, so that a call which is refused draws nothing

	whole       *whole         // nil unless it runs all steps of a recipe as one program
	nonBlocking bool           // refuse the call instead of waiting for a compilation; see NonBlocking
	row         *op.Row        // what runs; nil for a copy of bytes and for a user's kernel
	Program     device.Program // found by prepare; nil for a copy of bytes
	Lacks       []Lack         // why program is the CPU's; empty where it is the device's
}

// NewLaunch takes a record for a call on s. It waits while the stream is full, so the caller holds no lock.
func (rt *Runtime) NewLaunch(c *Context, s *Stream) *Launch {
	if !c.inOrder {
		s.admit()
	}
	l := rt.launches.Get().(*Launch)
	l.ctx, l.stream = c, s
	l.Owner = l
	l.In, l.Out, l.Stores = l.in[:0], l.out[:0], l.Stores[:0]
	return l
}

// Recycle releases what the launch holds and clears its pointers, so that a record in the pool keeps no memory
// alive.
func (l *Launch) Recycle() {
	rt := l.ctx.Runtime
	if l.count != nil {
		*l.count = l.Count
	}
	if l.scratch != nil {
		l.ctx.memory.Free(l.scratch, nil)
		l.ctx.Level()
	}
	if l.Entry != nil {
		l.Entry.Release(l.Lane)
	}
	for i := range l.In {
		l.In[i].Addr, l.In[i].Heap = nil, nil
	}
	for i := range l.Out {
		l.Out[i].Addr, l.Out[i].Heap = nil, nil
	}
	clear(l.Stores)
	l.Op, l.Attrs, l.Axes, l.Workspace, l.Scratch, l.Count, l.Grid, l.Stop = 0, nil, 0, nil, nil, 0, nil, nil
	l.kernel.clear()
	l.ctx, l.stream, l.Entry, l.scratch, l.count, l.err, l.Writes = nil, nil, nil, nil, nil, nil, 0
	clear(l.Lacks)
	l.row, l.Program, l.Lacks, l.nonBlocking, l.draws, l.Check, l.whole = nil, nil, l.Lacks[:0], false, 0, nil, nil
	rt.launches.Put(l)
}

// readOperand adds an input: a tensor that needs no cast, or a scalar in the dtype of like, broadcast to its
// shape.
func (l *Launch) readOperand(o *Operand, like *View) {
	if o.Tensor == nil {
		l.readScalar(&o.Value, like.DType, &shape.Layout{Shape: like.Shape})
		return
	}
	l.ReadView(&o.Tensor.View)
}

// readScalar adds a scalar in dtype d as an input, with a layout of strides 0.
func (l *Launch) readScalar(v *op.Value, d dtype.DType, as *shape.Layout) {
	if !v.Set() { // an operand that was left out
		l.In = operand(l.In, nil, nil, dtype.Invalid, &shape.Layout{})
		return
	}
	var element *uint64
	if i := len(l.In); i < len(l.scalars) {
		element = &l.scalars[i]
	} else {
		element = new(uint64)
	}
	*element = v.Bits(d)
	// SAFETY: the launch owns the eight bytes, or the call's operand keeps them.
	l.In = operand(l.In, unsafe.Pointer(element), nil, d, as)
}

// operand appends an operand to a list. Operands are large: this one is filled in where it stays.
func operand(list []device.Operand, addr unsafe.Pointer, heap device.Heap, d dtype.DType, as *shape.Layout) []device.Operand {
	n := len(list)
	if n < cap(list) {
		list = list[:n+1]
	} else {
		list = append(list, device.Operand{})
	}
	o := &list[n]
	o.Addr, o.Heap, o.DType, o.Const, o.Layout = addr, heap, d, nil, *as
	return list
}

// readPart adds the operand r of a step as an input; b is its memory.
func (l *Launch) readPart(b *base, r *op.Ref) {
	l.In = operand(l.In, at(b.addr, r.Offset, r.DType), b.store.Heap(), r.DType, &r.Layout)
	l.Stores = append(l.Stores, b.store)
}

// writePart adds the operand r of a step as an output; b is its memory. All inputs have been added.
func (l *Launch) writePart(b *base, r *op.Ref) {
	l.Out = operand(l.Out, at(b.addr, r.Offset, r.DType), b.store.Heap(), r.DType, &r.Layout)
	l.Stores = append(l.Stores, b.store)
	l.Writes++
}

// ReadView adds an input that needs no cast.
func (l *Launch) ReadView(v *View) {
	l.In = operand(l.In, v.Addr, v.Store.Heap(), v.DType, &v.Layout)
	l.Stores = append(l.Stores, v.Store)
}

// Write adds an output; all inputs have been added.
func (l *Launch) Write(v *View) {
	l.Out = operand(l.Out, v.Addr, v.Store.Heap(), v.DType, &v.Layout)
	l.Stores = append(l.Stores, v.Store)
	l.Writes++
}

// Heap is the device heap that the storage lies in; nil for foreign memory of the CPU.
func (st *Storage) Heap() device.Heap {
	if st.block == nil {
		return st.foreignHeap
	}
	return st.block.Heap
}

func (l *Launch) run(row *op.Row) error {
	if err := l.prepare(row); err != nil {
		return err
	}
	return l.Submit()
}

// prepare finds or compiles the program for operands that are laid out as the device requires, and allocates
// its workspace. On an error the launch is recycled.
func (l *Launch) prepare(row *op.Row) error {
	l.row = row
	if l.whole == nil {
		l.Op = row.ID
	}
	if row.Kind == op.Convert && l.movesBytes() {
		return nil
	}
	err := l.find()
	if err == nil {
		err = l.Reserve()
	}
	if err != nil {
		l.Recycle()
	}
	return err
}

// find finds the program: the device's or, where the device lacks it, the CPU's. ErrLowered: there is another way.
func (l *Launch) find() (err error) {
	l.Program, err = l.programOf(l.ctx, l.row)
	switch {
	case err == nil || l.whole != nil:
	case l.ctx.LowersFrom(err, &l.Call):
		return ErrLowered
	case l.ctx.FallsBack(err):
		l.Lacks = append(l.Lacks, Lack{l.row, err})
		l.Program, err = l.programOf(l.ctx.Runtime.CPU, l.row)
	}
	return err
}

// Submit passes a prepared launch to its stream; it is recycled when it completes. On devices without queues it
// is complete when submit returns, and the error is that of the call.
func (l *Launch) Submit() error {
	if l.draws > 0 {
		l.Seed = l.ctx.random.take(l.draws)
	}
	if len(l.Lacks) > 0 {
		l.fallBack()
		return nil
	}
	return l.Dispatch(l.Program)
}

// movesBytes reports whether a conversion is a copy of bytes, which streams do without a program.
func (l *Launch) movesBytes() bool {
	in, out := &l.In[0], &l.Out[0]
	return in.DType == out.DType && in.IsContiguous() && out.IsContiguous()
}

// Dispatch passes the launch to its stream, to run p or, where p is nil, to copy bytes.
func (l *Launch) Dispatch(p device.Program) error {
	if !l.ctx.inOrder {
		l.enqueue(p)
		return nil
	}
	for i, st := range l.Stores {
		if st.ForeignWork.Load() {
			st.Wait(i >= len(l.Stores)-l.Writes) // Ready reports the failure of an input
		}
	}
	l.start(p)
	err := l.err
	l.Recycle()
	return err
}

// start submits the call. On devices with queues the launch may be recycled before start returns.
func (l *Launch) start(p device.Program) device.Ticket {
	if p == nil {
		return l.stream.Device.Copy(&l.Call)
	}
	return l.stream.Device.Run(p, &l.Call)
}

// enqueue submits to a device with queues. The workspace is freed at once, as a tensor would be: it stays pending
// until the ticket has passed, later work on the stream can reuse it before, and an allocation that finds no memory
// waits for it. Kept until the call completes, the workspaces of all queued calls would add up.
func (l *Launch) enqueue(p device.Program) {
	c, s, scratch := l.ctx, l.stream, l.scratch
	l.scratch = nil
	t := l.order(p)
	if scratch != nil {
		uses := [1]alloc.Use{{Stream: s.Device, Ticket: t}}
		c.memory.Free(scratch, uses[:])
		c.Level()
	}
}

// order waits for the hazards of the operands, starts the call and records it as a use of each storage, all under
// Context.submit. The launch may be recycled before order returns.
func (l *Launch) order(p device.Program) device.Ticket {
	c, s := l.ctx, l.stream
	c.submit.Lock()
	defer c.submit.Unlock()
	inputs := len(l.Stores) - l.Writes
	// The launch may be recycled before start returns: the list of storages is copied for what follows.
	var room [8]*Storage
	stores := append(room[:0], l.Stores...)
	for i, st := range stores {
		st.pins.Add(2) // one for the launch, one for the records below
		s.waitForHazards(st, i >= inputs)
	}
	t := l.start(p)
	s.submitted(t)
	for i, st := range stores {
		st.recordUse(s, t, i >= inputs)
		st.unpin()
	}
	return t
}

// Reserve allocates the workspace of the program: for use on the launch's stream or, where the CPU runs the
// program, memory that no stream uses.
func (l *Launch) Reserve() error {
	n := l.Program.Workspace(&l.Call)
	if n == 0 {
		return nil
	}
	var on device.Stream
	if !l.ctx.inOrder && len(l.Lacks) == 0 {
		on = l.stream.Device
	}
	block, err := l.ctx.Allocate(n, on)
	if err != nil {
		return err
	}
	l.scratch, l.Workspace, l.Scratch = block, block.Addr, block.Heap
	return nil
}

// kernelRoom is memory for a call of a user's kernel. It stays with the record of the launch, so that a call which is
// repeated allocates nothing.
type kernelRoom struct {
	grid    device.Grid
	in, out []device.Operand
	numbers []byte // of all arguments that are bytes
}

// ForKernel gives the launch, which is new, room for the call of a kernel.
func (l *Launch) ForKernel() {
	if l.kernel == nil {
		l.kernel = new(kernelRoom)
	}
	r := l.kernel
	l.Grid, l.In, l.Out = &r.grid, r.in[:0], r.out[:0]
	r.numbers = r.numbers[:0]
}

// KeepRoom keeps the lists of operands, which have grown, maybe, for the next call of a kernel.
func (l *Launch) KeepRoom() { l.kernel.in, l.kernel.out = l.In, l.Out }

// clear drops what the room refers to.
func (r *kernelRoom) clear() {
	if r == nil {
		return
	}
	clear(r.grid.Args)
	clear(r.grid.Resident)
	r.grid = device.Grid{Args: r.grid.Args[:0], Resident: r.grid.Resident[:0]}
}

// Number copies the bytes of an argument. Where the room grows, earlier arguments stay in what it was before.
func (l *Launch) Number(b []byte) []byte {
	r := l.kernel
	n := len(r.numbers)
	r.numbers = append(r.numbers, b...)
	return r.numbers[n:]
}

// Reach makes storages outputs of the call beside those of its arguments, and their heaps resident.
func (l *Launch) Reach(all []*Storage) {
	for _, st := range all {
		l.Stores = append(l.Stores, st)
		l.Writes++
		// Storages of one heap follow each other.
		if n := len(l.Grid.Resident); n == 0 || l.Grid.Resident[n-1] != st.Heap() {
			l.Grid.Resident = append(l.Grid.Resident, st.Heap())
		}
	}
}

// inheritDirect is inheritDisplacement for one result that is no view; y may be nil.
func inheritDirect(x, y *Operand, made *Storage) {
	if made.Context != made.Context.Runtime.CPU {
		return
	}
	for _, o := range [2]*Operand{x, y} {
		if o != nil && o.Tensor != nil && o.Tensor.Store.Displacement != 0 {
			made.Displacement = o.Tensor.Store.Displacement
			return
		}
	}
}

// RunDirect runs an elementwise operator, with result dtype d, on operands that have the dtype and shape of like
// or are scalars; y is nil for unary operators.
func (s *Stream) RunDirect(row *op.Row, d dtype.DType, like *View, x, y *Operand, mode Mode) (*Tensor, error) {
	rt := s.ctx.Runtime
	store, err := s.ctx.NewStorage(like.Numel()*d.Size(), s)
	if err != nil {
		return nil, err
	}
	h, t := rt.tensors.New()
	if t == nil {
		store.Release()
		return nil, tooManyTensors(rt)
	}
	t.Store, t.Addr, t.Offset, t.DType, t.handle = store, store.Base, 0, d, h
	if rt.Displaces() {
		inheritDirect(x, y, store)
	}
	if like.IsContiguous() {
		t.Layout = like.Layout
	} else {
		t.Layout = shape.Contiguous(like.Shape)
	}
	if store.Size == 0 {
		return t, nil // nothing to compute: no device is asked
	}
	l := rt.NewLaunch(s.ctx, s)
	l.readOperand(x, like)
	if y != nil {
		l.readOperand(y, like)
	}
	l.Write(&t.View)
	l.nonBlocking = mode.Has(NonBlocking)
	if err := l.run(row); err != nil {
		rt.Free(h)
		return nil, err
	}
	return t, nil
}
