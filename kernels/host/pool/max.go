package pool

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/window"
)

// Windows beside each other that lie inside the plane take their elements from the same lines: the first elements of each
// are one row, the second another. The largest elements of a run of windows are the maximum of these rows, in vectors.
// Windows at the edges, and adaptive ones, are looked at one by one.
//
// With a stride the rows are gathered, for the maximum and again for the indices: a row stays in the cache, and keeping
// all of them would need as much memory as the plane.

// maxPlane is max_pool of a plane.
func maxPlane[T float32 | float64](j *Pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.y.Dims, &j.X.Dims)
	if narrow, ok := any(j).(*Pooling[float32]); ok && narrow.lined(s) {
		if !maxLines(narrow, img, channel, s) {
			return status.Errorf(status.Internal, "[max_pool] got windows that do not lie in their plane")
		}
		return nil
	}
	if j.banded(s) {
		maxBands(j, img, channel)
		return nil
	}
	f := engine.NewFrame()
	defer f.Free()
	s.places = window.Grown(s.places, engine.Block)
	m := MaxRun[T]{Pooling: j, From: j.X.Start(img, channel)}
	m.Row = engine.Slice[T](f.Room(), engine.Block)
	best, places := engine.Slice[T](f.Room(), engine.Block), s.places
	for a := range s.ranges[0] {
		for b := range s.ranges[1] {
			first := [op.MaxSpatial]int64{int64(a), int64(b), 0}
			to, toPlace := j.y.Start(img, channel)+j.y.Offset(&first), int64(0)
			if !j.unread {
				toPlace = j.places.Start(img, channel) + j.places.Offset(&first)
			}
			m.Lines = rowsOf(&s.ranges[0][a], &s.ranges[1][b])
			for across := s.ranges[2]; len(across) > 0; {
				n := min(m.inside(across), engine.Block)
				if n > 0 && m.Compares() {
					m.Compare(across[0].low, best[:n], places[:n])
				} else if n > 0 {
					m.Pool(across[0].low, best[:n], places[:n])
				} else {
					n = 1
					best[0], places[0] = j.largest(m.From, &m.Lines, &across[0])
				}
				to, toPlace = j.store(best[:n], places[:n], to, toPlace)
				across = across[n:]
			}
		}
	}
	return nil
}

// Results are written from two short lists, so that the loops that find them need not know how the results lie, nor whether
// indices are int32.

// store writes results and indices from one place on, and answers where the next ones go.
func (j *Pooling[T]) store(best []T, places []int64, to, toPlace int64) (next, nextPlace int64) {
	if j.unread {
		for _, v := range best {
			j.y.Data[to] = v
			to += j.y.Strides[2]
		}
		return to, toPlace
	}
	for i, v := range best {
		j.y.Data[to] = v
		if j.narrow {
			j.places32[toPlace] = int32(places[i])
		} else {
			j.places.Data[toPlace] = places[i]
		}
		to, toPlace = to+j.y.Strides[2], toPlace+j.places.Strides[2]
	}
	return to, toPlace
}

// MaxRun is a run of windows of full width in one line of windows.
type MaxRun[T float32 | float64] struct {
	*Pooling[T]
	From  int64 // index of the plane
	Lines PoolRows
	Row   []T // room for elements that are not neighbours
}

// inside is how many of the windows, from the first on, have full width. Of a plane all but a few at the ends do.
func (m *MaxRun[T]) inside(across []span) (n int) {
	if m.Windows.Adaptive || m.Lines.FromA >= m.Lines.ToA || m.Lines.FromB >= m.Lines.ToB {
		return 0
	}
	for n < len(across) && across[n].high-across[n].low == m.Windows.Kernel[2] {
		n++
	}
	return n
}

// Pool finds the largest elements of windows, the first of which begins at index low of the last axis, and their indices:
// of the first element that equals the largest, or that is nan. It is what stays when all are looked at from the last on.
func (m *MaxRun[T]) Pool(low int64, best []T, places []int64) {
	r, kernel := &m.Lines, m.Windows.Kernel[2]
	// Another thread may change elements meanwhile, so that none equals the largest: the first is then as good.
	_, number := m.elements(r.FromA, r.FromB, low, 0)
	for i := range best {
		best[i], places[i] = T(math.Inf(-1)), number
		number += m.Windows.Stride[2]
	}
	for a := r.FromA; a < r.ToA; a++ {
		for b := r.FromB; b < r.ToB; b++ {
			for tap := range kernel {
				row, _ := m.elements(a, b, low+tap, len(best))
				m.Larger(best, row, best) // of equals the second, which came first
			}
		}
	}
	// The other way round, so that of equals the first is written last.
	for a := r.ToA - 1; a >= r.FromA; a-- {
		for b := r.ToB - 1; b >= r.FromB; b-- {
			for tap := kernel - 1; tap >= 0; tap-- {
				row, number := m.elements(a, b, low+tap, len(best))
				locate(row, best, places, number, m.Windows.Stride[2])
			}
		}
	}
}

