//go:build cgo && !race

package rearrange

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon, and leaves few elements to the portable ones.
func (t *table) use(level vec.Level) {
	t.level = level
	transpose, interleave3 := t.transpose, t.interleave3
	t.transpose = func(to, from []float32, rows, cols, toStep, fromStep int) {
		if rows*cols < vec.ShortRow {
			transpose(to, from, rows, cols, toStep, fromStep)
			return
		}
		neon.Transpose(to, from, rows, cols, toStep, fromStep)
	}
	t.interleave3 = func(to, a, b, c []float32) {
		if len(a) < vec.ShortRow {
			interleave3(to, a, b, c)
			return
		}
		neon.Interleave3(to, a, b, c)
	}
}
