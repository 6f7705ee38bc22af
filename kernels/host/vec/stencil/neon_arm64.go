//go:build cgo && !race

package stencil

import (
	"math"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon.
func (t *table) use(level vec.Level) {
	t.level = level
	t.depthwiseChannelsLast = func(to, x, w []float32, taps []Tap, n, step, channels int) {
		neon.Depthwise(to, x, w, tapsInC(taps), n, step, channels)
	}
	t.maxPoolChannelsLast = func(to, x []float32, taps []Tap, n, step, channels int) {
		neon.MaxDeep(to, x, tapsInC(taps), n, step, channels)
	}
	t.maxPoolRow = func(best []float32, at []int32, x []float32, taps []Tap, n, step, reach int, first int32) {
		if i := neon.MaxRow(best, at, x, tapsInC(taps), n, step, reach, first); i < n {
			maxPoolRowPortable(best[i:n], at[i:n], x[i*step:], taps, step, first+int32(i*step))
		}
	}
	even := t.evenElements
	t.evenElements = func(to, x []float32) {
		if len(to) < vec.ShortRow {
			even(to, x)
			return
		}
		neon.EvenElements(to, x)
	}
	t.splitLines, t.mostSplit, t.depthwisePlane = neon.SplitLines, math.MaxInt, neon.DepthwisePlane
}

// tapsInC are the same taps.
// SAFETY: both types have the same fields.
func tapsInC(taps []Tap) []neon.Tap {
	return unsafe.Slice((*neon.Tap)(unsafe.Pointer(unsafe.SliceData(taps))), len(taps))
}
