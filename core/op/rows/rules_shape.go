package rows

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules that give the shape of a result and the axes that a call works along.

// LikeInput is the rule of results shaped as the first operand.
func LikeInput(c *op.Inference) error {
	c.Out[0].Shape = c.In[0].Shape
	return nil
}

// Broadcast is the rule of elementwise operators: the common shape of all operands, by NumPy's rule. Operands that were
// left out have no say. Equal shapes, as they mostly are, cost one comparison each.
func Broadcast(c *op.Inference) (err error) {
	c.Out[0].Shape = c.In[0].Shape
	for i := 1; i < len(c.In) && err == nil; i++ {
		if !c.In[i].Absent && c.In[i].Shape != c.Out[0].Shape {
			c.Out[0].Shape, err = c.Broadcast(&c.Out[0].Shape, &c.In[i].Shape)
		}
	}
	return err
}

// bounded is the shape of the first input, to which the others broadcast.
func bounded(c *op.Inference) error {
	if err := Broadcast(c); err != nil {
		return err
	}
	x := &c.In[0].Shape
	if op.Unlike(&c.Out[0].Shape, x) {
		return status.Errorf(status.Invalid, "[%s] the bounds make shape %s of %s; want bounds that broadcast to it", c.Row.Name, &c.Out[0].Shape, x)
	}
	c.Out[0].Shape = *x // also where a symbol of a bound may be 1
	return nil
}

// alongAxis is the rule of scans over the one axis that attribute axis names.
func alongAxis(c *op.Inference) error {
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, c.In[0].Shape.Rank)
	c.Out[0].Shape, c.Axes = c.In[0].Shape, 1<<axis
	return err
}

// alongAxisOrAll is alongAxis, or without an axis along all elements in row-major order, as of one line. To Paddle an
// axis out of range is an index out of range here.
func alongAxisOrAll(c *op.Inference) (err error) {
	if c.Attr("axis").Set() {
		if err = alongAxis(c); err != nil && c.In[0].Shape.Rank > 0 {
			return status.Errorf(status.Index, "%s", err)
		}
		return err
	}
	c.Axes = 1
	c.Out[0].Shape, err = reshaped(c, &c.In[0].Shape, []int64{-1})
	return err
}

// firstOf cuts a result of alongAxis to as many elements as attribute k says. Without it the result keeps its length.
// A 0-d tensor counts as an axis of one element. The length of an axis that is a symbol is looked at when the program
// is compiled for the sizes that it has then.
func firstOf(c *op.Inference) error {
	v := c.Attr("k")
	if !v.Set() {
		return nil
	}
	axis, have := c.Axes.First(), int64(1)
	if c.In[0].Shape.Rank > 0 {
		have = c.In[0].Shape.Dims[axis]
	}
	if v.I < 1 || v.I > have && !shape.IsSymbol(have) {
		return status.Errorf(status.Invalid, "[%s] k is %d; want 1 to the %d elements of the axis", c.Row.Name, v.I, have)
	}
	if c.In[0].Shape.Rank > 0 {
		c.Out[0].Shape.Dims[axis] = v.I
	}
	return nil
}

// withPlaces adds a second result of the same shape: where along the axis the elements of the first are. It has the
// dtype that attribute dtype says, int64 or int32, if that can count the elements of the axis.
func withPlaces(c *op.Inference) error {
	d := dtype.Int64
	if given := attrDType(c); given != dtype.Invalid {
		d = given
	}
	if d != dtype.Int64 && d != dtype.Int32 {
		return status.Errorf(status.Invalid, "[%s] dtype is %s; want int32 or int64", c.Row.Name, d)
	}
	if s := &c.In[0].Shape; d == dtype.Int32 && s.Rank > 0 && s.Dims[c.Axes.First()] > math.MaxInt32 && !shape.IsSymbol(s.Dims[c.Axes.First()]) {
		return status.Errorf(status.Invalid, "[%s] dtype is int32 and the axis has %d elements; want int64", c.Row.Name, s.Dims[c.Axes.First()])
	}
	c.Out = append(c.Out, op.Type{DType: d, Shape: c.Out[0].Shape})
	return nil
}

// axisSet is a list of axes as a set; all axes when the list is empty. Twice the same is an error.
func axisSet(c *op.Inference, list []int64, rank int) (set op.Axes, err error) {
	if len(list) == 0 {
		return 1<<rank - 1, nil
	}
	for _, a := range list {
		axis, err := shape.Axis(c.Row.Name, a, rank)
		if err != nil {
			return 0, err
		}
		if set.Has(axis) {
			return 0, status.Errorf(status.Invalid, "[%s] axis %v names axis %d twice; want each once", c.Row.Name, list, axis)
		}
		set |= 1 << axis
	}
	return set & (1<<rank - 1), nil
}

