package vec

import "sync"

// A tile is the innermost block of a matrix product: rows x cols of c stay in
// registers while k runs. Every element of c is the sum over ascending k,
// started at 0, of products added with the level's one way of rounding,
// whatever tile or thread it falls in.
type tile struct {
	rows, cols int // rows*cols is at most maxTile

	// run adds a panel of a, len(a)/rows steps of rows elements, times a panel
	// of b, as many steps of cols elements, to the tile at c. All rows*cols
	// elements are there; rows of c are ldc apart.
	run func(c []float32, ldc int, a, b []float32)

	// row is run for one row of c and of a, with b where the caller has it.
	row func(c, a, b []float32, ldb int)
}

// Blocks: a panel of b (depth x cols) stays in the first-level cache while the
// panels of a pass, a block of a and one of b stay in the second.
const (
	depth     = 256 // steps of k
	blockRows = 64  // multiple of every tile.rows
	blockCols = 512 // multiple of every tile.cols
	maxTile   = 4 * 32
)

// packed holds one block of each operand, panel after panel, padded with
// zeros to whole tiles, and room for a tile that c has only part of.
type packed struct {
	a    [blockRows * depth]float32
	b    [depth * blockCols]float32
	edge [maxTile]float32
}

var packs = sync.Pool{New: func() any { return new(packed) }}

// MatMulF32 sets c (m x n) to a (m x k) times b (k x n), all row-major with
// leading dimensions lda, ldb and ldc. Any of m, n, k may be 0; with k = 0, c
// becomes 0. It reports false and leaves c alone when a dimension is negative,
// a leading dimension is shorter than its row, or a slice than its matrix.
//
// It runs on the calling thread. To use several, split c at multiples of
// [MatMulTile] into parts of a[i*lda:], b[j:] and c[i*ldc+j:]; no split
// changes a bit of the result. c must not overlap a or b.
func MatMulF32(c, a, b []float32, m, n, k, lda, ldb, ldc int) bool {
	if !fits(len(c), m, n, ldc) || !fits(len(a), m, k, lda) || !fits(len(b), k, n, ldb) {
		return false
	}
	for i := range m {
		clear(c[i*ldc:][:n])
	}
	return AddMatMulF32(c, a, b, m, n, k, lda, ldb, ldc)
}

// AddMatMulF32 adds a times b to c and is [MatMulF32] else. A product may be
// cut along k: adding parts in ascending order gives the same bits as the whole
// at once.
func AddMatMulF32(c, a, b []float32, m, n, k, lda, ldb, ldc int) bool {
	if !fits(len(c), m, n, ldc) || !fits(len(a), m, k, lda) || !fits(len(b), k, n, ldb) {
		return false
	}
	if m == 0 || n == 0 || k == 0 {
		return true
	}
	t := &active.tile
	if m < t.rows {
		t.thin(c, a, b, m, n, k, lda, ldb, ldc)
		return true
	}
	p := packs.Get().(*packed)
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for l := 0; l < k; l += depth {
			steps := min(depth, k-l)
			t.packB(p, b[l*ldb+j:], steps, cols, ldb)
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				t.packA(p, a[i*lda+l:], rows, steps, lda)
				t.block(c[i*ldc+j:], p, p.b[:], t.cols*steps, rows, cols, steps, ldc)
			}
		}
	}
	packs.Put(p)
	return true
}

// MatMulTile gives the granularity at which splitting c wastes no work.
func MatMulTile() (rows, cols int) { return active.tile.rows, active.tile.cols }

// fits tells whether a rows x cols matrix lies within n elements. It divides
// where a product could overflow.
func fits(n, rows, cols, ld int) bool {
	if rows < 0 || cols < 0 || ld < cols {
		return false
	}
	if rows == 0 || cols == 0 {
		return true
	}
	return cols <= n && rows-1 <= (n-cols)/ld
}

// packA lays out panels of t.rows rows, k-th column after k-th column.
func (t *tile) packA(p *packed, a []float32, rows, steps, lda int) {
	for i := 0; i < rows; i += t.rows {
		panel := p.a[i*steps:][:t.rows*steps]
		if i+t.rows > rows {
			clear(panel)
		}
		for r := range min(t.rows, rows-i) {
			for l, x := range a[(i+r)*lda:][:steps] {
				panel[l*t.rows+r] = x
			}
		}
	}
}

// packB lays out panels of t.cols columns, row after row.
func (t *tile) packB(p *packed, b []float32, steps, cols, ldb int) {
	for j := 0; j < cols; j += t.cols {
		panel := p.b[j*steps:][:t.cols*steps]
		width := min(t.cols, cols-j)
		for l := range steps {
			row := panel[l*t.cols:][:t.cols]
			clear(row[copy(row, b[l*ldb+j:][:width]):])
		}
	}
}

