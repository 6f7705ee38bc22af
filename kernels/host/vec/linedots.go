package vec

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

// HasLineDots reports whether there are vectors for [AddLineDots].
func HasLineDots() bool { return active.lineDots != nil }

// LineRows is the least number of rows that AddLineDots takes.
const LineRows = lineRows

// AddLineDots adds to c, m rows of len(offsets) elements that are ldc apart, sums of products: element (i, j) gets that of the
// lines of row i of a with those of b from offsets[j] on. Nothing but the elements of lines counts, whatever is between them.
// The sum of an element is in an order that depends on the lines alone. It reports false and leaves c alone where there are no
// vectors for it, m is less than [LineRows], or an operand does not fit its slice, and runs on the calling thread.
func AddLineDots(c, a, b []float32, offsets []int, m, ldc int, l *Lines) bool {
	if active.lineDots == nil || m < lineRows || !fits(len(c), m, len(offsets), ldc) || !l.fit(len(a), len(b), offsets, m) {
		return false
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
