package gemm

import (
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// A tile is the innermost block of a matrix product: rows x cols of c stay in
// registers while k runs. Every element of c is the sum over ascending k,
// started at 0, of products added with the level's one way of rounding,
// whatever tile or thread it falls in.
type tile[T vec.Real] struct {
	rows, cols int // rows*cols is at most MaxTile

	// run adds a panel of a, len(a)/rows steps of rows elements, times a panel
	// of b, as many steps of cols elements, to the tile at c, or to 0 where c
	// is to be set. All rows*cols elements are there; rows of c are ldc apart.
	run func(c []T, ldc int, a, b []T, set bool)

	// addRows adds len(a) rows of b, ldb apart, times elements of a to the row c.
	addRows func(c, a, b []T, ldb int)

	// packPanel lays out a panel of rows at offsets of b, and addRowsAt adds rows there, times elements of a, to the row c: see
	// offsets.go.
	packPanel func(to, b []T, offsets []int)
	addRowsAt func(c, a, b []T, offsets []int)

	// packRows lays out a panel of as many rows of a as the tile has; nil where packLeft does that by itself.
	packRows func(to, a []T, steps, lda int)

	// packLines is packPanel for at most cols columns from column first on, of rows of b that are lines: see AddGridAtOffsets. nil where there
	// is none, or where grid takes such rows.
	packLines func(to, b []T, offsets []int, first, cols, width, pitch int)

	// addTwoRowsAt is addRowsAt for rows c and d, times elements of a and of e; nil where there is none.
	addTwoRowsAt func(c, d, a, e, b []T, offsets []int)

	// direct runs a column of tiles on rows of b at offsets instead of a panel of them: m rows and cols columns of c, whose
	// panels of a are rows*lda elements apart; nil where there is none.
	direct func(c, a, b []T, offsets []int, m, cols, lda, ldc int, edge *[MaxTile]T, set bool)

	// row adds len(a) rows of rowPanels panels of b, or of two, which begin stride elements apart, times elements of a to the
	// row c, which is as long; nil where there is none.
	row func(c, a, b []T, stride int)

	// column adds a times one column of b to one of c, for a multiple of columnRows rows; nil where there is none.
	column func(c, a, b []T, m, k, lda, ldb, ldc int, set bool)

	// windows adds rows of a where they lie, as w says, times panels of b, which begin stride elements apart, to the first cols
	// columns of c, line after line; nil where there is none. That of float32 takes rows of float64, too: see inplace.go.
	windows func(c, a, b []T, stride int, w Windows, cols, ldc int, set bool)

	// layRows is the rows of a line from which on windows lays out a panel of float32, where w has the rows of b.
	layRows int

	// grid is AddGridAtOffsets of rows that are tiles, which reads rows of a where they lie; reach is the largest offset. nil where there is
	// none.
	grid func(t *tile[T], c, a, b []T, offsets []int, m, n, lda, ldc, width, pitch, reach int, set bool)
}

// rowPanels is the number of panels that row takes side by side: as many sums as hide the latency of an addition.
const rowPanels = 4

// Operands are laid out as the tiles read them, in panels: one of a has rows
// rows, column after column; one of b has cols columns, row after row. The last
// panel of an operand is padded to its full width.
//
// Blocks: a panel of b (depth x cols) stays in the first-level cache while the
// panels of a pass, a block of a and one of b stay in the second.
const (
	depth       = 256 // steps of k
	blockRows   = 96  // multiple of every tile.rows
	inPlaceRows = 98  // the same for windows, whose tiles have fourteen
	blockCols   = 480 // multiple of every tile.cols
	MaxTile     = 12 * 32
)

// packed holds one block of each operand, where the rows of b begin, and room for a tile that c has only part of.
type packed[T vec.Real] struct {
	a    [inPlaceRows * lineStride]T
	b    [depth * blockCols]T
	rows [depth]int
	edge [MaxTile]T
}

var packs = [2]sync.Pool{{New: func() any { return new(packed[float32]) }}, {New: func() any { return new(packed[float64]) }}}

// packsOf is the pool of a type. It is not inlined, for the size of the library, and neither is tileOf.
//
//go:noinline
func packsOf[T vec.Real]() *sync.Pool { return &packs[unsafe.Sizeof(*new(T))/8] }

// tileOf is the active tile of a type.
//
//go:noinline
func tileOf[T vec.Real]() *tile[T] {
	if t, ok := any(&active.tile32).(*tile[T]); ok {
		return t
	}
	return any(&active.tile64).(*tile[T])
}

// MatMul sets c (m x n) to a (m x k) times b (k x n), all row-major with
// leading dimensions lda, ldb and ldc. Any of m, n, k may be 0; with k = 0, c
// becomes 0. It reports false and leaves c alone when a dimension is negative,
// a leading dimension is shorter than its row, or a slice than its matrix.
//
// It runs on the calling thread. To use several, split c at multiples of
// [MatMulTile] into parts of a[i*lda:], b[j:] and c[i*ldc+j:]; no split
// changes a bit of the result. c must not overlap a or b.
func MatMul[T vec.Real](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, k, lda) || !vec.MatrixFits(len(b), k, n, ldb) {
		return false
	}
	addMatMul(c, a, b, m, n, k, lda, ldb, ldc, true)
	return true
}

