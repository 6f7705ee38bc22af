package rows

import (
	"math"
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules of operators that do no work: each answers with other layouts of the same storage. The layout that
// a rule is asked about is the operand's; where there is only a shape to infer from, with symbols perhaps, it is
// that of contiguous memory, and of the answer only the shapes count.

// emit answers with one more part.
func emit(c *op.Inference, offset int64, l shape.Layout) {
	c.Parts = append(c.Parts, op.Part{Offset: offset, Layout: l})
}

// viewReshape keeps the order of elements. Where the strides of the operand cannot be split or joined as the shape
// wants, a contiguous operand can.
func viewReshape(c *op.Inference, in *shape.Layout) error {
	want := c.Attr("shape").Ints
	s, err := reshaped(c, &in.Shape, want)
	if err != nil {
		return err
	}
	return emitReshaped(c, in, &s)
}

// emitReshaped answers with a shape of as many elements, or asks for a copy.
func emitReshaped(c *op.Inference, in *shape.Layout, s *shape.Shape) error {
	if !in.Known() { // only inference asks, which has no strides to keep
		emit(c, 0, shape.Contiguous(*s))
		return nil
	}
	l, ok := in.Reshape(s)
	if !ok {
		return op.ErrCopy
	}
	emit(c, 0, l)
	return nil
}

// reshaped resolves 0 (that dimension of the input) and -1 (whatever is left) in a wanted shape. For
// an input without elements 0 is 0, and beside it -1 is what the dimensions other than 0 leave.
func reshaped(c *op.Inference, in *shape.Shape, want []int64) (s shape.Shape, err error) {
	bad := func(why string) (shape.Shape, error) {
		return s, status.Errorf(status.Invalid, "[%s] shape %s cannot become %v: %s", c.Row.Name, in, want, why)
	}
	if len(want) > shape.MaxRank {
		return bad("too many dimensions")
	}
	if !in.Known() || c.HasSymbols(want) {
		return reshapedSymbols(c, in, want)
	}
	// free is where -1 stands, and known the product of all others. zero notes a 0 that is taken by its word.
	free, known, n, zero := -1, int64(1), in.Numel(), false
	s.Rank = len(want)
	for i, d := range want {
		switch {
		case d == -1 && free >= 0:
			return bad("want at most one -1")
		case d == -1:
			free = i
			continue
		case d < -1:
			return bad("want no negative dimension but one -1")
		case d == 0 && n == 0:
			zero = true
			continue
		case d == 0 && i < in.Rank:
			d = in.Dims[i]
		case d == 0:
			return bad("0 copies a dimension that the input does not have")
		}
		s.Dims[i] = d
		if known > (1<<62)/d {
			return bad("it exceeds the address space")
		}
		known *= d
	}
	left := n
	if zero {
		left = nonzeros(in)
	}
	if free >= 0 && left%known == 0 {
		s.Dims[free] = left / known
	}
	if s.Numel() != n {
		return bad("the number of elements differs")
	}
	return s, nil
}

// reshapedSymbols is reshaped for an input with symbols: what is asked for holds, and -1 is what is
// left when equal dimensions on both sides cancel, if that is one dimension.
//
// With n rows of 4 by 6, [0, -1] is n rows of 24: n stands on both sides and cancels, and 24 is left. With [-1, 3] there
// is n*8 left, which no symbol says, so that the first axis becomes a new one.
func reshapedSymbols(c *op.Inference, in *shape.Shape, want []int64) (s shape.Shape, err error) {
	left, over := in.Slice(), int64(1) // over divides the known part of left
	left = append(make([]int64, 0, shape.MaxRank), left...)
	free := -1
	s.Rank = len(want)
	for i, d := range want {
		symbol := c.SizeOf(d)
		switch {
		case symbol != d:
			d = symbol
		case d == -1 && free < 0:
			free = i
			continue
		case d == 0 && i < in.Rank:
			d = in.Dims[i]
		case d < 0 || d == 0:
			return s, status.Errorf(status.Invalid, "[%s] shape %s cannot become %v; want dimensions, 0 for those of the input and at most one -1", c.Row.Name, in, want)
		}
		s.Dims[i] = d
		if at := slices.Index(left, d); at >= 0 {
			left = slices.Delete(left, at, at+1)
		} else if !shape.IsSymbol(d) {
			if over > (1<<62)/d {
				return s, status.Errorf(status.Invalid, "[%s] shape %s cannot become %v: it exceeds the address space", c.Row.Name, in, want)
			}
			over *= d
		}
	}
	if free >= 0 {
		s.Dims[free] = remaining(c, left, over)
	}
	return s, nil
}

// remaining is the product of dimensions divided by a known number, if that is one dimension.
func remaining(c *op.Inference, dims []int64, over int64) int64 {
	symbol, known := int64(0), int64(1)
	for _, d := range dims {
		switch {
		case !shape.IsSymbol(d):
			known *= d
		case symbol != 0:
			return c.Unknown()
		default:
			symbol = d
		}
	}
	switch {
	case symbol == 0 && known%over == 0:
		return known / over
	case symbol != 0 && known == over:
		return symbol
	}
	return c.Unknown()
}

// nonzeros is the product of the dimensions other than 0.
func nonzeros(s *shape.Shape) int64 {
	n := int64(1)
	for _, d := range s.Slice() {
		n *= max(d, 1)
	}
	return n
}

// viewTranspose puts the axes in the order of attribute perm.
func viewTranspose(c *op.Inference, in *shape.Layout) error {
	given := c.Attr("perm").Ints
	var perm [shape.MaxRank]int64
	var seen op.Axes
	if len(given) > in.Rank {
		return status.Errorf(status.Invalid, "[%s] perm %v has %d entries for a tensor of %s; want at most one each", c.Row.Name, given, len(given), status.Count(in.Rank, "dimension", "dimensions"))
	}
	for i := range in.Rank { // axes that perm does not reach stay, as in Paddle
		p := int64(i)
		if i < len(given) {
			p = given[i]
		}
		axis, err := shape.Axis(c.Row.Name, p, in.Rank)
		if err != nil {
			return err
		}
		if seen.Has(axis) {
			return status.Errorf(status.Invalid, "[%s] perm %v names axis %d twice; want each once", c.Row.Name, given, axis)
		}
		seen |= 1 << axis
		perm[i] = int64(axis)
	}
	emit(c, 0, in.Permute(perm[:in.Rank]))
	return nil
}

// viewSqueeze drops axes of one element: all, or those that are named and have one. An axis of unknown size may be
// either, which no symbol says.
func viewSqueeze(c *op.Inference, in *shape.Layout) error {
	set, err := axisSet(c, c.Attr("axis").Ints, in.Rank)
	if err != nil {
		return err
	}
	l := *in
	for i := in.Rank - 1; i >= 0; i-- {
		if set.Has(i) && shape.IsSymbol(l.Dims[i]) {
			return status.Errorf(status.Unsupported, "[%s] the size of axis %d of %s is not known; want 1, or axes that leave it out", c.Row.Name, i, &in.Shape)
		}
		if set.Has(i) && l.Dims[i] == 1 {
			l.Remove(i)
		}
	}
	emit(c, 0, l)
	return nil
}

// viewUnsqueeze inserts axes one after the other, each counted in the shape as it is by then. Their strides are those
// that contiguous memory would have, so that a view of contiguous elements stays contiguous.
func viewUnsqueeze(c *op.Inference, in *shape.Layout) error {
	l := *in
	for _, a := range c.Attr("axis").Ints {
		axis, err := shape.Axis(c.Row.Name, a, l.Rank+1)
		if err != nil {
			return err
		}
		if l.Rank == shape.MaxRank {
			return status.Errorf(status.Invalid, "[%s] the result has more than %d dimensions", c.Row.Name, shape.MaxRank)
		}
		l.Insert(axis)
		if axis+1 < l.Rank {
			l.Strides[axis] = l.Strides[axis+1] * l.Dims[axis+1]
		} else {
			l.Strides[axis] = 1
		}
	}
	emit(c, 0, l)
	return nil
}

// viewExpand repeats axes of one element by a stride of 0, and adds such axes in front.
func viewExpand(c *op.Inference, in *shape.Layout) error {
	want := c.Attr("shape").Ints
	bad := func() error {
		return status.Errorf(status.Invalid, "[%s] shape %s does not expand to %v; want equal dimensions, or 1, aligned at the last axis (-1 keeps one)", c.Row.Name, &in.Shape, want)
	}
	if len(want) > shape.MaxRank || len(want) < in.Rank {
		return bad()
	}
	s := shape.Shape{Rank: len(want)}
	for i, d := range want {
		j := i - (len(want) - in.Rank)
		symbol := c.SizeOf(d)
		if d == -1 && j >= 0 {
			symbol = in.Dims[j]
		}
		open := symbol != d
		if d = symbol; j >= 0 && d == in.Dims[j] {
			s.Dims[i] = d
			continue
		}
		if d < 0 && !open || j >= 0 && op.Differ(in.Dims[j], d) && in.Dims[j] != 1 {
			return bad()
		}
		s.Dims[i] = d
	}
	emit(c, 0, in.BroadcastTo(&s))
	return nil
}

// viewSlice cuts several axes at once. Of an axis of unknown size only the whole has a known size: the symbol itself.
func viewSlice(c *op.Inference, in *shape.Layout) error {
	axes, steps := c.Attr("axes").Ints, c.Attr("steps").Ints
	starts, ends := c.Attr("starts").Ints, c.Attr("ends").Ints
	if len(starts) != len(axes) || len(ends) != len(axes) || steps != nil && len(steps) != len(axes) {
		return status.Errorf(status.Invalid, "[%s] axes, starts, ends and steps have %d, %d, %d and %d entries; want as many", c.Row.Name, len(axes), len(starts), len(ends), len(steps))
	}
	p := op.Part{Layout: *in}
	for i := range axes {
		axis, err := shape.Axis(c.Row.Name, axes[i], in.Rank)
		if err != nil {
			return err
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if in.Rank == 0 || step == 0 {
			return status.Errorf(status.Invalid, "[%s] step %d on a tensor of %s; want a step that is not zero and at least one dimension", c.Row.Name, step, status.Count(in.Rank, "dimension", "dimensions"))
		}
		switch {
		case c.HasSymbols(starts[i:i+1]) || c.HasSymbols(ends[i:i+1]):
			p.Dims[axis] = c.Unknown()
		case !shape.IsSymbol(in.Dims[axis]):
			p.Cut(axis, starts[i], ends[i], step)
		case starts[i] != 0 || step != 1 || ends[i] < math.MaxInt32:
			p.Dims[axis] = c.Unknown()
		}
	}
	c.Parts = append(c.Parts, p)
	return nil
}

// viewStrided lays the memory of the operand out anew. The caller's strides may name any element, so all of them must lie
// between the first and the last element of the operand, which are the bounds that a layout itself knows: what a view
// leaves out of its storage on either side cannot be reached through it.
func viewStrided(c *op.Inference, in *shape.Layout) error {
	dims, strides, offset := c.Attr("shape").Ints, c.Attr("stride").Ints, c.Attr("offset").I
	if len(dims) != len(strides) || len(dims) > shape.MaxRank {
		return status.Errorf(status.Invalid, "[%s] shape has %d entries and stride %d; want as many, and at most %d", c.Row.Name, len(dims), len(strides), shape.MaxRank)
	}
	var l shape.Layout
	for i, d := range dims {
		if d < 0 {
			return status.Errorf(status.Invalid, "[%s] shape is %v; want dimensions from 0", c.Row.Name, dims)
		}
		l.Append(d)
		l.Strides[i] = strides[i]
	}
	if !in.Known() {
		return status.Errorf(status.Unsupported, "[%s] the size of %s is not known; want one that is, to check strides against", c.Row.Name, &in.Shape)
	}
	if _, err := l.Bytes(8); err != nil {
		return status.Errorf(status.Invalid, "[%s] shape %s has too many elements", c.Row.Name, &l.Shape)
	}
	if l.Numel() == 0 { // there is no element that could lie outside, and no memory to begin in
		emit(c, 0, l)
		return nil
	}
	first, last, ok := reach(&l, offset)
	low, high, _ := reach(in, 0)
	if in.Numel() == 0 || !ok || first < low || last > high {
		return status.Errorf(status.Invalid, "[%s] shape %v with strides %v from element %d leaves the memory of x; want elements %d to %d", c.Row.Name, dims, strides, offset, low, high)
	}
	emit(c, offset, l)
	return nil
}

// reach is where the lowest and the highest element of a layout with elements lie, of which the one with all indices
// zero lies at offset; not ok if a distance exceeds 62 bits.
//
// An axis of one element reaches nowhere, whatever its stride is. Axes with negative strides only lower the lowest and
// all others only raise the highest, so that no sum overflows that has not been refused before.
func reach(l *shape.Layout, offset int64) (low, high int64, ok bool) {
	const most = 1 << 62
	if offset < -most || offset > most {
		return 0, 0, false
	}
	low, high = offset, offset
	for i, d := range l.Slice() {
		if d < 2 {
			continue
		}
		s := l.Strides[i]
		if s > most/(d-1) || s < -most/(d-1) {
			return 0, 0, false
		}
		if s < 0 {
			low += s * (d - 1)
		} else {
			high += s * (d - 1)
		}
		if low < -most || high > most {
			return 0, 0, false
		}
	}
	return low, high, true
}

// viewSplit cuts an axis from end to end. A part without elements begins at 0, because what is behind the last element
// may lie outside the memory.
func viewSplit(c *op.Inference, in *shape.Layout) error {
	axis, err := shape.Axis(c.Row.Name, c.Attr("axis").I, in.Rank)
	if err != nil {
		return err
	}
	if in.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] got a tensor without dimensions; want at least one", c.Row.Name)
	}
	sizes, err := sections(c, c.Attr("sections").Ints, axis, in.Dims[axis])
	if err != nil {
		return err
	}
	start := int64(0)
	for _, n := range sizes {
		p := op.Part{Layout: *in}
		p.Dims[axis] = n
		if n > 0 {
			p.Offset = start * in.Strides[axis]
		}
		c.Parts = append(c.Parts, p)
		start += n
	}
	return nil
}

