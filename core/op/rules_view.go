package op

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The rules of operators that do no work: each answers with other layouts of the same storage.

// ErrCopy is a view rule's answer when strides cannot say it; the runtime copies and asks again.
var ErrCopy = errors.New("the view needs a contiguous input")

func emit(out *[]Part, offset int64, l shape.Layout) { *out = append(*out, Part{offset, l}) }

func viewReshape(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	want := row.attr(at, "shape").Ints
	s, err := reshaped(row, &in.Shape, want)
	if err != nil {
		return err
	}
	l, ok := in.Reshape(&s)
	if !ok {
		return ErrCopy
	}
	emit(out, 0, l)
	return nil
}

// reshaped resolves 0 (that dimension of the input) and -1 (whatever is left) in a wanted shape. For
// an input without elements 0 is 0, and beside it -1 is what the dimensions other than 0 leave.
func reshaped(row *Row, in *shape.Shape, want []int64) (s shape.Shape, err error) {
	bad := func(why string) (shape.Shape, error) {
		return s, status.Errorf(status.Invalid, "[%s] shape %s cannot become %v: %s", row.Name, in, want, why)
	}
	if len(want) > shape.MaxRank {
		return bad("too many dimensions")
	}
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
			return bad("it is larger than the address space")
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

// nonzeros is the product of the dimensions other than 0.
func nonzeros(s *shape.Shape) int64 {
	n := int64(1)
	for _, d := range s.Slice() {
		n *= max(d, 1)
	}
	return n
}

func viewTranspose(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	given := row.attr(at, "perm").Ints
	var perm [shape.MaxRank]int64
	var seen Axes
	if len(given) > in.Rank {
		return status.Errorf(status.Invalid, "[%s] perm %v has %d entries for a tensor of %d dimensions; want at most one each", row.Name, given, len(given), in.Rank)
	}
	for i := range in.Rank { // axes that perm does not reach stay, as in Paddle
		p := int64(i)
		if i < len(given) {
			p = given[i]
		}
		axis, err := shape.Axis(row.Name, p, in.Rank)
		if err != nil {
			return err
		}
		if seen.Has(axis) {
			return status.Errorf(status.Invalid, "[%s] perm %v names axis %d twice; want each once", row.Name, given, axis)
		}
		seen |= 1 << axis
		perm[i] = int64(axis)
	}
	emit(out, 0, in.Permute(perm[:in.Rank]))
	return nil
}

func viewSqueeze(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	set, err := axesOf(row, row.attr(at, "axis").Ints, in.Rank)
	if err != nil {
		return err
	}
	l := *in
	for i := in.Rank - 1; i >= 0; i-- {
		if set.Has(i) && l.Dims[i] == 1 {
			l.Remove(i)
		}
	}
	emit(out, 0, l)
	return nil
}

func viewUnsqueeze(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	l := *in
	for _, a := range row.attr(at, "axis").Ints {
		axis, err := shape.Axis(row.Name, a, l.Rank+1)
		if err != nil {
			return err
		}
		if l.Rank == shape.MaxRank {
			return status.Errorf(status.Invalid, "[%s] the result has more than %d dimensions", row.Name, shape.MaxRank)
		}
		l.Insert(axis)
		if axis+1 < l.Rank {
			l.Strides[axis] = l.Strides[axis+1] * l.Dims[axis+1]
		} else {
			l.Strides[axis] = 1
		}
	}
	emit(out, 0, l)
	return nil
}

func viewExpand(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	want := row.attr(at, "shape").Ints
	bad := func() error {
		return status.Errorf(status.Invalid, "[%s] shape %s does not expand to %v; want equal dimensions, or 1, aligned at the last axis (-1 keeps one)", row.Name, &in.Shape, want)
	}
	if len(want) > shape.MaxRank || len(want) < in.Rank {
		return bad()
	}
	s := shape.Shape{Rank: len(want)}
	for i, d := range want {
		j := i - (len(want) - in.Rank)
		if d == -1 && j >= 0 {
			d = in.Dims[j]
		}
		if d < 0 || j >= 0 && in.Dims[j] != d && in.Dims[j] != 1 {
			return bad()
		}
		s.Dims[i] = d
	}
	emit(out, 0, in.BroadcastTo(&s))
	return nil
}

func viewSlice(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	axes, steps := row.attr(at, "axes").Ints, row.attr(at, "steps").Ints
	starts, ends := row.attr(at, "starts").Ints, row.attr(at, "ends").Ints
	if len(starts) != len(axes) || len(ends) != len(axes) || steps != nil && len(steps) != len(axes) {
		return status.Errorf(status.Invalid, "[%s] axes, starts, ends and steps have %d, %d, %d and %d entries; want as many", row.Name, len(axes), len(starts), len(ends), len(steps))
	}
	p := Part{Layout: *in}
	for i := range axes {
		axis, err := shape.Axis(row.Name, axes[i], in.Rank)
		if err != nil {
			return err
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if in.Rank == 0 || step == 0 {
			return status.Errorf(status.Invalid, "[%s] step %d on a tensor of %d dimensions; want a step that is not zero and at least one dimension", row.Name, step, in.Rank)
		}
		p.Cut(axis, starts[i], ends[i], step)
	}
	*out = append(*out, p)
	return nil
}

// Cut keeps start, start+step, ... before end of an axis. Negative bounds count from the end and
// bounds outside are moved to the nearest edge, as Python slices do. step is not zero.
func (p *Part) Cut(axis int, start, end, step int64) {
	n := p.Dims[axis]
	low, high := int64(0), n // where bounds are clamped to
	if step < 0 {
		low, high = -1, n-1
	}
	clamp := func(v int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	start, end = clamp(start), clamp(end)
	count := int64(0)
	switch {
	case step > 0 && start < end:
		count = (end-start-1)/step + 1
	case step < 0 && start > end:
		count = (start-end-1)/-step + 1
	}
	if count > 0 {
		p.Offset += start * p.Strides[axis]
	}
	p.Dims[axis] = count
	if count > 1 || step < 0 {
		p.Strides[axis] *= step
	}
}

func viewSplit(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	axis, err := shape.Axis(row.Name, row.attr(at, "axis").I, in.Rank)
	if err != nil {
		return err
	}
	if in.Rank == 0 {
		return status.Errorf(status.Invalid, "[%s] got a tensor without dimensions; want at least one", row.Name)
	}
	sizes, err := sections(row, row.attr(at, "sections").Ints, in.Dims[axis])
	if err != nil {
		return err
	}
	start := int64(0)
	for _, n := range sizes {
		p := Part{Layout: *in}
		p.Dims[axis] = n
		if n > 0 {
			p.Offset = start * in.Strides[axis]
		}
		*out = append(*out, p)
		start += n
	}
	return nil
}

// sections is the lengths of the parts of an axis of n elements: given ones, one of which may be
// -1, or as many equal ones as a single number says.
func sections(row *Row, given []int64, n int64) ([]int64, error) {
	if len(given) == 1 {
		parts := given[0]
		if parts <= 0 || n%parts != 0 {
			return nil, status.Errorf(status.Invalid, "[%s] an axis of %d elements cannot be split into %d equal parts", row.Name, n, parts)
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
			return nil, status.Errorf(status.Invalid, "[%s] sections are %v; want no negative length but one -1", row.Name, given)
		default:
			left -= s
		}
	}
	if free >= 0 && left >= 0 {
		sizes[free], left = left, 0
	}
	if left != 0 {
		return nil, status.Errorf(status.Invalid, "[%s] sections %v do not add up to the axis of %d elements", row.Name, given, n)
	}
	return sizes, nil
}

func viewFlip(row *Row, in *shape.Layout, at Attrs, out *[]Part) error {
	p := Part{Layout: *in}
	list := row.attr(at, "axis").Ints
	if len(list) > 0 {
		set, err := axesOf(row, list, in.Rank)
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
	*out = append(*out, p)
	return nil
}
