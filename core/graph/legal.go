package graph

import (
	"errors"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Role is what a buffer is for.
type Role uint8

// The roles.
const (
	Temporary Role = iota // made and used by steps
	Given                 // an input of the graph, or an output whose memory the caller has chosen
	Made                  // an output of the graph
	Known                 // a constant
)

// Buffer is memory that steps read and write through views.
type Buffer struct {
	Role  Role
	DType dtype.DType
	Count int64 // elements
	Index int   // among the inputs, outputs or constants of the graph
	// Addr is where the element with offset 0 of a given buffer lies, to find out what shares memory.
	// Buffers without an address share none.
	Addr uintptr
	data *op.Const
}

// Composes says which steps of composites a device has a kernel of its own for; see device.Composer. nil
// stands for a device that has none.
type Composes func(s *op.Step) bool

// Legal is a graph in which nothing is implied. Its methods add to it; Reset empties it, after which it
// allocates nothing for as much again. It is for one goroutine.
type Legal struct {
	Composes Composes // of the device that the steps are for; Reset leaves it alone

	Buffers []Buffer
	Steps   []op.Step // in the frame of device.Call
	refs    []op.Ref  // what steps have for In and Out
	calls   []*call
	depth   int     // how many of calls are under way: lowerings call
	next    op.Step // room for one that is being added
}

type call struct {
	op.Inference
	step op.Step
}

// Reset empties the graph.
func (l *Legal) Reset() {
	clear(l.Steps)
	l.Buffers, l.Steps, l.refs, l.depth = l.Buffers[:0], l.Steps[:0], l.refs[:0], 0
}

// Give adds a buffer whose memory there is already, and the view of it that has this layout. addr may
// be 0 where the memory is shared with no other buffer.
func (l *Legal) Give(r *op.Ref, d dtype.DType, layout *shape.Layout, addr uintptr, index int) {
	l.Buffers = append(l.Buffers, Buffer{Role: Given, DType: d, Index: index, Addr: addr})
	r.Buffer, r.Offset, r.DType, r.Number, r.Layout = len(l.Buffers)-1, 0, d, nil, *layout
}

// one makes room for one more entry, whatever is in it. Operands are large: they are filled in where they
// stay.
func one[T any](list *[]T) *T {
	n := len(*list)
	if n < cap(*list) {
		*list = (*list)[:n+1]
	} else {
		var blank T
		*list = append(*list, blank)
	}
	return &(*list)[n]
}

// make adds a buffer for a contiguous tensor; status.Invalid for one that no address space holds.
func (l *Legal) make(r *op.Ref, d dtype.DType, s *shape.Shape) error {
	if _, err := s.Bytes(d.Size()); err != nil {
		name := l.calls[max(l.depth-1, 0)].Row.Name
		return status.Errorf(status.Invalid, "[%s] %s", name, strings.TrimPrefix(err.Error(), "[shape] "))
	}
	l.Buffers = append(l.Buffers, Buffer{DType: d, Count: s.Numel()})
	r.Buffer, r.Offset, r.DType, r.Number, r.Layout = len(l.Buffers)-1, 0, d, nil, shape.Contiguous(*s)
	return nil
}

// copied is a copy of an operand in new memory, in another dtype where it has another.
func (l *Legal) copied(r op.Ref, d dtype.DType) (to op.Ref, err error) {
	if err = l.make(&to, d, &r.Shape); err == nil {
		err = l.copy(r, to)
	}
	return to, err
}

// ask infers a call. The caller gives the inference back by lowering depth again. Inferences are kept in a
// stack because operators that are lowered ask about others meanwhile.
func (l *Legal) ask(row *op.Row, in []op.Ref, at op.Attrs) (*call, error) {
	if l.depth == len(l.calls) {
		l.calls = append(l.calls, &call{})
	}
	c := l.calls[l.depth]
	l.depth++
	c.Reset(row, at)
	for i := range in {
		l.describe(one(&c.In), &in[i])
	}
	if err := row.Arity(c.In); err != nil {
		return c, err
	}
	if row.Kind == op.View { // which is asked about the layout as it is
		c.Cast = append(c.Cast, dtype.Invalid)
		return c, nil
	}
	return c, c.Infer()
}

// describe says of an operand what inference sees. A number without a dtype is a Python scalar, weak in
// promotion; one with a dtype is an element of a 0-d tensor, which counts as a tensor.
func (l *Legal) describe(a *op.Arg, r *op.Ref) {
	a.Form, a.DType, a.Scalar, a.Absent, a.Value, a.Const = op.TensorForm, r.DType, false, false, nil, nil
	switch {
	case r.Number == nil:
		a.Shape, a.Const = r.Shape, l.Buffers[r.Buffer].data
	case r.DType != dtype.Invalid: // an element of a tensor
		a.Shape = shape.Shape{}
	default:
		a.DType, a.Shape, a.Scalar, a.Absent, a.Value = r.Number.DType(), shape.Shape{}, true, !r.Number.Set(), r.Number
	}
}

// Call adds a call and returns its results: views of new buffers, or for views of the operand's. The list
// of operands is the graph's from here on, which may change it.
func (l *Legal) Call(row *op.Row, in []op.Ref, at op.Attrs) ([]op.Ref, error) {
	c, err := l.ask(row, in, at)
	defer func() { l.depth-- }()
	if err != nil {
		return nil, err
	}
	if row.Kind == op.View {
		return l.views(c, in[0])
	}
	first := len(l.refs)
	for i := range c.Out {
		if err := l.make(one(&l.refs), c.Out[i].DType, &c.Out[i].Shape); err != nil {
			return nil, err
		}
	}
	out := l.refs[first:len(l.refs):len(l.refs)]
	return out, l.step(c, in, out)
}

// CallInto adds a call with one result, which goes into out: cast to its dtype, and of Convert and rows
// that update broadcast to it. out may share memory with the operands; what they are before the call
// counts. The list of operands is the graph's from here on.
func (l *Legal) CallInto(row *op.Row, in []op.Ref, at op.Attrs, out op.Ref) error {
	if err := row.Into(); err != nil {
		return err
	}
	c, err := l.ask(row, in, at)
	defer func() { l.depth-- }()
	if err != nil {
		return err
	}
	if err := fits(c, &out); err != nil {
		return err
	}
	if row.Updates && in[0].DType == out.DType && l.same(&in[0], &out) {
		return l.update(c, in, out)
	}
	if row != assign && c.Out[0].DType != out.DType || row.Updates || row.Refuses(c.Out[0].DType) || l.clashes(row, in, &out) {
		var made op.Ref
		if err := l.make(&made, c.Out[0].DType, &c.Out[0].Shape); err != nil {
			return err
		}
		if err := l.step(c, in, l.list(made)); err != nil {
			return err
		}
		return l.copy(made, out)
	}
	if row == assign && l.same(&in[0], &out) {
		return nil
	}
	return l.step(c, in, l.list(out))
}

// fits checks the shape of a given output; a conversion broadcasts to it.
func fits(c *call, out *op.Ref) error {
	got := &c.Out[0].Shape
	if out.Shape == *got {
		return nil
	}
	if c.Row.Kind == op.Convert {
		if b, err := shape.Broadcast(c.Row.Name, got, &out.Shape); err == nil && b == out.Shape {
			return nil
		}
	}
	return status.Errorf(status.Invalid, "[%s] the result has shape %s and the output %s; want them equal", c.Row.Name, got, &out.Shape)
}

// clashes reports whether writing out could change an operand before it has been read. An elementwise
// operator reads each element of the very same view before it writes it.
func (l *Legal) clashes(row *op.Row, in []op.Ref, out *op.Ref) bool {
	for i := range in {
		if l.overlap(&in[i], out) && !(row.Elementwise() && row.Lower == nil && l.same(&in[i], out)) {
			return true
		}
	}
	return false
}

// update adds a call that changes its first operand in place. The others are copied where they share
// memory with it.
func (l *Legal) update(c *call, in []op.Ref, out op.Ref) error {
	for i := 1; i < len(in); i++ {
		if l.overlap(&in[i], &out) {
			var err error
			if in[i], err = l.copied(in[i], in[i].DType); err != nil {
				return err
			}
		}
	}
	return l.step(c, in, l.list(out))
}

// step adds a call whose results have their buffers: its casts, and what it is lowered to. It changes in.
func (l *Legal) step(c *call, in, out []op.Ref) error {
	row := c.Row
	if l.uncast(c, in, out) {
		return l.Emit(&c.step)
	}
	if err := l.widenScan(c, in, out); err != nil {
		return err
	}
	for i := range in {
		if err := l.cast(&in[i], c.Cast[i], row); err != nil {
			return err
		}
	}
	if row.Updates {
		if !l.same(&in[0], &out[0]) {
			if err := l.copy(in[0], out[0]); err != nil {
				return err
			}
		}
		in = in[1:]
	}
	if row.Frame != nil || row.Lower != nil || row.Kind == op.Reduce {
		out = l.copyOf(out) // which the frame changes
	}
	c.step = op.Step{Row: row, Attrs: c.Attrs, Axes: c.Axes, In: in, Out: out}
	if row.Lower == nil || !row.Own && l.Composes != nil && l.Composes(&c.step) {
		return l.add(&c.step)
	}
	return row.Lower(l, &c.step)
}

// uncast makes c.step of a call whose operand would be cast to int64, where the device has a kernel that reads it as it is: a cast is
// a copy of eight bytes for each element.
func (l *Legal) uncast(c *call, in, out []op.Ref) bool {
	if c.Row.Uncast == 0 || l.Composes == nil || c.Cast[0] != dtype.Int64 || in[0].Number != nil {
		return false
	}
	row := op.ByID(c.Row.Uncast)
	if in[0].DType == dtype.Int64 || !row.Accepts.Has(in[0].DType) {
		return false
	}
	at := make(op.Attrs, len(row.Attrs))
	for i := range c.Row.Attrs {
		for j := range row.Attrs {
			if row.Attrs[j].Name == c.Row.Attrs[i].Name {
				at[j] = c.Attrs[i]
			}
		}
	}
	c.step = op.Step{Row: row, Attrs: at, Axes: c.Axes, In: in, Out: out}
	return l.Composes(&c.step)
}

// widenScan casts the operand of a scan into its result, where the scan then runs in place: a scan reads an element before it writes
// that element. A result of its own for the cast would need as much memory again.
func (l *Legal) widenScan(c *call, in, out []op.Ref) error {
	if c.Row.Kind != op.Scan || len(out) != 1 {
		return nil
	}
	x, y := &in[0], &out[0]
	if x.Number != nil || c.Cast[0] == dtype.Invalid || x.DType == c.Cast[0] || y.DType != c.Cast[0] {
		return nil
	}
	place := *y
	if y.Shape != x.Shape { // the result is one line
		if !y.IsContiguous() {
			return nil
		}
		place.Layout = shape.Contiguous(x.Shape)
	}
	if err := l.copy(*x, place); err != nil {
		return err
	}
	*x = place
	return nil
}

// cast brings an operand to the dtype that a call wants. Conversions cast by themselves.
func (l *Legal) cast(r *op.Ref, want dtype.DType, row *op.Row) (err error) {
	switch {
	case want == dtype.Invalid:
	case r.Number != nil:
		if r.Number.Set() { // one that is left out stays without a dtype, so that devices see that it is
			r.DType = want
		}
	case r.DType != want && row.Kind != op.Convert:
		*r, err = l.copied(*r, want)
	}
	return err
}

var assign = op.ByID(op.IDAssign)

// copy adds a copy, with a cast where dtypes differ and broadcast to the target.
func (l *Legal) copy(from, to op.Ref) error {
	l.next = op.Step{Row: assign, In: l.list(from), Out: l.list(to)}
	return l.add(&l.next)
}

// list is one operand as a list.
func (l *Legal) list(r op.Ref) []op.Ref {
	l.refs = append(l.refs, r)
	n := len(l.refs)
	return l.refs[n-1 : n : n]
}

// Copy adds a copy; see op.Emitter.
func (l *Legal) Copy(from, to op.Ref) error { return l.copy(from, to) }

// Move adds a copy, or has the last step write to the target; see op.Emitter. The buffer of that step's result is the last one,
// which is then not made. A buffer that was filled before it was updated has two steps, and stays.
func (l *Legal) Move(from, to op.Ref) error {
	if n := len(l.Steps) - 1; n >= 0 && from.Number == nil && from.Buffer == len(l.Buffers)-1 && l.Buffers[from.Buffer].Role == Temporary {
		s := &l.Steps[n]
		if s.Row.Elementwise() && s.Out[0].Buffer == from.Buffer && from.DType == to.DType && from.Shape == to.Shape &&
			s.Out[0].Layout == from.Layout && l.linear(&from) && !slices.ContainsFunc(l.Steps[:n], func(s op.Step) bool { return s.Out[0].Buffer == from.Buffer }) {
			s.Out[0] = to
			l.Buffers = l.Buffers[:from.Buffer]
			return nil
		}
	}
	return l.copy(from, to)
}

// Emit adds a step for the device; see op.Emitter.
func (l *Legal) Emit(s *op.Step) error {
	l.next = *s
	l.next.In, l.next.Out = l.copyOf(s.In), l.copyOf(s.Out)
	return l.add(&l.next)
}

// add adds a step for the device, in its frame. One that has nothing to write is left out. The lists of s
// are the graph's from here on.
func (l *Legal) add(s *op.Step) error {
	if s.Out[0].Numel() == 0 && !(s.Row.Counted && s.Out[0].Dims[0] > 0) {
		return nil
	}
	s.Arrange()
	if s.Row.Updates && s.In[0].Numel() == 0 {
		return nil
	}
	l.Steps = append(l.Steps, *s)
	return nil
}

// copyOf is a copy of a list of operands.
func (l *Legal) copyOf(refs []op.Ref) []op.Ref {
	first := len(l.refs)
	l.refs = append(l.refs, refs...)
	return l.refs[first:len(l.refs):len(l.refs)]
}

// views are the results of a call that does no work: other layouts of its operand, or copies of them
// where the row is Fresh or strides cannot say it.
func (l *Legal) views(c *call, x op.Ref) ([]op.Ref, error) {
	if !c.Row.Accepts.Has(x.DType) {
		return nil, status.Errorf(status.Unsupported, "[%s] has no kernel for %s; want one of %v", c.Row.Name, x.DType, c.Row.Accepts.Members())
	}
	err := c.Row.View(&c.Inference, &x.Layout)
	if errors.Is(err, op.ErrCopy) {
		if x, err = l.copied(x, x.DType); err != nil {
			return nil, err
		}
		err = c.Row.View(&c.Inference, &x.Layout)
	}
	if err != nil {
		return nil, err
	}
	first := len(l.refs)
	for i := range c.Parts {
		l.refs = append(l.refs, op.Ref{Buffer: x.Buffer, Offset: x.Offset + c.Parts[i].Offset, DType: x.DType, Layout: c.Parts[i].Layout})
	}
	out := l.refs[first:len(l.refs):len(l.refs)]
	if !c.Row.Fresh {
		return out, nil
	}
	for i := range out {
		if out[i], err = l.copied(out[i], out[i].DType); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// same reports whether two operands are one view of the same memory.
func (l *Legal) same(a, b *op.Ref) bool {
	if a.Number != nil || b.Number != nil || a.DType != b.DType || a.Layout != b.Layout {
		return false
	}
	if a.Buffer == b.Buffer {
		return a.Offset == b.Offset
	}
	from, to := l.address(a), l.address(b)
	return from != 0 && from == to
}

// address is where the element with all indices zero lies; 0 where that is not known.
func (l *Legal) address(r *op.Ref) uintptr {
	if at := l.Buffers[r.Buffer].Addr; at != 0 {
		return at + uintptr(r.Offset*r.DType.Size())
	}
	return 0
}

// overlap reports whether two operands may share an element.
func (l *Legal) overlap(a, b *op.Ref) bool {
	if a.Number != nil || b.Number != nil {
		return false
	}
	lowA, highA, ok := a.Extent()
	lowB, highB, some := b.Extent()
	if !ok || !some {
		return false
	}
	fromA, fromB := l.address(a), l.address(b)
	if a.Buffer == b.Buffer {
		return a.Offset+lowA <= b.Offset+highB && b.Offset+lowB <= a.Offset+highA
	}
	if fromA == 0 || fromB == 0 {
		return false
	}
	sizeA, sizeB := a.DType.Size(), b.DType.Size()
	return fromA+uintptr(lowA*sizeA) < fromB+uintptr((highB+1)*sizeB) && fromB+uintptr(lowB*sizeB) < fromA+uintptr((highA+1)*sizeA)
}
