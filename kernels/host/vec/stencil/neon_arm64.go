//go:build cgo && !race

package stencil

import (
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
}

// tapsInC are the same taps.
// SAFETY: both types have the same fields.
func tapsInC(taps []Tap) []neon.Tap {
	return unsafe.Slice((*neon.Tap)(unsafe.Pointer(unsafe.SliceData(taps))), len(taps))
}
