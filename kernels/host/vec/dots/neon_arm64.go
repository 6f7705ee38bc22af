//go:build cgo && !race

package dots

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon, also for short rows: the order of a sum depends on their length.
func (t *table) use(level vec.Level) {
	t.level = level
	t.dots32, t.dots64 = neon.Dots, neon.Dots64
	t.lineDots = func(to *[lineRows * lineCols]float32, a, b []float32, offsets *[lineCols]int, l *Lines) {
		neon.LineDots(to, a, b, offsets, neon.Lines{Width: l.Width, Count: l.Count, StepA: l.StepA, StepB: l.StepB, Images: l.Images, NextA: l.NextA, NextB: l.NextB, Row: l.Row})
	}
}
