package stencil

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
)

// A depthwise convolution of images whose channels are planes goes plane by plane: one is copied to where there is room for what
// windows see outside of it, and then each line of the result is a sum of lines of the copy.

// PadPlane copies lines of width elements: element j of line i, x[i*from+j], goes to to[i*pitch+first+j], or with halves to
// to[i*pitch+first+j/2] where j is even, and else to to[i*pitch+second+j/2]. It reports false, and does nothing, where they do not lie
// in their slices. What is read and what is written must not overlap.
func PadPlane(to, x []float32, lines, width, from, pitch, first, second int, halves bool) bool {
	end := first + width
	if halves {
		end = max(first+(width+1)/2, second+width/2)
	}
	if min(lines, width, from, pitch, first, second) < 0 || !spans(len(x), lines, width, from) || !spans(len(to), lines, end, pitch) {
		return false
	}
	if halves && lines > 0 && active.splitLines != nil && width > 0 && width <= active.mostSplit {
		active.splitLines(to, x, lines, width, from, pitch, first, second)
		return true
	}
	for i := range lines {
		line := x[i*from:][:width]
		if halves && width > 0 {
			active.evenElements(to[i*pitch+first:][:(width+1)/2], line)
			active.evenElements(to[i*pitch+second:][:width/2], line[1:])
		} else {
			copy(to[i*pitch+first:], line)
		}
	}
	return true
}

// DepthwisePlane sets lines of width elements, which begin apart elements apart: to[i*apart+j] is the sum over l, in their order, of
// w[l] * x[offsets[l]+i*pitch+j], added with the level's one way of rounding. x goes on for [WindowLanes] elements behind the last
// that is used. It reports false, and does nothing, where that is not so, or a line of to does not lie in its slice.
func DepthwisePlane(to, x, w []float32, offsets []int, lines, width, apart, pitch int) bool {
	reach := 0
	for _, o := range offsets {
		if o < 0 {
			return false
		}
		reach = max(reach, o)
	}
	if min(lines, width, apart, pitch) < 0 || len(w) != len(offsets) || reach > len(x) || width > len(x) {
		return false
	}
	if !spans(len(to), lines, width, apart) || !spans(len(x)-reach, lines, width+WindowLanes, pitch) {
		return false
	}
	switch {
	case len(w) == 0:
		vec.ZeroRows(to, lines, width, apart)
	case lines == 0 || width == 0:
	case active.depthwisePlane != nil:
		active.depthwisePlane(to, x, w, offsets, lines, width, apart, pitch)
	default:
		lineByLine(to, x, w, offsets, lines, width, apart, pitch)
	}
	return true
}

// spans reports whether lines of width elements, which begin step apart and may overlap, lie within n elements. No number is negative.
func spans(n, lines, width, step int) bool {
	return lines == 0 || width <= n && (step == 0 || lines-1 <= (n-width)/step)
}

// EvenElements sets to to elements 0, 2, 4 and so on of x. It reports false, and does nothing, where x has too few.
func EvenElements(to, x []float32) bool {
	if n := len(to); n > 0 {
		if n-1 > (len(x)-1)/2 || len(x) == 0 {
			return false
		}
		active.evenElements(to, x[:2*n-1])
	}
	return true
}

// evenElementsRow is Evens, portable.
func evenElementsRow(to, x []float32) {
	for i := range to {
		to[i] = x[2*i]
	}
}

// lineByLine is DepthwisePlane, as a product of one row.
func lineByLine(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	for i := range lines {
		sums := to[i*apart:][:width]
		clear(sums)
		gemm.AddRowsAt(sums, w, x[i*pitch:], offsets)
	}
}
