//go:build cgo && !race

package rearrange

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon, and leaves few elements to the portable ones.
func (t *table) use(level vec.Level) {
	t.level = level
	transpose := t.transpose
	t.transpose = func(to, from []float32, rows, cols, toStep, fromStep int) {
		if rows*cols < vec.ShortRow {
			transpose(to, from, rows, cols, toStep, fromStep)
			return
		}
		neon.Transpose(to, from, rows, cols, toStep, fromStep)
	}
}