// Windows of few elements that are more than one element apart are looked at one by one, without gathering rows. The test for
// the larger element cannot be predicted, so that it has to be a move without a branch, which compilers make of integers
// alone: float32 numbers are ordered like the integers of their bits, once those of negative numbers are turned round.
// Below them stands how many elements of the window follow, so that of equal ones the first is the largest.

// Compares reports whether compare is the way to go.
func (m *MaxRun[T]) Compares() bool {
	w := &m.Windows
	return unsafe.Sizeof(m.lowest) == 4 && w.Stride[2] > 1 && w.Kernel[0]*w.Kernel[1]*w.Kernel[2] <= mostCompared
}

// Sixteen numbers of followers fit below the 32 bits of an ordered element, and words of 36 bits never overflow when one is
// subtracted from another.

// mostCompared is the number of elements of the largest window that compares takes.
const mostCompared = 16

// Compare is pool for float32. An element is read once to be compared and once more as the result; of one that another
// thread changes meanwhile either may be taken.
func (m *MaxRun[T]) Compare(low int64, best []T, places []int64) {
	var offsets, numbers [mostCompared]int64 // of the elements of a window, from the last to the first
	r, taps := &m.Lines, 0
	for a := r.ToA - 1; a >= r.FromA; a-- {
		for b := r.ToB - 1; b >= r.FromB; b-- {
			for tap := m.Windows.Kernel[2] - 1; tap >= 0; tap-- {
				offsets[taps] = a*m.X.Strides[0] + b*m.X.Strides[1] + tap*m.X.Strides[2]
				numbers[taps] = (a*m.X.Dims[1]+b)*m.X.Dims[2] + tap
				taps++
			}
		}
	}
	for i := range best {
		from, largest := m.From+low*m.X.Strides[2], int64(math.MinInt32)*mostCompared
		for follow, offset := range offsets[:taps] { // which is negative along an axis that is read backwards
			less := largest - ordered(float32(m.X.Data[from+offset]))*mostCompared - int64(follow)
			largest -= less & (less >> 63) // the larger of both; the compiler would branch
		}
		tap := largest & (mostCompared - 1)
		best[i], places[i] = m.X.Data[from+offsets[tap]], numbers[tap]+low
		low += m.Windows.Stride[2]
	}
}

// ordered is a number of 32 bits that is larger for a larger v, the same for both zeros, and largest for nan.
func ordered(v float32) int64 {
	const infinite = 0x7F800000
	bits := int64(int32(math.Float32bits(v)))
	size, sign := bits&math.MaxInt32, bits>>63
	if size > infinite {
		return math.MaxInt32
	}
	return (size ^ sign) - sign
}

// An index of a line is inside it for all windows of a run, because each of them lies inside as a whole. So there is no
// test of it, and the slice below is one of the operand's memory.

// elements is one element of each of n windows, the first at an index of a line, and its number in the plane.
func (m *MaxRun[T]) elements(a, b, index int64, n int) (row []T, number int64) {
	number = (a*m.X.Dims[1]+b)*m.X.Dims[2] + index
	at, step := m.From+a*m.X.Strides[0]+b*m.X.Strides[1]+index*m.X.Strides[2], m.Windows.Stride[2]*m.X.Strides[2]
	if step == 1 {
		return m.X.Data[at:][:n], number
	}
	row = m.Row[:n]
	window.CopyStrided(row, m.X.Data, at, step)
	return row, number
}

// locate puts the numbers of elements, which are step apart, where the elements are the largest. Both conditions are
// moves without a branch, which could not be predicted.
func locate[T float32 | float64](row, best []T, places []int64, number, step int64) {
	best, places = best[:len(row)], places[:len(row)]
	for i, v := range row {
		at := places[i]
		if v == best[i] {
			at = number
		}
		if v != v { //nolint:gocritic,staticcheck // how a type parameter asks for nan
			at = number
		}
		places[i] = at
		number += step
	}
}

// A comparison with a nan is false either way round, so that asking for what is not less or equal finds larger elements
// and the first nan at once. Nothing after that nan can be the answer.

// largest is the first largest element of a window, and its index in the plane. The first nan is larger than all.
func (j *Pooling[T]) largest(from int64, r *PoolRows, across *span) (best T, at int64) {
	if across.low >= across.high || r.FromA >= r.ToA || r.FromB >= r.ToB {
		return j.lowest, -1
	}
	x, step := j.X.Data, j.X.Strides[2]
	at = -1
	best = T(math.Inf(-1))
	for a := r.FromA; a < r.ToA; a++ {
		for b := r.FromB; b < r.ToB; b++ {
			i := from + a*j.X.Strides[0] + b*j.X.Strides[1] + across.low*step
			number := (a*j.X.Dims[1]+b)*j.X.Dims[2] + across.low
			for range across.high - across.low {
				if v := x[i]; !(v <= best) || at < 0 { //nolint:staticcheck // a nan is not less
					best, at = v, number
					if v != v { //nolint:gocritic,staticcheck // how a type parameter asks for nan
						return best, at
					}
				}
				i += step
				number++
			}
		}
	}
	return best, at
}
