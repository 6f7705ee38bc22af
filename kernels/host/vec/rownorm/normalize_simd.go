//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// standardizing is what rows are multiplied by and what is added: vectors of weight and bias, and of whichever is missing one vector that
// all elements read. moments_amd64.s has the offsets of the fields.
type standardizing struct {
	weight, bias           unsafe.Pointer
	weightMoves, biasMoves int // the bits of an offset that count: all, or none
	next                   int // bytes from a row to one that is wanted afterwards
}

// standardizeBy is standardizeRows with the loops of the level that has so many lanes of float64. Four rows at a time share the conversions
// of weight and bias, which take half of the time. What fills no vector is left to the portable loop. Loops that are given as functions
// would move the state of the caller to the heap.
// SAFETY: a vector begins at each element that is read or written, and ends inside of its line.
func standardizeBy(lanes int, dst, src, weight, bias []float32, length int, means, scales []float64) {
	s := standardizing{weight: unsafe.Pointer(&maths.Consts.NarrowOne), bias: unsafe.Pointer(&maths.Consts.NarrowSign), next: 4 * length * len(means)}
	if weight != nil {
		s.weight, s.weightMoves = unsafe.Pointer(unsafe.SliceData(weight)), -1
	}
	if bias != nil {
		s.bias, s.biasMoves = unsafe.Pointer(unsafe.SliceData(bias)), -1
	}
	n := length &^ (lanes - 1)
	j := 0
	for ; n > 0 && j+4 <= len(means); j += 4 {
		y, x, m, f := unsafe.Pointer(&dst[j*length]), unsafe.Pointer(&src[j*length]), (*[4]float64)(means[j:]), (*[4]float64)(scales[j:])
		if lanes == vec.WideLanes512 {
			standardizeFour512(&s, y, x, n, 4*length, m, f)
		} else {
			standardizeFour256(&s, y, x, n, 4*length, m, f)
		}
	}
	for ; n > 0 && j < len(means); j++ {
		y, x := unsafe.Pointer(&dst[j*length]), unsafe.Pointer(&src[j*length])
		if lanes == vec.WideLanes512 {
			standardizeOne512(&s, y, x, n, &means[j], &scales[j])
		} else {
			standardizeOne256(&s, y, x, n, &means[j], &scales[j])
		}
	}
	if n == length {
		return
	}
	archsimd.ClearAVXUpperBits()
	for j := range means {
		standardizeRow(dst[j*length:][n:length], src[j*length:][n:length], after(weight, n), after(bias, n), means[j], scales[j])
	}
}

// after is a line from an element on; nil of none.
func after(line []float32, n int) []float32 {
	if line == nil {
		return nil
	}
	return line[n:]
}
