package shape

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/status"
)

func of(t *testing.T, dims ...int64) Shape {
	s, err := Of(dims...)
	require.NoError(t, err)
	return s
}

func TestOf(t *testing.T) {
	s := of(t, 2, 0, 3)
	require.Equal(t, "[2, 0, 3]", s.String())
	require.Zero(t, s.Numel())
	scalar := of(t)
	require.EqualValues(t, 1, scalar.Numel())
	for _, bad := range [][]int64{{-1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		_, err := Of(bad...)
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
}

func TestBytesDoesNotOverflow(t *testing.T) {
	for _, test := range []struct {
		dims []int64
		want int64 // -1: refused
	}{
		{[]int64{3, 4}, 48},
		{nil, 4},
		{[]int64{0}, 0},
		{[]int64{math.MaxInt64}, -1},
		{[]int64{1 << 31, 1 << 31}, -1},
		{[]int64{1 << 62, 0, 1 << 62}, -1},
		{[]int64{1 << 40, 0}, 0},
	} {
		s := of(t, test.dims...)
		got, err := s.Bytes(4)
		if test.want < 0 {
			require.Equal(t, status.Invalid, status.CodeOf(err), "%v", test.dims)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
}

func TestBroadcast(t *testing.T) {
	for _, test := range []struct{ x, y, want []int64 }{
		{[]int64{2, 3}, []int64{3}, []int64{2, 3}},
		{[]int64{2, 1}, []int64{1, 3}, []int64{2, 3}},
		{nil, []int64{4}, []int64{4}},
		{[]int64{0, 1}, []int64{3}, []int64{0, 3}},
		{[]int64{1}, []int64{0}, []int64{0}},
		{[]int64{2}, []int64{3}, nil},
		{[]int64{0}, []int64{2}, nil},
	} {
		x, y := of(t, test.x...), of(t, test.y...)
		got, err := Broadcast("add", &x, &y)
		if test.want == nil && (test.x != nil) {
			require.ErrorContains(t, err, "[add] shapes "+x.String()+" and "+y.String())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, of(t, test.want...), got)
	}
}

// offsets lists where the elements of a layout lie, in row-major order of its indices.
func offsets(l *Layout) (out []int64) {
	var visit func(axis int, at int64)
	visit = func(axis int, at int64) {
		if axis == l.Rank {
			out = append(out, at)
			return
		}
		for i := range l.Dims[axis] {
			visit(axis+1, at+i*l.Strides[axis])
		}
	}
	visit(0, 0)
	return out
}

// random is a layout of up to four axes such as views make: permuted, stepped, reversed, broadcast.
func random(r *rand.Rand) Layout {
	var s Shape
	for range r.IntN(5) {
		s.Append(int64(r.IntN(4) + 1))
	}
	l := Contiguous(s)
	for i := range l.Rank {
		switch r.IntN(5) {
		case 0:
			l.Strides[i] *= 2
		case 1:
			l.Strides[i] *= -1
		case 2:
			l.Strides[i] = 0
		}
	}
	perm := make([]int64, l.Rank)
	for i, p := range r.Perm(l.Rank) {
		perm[i] = int64(p)
	}
	if r.IntN(2) == 0 {
		return l.Permute(perm)
	}
	return l
}

// Reshape either keeps every element where it is, in order, or says that it cannot; and it can
// whenever some strides could, which is checked by trying all.
func TestReshapeAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	kept := 0
	for range 4000 {
		l := random(r)
		n := l.Numel()
		var s Shape
		for left := n; s.Rank < 4; {
			var divisors []int64
			for d := int64(1); d <= left; d++ {
				if left%d == 0 {
					divisors = append(divisors, d)
				}
			}
			d := divisors[r.IntN(len(divisors))]
			if s.Rank == 3 {
				d = left
			}
			s.Append(d)
			left /= d
		}
		want := offsets(&l)
		got, ok := l.Reshape(&s)
		if ok {
			kept++
			require.Equal(t, want, offsets(&got), "%v strides %v to %v", l.Slice(), l.Strides[:l.Rank], s.Slice())
			continue
		}
		require.False(t, expressible(want, &s), "%v strides %v to %v is possible", l.Slice(), l.Strides[:l.Rank], s.Slice())
	}
	require.Greater(t, kept, 500)
}

// Without elements every shape with a 0 will do, however the axes lie.
func TestReshapeOfNothing(t *testing.T) {
	for _, dims := range [][]int64{{8, 0, 2}, {0, 8}, {3, 0}, {0}, {0, 0, 5}} {
		s, err := Of(dims...)
		require.NoError(t, err)
		l := Contiguous(s)
		perm := []int64{2, 1, 0}[3-s.Rank:]
		l = l.Permute(perm)
		for _, want := range [][]int64{{0}, {0, 4}, {4, 0}, {2, 0, 8}, {0, 0}} {
			to, err := Of(want...)
			require.NoError(t, err)
			got, ok := l.Reshape(&to)
			require.True(t, ok)
			require.Equal(t, to, got.Shape, "%v to %v", dims, want)
		}
	}
}

// expressible reports whether strides for a shape visit the offsets in order.
func expressible(want []int64, s *Shape) bool {
	l := Layout{Shape: *s}
	step := int64(1)
	for i := s.Rank - 1; i >= 0; i-- {
		if s.Dims[i] > 1 {
			l.Strides[i] = want[step] - want[0]
		}
		step *= s.Dims[i]
	}
	for i, at := range offsets(&l) {
		if at != want[i]-want[0] {
			return false
		}
	}
	return true
}

func TestContiguityAndExtent(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		l := random(r)
		all := offsets(&l)
		low, high, ok := l.Extent()
		require.True(t, ok)
		require.Equal(t, slices.Min(all), low)
		require.Equal(t, slices.Max(all), high)
		inOrder := true
		for i, at := range all {
			inOrder = inOrder && at == int64(i)
		}
		require.Equal(t, inOrder, l.IsContiguous(), "%v %v", l.Slice(), l.Strides[:l.Rank])
	}
	empty := Contiguous(of(t, 2, 0))
	_, _, ok := empty.Extent()
	require.False(t, ok)
	require.True(t, empty.IsContiguous())
	// Whatever the strides of the other axes are; and it becomes every shape without elements.
	gaps := Layout{Shape: Shape{Rank: 3, Dims: [MaxRank]int64{0, 4, 3}}, Strides: [MaxRank]int64{1, 7, 2}}
	require.True(t, gaps.IsContiguous())
	_, ok = gaps.Reshape(&Shape{Rank: 2, Dims: [MaxRank]int64{5, 0}})
	require.True(t, ok)
}

func TestInsertRemove(t *testing.T) {
	l := Contiguous(of(t, 2, 3, 4))
	want := l
	l.Insert(1)
	require.Equal(t, []int64{2, 1, 3, 4}, l.Slice())
	l.Remove(1)
	require.Equal(t, want, l)
	stretched := want.BroadcastTo(&Shape{Rank: 4, Dims: [MaxRank]int64{5, 2, 3, 4}})
	require.Equal(t, []int64{0, 12, 4, 1}, stretched.Strides[:4])
}

func TestAxis(t *testing.T) {
	for _, test := range []struct{ axis, rank, want int }{{0, 3, 0}, {-1, 3, 2}, {2, 3, 2}, {0, 0, 0}, {-1, 0, 0}} {
		got, err := Axis("sum", int64(test.axis), test.rank)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
	for _, bad := range [][2]int{{3, 3}, {-4, 3}, {1, 0}, {-2, 0}} {
		_, err := Axis("sum", int64(bad[0]), bad[1])
		require.Equal(t, status.Invalid, status.CodeOf(err))
	}
}

// Collapsed walks visit the same elements in the same order, with no axis that could be joined or dropped.
func TestCollapse(t *testing.T) {
	for name, c := range map[string]struct {
		dims       []int64
		x, y       []int64 // strides
		want       []int64
		wantX      []int64
		alone      []int64 // dims of the collapsed x alone
		aloneSteps []int64
	}{
		"one line":          {[]int64{2, 3, 4}, []int64{12, 4, 1}, []int64{12, 4, 1}, []int64{24}, []int64{1}, []int64{24}, []int64{1}},
		"one of them turns": {[]int64{2, 3, 4}, []int64{12, 4, 1}, []int64{4, 8, 1}, []int64{2, 3, 4}, []int64{12, 4, 1}, []int64{24}, []int64{1}},
		"in part":           {[]int64{2, 3, 4}, []int64{12, 4, 1}, []int64{12, 4, 0}, []int64{6, 4}, []int64{4, 1}, []int64{24}, []int64{1}},
		"repeating":         {[]int64{2, 3, 4}, []int64{0, 0, 0}, []int64{0, 0, 0}, []int64{24}, []int64{0}, []int64{24}, []int64{0}},
		"backwards":         {[]int64{2, 3}, []int64{-3, -1}, []int64{-3, -1}, []int64{6}, []int64{-1}, []int64{6}, []int64{-1}},
		"axes of one":       {[]int64{1, 5, 1}, []int64{7, 2, 9}, []int64{0, 1, 0}, []int64{5}, []int64{2}, []int64{5}, []int64{2}},
		"one element":       {[]int64{1, 1}, []int64{3, 4}, []int64{0, 0}, []int64{}, []int64{}, []int64{}, []int64{}},
		"no axes":           {[]int64{}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}},
		"nothing":           {[]int64{0, 3}, []int64{3, 1}, []int64{3, 1}, []int64{0}, []int64{1}, []int64{0}, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Of(c.dims...)
			require.NoError(t, err)
			lie := func(strides []int64) (l Layout) {
				l.Shape = s
				copy(l.Strides[:], strides)
				return l
			}
			x, y := lie(c.x), lie(c.y)
			alone := x.Collapse()
			require.Equal(t, c.alone, alone.Slice())
			require.Equal(t, c.aloneSteps, alone.Strides[:alone.Rank])
			require.Equal(t, s, x.Shape, "x stays as it is")
			Collapse(&s, &x.Strides, &y.Strides)
			require.Equal(t, c.want, s.Slice())
			require.Equal(t, c.wantX, x.Strides[:s.Rank])
			var whole Shape
			copy(whole.Dims[:], s.Slice())
			whole.Rank = s.Rank
			require.Equal(t, whole, s, "beyond the rank there are zeros")
		})
	}
}

// Both ways to collapse one walk agree, for every layout of few axes and strides.
func TestCollapseInto(t *testing.T) {
	for number := range 6 * 6 * 6 * 6 * 6 * 6 {
		l := Layout{Shape: Shape{Rank: 3}}
		for i := range 3 {
			l.Dims[i], number = int64(number%6/2+1), number/6
			l.Strides[i], number = []int64{0, 1, 2, 3, 6, -1}[number%6], number/6
		}
		s, w := l.Shape, l.Strides
		Collapse(&s, &w)
		require.Equal(t, Layout{s, w}, l.Collapse(), "%v", l)
	}
}

func TestCollapseAllocatesNothing(t *testing.T) {
	s, err := Of(2, 3, 4)
	require.NoError(t, err)
	l := Contiguous(s)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		x, y, of := l.Strides, l.Strides, s
		Collapse(&of, &x, &y)
		_ = l.Collapse()
	}))
}