// AddMatMul adds a times b to c and is [MatMul] else. A product may be
// cut along k: adding parts in ascending order gives the same bits as the whole
// at once.
func AddMatMul[T vec.Real](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, k, lda) || !vec.MatrixFits(len(b), k, n, ldb) {
		return false
	}
	addMatMul(c, a, b, m, n, k, lda, ldb, ldc, false)
	return true
}

// addMatMul adds to c, or sets it.
func addMatMul[T vec.Real](c, a, b []T, m, n, k, lda, ldb, ldc int, set bool) {
	t := tileOf[T]()
	if set && (k == 0 || m < t.least()) {
		vec.ZeroRows(c, m, n, ldc)
	}
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if rows := t.narrow(c, a, b, m, n, k, lda, ldb, ldc, set); rows > 0 {
		if rows < m {
			addMatMul(c[rows*ldc:], a[rows*lda:], b, m-rows, n, k, lda, ldb, ldc, set)
		}
		return
	}
	if m < t.least() {
		t.thin(c, a, b, m, n, k, lda, ldb, ldc)
		return
	}
	if ReadsInPlace() {
		words := wordsIn[T]()
		inPlace(&active.tile32, wordsOf(c), leftOperand{wordsOf(a), lda * words, words, words}, rightOperand{rows: wordsOf(b), ldb: ldb * words}, m, n*words, k, ldc*words, set)
		return
	}
	t.blocks(c, a, b, m, n, k, lda, ldb, ldc, set, false)
}

// blocks packs blocks of both operands, of which a may be transposed: see transposed.go.
func (t *tile[T]) blocks(c, a, b []T, m, n, k, lda, ldb, ldc int, set, transposed bool) {
	pool := packsOf[T]()
	p := pool.Get().(*packed[T])
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for l := 0; l < k; l += depth {
			steps := min(depth, k-l)
			t.packRight(p.b[:], b[l*ldb+j:], p.rows[:steps], cols, ldb)
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				if transposed {
					packTransposed(p.a[:], a[l*lda+i:], t.rows, rows, steps, lda)
				} else {
					t.packLeft(p.a[:], a[i*lda+l:], rows, steps, lda)
				}
				t.block(c[i*ldc+j:], p.a[:], p.b[:], t.rows*steps, t.cols*steps, rows, cols, steps, ldc, &p.edge, set && l == 0)
			}
		}
	}
	pool.Put(p)
}

// Of a few columns a tile would compute many more, and packing a takes longer than the product.
const (
	narrowColumns = 4
	columnRows    = 8 // that are added up side by side
)

