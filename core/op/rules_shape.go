package op

import (
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules that give the shape of a result and the axes that a call works along.

func likeInput(_ *Row, args []Arg, _ Attrs, r *Result) error {
	r.Shape = args[0].Shape
	return nil
}

func broadcast(row *Row, args []Arg, _ Attrs, r *Result) (err error) {
	r.Shape = args[0].Shape
	for i := 1; i < len(args) && err == nil; i++ {
		if !args[i].Absent && args[i].Shape != r.Shape {
			r.Shape, err = shape.Broadcast(row.Name, &r.Shape, &args[i].Shape)
		}
	}
	return err
}

// bounded is the shape of the first input, to which the others broadcast.
func bounded(row *Row, args []Arg, at Attrs, r *Result) error {
	if err := broadcast(row, args, at, r); err != nil {
		return err
	}
	if x := &args[0].Shape; r.Shape != *x {
		return status.Errorf(status.Invalid, "[%s] the bounds make shape %s of %s; want bounds that broadcast to it", row.Name, &r.Shape, x)
	}
	return nil
}

// attr finds a value by the attribute's name; every row that uses it declares that attribute.
func (row *Row) attr(at Attrs, name string) *Value {
	for i := range row.Attrs {
		if row.Attrs[i].Name == name {
			return &at[i]
		}
	}
	return &Value{}
}

func alongAxis(row *Row, args []Arg, at Attrs, r *Result) error {
	axis, err := shape.Axis(row.Name, row.attr(at, "axis").I, args[0].Shape.Rank)
	r.Shape, r.Axes = args[0].Shape, 1<<axis
	return err
}

// axesOf is a list of axes as a set; all axes when the list is empty. Twice the same is an error.
func axesOf(row *Row, list []int64, rank int) (set Axes, err error) {
	if len(list) == 0 {
		return 1<<rank - 1, nil
	}
	for _, a := range list {
		axis, err := shape.Axis(row.Name, a, rank)
		if err != nil {
			return 0, err
		}
		if set.Has(axis) {
			return 0, status.Errorf(status.Invalid, "[%s] axis %v names axis %d twice; want each once", row.Name, list, axis)
		}
		set |= 1 << axis
	}
	return set & (1<<rank - 1), nil
}

// drop fills in the shape that is left when the axes of r are reduced.
func (r *Result) drop(in *shape.Shape, keep bool) {
	r.Shape = shape.Shape{}
	for i, d := range in.Slice() {
		switch {
		case !r.Axes.Has(i):
			r.Shape.Append(d)
		case keep:
			r.Shape.Append(1)
		}
	}
}

func reduced(row *Row, args []Arg, at Attrs, r *Result) (err error) {
	if r.Axes, err = axesOf(row, row.attr(at, "axis").Ints, args[0].Shape.Rank); err != nil {
		return err
	}
	r.drop(&args[0].Shape, row.attr(at, "keepdim").I != 0)
	return nil
}

// reducedSome is reduced for operators that have no answer for nothing: max and min.
func reducedSome(row *Row, args []Arg, at Attrs, r *Result) error {
	if err := reduced(row, args, at, r); err != nil {
		return err
	}
	return wantSome(row, args, r)
}

// wantSome refuses reduction over an axis without elements.
func wantSome(row *Row, args []Arg, r *Result) error {
	for i, d := range args[0].Shape.Slice() {
		if d == 0 && r.Axes.Has(i) {
			return status.Errorf(status.Invalid, "[%s] shape %s has no element along axis %d; want at least one", row.Name, &args[0].Shape, i)
		}
	}
	return nil
}

func reducedOne(row *Row, args []Arg, at Attrs, r *Result) error {
	in, v := &args[0].Shape, row.attr(at, "axis")
	r.Axes = 1<<in.Rank - 1
	if v.Set() {
		axis, err := shape.Axis(row.Name, v.I, in.Rank)
		if err != nil {
			return err
		}
		r.Axes &= 1 << axis
	}
	r.drop(in, row.attr(at, "keepdim").I != 0)
	return wantSome(row, args, r)
}

// Matrix is an operand of matmul taken apart: the axes before the last two, rows and columns.
type Matrix struct {
	Batch      shape.Shape
	Rows, Cols int64
}

// matrix reads a shape as matrices. A vector is a row when it stands left and a column when right.
func matrix(s *shape.Shape, transposed, right bool) (m Matrix) {
	if s.Rank == 1 {
		m.Rows, m.Cols = 1, s.Dims[0]
		if right {
			m.Rows, m.Cols = m.Cols, m.Rows
		}
		return m
	}
	m.Batch.Rank = s.Rank - 2
	copy(m.Batch.Dims[:], s.Dims[:m.Batch.Rank])
	m.Rows, m.Cols = s.Dims[s.Rank-2], s.Dims[s.Rank-1]
	if transposed {
		m.Rows, m.Cols = m.Cols, m.Rows
	}
	return m
}

func multipliedShape(row *Row, args []Arg, at Attrs, r *Result) error {
	sx, sy := &args[0].Shape, &args[1].Shape
	if sx.Rank == 0 || sy.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] shapes are %s and %s; want at least one dimension each", row.Name, sx, sy)
	}
	x := matrix(sx, row.attr(at, "transpose_x").I != 0, false)
	y := matrix(sy, row.attr(at, "transpose_y").I != 0, true)
	if x.Cols != y.Rows {
		return status.Errorf(status.Invalid, "[%s] shapes %s and %s do not fit: x has %d columns and y has %d rows; want equal", row.Name, sx, sy, x.Cols, y.Rows)
	}
	var err error
	if r.Shape, err = shape.Broadcast(row.Name, &x.Batch, &y.Batch); err != nil {
		return err
	}
	if sx.Rank > 1 {
		r.Shape.Append(x.Rows)
	}
	if sy.Rank > 1 {
		r.Shape.Append(y.Cols)
	}
	return nil
}