// block runs the tiles of a packed block of a and one of b, whose panels begin stride elements apart.
func (t *tile) block(c []float32, p *packed, b []float32, stride, rows, cols, steps, ldc int) {
	for j := 0; j < cols; j += t.cols {
		panel := b[j/t.cols*stride:][:t.cols*steps]
		for i := 0; i < rows; i += t.rows {
			a := p.a[i*steps:][:t.rows*steps]
			if i+t.rows <= rows && j+t.cols <= cols {
				t.run(c[i*ldc+j:], ldc, a, panel)
			} else {
				t.part(c[i*ldc+j:], ldc, a, panel, &p.edge, min(t.rows, rows-i), min(t.cols, cols-j))
			}
		}
	}
}

// part runs a tile of which c has only rows x cols, through a whole one. The
// rest of it holds leftovers that are never read.
func (t *tile) part(c []float32, ldc int, a, b []float32, whole *[maxTile]float32, rows, cols int) {
	for r := range rows {
		copy(whole[r*t.cols:], c[r*ldc:][:cols])
	}
	t.run(whole[:], t.cols, a, b)
	for r := range rows {
		copy(c[r*ldc:][:cols], whole[r*t.cols:])
	}
}

// thin is the product for fewer rows than a tile has. Packing b would cost
// more than the product, so it is read where it lies; columns beyond the last
// whole tile are packed.
func (t *tile) thin(c, a, b []float32, m, n, k, lda, ldb, ldc int) {
	whole := n / t.cols * t.cols
	for j := 0; j < whole; j += t.cols {
		for i := range m {
			t.row(c[i*ldc+j:], a[i*lda:][:k], b[j:], ldb)
		}
	}
	if whole == n {
		return
	}
	p := packs.Get().(*packed)
	for l := 0; l < k; l += depth {
		steps := min(depth, k-l)
		t.packB(p, b[l*ldb+whole:], steps, n-whole, ldb)
		t.packA(p, a[l:], m, steps, lda)
		t.block(c[whole:], p, p.b[:], t.cols*steps, m, n-whole, steps, ldc)
	}
	packs.Put(p)
}

// portableTile is small enough for scalar registers.
var portableTile = tile{rows: 2, cols: 4, run: runTile, row: rowTile}

func runTile(c []float32, ldc int, a, b []float32) {
	r0, r1 := c[:4], c[ldc:][:4]
	c00, c01, c02, c03 := r0[0], r0[1], r0[2], r0[3]
	c10, c11, c12, c13 := r1[0], r1[1], r1[2], r1[3]
	for ; len(a) >= 2 && len(b) >= 4; a, b = a[2:], b[4:] {
		c00 += float32(a[0] * b[0])
		c01 += float32(a[0] * b[1])
		c02 += float32(a[0] * b[2])
		c03 += float32(a[0] * b[3])
		c10 += float32(a[1] * b[0])
		c11 += float32(a[1] * b[1])
		c12 += float32(a[1] * b[2])
		c13 += float32(a[1] * b[3])
	}
	r0[0], r0[1], r0[2], r0[3] = c00, c01, c02, c03
	r1[0], r1[1], r1[2], r1[3] = c10, c11, c12, c13
}

// rowTile rounds products as runTile does: the conversions keep compilers from
// fusing one loop and not the other.
func rowTile(c, a, b []float32, ldb int) {
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	for k, x := range a {
		row := b[k*ldb:][:4]
		c0 += float32(x * row[0])
		c1 += float32(x * row[1])
		c2 += float32(x * row[2])
		c3 += float32(x * row[3])
	}
	c[0], c[1], c[2], c[3] = c0, c1, c2, c3
}

// MatMul is MatMulF32 for any element type, with sums of type A over ascending
// k: a wider A keeps small integers from wrapping before the end. It is plain;
// a split of c does not change its result either.
func MatMul[T, A Number](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !fits(len(c), m, n, ldc) || !fits(len(a), m, k, lda) || !fits(len(b), k, n, ldb) {
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

// AddMatMul is [AddMatMulF32] for any element type, with sums of that type. It is plain.
func AddMatMul[T Number](c, a, b []T, m, n, k, lda, ldb, ldc int) bool {
	if !fits(len(c), m, n, ldc) || !fits(len(a), m, k, lda) || !fits(len(b), k, n, ldb) {
		return false
	}
	for i := range m {
		row := c[i*ldc:][:n]
		for l := range k {
			x := a[i*lda+l]
			for j, y := range b[l*ldb:][:n] {
				row[j] += T(x * y)
			}
		}
	}
	return true
}