// narrow is the product for few columns, of the first rows; it answers how many it took. A block of a stays in the first-level
// cache for all columns.
func (t *tile[T]) narrow(c, a, b []T, m, n, k, lda, ldb, ldc int, set bool) int {
	if t.column == nil || n > narrowColumns {
		return 0
	}
	m -= m % columnRows
	for i := 0; i < m; i += blockRows {
		for j := range n {
			t.column(c[i*ldc+j:], a[i*lda:], b[j:], min(blockRows, m-i), k, lda, ldb, ldc, set)
		}
	}
	return m
}

// least is the number of rows from which on a product uses tiles: a tile of which c has half the rows is as fast as rows
// that are added one by one.
func (t *tile[T]) least() int { return max(t.rows/2, 2) }

// MatMulTile gives the granularity at which splitting c wastes no work.
func MatMulTile[T vec.Real]() (rows, cols int) {
	t := tileOf[T]()
	return t.rows, t.cols
}

// packLeft lays out panels of a. Rows that the last one lacks are zero: their
// products are not read, but some processors multiply slowly what happens to be
// in memory.
func (t *tile[T]) packLeft(to, a []T, rows, steps, lda int) {
	for i := 0; i < rows; i += t.rows {
		panel := to[i*steps:][:t.rows*steps]
		have, r := min(t.rows, rows-i), 0
		if have == t.rows && t.packRows != nil {
			t.packRows(panel, a[i*lda:], steps, lda)
			continue
		}
		if have < t.rows {
			clear(panel)
		}
		for ; r+2 <= have; r += 2 {
			x, y := a[(i+r)*lda:][:steps], a[(i+r+1)*lda:][:steps]
			for l, at := 0, r; l < len(x) && l < len(y) && at+1 < len(panel); l, at = l+1, at+t.rows {
				panel[at], panel[at+1] = x[l], y[l]
			}
		}
		if r < have {
			for l, x := range a[(i+r)*lda:][:steps] {
				panel[l*t.rows+r] = x
			}
		}
	}
}

// packRight lays out panels of as many rows of b as there are offsets, which it sets. Columns that the last panel lacks
// are zero.
func (t *tile[T]) packRight(to, b []T, offsets []int, cols, ldb int) {
	for l := range offsets {
		offsets[l] = l * ldb
	}
	for j := 0; j < cols; j += t.cols {
		panel := to[j*len(offsets):][:t.cols*len(offsets)]
		if width := cols - j; width < t.cols {
			t.packPart(panel, b[j:], offsets, width)
		} else {
			t.packPanel(panel, b[j:], offsets)
		}
	}
}

// block runs the tiles of packed operands, whose panels begin strideA and strideB elements apart.
func (t *tile[T]) block(c, a, b []T, strideA, strideB, rows, cols, steps, ldc int, edge *[MaxTile]T, set bool) {
	for j := 0; j < cols; j += t.cols {
		right := b[j/t.cols*strideB:][:t.cols*steps]
		for i := 0; i < rows; i += t.rows {
			left := a[i/t.rows*strideA:][:t.rows*steps]
			if i+t.rows <= rows && j+t.cols <= cols {
				t.run(c[i*ldc+j:], ldc, left, right, set)
			} else {
				t.part(c[i*ldc+j:], ldc, left, right, edge, min(t.rows, rows-i), min(t.cols, cols-j), set)
			}
		}
	}
}

const (
	AliasingStride = 512             // words: rows a multiple of them apart are in the same sets of the first-level cache
	lineStride     = depth + linePad // of copied rows
)

// copyRows copies rows of n elements, ldb apart, to rows lda apart.
func copyRows[T any](a, b []T, rows, n, lda, ldb int) {
	for i := range rows {
		copy(a[i*lda:][:n], b[i*ldb:])
	}
}

