package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// A convolution is a product whose right operand is never in memory as a matrix: row l of it is the image from
// offsets[l] on. The offset says which channel a row is about, and where in it the window sees the row's element of the
// kernel. Panels of it are packed from the image just before the tiles read them.

// LeftSize is the number of elements that [PackLeft] writes.
func LeftSize[T vec.Real](m, k int) int {
	rows := PanelRows[T]()
	return (m + rows - 1) / rows * rows * k
}

// PackLeft lays out a (m x k, row-major, leading dimension lda) as the left operand of [AddAtOffsets], which needs it where m
// is at least [LeastTileRows]. It reports false where an operand does not fit its slice.
func PackLeft[T vec.Real](to, a []T, m, k, lda int) bool {
	if !vec.MatrixFits(len(a), m, k, lda) || len(to) < LeftSize[T](m, k) {
		return false
	}
	if t := tileOf[T](); t.panelRows() == 1 {
		copyRows(to, a, m, k, k, lda)
	} else {
		t.packLeft(to, a, m, k, lda)
	}
	return true
}

// LeastTileRows is the least number of rows of a packed left operand.
func LeastTileRows[T vec.Real]() int { return tileOf[T]().least() }

// PanelRows is the number of rows that a packed left operand has side by side. It is 1 where tiles read rows where they lie: packed,
// they are the same contiguous matrix, which needs no packing.
func PanelRows[T vec.Real]() int { return tileOf[T]().panelRows() }

func (t *tile[T]) panelRows() int {
	if t.grid != nil {
		return 1
	}
	return t.rows
}

// AddAtOffsets adds len(offsets) columns of a times the matrix of rows b[offsets[l]:][:n] to c (m x n, leading dimension ldc), or
// with set makes c that product.
// With at least [LeastTileRows] rows, a is what [PackLeft] makes of a matrix of lda columns, from column*[PanelRows] on, and else that
// matrix itself, from its column on. Every element of c is the sum over ascending l as in [AddMatMul]. It reports false and
// leaves c alone where an operand does not fit its slice, and runs on the calling thread.
func AddAtOffsets[T vec.Real](c, a, b []T, offsets []int, m, n, lda, ldc int, set bool) bool {
	return AddGridAtOffsets(c, a, b, offsets, m, n, lda, ldc, max(n, 1), max(n, 1), set)
}

// HasGrid reports whether [AddGridAtOffsets] takes products of m rows whose rows of b are several lines of so many columns.
func HasGrid[T vec.Real](m, width int) bool {
	t := tileOf[T]()
	return (t.grid != nil || t.packLines != nil) && m >= t.least() && width >= leastWidth
}

// leastWidth is the number of columns of a line from which on a vector is of four lines at most.
const leastWidth = 5

// AddGridAtOffsets is [AddAtOffsets] for rows of b that are lines of width elements, pitch elements apart: column j of row l is
// b[offsets[l] + j/width*pitch + j%width]. It needs [HasGrid] where there are several lines.
func AddGridAtOffsets[T vec.Real](c, a, b []T, offsets []int, m, n, lda, ldc, width, pitch int, set bool) bool {
	t, k := tileOf[T](), len(offsets)
	reach := 0
	for _, o := range offsets {
		if o < 0 {
			return false
		}
		reach = max(reach, o)
	}
	if m < 0 || n < 0 || width < 1 || pitch < width || !vec.MatrixFits(len(c), m, n, ldc) || n > width && !HasGrid[T](m, width) {
		return false
	}
	if lines := (n - 1) / width; k > 0 && n > 0 && (reach > len(b) || lines > (len(b)-reach)/pitch || n-lines*width > len(b)-reach-lines*pitch) {
		return false
	}
	few, rows := m < t.least(), t.panelRows()
	if few && !vec.MatrixFits(len(a), m, k, lda) || !few && !vec.MatrixFits(len(a), (m+rows-1)/rows, k*rows, lda*rows) {
		return m == 0 || n == 0 || k == 0
	}
	if set && (k == 0 || few) {
		vec.ZeroRows(c, m, n, ldc)
	}
	switch {
	case m == 0 || n == 0 || k == 0:
	case few:
		atOnce := k
		if n >= longRow {
			atOnce = fewStreams
		}
		for l := 0; l < k; l += atOnce {
			t.thinAtOffsets(c, a[l:], b, offsets[l:min(l+atOnce, k)], m, n, lda, ldc)
		}
	case t.grid != nil:
		t.grid(t, c, a, b, offsets, m, n, lda, ldc, width, pitch, reach, set)
	default:
		t.addAtOffsets(c, a, b, offsets, m, n, lda, ldc, width, pitch, reach, set)
	}
	return true
}

