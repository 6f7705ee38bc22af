package shape

import (
	"cmp"
	"slices"
)

// Layout is a shape with strides in elements, which say how far apart in memory neighbours along an axis are.
// Strides may be zero (a broadcast axis) or negative (a reversed axis).
type Layout struct {
	Shape
	Strides [MaxRank]int64
}

// Contiguous is the row-major layout of a shape.
func Contiguous(s Shape) (l Layout) {
	l.Shape = s
	step := int64(1)
	for i := s.Rank - 1; i >= 0; i-- {
		l.Strides[i] = step
		step *= max(s.Dims[i], 1)
	}
	return l
}

// IsContiguous reports whether the elements are in row-major order without gaps. The stride of an axis of one
// element does not matter, and an empty tensor is contiguous.
func (l *Layout) IsContiguous() bool {
	step := int64(1)
	for i := l.Rank - 1; i >= 0; i-- {
		d := l.Dims[i]
		if d == 0 {
			return true
		}
		if d != 1 && l.Strides[i] != step {
			return slices.Contains(l.Dims[:i], 0)
		}
		step *= d
	}
	return true
}

// Extent is the range of element offsets, relative to the first element, that the layout touches:
// low <= 0 and high >= 0, both inclusive. ok is false for an empty layout, which touches nothing.
func (l *Layout) Extent() (low, high int64, ok bool) {
	for i := range l.Rank {
		if l.Dims[i] == 0 {
			return 0, 0, false
		}
		if span := (l.Dims[i] - 1) * l.Strides[i]; span < 0 {
			low += span
		} else {
			high += span
		}
	}
	return low, high, true
}

// MayOverlap reports whether two indices may name one element. It is false for whatever slices, transposes and reshapes
// make of a contiguous layout: each axis, from the smallest distance to the largest, steps over all that the axes before
// it reach. Others, such as strides of 2 and 3 elements, are not looked into any further.
func (l *Layout) MayOverlap() bool {
	var axes [MaxRank]int
	n := 0
	for i := l.Rank - 1; i >= 0; i-- {
		switch {
		case l.Dims[i] == 0:
			return false
		case l.Dims[i] > 1:
			axes[n] = i
			n++
		}
	}
	if l.nests(axes[:n]) {
		return false // as all contiguous layouts do, which need no sort
	}
	slices.SortFunc(axes[:n], func(a, b int) int { return cmp.Compare(distance(l.Strides[a]), distance(l.Strides[b])) })
	return !l.nests(axes[:n])
}

// nests reports whether each axis, in the order given, steps over all that the axes before it reach.
func (l *Layout) nests(axes []int) bool {
	reach := int64(0)
	for _, i := range axes {
		d := distance(l.Strides[i])
		if d <= reach {
			return false
		}
		reach += (l.Dims[i] - 1) * d
	}
	return true
}

// distance is the magnitude of a stride.
func distance(stride int64) int64 { return max(stride, -stride) }

// BroadcastTo is the layout broadcast to a shape, which the caller has got from [Broadcast]: missing axes and
// axes of one element get stride zero.
func (l *Layout) BroadcastTo(s *Shape) (out Layout) {
	out.Shape = *s
	shift := s.Rank - l.Rank
	for i := range l.Rank {
		if l.Dims[i] == s.Dims[i+shift] {
			out.Strides[i+shift] = l.Strides[i]
		}
	}
	return out
}

// Permute reorders the axes: axis i of the result is axis perm[i] of l. perm is a permutation.
func (l *Layout) Permute(perm []int64) (out Layout) {
	out.Rank = l.Rank
	for i, p := range perm {
		out.Dims[i], out.Strides[i] = l.Dims[p], l.Strides[p]
	}
	return out
}

// Insert adds an axis of one element before axis i; the caller has checked the rank.
func (l *Layout) Insert(i int) {
	copy(l.Dims[i+1:], l.Dims[i:l.Rank])
	copy(l.Strides[i+1:], l.Strides[i:l.Rank])
	l.Rank++
	l.Dims[i], l.Strides[i] = 1, 0
}

// Remove removes axis i; where it has more than one element, the view keeps index 0.
func (l *Layout) Remove(i int) {
	copy(l.Dims[i:], l.Dims[i+1:l.Rank])
	copy(l.Strides[i:], l.Strides[i+1:l.Rank])
	l.Rank--
	l.Dims[l.Rank], l.Strides[l.Rank] = 0, 0
}

// Reshape is the layout of the same elements, in the same row-major order, with another shape of as many
// elements. ok is false where strides cannot express that: the elements have to be copied then.
func (l *Layout) Reshape(s *Shape) (out Layout, ok bool) {
	if s.Numel() == 0 || l.IsContiguous() {
		return Contiguous(*s), true
	}
	runs := l.Collapse()
	out.Shape = *s
	// Split the runs, from the last one on, into the new axes; an axis that spans two runs has no stride.
	i := s.Rank - 1
	for r := runs.Rank - 1; r >= 0; r-- {
		left, step := runs.Dims[r], runs.Strides[r]
		for i >= 0 && left > 1 {
			d := s.Dims[i]
			if left%d != 0 {
				return out, false
			}
			out.Strides[i] = step
			step *= d
			left /= d
			i--
		}
	}
	for ; i >= 0; i-- { // leading axes of one
		out.Strides[i] = 1
	}
	return out, true
}
