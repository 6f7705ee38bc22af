// Package shape is the arithmetic of dimensions: broadcasting, strides and views.
//
// A [Shape] is a rank and its dimensions; a [Layout] adds strides, counted in elements. Both are
// plain values of fixed size, so that inference and views cost no allocation. The invariant:
// entries at and beyond the rank are zero, so == compares shapes.
package shape

import (
	"math"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// MaxRank is the largest number of dimensions of a tensor, as in Paddle.
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
			return s, status.Errorf(status.Invalid, "[shape] got %v; want no negative dimension", dims)
		}
	}
	s.Rank = len(dims)
	copy(s.Dims[:], dims)
	return s, nil
}

// Slice is the dimensions as a slice of s itself.
func (s *Shape) Slice() []int64 { return s.Dims[:s.Rank] }

// Numel is the number of elements. The shape must have passed [Shape.Bytes] or be known small.
func (s *Shape) Numel() int64 {
	n := int64(1)
	for _, d := range s.Dims[:s.Rank] {
		n *= d
	}
	return n
}

// Bytes is the size of a contiguous tensor with elements of itemsize bytes; status.Invalid where
// that, or the number of elements of a tensor that is empty only by one axis, overflows an int64.
func (s *Shape) Bytes(itemsize int64) (int64, error) {
	n, zero := itemsize, false
	for _, d := range s.Dims[:s.Rank] {
		if d == 0 {
			zero = true
			continue
		}
		if n > math.MaxInt64/d {
			return 0, status.Errorf(status.Invalid, "[shape] %s with elements of %d bytes is larger than the address space", s, itemsize)
		}
		n *= d
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// String prints as Python prints a list: "[2, 3]".
func (s *Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s.Dims[:s.Rank] {
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

// Broadcast is the common shape of two shapes: aligned at the last axis, a dimension of one
// stretches to the other. status.Invalid names both shapes where they do not fit.
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

// Axis turns an axis in [-rank, rank) into one in [0, rank). A 0-d tensor takes 0 and -1 as well.
func Axis(op string, axis int64, rank int) (int, error) {
	r := int64(max(rank, 1))
	if axis < -r || axis >= r {
		return 0, status.Errorf(status.Invalid, "[%s] axis %d is out of range for a tensor of %d dimensions; want %d to %d", op, axis, rank, -r, r-1)
	}
	if axis < 0 {
		axis += r
	}
	return int(axis), nil
}