// mostParts bounds the results of one call: an axis without elements, or of unknown size, can be split into
// any number of parts, and so can one of stride 0.
const mostParts = 1 << 16

// sections is the lengths of the parts of an axis, which has n elements: given ones, one of which may be
// -1, or as many equal ones as a single number says.
//
// The number of parts has to follow from the attribute alone, since callers make room for as many results before any size
// is known.
func sections(c *op.Inference, given []int64, axis int, n int64) ([]int64, error) {
	if len(given) == 1 && given[0] > mostParts {
		return nil, status.Errorf(status.Invalid, "[%s] got %d sections; want at most %d", c.Row.Name, given[0], mostParts)
	}
	if shape.IsSymbol(n) {
		return sectionsOfSymbol(c, given)
	}
	if len(given) == 1 {
		parts := given[0]
		if parts <= 0 || n%parts != 0 {
			return nil, status.Errorf(status.Invalid, "[%s] axis %d of %d elements cannot be split into %d equal parts", c.Row.Name, axis, n, parts)
		}
		sizes := make([]int64, parts)
		for i := range sizes {
			sizes[i] = n / parts
		}
		return sizes, nil
	}
	sizes, free, left := append([]int64(nil), given...), -1, n
	for i, s := range sizes {
		switch {
		case s == -1 && free < 0:
			free = i
		case s < 0:
			return nil, status.Errorf(status.Invalid, "[%s] sections are %v; want no negative length but one -1", c.Row.Name, given)
		default:
			left -= s
		}
	}
	if free >= 0 && left >= 0 {
		sizes[free], left = left, 0
	}
	if left != 0 {
		return nil, status.Errorf(status.Invalid, "[%s] sections %v do not add up to the %d elements of axis %d", c.Row.Name, given, n, axis)
	}
	return sizes, nil
}