// drop fills in the shape that is left when the axes of c are reduced.
func drop(c *op.Inference, in *shape.Shape, keep bool) {
	c.Out[0].Shape = shape.Shape{}
	for i, d := range in.Slice() {
		switch {
		case !c.Axes.Has(i):
			c.Out[0].Shape.Append(d)
		case keep:
			c.Out[0].Shape.Append(1)
		}
	}
}

// reduced is the rule of reductions over the axes that attribute axis lists, all without.
func reduced(c *op.Inference) (err error) {
	if c.Axes, err = axisSet(c, c.Attr("axis").Ints, c.In[0].Shape.Rank); err != nil {
		return err
	}
	drop(c, &c.In[0].Shape, c.Attr("keepdim").I != 0)
	return nil
}

// reducedSome is reduced for operators that have no answer for nothing: max and min.
func reducedSome(c *op.Inference) error {
	if err := reduced(c); err != nil {
		return err
	}
	return wantSome(c)
}

// wantSome refuses reduction over an axis without elements.
// A symbol may be 0 and passes; the graph is asked again when it is resolved.
func wantSome(c *op.Inference) error {
	for i, d := range c.In[0].Shape.Slice() {
		if d == 0 && c.Axes.Has(i) {
			return status.Errorf(status.Invalid, "[%s] shape %s has no element along axis %d; want at least one", c.Row.Name, &c.In[0].Shape, i)
		}
	}
	return nil
}

// reducedOne is the rule of argmax and argmin: over one axis, or over all elements in row-major order, whose index
// the result then is. There has to be an element.
func reducedOne(c *op.Inference) error {
	in, v := &c.In[0].Shape, c.Attr("axis")
	c.Axes = 1<<in.Rank - 1
	if v.Set() {
		axis, err := shape.Axis(c.Row.Name, v.I, in.Rank)
		if err != nil {
			return err
		}
		c.Axes &= 1 << axis
	}
	drop(c, in, c.Attr("keepdim").I != 0)
	return wantSome(c)
}

// Products. What the two operands are as matrices is worked out first, and everything else follows from it.

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

// multipliedShape is the rule of matmul: batches broadcast, columns of x meet rows of y, and the axis that a vector
// lacks is missing in the result.
func multipliedShape(c *op.Inference) error {
	sx, sy := &c.In[0].Shape, &c.In[1].Shape
	if sx.Rank == 0 || sy.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] shapes are %s and %s; want at least one dimension each", c.Row.Name, sx, sy)
	}
	x := matrix(sx, c.Attr("transpose_x").I != 0, false)
	y := matrix(sy, c.Attr("transpose_y").I != 0, true)
	if op.Differ(x.Cols, y.Rows) {
		return status.Errorf(status.Invalid, "[%s] shapes %s and %s do not fit: x has %d columns and y has %d rows; want equal", c.Row.Name, sx, sy, x.Cols, y.Rows)
	}
	var err error
	if c.Out[0].Shape, err = c.Broadcast(&x.Batch, &y.Batch); err != nil {
		return err
	}
	if sx.Rank > 1 {
		c.Out[0].Shape.Append(x.Rows)
	}
	if sy.Rank > 1 {
		c.Out[0].Shape.Append(y.Cols)
	}
	return nil
}

// concatenated is the rule of concat: dimensions agree but along the axis, where they are added up.
func concatenated(c *op.Inference) error {
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, c.In[0].Shape.Rank)
	if err != nil {
		return err
	}
	if c.In[0].Shape.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] tensor 0 has no dimensions; want at least one (stack joins 0-d tensors)", c.Row.Name)
	}
	c.Out[0].Shape, c.Axes = c.In[0].Shape, 1<<axis
	for i := 1; i < len(c.In); i++ {
		s := c.In[i].Shape
		want := c.In[0].Shape
		if s.Rank == want.Rank {
			c.Out[0].Shape.Dims[axis] = c.Plus(c.Out[0].Shape.Dims[axis], s.Dims[axis])
			want.Dims[axis] = s.Dims[axis]
		}
		if op.Unlike(&s, &want) {
			return status.Errorf(status.Invalid, "[%s] tensor 0 has shape %s and tensor %d has %s; want equal dimensions except on axis %d", c.Row.Name, &c.In[0].Shape, i, &s, axis)
		}
	}
	return nil
}