func concatenated(row *Row, args []Arg, at Attrs, r *Result) error {
	axis, err := shape.Axis(row.Name, row.attr(at, "axis").I, args[0].Shape.Rank)
	if err != nil {
		return err
	}
	if args[0].Shape.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] tensor 0 has no dimensions; want at least one (stack joins 0-d tensors)", row.Name)
	}
	r.Shape, r.Axes = args[0].Shape, 1<<axis
	for i := 1; i < len(args); i++ {
		s := args[i].Shape
		want := args[0].Shape
		if s.Rank == want.Rank {
			r.Shape.Dims[axis] += s.Dims[axis]
			want.Dims[axis] = s.Dims[axis]
		}
		if s != want {
			return status.Errorf(status.Invalid, "[%s] tensor 0 has shape %s and tensor %d has %s; want equal dimensions except on axis %d", row.Name, &args[0].Shape, i, &s, axis)
		}
	}
	return nil
}

func stacked(row *Row, args []Arg, at Attrs, r *Result) error {
	s := args[0].Shape
	if s.Rank == shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] tensors have %d dimensions; want at most %d", row.Name, s.Rank, shape.MaxRank-1)
	}
	axis, err := shape.Axis(row.Name, row.attr(at, "axis").I, s.Rank+1)
	if err != nil {
		return err
	}
	for i := range args {
		if args[i].Shape != s {
			return status.Errorf(status.Invalid, "[%s] tensor 0 has shape %s and tensor %d has %s; want one shape", row.Name, &s, i, &args[i].Shape)
		}
	}
	l := shape.Layout{Shape: s}
	l.Insert(axis)
	l.Dims[axis] = int64(len(args))
	r.Shape, r.Axes = l.Shape, 1<<axis
	return nil
}

