//go:build goexperiment.simd && !race

package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// mostSegments is the number of lines that a vector of columns is of, at most.
const mostSegments = 4

// segments says which lanes of a vector come from which line: lanes of lanes[i] are the elements that begin bytes[i] behind the
// offset of a row, as if the line began at lane 0. packgrid_amd64.s has the offsets of the fields.
type segments struct {
	bytes [mostSegments]int
	lanes [mostSegments]uint16
}

//go:noescape
func pickGrid(to, b *float32, offsets *int, steps int, s *segments)

// packGrid512 lays out a panel of at most cols columns from column first on, of rows of b that are lines. The lines of a vector are the
// same in all rows, so that they are found once.
// SAFETY: the caller has seen that the last column lies in b at each offset, and lanes of no column are not read.
func packGrid512(to, b []float32, offsets []int, first, cols, width, pitch int) {
	_ = to[2*vec.Lanes512*len(offsets)-1]
	for v := range 2 {
		var s segments
		column, end := first+v*vec.Lanes512, first+min((v+1)*vec.Lanes512, cols)
		for i := 0; column < end; i++ {
			lane, in := column-first-v*vec.Lanes512, column%width
			n := min(width-in, end-column)
			s.bytes[i], s.lanes[i] = 4*(column/width*pitch+in-lane), uint16((1<<n-1)<<lane)
			column += n
		}
		pickGrid(&to[v*vec.Lanes512], &b[0], &offsets[0], len(offsets), &s)
	}
}

// shortTerms is the number of terms up to which rows of a go along all panels: most of the time is then that of writing c, which is fastest
// where few rows of it are written at a time, each in order.
const shortTerms = depth

// addGrid512 is grid of a tile of float32. Few rows of a go through b panel by panel, each of which is then in the first-level cache for
// all of them.
func addGrid512(t *tile[float32], c, a, b []float32, offsets []int, m, n, lda, ldc, width, pitch, reach int, set bool) {
	if m == gridRows && min(n, width) >= leastVector {
		addLinesOf512(c, a, b, offsets, n, lda, ldc, width, pitch, set)
		return
	}
	pool := packsOf[float32]()
	p := pool.Get().(*packed[float32])
	most, few := blockCols, len(offsets) <= shortTerms
	if m <= inPlaceRows && !few {
		most = t.cols
	}
	for l := 0; l < len(offsets); l += depth {
		seen := offsets[l:][:min(depth, len(offsets)-l)]
		for j := 0; j < n; j += most {
			cols := min(most, n-j)
			if n <= width {
				t.packPanelsAt(p.b[:], b[j:], seen, cols, reach)
			} else {
				for at := 0; at < cols; at += t.cols {
					packGrid512(p.b[at*len(seen):], b, seen, j+at, min(t.cols, cols-at), width, pitch)
				}
			}
			for i := 0; i < m; i += inPlaceRows {
				rows := min(inPlaceRows, m-i)
				lines, stride := linesOf(p.a[:], a[i*lda+l:], rows, len(seen), lda)
				if few {
					w := Windows{Lines: 1, PerLine: rows, Step: stride, Runs: 1, Run: len(seen)}
					t.windows(c[i*ldc+j:], lines, p.b[:], t.cols*len(seen), w, cols, ldc, set && l == 0)
					continue
				}
				t.windowPanels(c[i*ldc+j:], lines, p.b[:], t.cols*len(seen), rows, cols, len(seen), stride, ldc, set && l == 0)
			}
		}
	}
	pool.Put(p)
}

// windowPanels is block for rows of a where they lie, one panel after the other.
func (t *tile[T]) windowPanels(c, a, b []T, strideB, rows, cols, steps, lda, ldc int, set bool) {
	w := Windows{Lines: 1, PerLine: rows, Step: lda, Runs: 1, Run: steps}
	for j := 0; j < cols; j += t.cols {
		t.windows(c[j:], a, b[j/t.cols*strideB:], strideB, w, min(t.cols, cols-j), ldc, set)
	}
}