// stacked is the rule of stack: one shape for all, and a new axis as long as there are tensors.
func stacked(c *op.Inference) error {
	s := c.In[0].Shape
	if s.Rank == shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] tensors have %d dimensions; want at most %d", c.Row.Name, s.Rank, shape.MaxRank-1)
	}
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, s.Rank+1)
	if err != nil {
		return err
	}
	for i := range c.In {
		if op.Unlike(&c.In[i].Shape, &s) {
			return status.Errorf(status.Invalid, "[%s] tensor 0 has shape %s and tensor %d has %s; want one shape", c.Row.Name, &s, i, &c.In[i].Shape)
		}
	}
	l := shape.Layout{Shape: s}
	l.Insert(axis)
	l.Dims[axis] = int64(len(c.In))
	c.Out[0].Shape, c.Axes = l.Shape, 1<<axis
	return nil
}

// PadModes are what pad adds.
var PadModes = []string{"constant", "reflect", "replicate", "circular"}

// farthest bounds single pads, so that sums of them are numbers too.
const farthest = 1 << 48

// padded is the rule of pad.
func padded(c *op.Inference) error {
	pads, mode := c.Attr("pads").Ints, c.Attr("mode").Str()
	s := c.In[0].Shape
	if len(pads) != 2*s.Rank {
		return status.Errorf(status.Invalid, "[%s] pads has %d numbers and x %d axes; want two numbers an axis", c.Row.Name, len(pads), s.Rank)
	}
	if !slices.Contains(PadModes, mode) {
		return status.Errorf(status.Invalid, "[%s] mode is '%s'; want one of %v", c.Row.Name, mode, PadModes)
	}
	for i, n := range s.Slice() {
		before, behind := c.SizeOf(pads[2*i]), c.SizeOf(pads[2*i+1])
		open := shape.IsSymbol(n) || before != pads[2*i] || behind != pads[2*i+1]
		switch {
		case before == 0 && behind == 0:
		case n == 0 && mode != "constant":
			return status.Errorf(status.Invalid, "[%s] axis %d has no elements, of which mode '%s' could add some", c.Row.Name, i, mode)
		case open:
			s.Dims[i] = c.Unknown()
		case max(before, behind) > farthest || min(before, behind) < -farthest || n+before+behind < 0:
			return status.Errorf(status.Invalid, "[%s] pads are %d and %d on axis %d of %d elements; want a result of 0 or more, and of what memory can hold", c.Row.Name, before, behind, i, n)
		default:
			s.Dims[i] = n + before + behind
		}
	}
	c.Out[0].Shape = s
	return nil
}

// spread is the rule of the row: a shape of which slice would make that of x.
func spread(c *op.Inference) error {
	into := shape.Shape{Rank: len(c.Attr("shape").Ints)}
	if into.Rank > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] shape has %d entries; want at most %d", c.Row.Name, into.Rank, shape.MaxRank)
	}
	for i, d := range c.Attr("shape").Ints {
		given := d
		if d = c.SizeOf(d); d < 0 && d == given {
			return status.Errorf(status.Invalid, "[%s] dimension %d of shape is %d; want at least 0", c.Row.Name, i, d)
		}
		into.Dims[i] = d
	}
	if into.Known() {
		if _, err := into.Bytes(c.In[0].DType.Size()); err != nil {
			return status.Errorf(status.Invalid, "[%s] %s", c.Row.Name, err)
		}
	}
	whole := shape.Contiguous(into)
	if err := viewSlice(c, &whole); err != nil {
		return err
	}
	if part := &c.Parts[0].Shape; op.Unlike(&c.In[0].Shape, part) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and the slice %s; want them equal", c.Row.Name, &c.In[0].Shape, part)
	}
	c.Out[0].Shape, c.Parts = into, c.Parts[:0]
	return nil
}

// tiled is the rule of tile. Both the shape and the repetitions are filled up with 1 in front to one length.
func tiled(c *op.Inference) error {
	times, s := c.Attr("repeat_times").Ints, c.In[0].Shape
	rank := max(len(times), s.Rank)
	if rank > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] repeat_times has %d entries; want at most %d", c.Row.Name, len(times), shape.MaxRank)
	}
	c.Out[0].Shape = shape.Shape{Rank: rank}
	for i := range rank {
		d, n := int64(1), int64(1)
		if j := i - (rank - s.Rank); j >= 0 {
			d = s.Dims[j]
		}
		if j := i - (rank - len(times)); j >= 0 {
			n = times[j]
		}
		if c.SizeOf(n) != n {
			if c.Out[0].Shape.Dims[i] = c.SizeOf(n); d != 1 {
				c.Out[0].Shape.Dims[i] = c.Unknown()
			}
			continue
		}
		if n < 0 {
			return status.Errorf(status.Invalid, "[%s] repeat_times is %v; want no negative number", c.Row.Name, times)
		}
		if n != 0 && d > (1<<62)/n { // a symbol is below 0
			return status.Errorf(status.Invalid, "[%s] %s repeated %v times exceeds the address space", c.Row.Name, &s, times)
		}
		c.Out[0].Shape.Dims[i] = c.Times(d, n)
	}
	return nil
}

