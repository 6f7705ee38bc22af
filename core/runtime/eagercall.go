package runtime

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// EagerCall is one eager call: a recipe that is run step by step, with memory from the allocator instead of an arena.
// Records are recycled, so that a warm call allocates nothing. One goroutine uses a record at a time.
type EagerCall struct {
	Row    *op.Row
	Stream *Stream
	into   bool // the last argument takes the result
	args   []argument
	key    []byte
	bases  []base // memory of the buffers: of the arguments, then what the call allocates, with a reference to each
	count  int64  // elements of the result, for rows whose result depends on the data

	// Room to make a recipe in.
	legal graph.Legal
	refs  []op.Ref // of the arguments
	made  Recipe

	nonBlocking bool // see launch
	launches    []*Launch
}

// base is the memory of a buffer.
type base struct {
	store  *Storage
	addr   unsafe.Pointer // of the element with offset 0
	offset int64          // of that element in the storage
	own    bool           // the call holds a reference to the storage
}

// NewEagerCall takes a record for a call of row on s; the caller recycles it.
func (rt *Runtime) NewEagerCall(row *op.Row, s *Stream, nonBlocking bool) *EagerCall {
	e := rt.eagers.Get().(*EagerCall)
	e.Row, e.Stream, e.nonBlocking = row, s, nonBlocking
	return e
}

// Recycle releases the buffers that did not become results and returns the record.
func (e *EagerCall) Recycle() {
	for i := range e.bases {
		if b := &e.bases[i]; b.own {
			b.store.Release()
		}
	}
	clear(e.bases)
	clear(e.args)
	clear(e.refs)
	rt := e.Stream.ctx.Runtime
	e.bases, e.args, e.refs, e.count = e.bases[:0], e.args[:0], e.refs[:0], 0
	e.Row, e.Stream, e.into = nil, nil, false
	rt.eagers.Put(e)
}

// AddOperands adds the operands of the call. A 0-d tensor of the CPU beside tensors of another device is read
// and becomes a number of its dtype.
func (e *EagerCall) AddOperands(in []Operand) error {
	for i := range in {
		t := in[i].Tensor
		switch {
		case t == nil:
			e.args = append(e.args, argument{number: &in[i].Value})
		case t.Store.Context != e.Stream.ctx:
			v, err := t.ScalarValue()
			if err != nil {
				return err
			}
			e.args = append(e.args, argument{number: &v, dtype: t.DType})
		default:
			e.addView(&t.View)
		}
	}
	return nil
}

// addView adds a view of existing memory, which the caller holds during the call.
func (e *EagerCall) addView(v *View) {
	e.bases = append(e.bases, base{store: v.Store, addr: v.Addr, offset: v.Offset})
	e.args = append(e.args, argument{view: v, dtype: v.DType})
}

// AddOutput adds the view that takes the result, after all operands.
func (e *EagerCall) AddOutput(v *View) {
	e.addView(v)
	e.into = true
}

// Run submits steps that write only memory of the call: where one fails, its results are dropped, so that the
// earlier ones need not be undone.
func (e *EagerCall) Run(r *Recipe) error {
	if e.runsWhole(r) {
		return e.runWhole(r)
	}
	if err := e.allocate(r.Buffers); err != nil {
		return err
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if err := e.launch(s).run(s.Row); err != nil {
			return err
		}
	}
	return nil
}

// RunInto submits steps that write memory of the caller. All programs are compiled and all memory is allocated
// before the first step is submitted, so that a call which cannot run changes nothing.
func (e *EagerCall) RunInto(r *Recipe) error {
	if err := e.allocate(r.Buffers); err != nil {
		return err
	}
	defer func() { e.launches = e.launches[:0] }()
	for i := range r.Steps {
		l := e.launch(&r.Steps[i])
		if err := l.prepare(r.Steps[i].Row); err != nil {
			e.abandon()
			return err
		}
		e.launches = append(e.launches, l)
	}
	for i, l := range e.launches {
		e.launches[i] = nil
		if err := l.Submit(); err != nil {
			e.abandon()
			return err
		}
	}
	return nil
}

// abandon recycles the launches that have not been submitted.
func (e *EagerCall) abandon() {
	for i, l := range e.launches {
		if l != nil {
			l.Recycle()
			e.launches[i] = nil
		}
	}
}