// sectionsOfSymbol is sections of an axis whose size is not known.
func sectionsOfSymbol(c *op.Inference, given []int64) (sizes []int64, err error) {
	if len(given) == 1 && given[0] > 0 {
		return slices.Repeat([]int64{c.Unknown()}, int(given[0])), nil
	}
	free := false
	for _, s := range given {
		if s < -1 || s == -1 && free || len(given) == 1 {
			return nil, status.Errorf(status.Invalid, "[%s] sections are %v; want a number of parts, or lengths with at most one -1", c.Row.Name, given)
		}
		if s == -1 {
			s, free = c.Unknown(), true
		}
		sizes = append(sizes, s)
	}
	return sizes, nil
}

// viewFlip begins at the last element of each axis and goes back by negative strides. Without axes nothing is flipped,
// where other operators mean all of them.
func viewFlip(c *op.Inference, in *shape.Layout) error {
	p := op.Part{Layout: *in}
	list := c.Attr("axis").Ints
	if len(list) > 0 {
		set, err := axisSet(c, list, in.Rank)
		if err != nil {
			return err
		}
		for i := range in.Rank {
			if set.Has(i) {
				p.Offset += max(p.Dims[i]-1, 0) * p.Strides[i]
				p.Strides[i] = -p.Strides[i]
			}
		}
	}
	c.Parts = append(c.Parts, p)
	return nil
}
