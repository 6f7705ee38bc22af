// Package layout says which thread of a threadgroup holds which elements of a tensor.
//
// All sizes are powers of two, so an element's row-major index is a string of bits, and so are the index of a register in
// a thread, of a thread in its SIMD group (lane), and of a SIMD group in the threadgroup (warp). A Layout maps each bit of
// the latter three to a bit of the element's index, or to None: threads that differ only in that bit hold the same
// element. Each bit of the element's index occurs once.
//
// The invariant: a register bit is never None, so that no thread holds an element twice.
//
// Reshaping changes no bit. Transposing permutes bits, and reducing or undoing a broadcast removes some.
package layout

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// None is the bit that a replicated lane or warp bit maps to.
const None = -1

// Lanes is how many bits the number of a thread in its SIMD group has.
const Lanes = 5

// Layout maps bits of registers, lanes and warps to bits of the element's number.
type Layout struct {
	Reg, Lane, Warp []int
}

// Key is a string that is equal for equal layouts.
func (l Layout) Key() string {
	var s strings.Builder
	for i, part := range [][]int{l.Reg, l.Lane, l.Warp} {
		if i > 0 {
			s.WriteByte('|')
		}
		for k, b := range part {
			if k > 0 {
				s.WriteByte(' ')
			}
			if b == None {
				s.WriteByte('*')
			} else {
				s.WriteString(strconv.Itoa(b))
			}
		}
	}
	return s.String()
}

// Same reports whether two layouts are equal.
func (l Layout) Same(o Layout) bool {
	return slices.Equal(l.Reg, o.Reg) && slices.Equal(l.Lane, o.Lane) && slices.Equal(l.Warp, o.Warp)
}

// Registers is how many elements a thread holds.
func (l Layout) Registers() int { return 1 << len(l.Reg) }

// Bits is how many bits the element's number has.
func (l Layout) Bits() int {
	n := len(l.Reg)
	for _, b := range slices.Concat(l.Lane, l.Warp) {
		if b != None {
			n++
		}
	}
	return n
}

// Replicated are masks of the lane and warp bits that tell no elements apart.
func (l Layout) Replicated() (lane, warp int) { return replicated(l.Lane), replicated(l.Warp) }

func replicated(part []int) (mask int) {
	for i, b := range part {
		if b == None {
			mask |= 1 << i
		}
	}
	return mask
}

// Map is the layout with each bit replaced: by another one, or by None. Register bits that become None are dropped.
func (l Layout) Map(f func(bit int) int) Layout {
	part := func(all []int) []int {
		out := make([]int, len(all))
		for i, b := range all {
			if out[i] = None; b != None {
				out[i] = f(b)
			}
		}
		return out
	}
	reg := slices.DeleteFunc(part(l.Reg), func(b int) bool { return b == None })
	return Layout{reg, part(l.Lane), part(l.Warp)}
}

// Blocked gives bits in an order, from the one that changes fastest: the first vec of them to registers, the next ones to
// lanes, then to warps, and what is left to registers again.
func Blocked(order []int, vec, warps int) Layout {
	take := func(n int) []int {
		part := make([]int, n)
		for i := range part {
			if part[i] = None; len(order) > 0 {
				part[i], order = order[0], order[1:]
			}
		}
		return part
	}
	order = slices.Clone(order)
	vec = min(vec, len(order))
	reg := take(vec)
	l := Layout{Lane: take(Lanes), Warp: take(warps)}
	l.Reg = append(reg, order...)
	return l
}

// Chunks is Blocked but for warps, which get the last bits of the order: each SIMD group has a part of memory of its own, and
// reductions and exchanges within a row mostly stay within a SIMD group.
func Chunks(order []int, vec, warps int) Layout {
	vec = min(vec, len(order))
	rest := order[vec:]
	own := len(rest) - warps
	if own < Lanes {
		return Blocked(order, vec, warps)
	}
	l := Layout{Lane: slices.Clone(rest[:Lanes]), Warp: slices.Clone(rest[own:])}
	l.Reg = slices.Concat(order[:vec], rest[Lanes:own])
	return l
}

// Log is the logarithm of a power of two.
func Log(n int) int { return bits.Len(uint(n)) - 1 }

// Dims are the lowest bit of each dimension of a shape, and behind them the number of bits.
func Dims(shape []int) []int {
	first := make([]int, len(shape)+1)
	at := 0
	for i := len(shape) - 1; i >= 0; i-- {
		first[i] = at
		at += Log(shape[i])
	}
	first[len(shape)] = at
	return first
}

// DimOf is the dimension that a bit belongs to, and its number in that dimension.
func DimOf(shape []int, bit int) (dim, at int) {
	low := 0
	for i := len(shape) - 1; i >= 0; i-- {
		n := Log(shape[i])
		if bit < low+n {
			return i, bit - low
		}
		low += n
	}
	return None, None
}

// Order are all bits of a shape: those of the first of these dimensions first.
func Order(shape []int, dims []int) (order []int) {
	first := Dims(shape)
	for _, d := range dims {
		for b := range Log(shape[d]) {
			order = append(order, first[d]+b)
		}
	}
	return order
}

// Shrink is the layout of a tensor of shape small from that of one of shape big, which has as many dimensions: bits of
// dimensions that small lacks become None.
func (l Layout) Shrink(big, small []int) Layout {
	first := Dims(small)
	return l.Map(func(bit int) int {
		d, at := DimOf(big, bit)
		if small[d] != big[d] {
			return None
		}
		return first[d] + at
	})
}

// Transpose is the layout of a transposed tensor: dimension i of the result is dimension order[i] of shape.
func (l Layout) Transpose(shape, order []int) Layout {
	to := make([]int, len(order))
	for i, d := range order {
		to[i] = shape[d]
	}
	first := Dims(to)
	return l.Map(func(bit int) int {
		d, at := DimOf(shape, bit)
		return first[slices.Index(order, d)] + at
	})
}