// allocate allocates buffers of results and intermediates.
func (e *EagerCall) allocate(buffers []graph.Buffer) error {
	for i := range buffers {
		b := &buffers[i]
		store, err := e.Stream.ctx.NewStorage(b.Count*b.DType.Size(), e.Stream)
		if err != nil {
			return err
		}
		e.bases = append(e.bases, base{store: store, addr: store.Base, own: true})
	}
	return nil
}

// number is the number that a ref names: the row's own, or the one that this call was given.
func (e *EagerCall) number(r *op.Ref) *op.Value {
	if r.Buffer > 0 {
		return e.args[r.Buffer-1].number
	}
	return r.Number
}

// launch makes the launch of a step. Random rows take their counters here, in the order of the steps.
func (e *EagerCall) launch(s *op.Step) *Launch {
	l := e.Stream.ctx.Runtime.NewLaunch(e.Stream.ctx, e.Stream)
	for i := range s.In {
		r := &s.In[i]
		if r.Number != nil {
			l.readScalar(e.number(r), r.DType, &r.Layout)
			continue
		}
		l.readPart(&e.bases[r.Buffer], r)
	}
	if s.Row.Updates { // what is not written stays, and was perhaps never computed
		l.Stores = append(l.Stores, e.bases[s.Out[0].Buffer].store)
	}
	for i := range s.Out {
		l.writePart(&e.bases[s.Out[i].Buffer], &s.Out[i])
	}
	l.Attrs, l.Axes, l.nonBlocking = s.Attrs, s.Axes, e.nonBlocking
	if s.Row.Random {
		l.draws = s.Out[0].Numel()
	}
	if s.Row.Counted {
		l.count = &e.count
	}
	return l
}

// AdoptResults makes tensors of the results.
//
// Those that share the memory of an operand are views of it.
func (e *EagerCall) AdoptResults(in []Operand, out []op.Ref) ([]*Tensor, error) {
	ts := make([]*Tensor, 0, len(out))
	for i := range out {
		t, err := e.tensor(&out[i], len(out) == 1)
		if err != nil {
			for _, t := range ts {
				t.Store.Context.Runtime.Free(t.handle)
			}
			return nil, err
		}
		ts = append(ts, t)
		if t.IsView {
			t.deriveFromOperands(in)
		}
	}
	return ts, nil
}

// deriveFromOperands makes t a view of the operand whose memory it shares.
func (t *Tensor) deriveFromOperands(in []Operand) {
	for i := range in {
		if x := in[i].Tensor; x != nil && x.Store == t.Store {
			t.DeriveFrom(x)
			return
		}
	}
}

// tensor makes a tensor of a result. A buffer that is the only result gives its reference to the tensor; in other
// cases, such as views, each tensor retains the storage.
func (e *EagerCall) tensor(r *op.Ref, only bool) (*Tensor, error) {
	b := &e.bases[r.Buffer]
	if e.Row.Counted { // whose number of results depends on the data
		if err := b.store.Wait(false); err != nil {
			return nil, err
		}
	}
	rt := e.Stream.ctx.Runtime
	h, t := rt.tensors.New()
	if t == nil {
		return nil, tooManyTensors(rt)
	}
	t.Store, t.Addr, t.Offset, t.DType, t.handle = b.store, at(b.addr, r.Offset, r.DType), b.offset+r.Offset, r.DType, h
	t.Layout = r.Layout
	if e.Row.Counted {
		t.Dims[0] = e.count
	}
	t.IsView = !b.own && e.Row.Kind == op.View
	if only && b.own {
		b.own = false
	} else {
		b.store.Retain()
	}
	return t, nil
}

// AssignRow is the operator that copies.
var AssignRow = op.ByID(op.IDAssign)

// copy writes the elements of one view to another of the same device, broadcast and cast. The views may overlap:
// the elements written are those of from before the call.
func (s *Stream) copy(from, to *View) error {
	e := s.ctx.Runtime.NewEagerCall(AssignRow, s, false)
	defer e.Recycle()
	e.addView(from)
	e.AddOutput(to)
	r, err := e.RecipeOf(nil)
	if err != nil {
		return err
	}
	return e.RunInto(r)
}

// Contiguous copies a view into new memory, in row-major order. The caller owns the reference of the result.
func (s *Stream) Contiguous(v *View) (View, error) {
	w, err := s.ctx.EmptyView(AssignRow.Name, v.DType, &v.Shape, s)
	if err != nil {
		return w, err
	}
	if err := s.copy(v, &w); err != nil {
		w.Store.Release()
		return View{}, err
	}
	return w, nil
}
