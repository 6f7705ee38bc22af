// Package shape is the arithmetic of dimensions: broadcasting, strides and views.
//
// A [Shape] is a rank and its dimensions; a [Layout] adds strides, counted in elements. Both are values of fixed
// size, so that inference and views allocate nothing. The invariant: entries at and beyond the rank are zero, so
// that == compares shapes.
//
// The package has no memory and no dtypes: sizes in bytes come from the caller.
package shape

import (
	"math"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// MaxRank is the largest number of dimensions of a tensor, as in Paddle 3.3.1 (phi::DDim::kMaxRank).
const MaxRank = 9

// Shape is the dimensions of a tensor, each >= 0.
type Shape struct {
	Rank int
	Dims [MaxRank]int64
}

// Of makes a shape; status.Invalid for more than MaxRank dimensions or a negative one.
func Of(dims ...int64) (s Shape, err error) {
	if len(dims) > MaxRank {
		return s, status.Errorf(status.Invalid, "[shape] got %d dimensions; want at most %d", len(dims), MaxRank)
	}
	for _, d := range dims {
		if d < 0 {
			return s, status.Errorf(status.Invalid, "[shape] got %s; want no negative dimension", text(dims))
		}
	}
	s.Rank = len(dims)
	copy(s.Dims[:], dims)
	return s, nil
}

// Slice is the dimensions as a slice of s itself.
func (s *Shape) Slice() []int64 { return s.Dims[:s.Rank] }

// Numel is the number of elements, 1 for a 0-d shape. The caller has checked by [Shape.Bytes] that it does not
// overflow, or knows that it is small.
func (s *Shape) Numel() int64 {
	n := int64(1)
	for _, d := range s.Dims[:s.Rank] {
		n *= d
	}
	return n
}

// Lead is the shape with axes of one element before its own, so that it has the rank.
func (s *Shape) Lead(rank int) Shape {
	led := Shape{Rank: rank}
	extra := rank - s.Rank
	for i := range led.Dims[:rank] {
		led.Dims[i] = 1
	}
	copy(led.Dims[extra:rank], s.Slice())
	return led
}

// Bytes is the size of a contiguous tensor with elements of itemsize bytes. It returns status.Invalid where the
// size overflows an int64, also for an empty tensor whose other dimensions overflow, because its strides are products of them.
func (s *Shape) Bytes(itemsize int64) (int64, error) {
	n, zero := itemsize, false
	for _, d := range s.Dims[:s.Rank] {
		if d == 0 {
			zero = true
			continue
		}
		if n > math.MaxInt64/d {
			return 0, status.Errorf(status.Invalid, "[shape] %s with elements of %d bytes exceeds the address space; want at most 2^63-1 bytes", s.String(), itemsize) // s does not escape
		}
		n *= d
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// String prints as Python prints a list: "[2, 3]".
func (s *Shape) String() string { return text(s.Dims[:s.Rank]) }

// text prints dimensions as Python prints a list.
func text(dims []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range dims {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(d, 10))
	}
	b.WriteByte(']')
	return b.String()
}

// Append adds a dimension at the end; the caller has checked the rank.
func (s *Shape) Append(d int64) {
	s.Dims[s.Rank] = d
	s.Rank++
}

// Broadcast is the common shape of two shapes, by NumPy's rule: aligned at the last axis, a dimension of 1 takes
// the size of the other. status.Invalid, naming op and both shapes, where two others differ.
func Broadcast(op string, x, y *Shape) (out Shape, err error) {
	out.Rank = max(x.Rank, y.Rank)
	for i := 1; i <= out.Rank; i++ {
		dx, dy := int64(1), int64(1)
		if i <= x.Rank {
			dx = x.Dims[x.Rank-i]
		}
		if i <= y.Rank {
			dy = y.Dims[y.Rank-i]
		}
		switch {
		case dx == dy || dy == 1:
			out.Dims[out.Rank-i] = dx
		case dx == 1:
			out.Dims[out.Rank-i] = dy
		default:
			return out, status.Errorf(status.Invalid, "[%s] shapes %s and %s do not broadcast: axis %d has %d and %d; want equal, or 1",
				op, x, y, out.Rank-i, dx, dy)
		}
	}
	return out, nil
}

// Axis maps an axis in [-rank, rank) to [0, rank). For a 0-d tensor 0 and -1 are valid too, as in Paddle. The
// error, status.Invalid, names op.
func Axis(op string, axis int64, rank int) (int, error) {
	r := int64(max(rank, 1))
	if axis < -r || axis >= r {
		return 0, status.Errorf(status.Invalid, "[%s] axis %d is out of range for a tensor of %s; want %d to %d", op, axis, status.Count(rank, "dimension", "dimensions"), -r, r-1)
	}
	if axis < 0 {
		axis += r
	}
	return int(axis), nil
}

// Symbol is a dimension that is not known yet: the same symbol is the same size wherever it occurs, different
// symbols are sizes that may differ. n counts from 0. Symbols are negative, so that they are never equal to a
// known size.
func Symbol(n int) int64 { return -1 - int64(n) }

// IsSymbol reports whether a dimension is a symbol.
func IsSymbol(d int64) bool { return d < 0 }

// SymbolNumber is the n of a symbol.
func SymbolNumber(d int64) int { return int(-1 - d) }

// Known reports whether no dimension is a symbol.
func (s *Shape) Known() bool {
	for _, d := range s.Slice() {
		if IsSymbol(d) {
			return false
		}
	}
	return true
}

// FromEnd is the i-th dimension from the end, where 1 is the last; 1 beyond the first, as broadcasting has it.
func (s *Shape) FromEnd(i int) int64 {
	if i > s.Rank {
		return 1
	}
	return s.Dims[s.Rank-i]
}