// part runs a tile of which c has only rows x cols, through a whole one. The
// rest of it holds leftovers that are never read.
func (t *tile[T]) part(c []T, ldc int, a, b []T, whole *[MaxTile]T, rows, cols int, set bool) {
	for r := 0; r < rows && !set; r++ {
		copy(whole[r*t.cols:], c[r*ldc:][:cols])
	}
	t.run(whole[:], t.cols, a, b, set)
	for r := range rows {
		copy(c[r*ldc:][:cols], whole[r*t.cols:])
	}
}

// Rows of b that all rows of c take up one after the other, and columns of them: they stay in the cache in between.
const (
	ThinRows = 4
	ThinCols = 2048
)

// A single row of c takes up b row by row, unless that is short: memory is fastest where it is read in order. The part of c fills a
// quarter of the second-level cache.
const (
	loneLeast = 512
	loneCols  = 1 << 16
)

// thin is the product for few rows. Packing b would cost
// more than the product, so it is read where it lies, once and in order.
func (t *tile[T]) thin(c, a, b []T, m, n, k, lda, ldb, ldc int) {
	rows, width := ThinRows, ThinCols
	switch {
	case m == 1 && n >= loneLeast:
		rows, width = 1, loneCols
	case m == 1: // none has to stay for others
		rows = k
	}
	for j := 0; j < n; j += width {
		cols := min(width, n-j)
		for l := 0; l < k; l += rows {
			steps := min(rows, k-l)
			for i := range m {
				t.addRows(c[i*ldc+j:][:cols], a[i*lda+l:][:steps], b[l*ldb+j:], ldb)
			}
		}
	}
}

// portableTile is small enough for scalar registers.
func portableTile[T vec.Real]() tile[T] {
	return tile[T]{rows: 2, cols: 4, run: runTile[T], addRows: addRowsPortable[T], packPanel: packPanelPortable[T], addRowsAt: addRowsAtPortable[T]}
}

func runTile[T vec.Real](c []T, ldc int, a, b []T, set bool) {
	r0, r1 := c[:4], c[ldc:][:4]
	c00, c01, c02, c03 := r0[0], r0[1], r0[2], r0[3]
	c10, c11, c12, c13 := r1[0], r1[1], r1[2], r1[3]
	if set {
		c00, c01, c02, c03, c10, c11, c12, c13 = 0, 0, 0, 0, 0, 0, 0, 0
	}
	for ; len(a) >= 2 && len(b) >= 4; a, b = a[2:], b[4:] {
		c00 += T(a[0] * b[0])
		c01 += T(a[0] * b[1])
		c02 += T(a[0] * b[2])
		c03 += T(a[0] * b[3])
		c10 += T(a[1] * b[0])
		c11 += T(a[1] * b[1])
		c12 += T(a[1] * b[2])
		c13 += T(a[1] * b[3])
	}
	r0[0], r0[1], r0[2], r0[3] = c00, c01, c02, c03
	r1[0], r1[1], r1[2], r1[3] = c10, c11, c12, c13
}

// addRowsPortable rounds products as runTile does: the conversions keep compilers from
// fusing one loop and not the other.
func addRowsPortable[T vec.Real](c, a, b []T, ldb int) {
	for l, x := range a {
		for j, y := range b[l*ldb:][:len(c)] {
			c[j] += T(x * y)
		}
	}
}

// MatMulPlain is [MatMul] for any element type, with sums of type A over ascending
// k: a wider A keeps small integers from wrapping before the end. It is plain;
// a split of c does not change its result either.
func MatMulPlain[T, A vec.Number](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, k, lda) || !vec.MatrixFits(len(b), k, n, ldb) {
		return false
	}
	var sums [64]A
	for j := 0; j < n; j += len(sums) {
		s := sums[:min(len(sums), n-j)]
		for i := range m {
			clear(s)
			for l := range k {
				x := A(a[i*lda+l])
				for w, y := range b[l*ldb+j:][:len(s)] {
					s[w] += A(x * A(y))
				}
			}
			for w, v := range s {
				c[i*ldc+j+w] = T(v)
			}
		}
	}
	return true
}
