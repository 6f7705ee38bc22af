package shape

// Collapse drops axes of one element and joins neighbouring axes that every one of some walks takes with one
// stride, so that what walks the elements has fewer axes to count. A walk is the strides of an operand of
// that shape. Shape and walks are changed in place; the elements keep their row-major order, and a walk
// that is left without axes has one element, or stays at one. It allocates nothing.
func Collapse(s *Shape, walks ...*[MaxRank]int64) {
	rank := 0
	for i, d := range s.Dims[:s.Rank] {
		if d == 1 {
			continue
		}
		if rank == 0 || !joins(walks, rank-1, i, d) {
			s.Dims[rank] = 1
			rank++
		}
		s.Dims[rank-1] *= d
		for _, w := range walks {
			w[rank-1] = w[i]
		}
	}
	clear(s.Dims[rank:s.Rank])
	for _, w := range walks {
		clear(w[rank:s.Rank])
	}
	s.Rank = rank
}

// joins reports whether axis i, of d elements, goes on where axis at ends, in every walk.
func joins(walks []*[MaxRank]int64, at, i int, d int64) bool {
	for _, w := range walks {
		if w[at] != w[i]*d {
			return false
		}
	}
	return true
}

// Collapse is the layout with as few axes as its elements can be walked with in the same order.
func (l *Layout) Collapse() (out Layout) {
	out.Rank = l.CollapseInto(&out.Dims, &out.Strides)
	return out
}

// CollapseInto is [Collapse] for one walk that is not changed: it writes the axes that are left, answers how
// many they are, and leaves what is beyond them alone. Every operand that is not used where it lies pays for
// it in every call.
func (l *Layout) CollapseInto(dims, strides *[MaxRank]int64) (rank int) {
	last := int64(0) // stride of the last axis that was written
	for i := range l.Rank {
		d, stride := l.Dims[i], l.Strides[i]
		switch {
		case d == 1:
			continue
		case rank > 0 && last == stride*d:
			dims[rank-1] *= d
		default:
			dims[rank] = d
			rank++
		}
		last = stride
		strides[rank-1] = stride
	}
	return rank
}
