package shape

// Layout is a shape with strides in elements. Strides may be zero (a broadcast axis) or negative.
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

// IsContiguous reports whether the elements lie in row-major order without gaps. Axes of one
// element and empty tensors do not matter.
func (l *Layout) IsContiguous() bool {
	step := int64(1)
	for i := l.Rank - 1; i >= 0; i-- {
		d := l.Dims[i]
		if d == 0 {
			return true
		}
		if d != 1 && l.Strides[i] != step {
			return false
		}
		step *= d
	}
	return true
}

// Extent is the range of element offsets, relative to the first element, that the layout touches:
// low <= 0 and high >= 0, both inclusive. An empty layout touches nothing and answers ok = false.
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

// BroadcastTo is the layout stretched to a shape that it broadcasts to: missing axes and axes of
// one get stride zero.
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

// Remove drops axis i.
func (l *Layout) Remove(i int) {
	copy(l.Dims[i:], l.Dims[i+1:l.Rank])
	copy(l.Strides[i:], l.Strides[i+1:l.Rank])
	l.Rank--
	l.Dims[l.Rank], l.Strides[l.Rank] = 0, 0
}

// Reshape is the layout of the same elements, in the same order, under another shape of as many
// elements. ok is false where no strides can say that and the elements must be copied.
func (l *Layout) Reshape(s *Shape) (out Layout, ok bool) {
	if l.IsContiguous() {
		return Contiguous(*s), true
	}
	runs := l.runs()
	out.Shape = *s
	// Consume the new axes from the last one on; each must fall whole into one run.
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

// runs merges neighbouring axes that one stride can walk and drops axes of one element.
func (l *Layout) runs() (out Layout) {
	for i := range l.Rank {
		if l.Dims[i] == 1 {
			continue
		}
		last := out.Rank - 1
		if last >= 0 && out.Strides[last] == l.Strides[i]*l.Dims[i] {
			out.Dims[last] *= l.Dims[i]
			out.Strides[last] = l.Strides[i]
			continue
		}
		out.Append(l.Dims[i])
		out.Strides[out.Rank-1] = l.Strides[i]
	}
	return out
}