// gatheredShape is the rule of gather. A 0-d index removes the axis; one of shape [n, 1] counts as of [n], as in
// Paddle.
func gatheredShape(c *op.Inference) error {
	x, index := c.In[0].Shape, &c.In[1].Shape
	if x.Rank == 0 || index.Rank > 1 && !(index.Rank == 2 && index.Dims[1] == 1) {
		return status.Errorf(status.Invalid, "[%s] x has shape %s and index %s; want x of 1 dimension or more and index of 0 or 1", c.Row.Name, &x, index)
	}
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, x.Rank)
	if err != nil {
		return status.Errorf(status.Index, "%s", err) // an IndexError in Paddle, other than elsewhere
	}
	c.Out[0].Shape, c.Axes = x, 1<<axis
	if index.Rank == 0 {
		l := shape.Layout{Shape: x}
		l.Remove(axis)
		c.Out[0].Shape = l.Shape
		return nil
	}
	c.Out[0].Shape.Dims[axis] = index.Dims[0]
	return nil
}

// commonIndex is the common shape of index tensors, which count along the first axes of something.
func commonIndex(c *op.Inference, args []op.Arg, rank int) (b shape.Shape, err error) {
	if len(args) == 0 || len(args) > rank {
		return b, status.Errorf(status.Index, "[%s] got %s for a tensor of %s; want at most one per dimension", c.Row.Name, status.Count(len(args), "index tensor", "index tensors"), status.Count(rank, "dimension", "dimensions"))
	}
	b = args[0].Shape
	for i := 1; i < len(args) && err == nil; i++ {
		b, err = c.Broadcast(&b, &args[i].Shape)
	}
	return b, err
}

// addressed is the shape of what k index tensors name in x: theirs, then the axes that are not indexed.
func addressed(c *op.Inference, x *shape.Shape, indices []op.Arg) (s shape.Shape, err error) {
	if s, err = commonIndex(c, indices, x.Rank); err != nil {
		return s, err
	}
	rest := x.Slice()[len(indices):]
	if s.Rank+len(rest) > shape.MaxRank {
		return s, status.Errorf(status.Invalid, "[%s] the indexed part has %d dimensions; want at most %d", c.Row.Name, s.Rank+len(rest), shape.MaxRank)
	}
	for _, d := range rest {
		s.Append(d)
	}
	return s, nil
}

// Index tensors count along the first axes, in their order. Which values they have is seen when the call runs: an index
// that is out of range is its failure.

// indexed is the rule of reading through index tensors.
func indexed(c *op.Inference) (err error) {
	c.Out[0].Shape, err = addressed(c, &c.In[0].Shape, c.In[1:])
	return err
}

// replaced checks that a value fits what is to be replaced by it.
func replaced(c *op.Inference) error {
	want, err := addressed(c, &c.In[0].Shape, c.In[2:])
	if err != nil {
		return err
	}
	if b, err := c.Broadcast(&c.In[1].Shape, &want); err != nil || b != want && b.Known() && want.Known() {
		return status.Errorf(status.Invalid, "[%s] the value has shape %s and the indexed part %s; want it to broadcast", c.Row.Name, &c.In[1].Shape, &want)
	}
	return nil
}

// alongOne finds the axis of a row that a line of indices counts along, and returns the shape of the slices that it names.
func alongOne(c *op.Inference) (shape.Shape, error) {
	s, index := c.In[0].Shape, &c.In[1].Shape
	if s.Rank == 0 || index.Rank != 1 {
		return s, status.Errorf(status.Invalid, "[%s] x has shape %s and index %s; want x of 1 dimension or more and index of 1", c.Row.Name, &s, index)
	}
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, s.Rank)
	if err != nil {
		return s, status.Errorf(status.Index, "%s", err)
	}
	c.Axes, s.Dims[axis] = 1<<axis, index.Dims[0]
	return s, nil
}

