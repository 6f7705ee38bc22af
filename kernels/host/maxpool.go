package host

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// Windows beside each other that lie inside the plane take their elements from the same lines: the first elements of each
// are one row, the second another. The largest elements of a run of windows are the maximum of these rows, in vectors.
// Windows at the edges, and adaptive ones, are looked at one by one.
//
// With a stride the rows are gathered, for the maximum and again for the indices: a row stays in the cache, and keeping
// all of them would need as much memory as the plane.

// maxPlane is max_pool of a plane.
func maxPlane[T float32 | float64](j *pooling[T], img, channel int64, s *poolScratch) error {
	j.measure(s, &j.y.dims, &j.x.dims)
	if narrow, ok := any(j).(*pooling[float32]); ok && narrow.lined(s) {
		if !maxLines(narrow, img, channel, s) {
			return status.Errorf(status.Internal, "[max_pool] got windows that do not lie in their plane")
		}
		return nil
	}
	if j.banded(s) {
		maxBands(j, img, channel)
		return nil
	}
	f := newFrame()
	defer f.free()
	s.places = grown(s.places, block)
	m := maxRun[T]{pooling: j, from: j.x.start(img, channel)}
	m.row = slice[T](f.room(), block)
	best, places := slice[T](f.room(), block), s.places
	for a := range s.ranges[0] {
		for b := range s.ranges[1] {
			first := [op.MaxSpatial]int64{int64(a), int64(b), 0}
			to, toPlace := j.y.start(img, channel)+j.y.offset(&first), int64(0)
			if !j.unread {
				toPlace = j.places.start(img, channel) + j.places.offset(&first)
			}
			m.lines = rowsOf(&s.ranges[0][a], &s.ranges[1][b])
			for across := s.ranges[2]; len(across) > 0; {
				n := min(m.inside(across), block)
				if n > 0 && m.compares() {
					m.compare(across[0].low, best[:n], places[:n])
				} else if n > 0 {
					m.pool(across[0].low, best[:n], places[:n])
				} else {
					n = 1
					best[0], places[0] = j.largest(m.from, &m.lines, &across[0])
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
func (j *pooling[T]) store(best []T, places []int64, to, toPlace int64) (next, nextPlace int64) {
	if j.unread {
		for _, v := range best {
			j.y.data[to] = v
			to += j.y.strides[2]
		}
		return to, toPlace
	}
	for i, v := range best {
		j.y.data[to] = v
		if j.narrow {
			j.places32[toPlace] = int32(places[i])
		} else {
			j.places.data[toPlace] = places[i]
		}
		to, toPlace = to+j.y.strides[2], toPlace+j.places.strides[2]
	}
	return to, toPlace
}

// maxRun is a run of windows of full width in one line of windows.
type maxRun[T float32 | float64] struct {
	*pooling[T]
	from  int64 // index of the plane
	lines poolRows
	row   []T // room for elements that are not neighbours
}

// inside is how many of the windows, from the first on, have full width. Of a plane all but a few at the ends do.
func (m *maxRun[T]) inside(across []span) (n int) {
	if m.windows.Adaptive || m.lines.fromA >= m.lines.toA || m.lines.fromB >= m.lines.toB {
		return 0
	}
	for n < len(across) && across[n].high-across[n].low == m.windows.Kernel[2] {
		n++
	}
	return n
}

// pool finds the largest elements of windows, the first of which begins at index low of the last axis, and their indices:
// of the first element that equals the largest, or that is nan. It is what stays when all are looked at from the last on.
func (m *maxRun[T]) pool(low int64, best []T, places []int64) {
	r, kernel := &m.lines, m.windows.Kernel[2]
	// Another thread may change elements meanwhile, so that none equals the largest: the first is then as good.
	_, number := m.elements(r.fromA, r.fromB, low, 0)
	for i := range best {
		best[i], places[i] = T(math.Inf(-1)), number
		number += m.windows.Stride[2]
	}
	for a := r.fromA; a < r.toA; a++ {
		for b := r.fromB; b < r.toB; b++ {
			for tap := range kernel {
				row, _ := m.elements(a, b, low+tap, len(best))
				m.larger(best, row, best) // of equals the second, which came first
			}
		}
	}
	// The other way round, so that of equals the first is written last.
	for a := r.toA - 1; a >= r.fromA; a-- {
		for b := r.toB - 1; b >= r.fromB; b-- {
			for tap := kernel - 1; tap >= 0; tap-- {
				row, number := m.elements(a, b, low+tap, len(best))
				locate(row, best, places, number, m.windows.Stride[2])
			}
		}
	}
}

// Windows of few elements that are more than one element apart are looked at one by one, without gathering rows. The test for
// the larger element cannot be predicted, so that it has to be a move without a branch, which compilers make of integers
// alone: float32 numbers are ordered like the integers of their bits, once those of negative numbers are turned round.
// Below them stands how many elements of the window follow, so that of equal ones the first is the largest.

// compares reports whether compare is the way to go.
func (m *maxRun[T]) compares() bool {
	w := &m.windows
	return unsafe.Sizeof(m.lowest) == 4 && w.Stride[2] > 1 && w.Kernel[0]*w.Kernel[1]*w.Kernel[2] <= mostCompared
}

// Sixteen numbers of followers fit below the 32 bits of an ordered element, and words of 36 bits never overflow when one is
// subtracted from another.

// mostCompared is the number of elements of the largest window that compares takes.
const mostCompared = 16

// compare is pool for float32. An element is read once to be compared and once more as the result; of one that another
// thread changes meanwhile either may be taken.
func (m *maxRun[T]) compare(low int64, best []T, places []int64) {
	var offsets, numbers [mostCompared]int64 // of the elements of a window, from the last to the first
	r, taps := &m.lines, 0
	for a := r.toA - 1; a >= r.fromA; a-- {
		for b := r.toB - 1; b >= r.fromB; b-- {
			for tap := m.windows.Kernel[2] - 1; tap >= 0; tap-- {
				offsets[taps] = a*m.x.strides[0] + b*m.x.strides[1] + tap*m.x.strides[2]
				numbers[taps] = (a*m.x.dims[1]+b)*m.x.dims[2] + tap
				taps++
			}
		}
	}
	for i := range best {
		from, largest := m.from+low*m.x.strides[2], int64(math.MinInt32)*mostCompared
		for follow, offset := range offsets[:taps] { // which is negative along an axis that is read backwards
			less := largest - ordered(float32(m.x.data[from+offset]))*mostCompared - int64(follow)
			largest -= less & (less >> 63) // the larger of both; the compiler would branch
		}
		tap := largest & (mostCompared - 1)
		best[i], places[i] = m.x.data[from+offsets[tap]], numbers[tap]+low
		low += m.windows.Stride[2]
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
func (m *maxRun[T]) elements(a, b, index int64, n int) (row []T, number int64) {
	number = (a*m.x.dims[1]+b)*m.x.dims[2] + index
	at, step := m.from+a*m.x.strides[0]+b*m.x.strides[1]+index*m.x.strides[2], m.windows.Stride[2]*m.x.strides[2]
	if step == 1 {
		return m.x.data[at:][:n], number
	}
	row = m.row[:n]
	every(row, m.x.data, at, step)
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
func (j *pooling[T]) largest(from int64, r *poolRows, across *span) (best T, at int64) {
	if across.low >= across.high || r.fromA >= r.toA || r.fromB >= r.toB {
		return j.lowest, -1
	}
	x, step := j.x.data, j.x.strides[2]
	at = -1
	best = T(math.Inf(-1))
	for a := r.fromA; a < r.toA; a++ {
		for b := r.fromB; b < r.toB; b++ {
			i := from + a*j.x.strides[0] + b*j.x.strides[1] + across.low*step
			number := (a*j.x.dims[1]+b)*j.x.dims[2] + across.low
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
