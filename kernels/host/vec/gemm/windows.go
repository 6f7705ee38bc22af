package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// Windows says where the rows of a left operand lie. They are Lines lines of PerLine rows each: line l begins at element l*Line, and
// row i of it i*Step further on. A row is Runs runs of Run elements each, which begin Apart apart. So a convolution of an image
// whose channels are last reads its windows where they lie: a run is what a window sees of a line of the image. Rows may overlap,
// and so may runs.
type Windows struct {
	Lines, PerLine int
	Line, Step     int
	Runs, Run      int
	Apart          int

	Starts     []int     // where rows begin that are no lines; there are no others then
	double     bool      // elements are float64: distances are in words of float32, but for Run
	source     []float32 // what the panel is to be made of, one with all of its columns; nil where it is there
	sourceStep int       // from one of these to the next
}

// rows is the number of rows, and terms the number of elements of one.
func (w *Windows) rows() int { return w.Lines * w.PerLine }

func (w *Windows) terms() int { return w.Runs * w.Run }

// fits reports whether all rows lie within n elements. The numbers are those of a caller that has made them from sizes of memory:
// their products do not overflow.
func (w *Windows) fits(n int) bool {
	if min(w.Lines, w.PerLine, w.Line, w.Step, w.Runs, w.Run, w.Apart) < 0 {
		return false
	}
	return w.rows() == 0 || w.terms() == 0 || (w.Lines-1)*w.Line+(w.PerLine-1)*w.Step+(w.Runs-1)*w.Apart+w.Run <= n
}

// AddWindows adds rows of a, which lie there as w says, times as many rows of r as they have terms, from number first on, and of these
// columns from to from+n-1, to c, whose rows are ldc apart, line after line; or with set makes c that product. from is as
// in MatMul. It reports false and leaves c alone for operands that do not fit, and runs on the calling thread.
func (r *PackedRight) AddWindows(c, a []float32, w Windows, first, from, n, ldc int, set bool) bool {
	t := &r.tile
	if from < 0 || from%t.cols != 0 || n < 0 || n > r.n-from || first < 0 || !w.fits(len(a)) || w.terms() > r.k-first || !vec.MatrixFits(len(c), w.rows(), n, ldc) {
		return false
	}
	if w.Line == w.PerLine*w.Step { // one line
		w.Lines, w.PerLine = 1, w.rows()
	}
	switch {
	case w.rows() == 0 || n == 0:
	case w.terms() == 0:
		if set {
			vec.ZeroRows(c, w.rows(), n, ldc)
		}
	case t.windows == nil || w.rows() == 1:
		r.addRuns(c, a, &w, first, from, n, ldc, set)
	default:
		width := max(panelTerms/w.terms(), 1) * t.cols
		for j := 0; j < n; j += width {
			r.addPanels(c[j:], a, w, r.panels[(from+j)*r.k+first*t.cols:], min(width, n-j), ldc, set)
		}
	}
	return true
}

const (
	mostTerms  = 512 // that are added at a time; in between the sums wait in c
	panelTerms = 512 // of the panels that are multiplied with the same rows: as few as fill much of the first-level cache
)

// addPanels is AddWindows for columns of a few panels of r.
func (r *PackedRight) addPanels(c, a []float32, w Windows, panels []float32, cols, ldc int, set bool) {
	runs, width := w.Runs, w.Run
	perPart := max(mostTerms/width, 1) // runs
	parts := (width + mostTerms - 1) / mostTerms
	w.Run = (width + parts - 1) / parts
	for i := 0; i < runs; i += perPart {
		w.Runs = min(perPart, runs-i)
		for at := 0; at < width; at += w.Run {
			part := w
			part.Run = min(w.Run, width-at)
			r.tile.windows(c, a[i*w.Apart+at:], panels[(i*width+at)*r.tile.cols:], r.k*r.tile.cols, part, cols, ldc, set && i+at == 0)
		}
	}
}

// addRuns is AddWindows where no tile reads rows where they lie, and of a single row, which would fill little of one.
func (r *PackedRight) addRuns(c, a []float32, w *Windows, first, from, n, ldc int, set bool) {
	for l := range w.Lines {
		for i := range w.Runs {
			for at := 0; at < w.Run; at += depth {
				begin := l*w.Line + i*w.Apart + at
				r.addRows(c[l*w.PerLine*ldc:], a[begin:], first+i*w.Run+at, min(depth, w.Run-at), w.PerLine, w.Step, from, n, ldc, set && i+at == 0)
			}
		}
	}
}