func tiled(row *Row, args []Arg, at Attrs, r *Result) error {
	times, s := row.attr(at, "repeat_times").Ints, args[0].Shape
	rank := max(len(times), s.Rank)
	if rank > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] repeat_times has %d entries; want at most %d", row.Name, len(times), shape.MaxRank)
	}
	r.Shape = shape.Shape{Rank: rank}
	for i := range rank {
		d, n := int64(1), int64(1)
		if j := i - (rank - s.Rank); j >= 0 {
			d = s.Dims[j]
		}
		if j := i - (rank - len(times)); j >= 0 {
			n = times[j]
		}
		if n < 0 {
			return status.Errorf(status.Invalid, "[%s] repeat_times is %v; want no negative number", row.Name, times)
		}
		if n != 0 && d > (1<<62)/n {
			return status.Errorf(status.Invalid, "[%s] %s repeated %v times is larger than the address space", row.Name, &s, times)
		}
		r.Shape.Dims[i] = d * n
	}
	return nil
}

func gatheredShape(row *Row, args []Arg, at Attrs, r *Result) error {
	x, index := args[0].Shape, &args[1].Shape
	if x.Rank == 0 || index.Rank > 1 && !(index.Rank == 2 && index.Dims[1] == 1) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and index %s; want x of 1 dimension or more and index of 0 or 1", row.Name, &x, index)
	}
	axis, err := shape.Axis(row.Name, row.attr(at, "axis").I, x.Rank)
	if err != nil {
		return status.Errorf(status.Index, "%s", err) // an IndexError in Paddle, other than elsewhere
	}
	r.Shape, r.Axes = x, 1<<axis
	if index.Rank == 0 {
		l := shape.Layout{Shape: x}
		l.Remove(axis)
		r.Shape = l.Shape
		return nil
	}
	r.Shape.Dims[axis] = index.Dims[0]
	return nil
}

// indices is the common shape of index tensors, which count along the first axes of something.
func indices(row *Row, args []Arg, rank int) (b shape.Shape, err error) {
	if len(args) == 0 || len(args) > rank {
		return b, status.Errorf(status.Index, "[%s] got %d index tensors for %d dimensions", row.Name, len(args), rank)
	}
	b = args[0].Shape
	for i := 1; i < len(args) && err == nil; i++ {
		b, err = shape.Broadcast(row.Name, &b, &args[i].Shape)
	}
	return b, err
}

func indexed(row *Row, args []Arg, _ Attrs, r *Result) (err error) {
	x := &args[0].Shape
	if r.Shape, err = indices(row, args[1:], x.Rank); err != nil {
		return err
	}
	rest := x.Slice()[len(args)-1:]
	if r.Shape.Rank+len(rest) > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] the result has %d dimensions; want at most %d", row.Name, r.Shape.Rank+len(rest), shape.MaxRank)
	}
	for _, d := range rest {
		r.Shape.Append(d)
	}
	return nil
}

// indexedInto is the shape of the indices: the result is the given output, against which the
// runtime checks the value.
func indexedInto(row *Row, args []Arg, _ Attrs, r *Result) (err error) {
	r.Shape, err = indices(row, args[1:], shape.MaxRank)
	return err
}

// nonzeroBound is the shape if every element were not zero.
func nonzeroBound(row *Row, args []Arg, _ Attrs, r *Result) (err error) {
	if _, err = args[0].Shape.Bytes(8 * max(int64(args[0].Shape.Rank), 1)); err != nil {
		return err
	}
	r.Shape, err = shape.Of(args[0].Shape.Numel(), int64(args[0].Shape.Rank))
	return err
}

func fromAttr(row *Row, _ []Arg, at Attrs, r *Result) (err error) {
	if r.Shape, err = shape.Of(row.attr(at, "shape").Ints...); err != nil {
		return status.Errorf(status.Invalid, "[%s] %s", row.Name, err)
	}
	return nil
}

func fromCount(row *Row, _ []Arg, at Attrs, r *Result) error {
	n := row.attr(at, "count").I
	if n < 0 {
		return status.Errorf(status.Invalid, "[%s] count is %d; want 0 or more", row.Name, n)
	}
	r.Shape = shape.Shape{Rank: 1}
	r.Shape.Dims[0] = n
	return nil
}