// Few rows of a read each element of b once. Where rows of b are long, they are likely to come from memory, which is fast for few
// rows at a time; then elements of c, which stay in the first-level cache, are read and written several times.
const (
	longRow    = 2048 // elements
	fewStreams = 8
)

// thinAtOffsets adds some columns of a times as many rows of b.
func (t *tile[T]) thinAtOffsets(c, a, b []T, offsets []int, m, n, lda, ldc int) {
	i, k := 0, len(offsets)
	for ; i+2 <= m && t.addTwoRowsAt != nil; i += 2 {
		t.addTwoRowsAt(c[i*ldc:][:n], c[(i+1)*ldc:][:n], a[i*lda:][:k], a[(i+1)*lda:][:k], b, offsets)
	}
	for ; i < m; i++ {
		t.addRowsAt(c[i*ldc:][:n], a[i*lda:][:k], b, offsets)
	}
}

// Rows of b that are packed serve all rows of c: where those are one block, a panel at a time, which then is in the
// first-level cache, and else as many panels as fit the second-level cache beside a block of a.
//
// Few tiles of rows read b where it lies, which then costs less than picking it. With more of them, or many rows of b, it
// does not: each is another page, and does not stay in the first-level cache.
const (
	pickedCols  = 192 // multiple of every tile.cols
	directTiles = 2
	directTaps  = 384 // tiles of rows times rows of b
)

// packPanelsAt packs panels of rows of b, the last of which reads beyond the columns where b goes on.
func (t *tile[T]) packPanelsAt(to, b []T, offsets []int, cols, reach int) {
	for at := 0; at < cols; at += t.cols {
		panel := to[at*len(offsets):][:t.cols*len(offsets)]
		if reach+at+t.cols <= len(b) { // columns beyond the last are never read
			t.packPanel(panel, b[at:], offsets)
		} else {
			t.packPart(panel, b[at:], offsets, min(t.cols, cols-at))
		}
	}
}

// packColumns packs panels of columns of b from column first on.
func (t *tile[T]) packColumns(to, b []T, offsets []int, first, cols, n, width, pitch, reach int) {
	if n <= width {
		t.packPanelsAt(to, b[first:], offsets, cols, reach)
		return
	}
	for at := 0; at < cols; at += t.cols {
		t.packLines(to[at*len(offsets):], b, offsets, first+at, min(t.cols, cols-at), width, pitch)
	}
}

// addAtOffsets is AddGridAtOffsets for rows that are tiles. reach is the largest offset.
func (t *tile[T]) addAtOffsets(c, a, b []T, offsets []int, m, n, lda, ldc, width, pitch, reach int, set bool) {
	pool := packsOf[T]()
	p := pool.Get().(*packed[T])
	k := len(offsets)
	tiles, most := (m+t.rows-1)/t.rows, pickedCols
	direct := t.direct != nil && n <= width && (tiles <= directTiles || tiles*k <= directTaps)
	if direct || m <= blockRows {
		most = t.cols
	}
	for l := 0; l < k; l += depth {
		steps := min(depth, k-l)
		seen, first := offsets[l:][:steps], set && l == 0
		for j := 0; j < n; j += most {
			cols := min(most, n-j)
			if direct && reach+j+t.cols <= len(b) {
				t.direct(c[j:], a[l*t.rows:], b[j:], seen, m, cols, lda, ldc, &p.edge, first)
				continue
			}
			t.packColumns(p.b[:], b, seen, j, cols, n, width, pitch, reach)
			for i := 0; i < m; i += blockRows {
				t.block(c[i*ldc+j:], a[i*lda+l*t.rows:], p.b[:], t.rows*lda, t.cols*steps, min(blockRows, m-i), cols, steps, ldc, &p.edge, first)
			}
		}
	}
	pool.Put(p)
}

// A tile reads whole rows of b, and the last ones may end where b ends.

// packPart is packPanel for the last columns of a matrix at the end of b.
func (t *tile[T]) packPart(to, b []T, offsets []int, cols int) {
	for l, o := range offsets {
		row := to[l*t.cols:][:t.cols]
		clear(row[copy(row, b[o:][:cols]):])
	}
}

// packPanelPortable is packPanel, portable.
func packPanelPortable[T vec.Real](to, b []T, offsets []int) {
	const cols = 4
	for l, o := range offsets {
		copy(to[l*cols:][:cols], b[o:])
	}
}

// addRowsAtPortable is taps, portable.
func addRowsAtPortable[T vec.Real](c, a, b []T, offsets []int) {
	for l, x := range a {
		for j, y := range b[offsets[l]:][:len(c)] {
			c[j] += T(x * y)
		}
	}
}