// addedAlong is the rule of index_add.
func addedAlong(c *op.Inference) error {
	want, err := alongOne(c)
	if given := &c.In[2].Shape; err == nil && op.Unlike(given, &want) {
		err = status.Errorf(status.Invalid, "[%s] the value has shape %s; want %s", c.Row.Name, given, &want)
	}
	return err
}

// filledAlong is the rule of index_fill.
func filledAlong(c *op.Inference) error {
	_, err := alongOne(c)
	if given := &c.In[2].Shape; err == nil && given.Rank != 0 {
		err = status.Errorf(status.Invalid, "[%s] the value has shape %s; want no axes", c.Row.Name, given)
	}
	return err
}

// folding checks how index_reduce joins an element with what is there.
func folding(c *op.Inference) error {
	if given := c.Attr("reduce").Str(); !slices.Contains(op.Folds[:], given) {
		return status.Errorf(status.Invalid, "[%s] reduce is %q; want one of %v", c.Row.Name, given, op.Folds)
	}
	return nil
}

// nonzeroBound is the shape if every element were not zero, for who is about to make room. Where there are symbols
// the count is one: in a graph it would be wrong to infer anything from the bound.
//
// The result has a row for each element that is not zero, and in it one index an axis; of a tensor without axes there
// are rows of no index.
func nonzeroBound(c *op.Inference) (err error) {
	x, count := &c.In[0].Shape, int64(0)
	if c.NewSymbol == nil {
		if _, err = x.Bytes(8 * max(int64(x.Rank), 1)); err != nil {
			return err
		}
		count = x.Numel()
	} else {
		count = c.Unknown()
	}
	c.Out[0].Shape = shape.Shape{Rank: 2}
	c.Out[0].Shape.Dims[0], c.Out[0].Shape.Dims[1] = count, int64(x.Rank)
	return nil
}

// fromAttr is the rule of results with the shape that attribute shape says.
func fromAttr(c *op.Inference) (err error) {
	want := c.Attr("shape").Ints
	known := want
	if c.HasSymbols(want) {
		known = slices.Clone(want)
		for i, d := range want {
			if c.SizeOf(d) != d {
				known[i] = 0
			}
		}
	}
	if c.Out[0].Shape, err = shape.Of(known...); err != nil {
		return status.Errorf(status.Invalid, "[%s] %s", c.Row.Name, strings.TrimPrefix(err.Error(), "[shape] "))
	}
	for i, d := range want {
		c.Out[0].Shape.Dims[i] = c.SizeOf(d)
	}
	return nil
}

// fromCount is the rule of lines of as many elements as attribute count says.
func fromCount(c *op.Inference) error {
	given := c.Attr("count").I
	n := c.SizeOf(given)
	if n < 0 && n == given {
		return status.Errorf(status.Invalid, "[%s] count is %d; want 0 or more", c.Row.Name, n)
	}
	c.Out[0].Shape = shape.Shape{Rank: 1}
	c.Out[0].Shape.Dims[0] = n
	return nil
}

// fromValues is the rule of lines of the numbers in attribute values.
func fromValues(c *op.Inference) error {
	c.Out[0].Shape = shape.Shape{Rank: 1}
	c.Out[0].Shape.Dims[0] = int64(len(c.Attr("values").Floats()))
	return nil
}

// boxIndices is the rule of nms: places for the numbers of boxes, as many for each class of each image.
func boxIndices(c *op.Inference) error {
	if err := c.Settle(dtype.Float32); err != nil {
		return err
	}
	boxes, scores := &c.In[0].Shape, &c.In[1].Shape
	if boxes.Rank != 3 || scores.Rank != 3 || op.Differ(boxes.Dims[2], 4) || op.Differ(boxes.Dims[0], scores.Dims[0]) || op.Differ(boxes.Dims[1], scores.Dims[2]) {
		return status.Errorf(status.Invalid, "[%s] boxes have shape %s and scores %s; want [batch, n, 4] and [batch, class, n]", c.Row.Name, boxes, scores)
	}
	most := c.Attr("max_output_size").I
	if most < 0 {
		return status.Errorf(status.Invalid, "[%s] max_output_size is %d; want 0 or more", c.Row.Name, most)
	}
	c.Out[0] = op.Type{DType: dtype.Int64, Shape: *scores}
	switch n := &c.Out[0].Shape.Dims[2]; {
	case !shape.IsSymbol(*n):
		*n = min(*n, most)
	case most > 0: // as many as there are, or as may be
		*n = c.Unknown()
	default:
		*n = 0
	}
	return nil
}
