package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Ref is a tensor that a step reads or writes: a view of a buffer, or a scalar.
//
// What a row makes of a call may be run again with other numbers, unless the row is [Row.ByValue]: a scalar says which
// operand of the call it is, so that the number is found that is given then.
type Ref struct {
	Buffer int         // its number among the buffers of the graph; of scalars 1 + that of the operand, 0 for the row's own
	Offset int64       // elements from the start of the buffer to the one with all indices zero
	DType  dtype.DType // Invalid for a Python scalar that has not met its call
	Number *Value      // of a scalar, also of a tensor of one element that is known; nil for a view
	shape.Layout
}

// Step is a call of a row with nothing implied: inputs have the dtypes that inference asked for, and
// results have their memory. Inputs that were not given are scalars without a value. Of rows that
// update, In begins with the input after the updated one, which Out[0] already holds.
type Step struct {
	Row     *Row
	Attrs   Attrs
	Axes    Axes
	In, Out []Ref
}

// Lowering says a step in terms of other rows. It may change the step.
//
// A lowering is written once for all devices and sees what they would: operands in the dtypes of the call and results
// that have memory. It emits in the order in which the steps are to run, and may read what it has written before, as
// tile does. Where the whole result is one view of what another row makes, it changes the step and emits that.
type Lowering func(e Emitter, s *Step) error

// Emitter is what a lowering speaks to.
type Emitter interface {
	// Emit adds a step for the device. No element that it writes may be one that it reads.
	Emit(s *Step) error
	// Copy adds a copy between views of one dtype, the first of which broadcasts to the second. No
	// element of the second may be one of the first.
	Copy(from, to Ref) error
	// Move is Copy from a whole result of the last call, which nothing reads after it: where it can, that call writes to the place.
	Move(from, to Ref) error
	// Call adds a call of any row, with whatever it implies, and returns its results in new memory. It
	// may change in.
	Call(row *Row, in []Ref, at Attrs) ([]Ref, error)
}

// View is another view of the same buffer.
//
// The offset counts elements as strides do, from the element of the ref with all indices zero.
func (r *Ref) View(offset int64, l *shape.Layout) Ref {
	return Ref{Buffer: r.Buffer, Offset: r.Offset + offset, DType: r.DType, Layout: *l}
}

// SetNumber makes the operand a number of the row's own, in place of the one that was given.
func (r *Ref) SetNumber(v *Value, d dtype.DType) { r.Buffer, r.DType, r.Number = 0, d, v }

// Absent reports whether an optional operand was left out.
func (r *Ref) Absent() bool { return r.Number != nil && !r.Number.Set() }

// Stretch broadcasts operands to a shape.
func Stretch(refs []Ref, s *shape.Shape) {
	for i := range refs {
		if refs[i].Shape != *s {
			refs[i].Layout = refs[i].BroadcastTo(s)
		}
	}
}

// Arrange lays the operands of a step out in the frame in which devices take it; see device.Call.
func (s *Step) Arrange() {
	switch {
	case s.Row.Frame != nil:
		s.Row.Frame(s)
	case s.Row.Elementwise():
		Stretch(s.In, &s.Out[0].Shape)
	case s.Row.Kind == Reduce:
		s.keepAxes()
	}
}

// keepAxes gives the result the axes that were reduced back, with one element each.
func (s *Step) keepAxes() {
	in, out := &s.In[0].Layout, &s.Out[0].Layout
	if out.Rank == in.Rank {
		return
	}
	for i := range in.Rank {
		if s.Axes.Has(i) {
			out.Insert(i)
		}
	}
}

// Emission is the calculator of rules that say a step in terms of other rows. Its values are numbers of refs.
type Emission struct {
	To   Emitter
	Refs []Ref
}

// Call emits a call.
func (l *Emission) Call(row *Row, in []Var, at Attrs) ([]Var, error) {
	given := make([]Ref, len(in))
	for i, v := range in {
		given[i] = l.Refs[v]
	}
	made, err := l.To.Call(row, given, at)
	out := make([]Var, len(made))
	for i := range made {
		out[i] = Var(len(l.Refs))
		l.Refs = append(l.Refs, made[i])
	}
	return out, err
}

// Number adds a Python scalar.
func (l *Emission) Number(v Value) Var {
	l.Refs = append(l.Refs, Ref{Number: &v})
	return Var(len(l.Refs) - 1)
}

// IsNumber reports whether a value is a Python scalar.
func (l *Emission) IsNumber(v Var) bool {
	r := &l.Refs[v]
	return r.Number != nil && r.DType == dtype.Invalid
}

// Absent reports whether an operand was left out.
func (l *Emission) Absent(v Var) bool { return l.Refs[v].Absent() }

// TypeOf is the dtype and the shape of a value.
func (l *Emission) TypeOf(v Var) Type { return Type{DType: l.Refs[v].DType, Shape: l.Refs[v].Shape} }

// LowerToCalls is the lowering of rows that say themselves by Row.Calls: the results are moved to their places.
func LowerToCalls(e Emitter, s *Step) error {
	l := Emission{To: e, Refs: slices.Clone(s.In)}
	c := Calls{Calculator: &l}
	in := make([]Var, len(s.In))
	for i := range in {
		in[i] = Var(i)
	}
	made := s.Row.Calls(&c, in, s.Attrs)
	for i := 0; i < len(made) && c.Err == nil; i++ {
		if int(made[i]) < len(in) || slices.Contains(made[:i], made[i]) || slices.Contains(made[i+1:], made[i]) {
			c.Err = e.Copy(l.Refs[made[i]], s.Out[i])
		} else {
			c.Err = e.Move(l.Refs[made[i]], s.Out[i])
		}
	}
	return c.Err
}
