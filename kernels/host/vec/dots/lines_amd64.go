//go:build goexperiment.simd && !race

package dots

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// lineTile is what lineDots512 reads, in bytes; its assembler knows where each field is.
type lineTile struct {
	row          int
	offsets      [lineCols]int
	whole        int // vectors of a line
	mask         int // of the lanes of what is behind them; 0 where nothing is
	count        int
	stepA, stepB int
	images       int
	nextA, nextB int // from the end of an image to the next
}

//go:noescape
func lineDots512(to *[lineRows * lineCols]float32, a, b *float32, l *lineTile)

// addedLines is a tile of AddLines.
// SAFETY: AddLines has seen that all lines lie in their operands, and a mask keeps the last vector of a line inside of it.
func addedLines(to *[lineRows * lineCols]float32, a, b []float32, offsets *[lineCols]int, l *Lines) {
	const size = 4
	t := lineTile{
		row: l.Row * size, whole: l.Width / vec.Lanes512, mask: 1<<(l.Width%vec.Lanes512) - 1, count: l.Count,
		stepA: l.StepA * size, stepB: l.StepB * size, images: l.Images,
		nextA: (l.NextA - l.Count*l.StepA) * size, nextB: (l.NextB - l.Count*l.StepB) * size,
	}
	for i, o := range offsets {
		t.offsets[i] = o * size
	}
	lineDots512(to, &a[0], &b[0], &t)
}
