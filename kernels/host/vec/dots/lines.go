package dots

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/gemm"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/rearrange"
)

// Lines says where the lines of two operands are whose products are added up: images, each of a number of lines of so many
// neighbouring elements. All distances are in elements, and none is negative.
type Lines struct {
	Width        int // of a line
	Count        int // lines of an image
	StepA, StepB int // from line to line
	Images       int
	NextA, NextB int // from image to image
	Row          int // from row to row of a
}

// A tile of sums is lineRows rows of a times lineCols lines of b.
const (
	lineRows = 6
	lineCols = 4
)

// HasLines reports whether there are vectors for [AddLines].
func HasLines() bool { return active.lineDots != nil }

// LineRows is the least number of rows that AddLines takes.
const LineRows = lineRows

// AddLines adds to c, m rows of len(offsets) elements that are ldc apart, sums of products: element (i, j) gets that of the
// lines of row i of a with those of b from offsets[j] on. Nothing but the elements of lines counts, whatever is between them.
// The sum of an element is in an order that depends on the lines alone. It reports false and leaves c alone where there are no
// vectors for it, m is less than [LineRows], or an operand does not fit its slice, and runs on the calling thread.
func AddLines(c, a, b []float32, offsets []int, m, ldc int, l *Lines) bool {
	if active.lineDots == nil || m < lineRows || !vec.MatrixFits(len(c), m, len(offsets), ldc) || !l.fit(len(a), len(b), offsets, m) {
		return false
	}
	if l.fillsPanels(m) && len(offsets) <= mostOffsets {
		addLineRows(c, a, b, offsets, m, ldc, l)
		return true
	}
	var sums [lineRows * lineCols]float32
	var at [lineCols]int // of less than four lines the last one several times
	for j := 0; j < len(offsets); j += lineCols {
		cols := min(lineCols, len(offsets)-j)
		for s := range at {
			at[s] = offsets[j+min(s, cols-1)]
		}
		for i := 0; i < m; i += lineRows {
			first := min(i, m-lineRows) // the last rows begin with some that have been added
			active.lineDots(&sums, a[first*l.Row:], b, &at, l)
			for r := i - first; r < lineRows; r++ {
				for s := range cols {
					c[(first+r)*ldc+j+s] += sums[r*lineCols+s]
				}
			}
		}
	}
	return true
}

// fit reports whether all lines lie in operands of so many elements.
func (l *Lines) fit(a, b int, offsets []int, m int) bool {
	if l.Width < 1 || l.Count < 1 || l.Images < 1 || min(l.StepA, l.StepB, l.NextA, l.NextB, l.Row) < 0 {
		return false
	}
	last := 0
	for _, o := range offsets {
		if o < 0 {
			return false
		}
		last = max(last, o)
	}
	endA := (m-1)*l.Row + (l.Count-1)*l.StepA + (l.Images-1)*l.NextA + l.Width
	endB := last + (l.Count-1)*l.StepB + (l.Images-1)*l.NextB + l.Width
	return endA <= a && endB <= b
}

// Vectors along short lines are half empty, and along the rows of a they may be full. Then b is the left operand of a product, whose rows
// lie at the offsets, and a, transposed, a panel of the right one.

// mostOffsets is the number of rows whose sums fit the room for them.
const mostOffsets = 2048

// fillsPanels reports whether vectors along m rows are a fifth less than vectors along the lines, and all elements of an image fit a panel.
func (l *Lines) fillsPanels(m int) bool {
	const lanes = 16
	along, across := (l.Width+lanes-1)/lanes*lanes*m, (m+lanes-1)/lanes*lanes*l.Width
	return gemm.ReadsInPlace() && 4*along >= 5*across && l.Count*l.Width <= gemm.InPlaceRoom/gemm.PanelCols()
}

// addLineRows is AddLines by products of tiles. The sum of an element is that of its products one after the other.
func addLineRows(c, a, b []float32, offsets []int, m, ldc int, l *Lines) {
	p, width := gemm.BlockRooms.Get().(*gemm.BlockRoom), gemm.PanelCols()
	w := gemm.Windows{Starts: offsets, Runs: l.Count, Run: l.Width, Apart: l.StepB}
	for first := 0; first < m; first += width {
		rows := min(width, m-first)
		for image := range l.Images {
			turnLines(p, width, a[first*l.Row+image*l.NextA:], rows, l)
			gemm.MulPanelWindows(p.A[:], b[image*l.NextB:], p.B[:], w, rows, width, image == 0)
		}
		for j := range offsets {
			for i, v := range p.A[j*width:][:rows] {
				c[(first+i)*ldc+j] += v
			}
		}
	}
	gemm.BlockRooms.Put(p)
}

// turnLines makes a panel of cols columns of the lines of an image.
func turnLines(p *gemm.BlockRoom, cols int, a []float32, rows int, l *Lines) {
	count, width := l.Count, l.Width
	if l.StepA == width { // a single line
		count, width = 1, count*width
	}
	for line := range count {
		rearrange.Transpose(p.B[line*width*cols:], a[line*l.StepA:], rows, width, cols, l.Row)
	}
}
