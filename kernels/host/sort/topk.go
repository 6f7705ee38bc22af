package sort

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/sorting"
)

// Where few elements of a long line are wanted, most are passed over by comparing them with a bound: the last of those that
// would be wanted if the line ended where it is being read. Vectors look for the next element that is beyond it. Of random
// numbers about k ln(n/k) are, if k of n are wanted.

const (
	sifted      = 64      // lines of so many elements for each that is wanted are sifted
	LeastSifted = 1 << 10 // elements that are gathered before there is a bound, and wanted ones are too few to count
	mostSifted  = 16      // of one in so many at most: else the line is in an order that makes all of them seem wanted
)

// sift gathers keys and places of elements of a line of n float32 among which those that are wanted are, in the order of
// the line; false, with nothing done that matters, if that is no use.
func (s *lineSorter[K]) sift(n int64) bool {
	room := max(4*s.kept, LeastSifted)
	if s.x.DType != dtype.Float32 || !s.bare() || s.kept < 1 || n < sifted*s.kept || n < 4*room {
		return false
	}
	x, budget := engine.RowAt[float32](&s.x, 0, n), n/mostSifted
	s.cut(int(room))
	s.load(0, 0, room)
	for at := room; at < n; {
		bound, err := s.best()
		if err != nil {
			return false
		}
		at, budget = s.gather(x, at, room, bound, budget)
		if budget == 0 {
			return false
		}
	}
	s.varying.some.Store(math.MaxUint32) // which bits vary is not known
	s.varying.none.Store(math.MaxUint32)
	return true
}

// best sorts the keys, keeps those that are wanted, and answers the last of them.
func (s *lineSorter[K]) best() (K, error) {
	if err := s.sort(nil, math.MaxUint32); err != nil {
		return 0, err
	}
	s.cut(int(s.kept))
	return s.keys[s.kept-1], nil
}

// gather appends elements from number at on that come before the bound until there are room of them, the line ends, or so
// many that the budget is spent have been looked at. It answers how far it came and the rest of the budget. An element that
// equals the bound comes after it in the order of the line.
func (s *lineSorter[K]) gather(x []float32, at, room int64, bound K, budget int64) (end, rest int64) {
	flip, inverted := uint32(1-s.flip)*vec.Descending, uint32(-s.flip)
	top := math.Float32frombits(math.Float32bits(sorting.OfSortKey(uint32(bound)^inverted)) ^ flip)
	count := len(s.keys)
	s.cut(int(room))
	defer func() { s.cut(count) }()
	for ; count < int(room) && budget > 0; budget-- {
		next := sorting.Beyond(x[at:], top, flip)
		if next < 0 {
			return int64(len(x)), budget
		}
		at += int64(next)
		value := x[at]
		if k := K(sorting.SortKey(value) ^ inverted); k < bound {
			s.keys[count] = k
			if len(s.at) > 0 {
				s.at[count] = uint32(at)
			}
			if count++; math.Float32bits(value) == 1<<31 {
				s.varying.negativeZero.Store(true)
			}
		}
		at++
	}
	return at, budget
}
