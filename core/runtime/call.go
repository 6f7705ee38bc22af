package runtime

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Operand is an input of a call: a tensor, or a scalar, or with neither an optional input left out.
type Operand struct {
	Tensor *Tensor
	Value  op.Value
}

// Call runs an operator and makes its results. at is in the row's order, Kind None for what is left
// to the default; where says where results live when no tensor does (nil: the CPU); on is the stream
// to use on its own device (nil: the default one). On an error nothing has been made.
func (rt *Runtime) Call(row *op.Row, in []Operand, at op.Attrs, where *Context, on *Stream) ([]*Tensor, error) {
	c, err := rt.check(row, in, at, where)
	if err != nil {
		return nil, err
	}
	s := c.pick(on)
	if row.Kind == op.View {
		return rt.views(row, &in[0].Tensor.view, at, s)
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	v, err := s.compute(p, row, in, at, nil)
	if err != nil {
		return nil, err
	}
	t, err := rt.adopt(&v)
	if err != nil {
		return nil, err
	}
	return []*Tensor{t}, nil
}

// CallInto runs an operator with one result, which goes into out: cast to out's dtype, and for assign
// and index_put broadcast to it. out may share memory with the inputs.
func (rt *Runtime) CallInto(row *op.Row, in []Operand, at op.Attrs, out *Tensor, on *Stream) error {
	c, err := rt.check(row, in, at, out.store.ctx)
	if err != nil {
		return err
	}
	if c != out.store.ctx {
		return status.Errorf(status.Invalid, "[%s] the inputs are on %s and the output on %s; want one place", row.Name, c.place, out.store.ctx.place)
	}
	if row.Kind == op.View {
		return status.Errorf(status.Unsupported, "[%s] makes a view; it cannot be written into a tensor (assign its result)", row.Name)
	}
	if err := writable(row.Name, &out.view); err != nil {
		return err
	}
	p := rt.plans.Get().(*plan)
	defer rt.recycle(p)
	_, err = c.pick(on).compute(p, row, in, at, &out.view)
	return err
}

// writable refuses outputs in which two indices name one element.
func writable(name string, v *view) error {
	for i := range v.Rank {
		if v.Dims[i] > 1 && v.Strides[i] == 0 {
			return status.Errorf(status.Invalid, "[%s] the output repeats elements along axis %d (stride 0); want one element per index", name, i)
		}
	}
	return nil
}

// check completes attributes, counts operands and finds the device of a call.
func (rt *Runtime) check(row *op.Row, in []Operand, at op.Attrs, where *Context) (*Context, error) {
	if err := row.Fill(at); err != nil {
		return nil, err
	}
	if err := arity(row, in); err != nil {
		return nil, err
	}
	return rt.locate(row, in, where)
}

// arity checks the operands against the row's declaration.
func arity(row *op.Row, in []Operand) error {
	last := len(row.In) - 1
	variadic := last >= 0 && row.In[last].Variadic
	if len(in) < len(row.In) || len(in) > len(row.In) && !variadic {
		return status.Errorf(status.Invalid, "[%s] got %d operands; want %d", row.Name, len(in), len(row.In))
	}
	for i := range in {
		decl := &row.In[min(i, last)]
		given := in[i].Tensor != nil || in[i].Value.Set()
		switch {
		case !given && !decl.Optional:
			return status.Errorf(status.Invalid, "[%s] operand %s is missing", row.Name, decl.Name)
		case in[i].Tensor == nil && given && !decl.Scalar:
			return status.Errorf(status.Invalid, "[%s] operand %s is a scalar; want a tensor", row.Name, decl.Name)
		}
	}
	return nil
}

// locate is the device where the tensors are. A 0-d CPU tensor stands beside any other.
func (rt *Runtime) locate(row *op.Row, in []Operand, where *Context) (*Context, error) {
	var c *Context
	for i := range in {
		t := in[i].Tensor
		switch {
		case t == nil || t.store.ctx == c:
		case c == nil || c == rt.cpu && allScalars(in[:i]):
			c = t.store.ctx
		case t.store.ctx == rt.cpu && t.Rank == 0:
		default:
			return nil, status.Errorf(status.Invalid, "[%s] got tensors on %s and on %s; want one place (move one with .to() or .cpu())", row.Name, c.place, t.store.ctx.place)
		}
	}
	if c == nil {
		c = where
	}
	if c == nil {
		c = rt.cpu
	}
	return c, nil
}

// allScalars reports whether all tensors are 0-d.
func allScalars(in []Operand) bool {
	for i := range in {
		if t := in[i].Tensor; t != nil && t.Rank > 0 {
			return false
		}
	}
	return true
}

// plan is room for what a call works out on its way, recycled so that a warm call allocates nothing.
type plan struct {
	in     [2]Operand
	args   []op.Arg
	result op.Result
	srcs   []source
	made   view // the result in new memory
}

func (rt *Runtime) recycle(p *plan) {
	clear(p.in[:])
	clear(p.srcs)
	p.made = view{}
	rt.plans.Put(p)
}

// compute runs an operator that is not a view, into out or into new memory, whose reference the
// caller then holds.
func (s *Stream) compute(p *plan, row *op.Row, in []Operand, at op.Attrs, out *view) (view, error) {
	p.args = p.args[:0]
	for i := range in {
		p.args = append(p.args, arg(&in[i]))
	}
	r := &p.result
	*r = op.Result{}
	if err := row.Infer(p.args, at, r); err != nil {
		return view{}, err
	}
	if row.Name == "nonzero" {
		return s.nonzero(row, in, out, r)
	}
	if out == nil {
		return s.fresh(p, row, in, at)
	}
	if err := fits(row, out, r); err != nil {
		return view{}, err
	}
	if r.Out != out.dtype && row.Kind != op.Convert || clash(in, out) {
		return view{}, s.viaCopy(p, row, in, at, out)
	}
	return *out, s.call(p, row, in, at, out)
}

// fits checks the shape of a given output; assign broadcasts to it.
func fits(row *op.Row, out *view, r *op.Result) error {
	got := &r.Shape
	if out.Shape == *got || row.Name == "index_put" {
		return nil
	}
	if row.Kind == op.Convert {
		if b, err := shape.Broadcast(row.Name, got, &out.Shape); err == nil && b == out.Shape {
			return nil
		}
	}
	return status.Errorf(status.Invalid, "[%s] the result has shape %s and the output %s; want them equal", row.Name, got, &out.Shape)
}

// clash reports whether writing out could change an input that has not been read yet. An input that
// is the very same view is read element by element before it is written.
func clash(in []Operand, out *view) bool {
	for i := range in {
		t := in[i].Tensor
		if t == nil || !t.overlaps(out) {
			continue
		}
		if t.addr != out.addr || t.Layout != out.Layout || t.dtype != out.dtype {
			return true
		}
	}
	return false
}

// fresh runs into new memory.
func (s *Stream) fresh(p *plan, row *op.Row, in []Operand, at op.Attrs) (view, error) {
	var err error
	if p.made, err = s.ctx.empty(row.Name, p.result.Out, &p.result.Shape, s); err != nil {
		return view{}, err
	}
	if err := s.call(p, row, in, at, &p.made); err != nil {
		p.made.store.release()
		return view{}, err
	}
	return p.made, nil
}

// viaCopy runs into new memory and copies from there, with a cast where the dtypes differ.
func (s *Stream) viaCopy(p *plan, row *op.Row, in []Operand, at op.Attrs, out *view) error {
	v, err := s.fresh(p, row, in, at)
	if err != nil {
		return err
	}
	defer v.store.release()
	return s.copy(&v, out)
}

// arg is an operand as inference sees it.
func arg(o *Operand) op.Arg {
	if t := o.Tensor; t != nil {
		return op.Arg{DType: t.dtype, Shape: t.Shape}
	}
	a := op.Arg{Scalar: true, Value: o.Value}
	switch o.Value.Kind {
	case op.None:
		a.Absent = true
	case op.Bool:
		a.DType = dtype.Bool
	case op.Int:
		a.DType = dtype.Int64
	default:
		a.DType = dtype.Float32
	}
	return a
}

// call casts the operands as inference said and runs the operator, or what stands for it.
func (s *Stream) call(p *plan, row *op.Row, in []Operand, at op.Attrs, out *view) error {
	p.srcs = p.srcs[:0]
	defer p.release()
	for i := range in {
		p.srcs = append(p.srcs, source{})
		if err := s.source(&p.srcs[i], &in[i], p.result.InDType(i), row); err != nil {
			return err
		}
	}
	if lower := lowerings[row.ID]; lower != nil {
		return lower(s, row, p.srcs, at, &p.result, out)
	}
	return s.run(row, p.srcs, at, &p.result, out)
}

// release drops what was cast for the call.
func (p *plan) release() {
	for i := range p.srcs {
		if p.srcs[i].temporary {
			p.srcs[i].store.release()
		}
	}
}

// run submits a call whose operands are ready.
func (s *Stream) run(row *op.Row, srcs []source, at op.Attrs, r *op.Result, out *view) error {
	l := s.ctx.rt.newLaunch(s.ctx, s)
	for i := range srcs {
		l.read(&srcs[i])
	}
	l.write(out)
	l.Attrs, l.Axes, l.indexed = at, r.Axes, r.Shape
	if row.Random {
		l.Seed = s.ctx.random.take(r.Shape.Numel())
	}
	return l.submit(row)
}

// source fills in an operand in the dtype that the call wants. Convert casts by itself.
func (s *Stream) source(src *source, o *Operand, want dtype.DType, row *op.Row) (err error) {
	t := o.Tensor
	switch {
	case t == nil:
		src.dtype, src.scalar, src.value = want, true, o.Value
	case t.store.ctx != s.ctx:
		src.dtype, src.scalar = want, true
		src.value, err = t.scalarValue()
	case t.dtype == want || row.Kind == op.Convert:
		src.view = t.view
	default:
		src.view, err = s.cast(&t.view, want)
		src.temporary = err == nil
	}
	return err
}

// cast copies a view into new memory of another dtype.
func (s *Stream) cast(v *view, d dtype.DType) (view, error) {
	w, err := s.ctx.empty("cast", d, &v.Shape, s)
	if err != nil {
		return w, err
	}
	if err := s.copy(v, &w); err != nil {
		w.store.release()
		return view{}, err
	}
	return w, nil
}

var assign = op.MustByName("assign")

// copy writes the elements of one view to another of the same device, broadcast and cast.
func (s *Stream) copy(from, to *view) error {
	l := s.ctx.rt.newLaunch(s.ctx, s)
	l.read(&source{view: *from})
	l.write(to)
	return l.submit(assign)
}
