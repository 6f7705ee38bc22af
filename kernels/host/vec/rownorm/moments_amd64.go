//go:build goexperiment.simd && !race

package rownorm

import "unsafe"

// addMoments is add of momentsState512, for at least one row, each of at least one element.
//
//go:noescape
func addMoments(s *momentsState512, to, x *float32, length, rows int)

// standardizeFour512 is standardizeOne512 for four rows, each step bytes behind the one before.
// SAFETY: see standardize512. The instruction that asks for memory faults at no address.
//
//go:noescape
func standardizeFour512(s *standardizing, y, x unsafe.Pointer, n, step int, means, scales *[4]float64)

// add sets the sums of the first rows, and asks for dst, which is written next. Lanes beyond a row have its origin, which adds nothing.
// SAFETY: the rows lie in both.
func (s *momentsState512) add(dst, src []float32, length, rows int) {
	addMoments(s, &dst[:rows*length][0], &src[:rows*length][0], length, rows)
}
