package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// PackedRight is the right operand of matrix products of float32, laid out once in the order in which the loops of
// [MatMul] read it: panels of as many columns as a tile has, each with all of its rows one behind the
// other, the last one padded with zeros. Once it is filled, it is immutable and
// free to use on any number of threads.
type PackedRight struct {
	tile   tile[float32] // of the level that was active; panels have its width
	k, n   int
	panels []float32
}

// NewPackedRight is a right operand of k x n zeros. Its maker fills the panels before anyone multiplies with it. It is nil for
// sizes that are no sizes.
func NewPackedRight(k, n int) *PackedRight {
	if k < 0 || n < 0 {
		return nil
	}
	r := &PackedRight{tile: *tileOf[float32](), k: k, n: n}
	// One element more than the panels: where a loop ends, its pointer is still inside of the slice.
	r.panels = make([]float32, (n+r.tile.cols-1)/r.tile.cols*r.tile.cols*k+1)
	return r
}

// Panels is the memory of the panels, each of them k x cols and contiguous: element (l, j) of the operand is number
// j%cols + l*cols of panel j/cols.
func (r *PackedRight) Panels() (panels []float32, cols int) {
	return r.panels[:len(r.panels)-1], r.tile.cols
}

// Bytes is the memory that r holds.
func (r *PackedRight) Bytes() int64 { return 4 * int64(len(r.panels)) }

// panel is the panel that begins with column j, a multiple of the tile's columns.
func (r *PackedRight) panel(j int) []float32 { return r.panels[j*r.k:][:r.tile.cols*r.k] }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, bit for bit as [MatMul]
// would; k is that of r. from is a multiple of the columns of [MatMulTile]. It reports false and leaves c
// alone where MatMul would, and for columns that r does not have. It runs on the calling thread; c
// must not overlap a.
func (r *PackedRight) MatMul(c, a []float32, m, from, n, lda, ldc int) bool {
	t := &r.tile
	if from < 0 || from%t.cols != 0 || n > r.n-from || !vec.MatrixFits(len(c), m, n, ldc) || !vec.MatrixFits(len(a), m, r.k, lda) {
		return false
	}
	switch {
	case m == 0 || n == 0:
	case r.k == 0:
		vec.ZeroRows(c, m, n, ldc)
	case m < t.least():
		vec.ZeroRows(c, m, n, ldc)
		r.thin(c, a, m, from, n, lda, ldc)
	default:
		r.blocks(c, a, m, from, n, lda, ldc)
	}
	return true
}

// AddRows adds a (m x steps, row-major, leading dimension lda, which may be less than steps) times rows first to first+steps-1 of r,
// depth at most, and of these columns from to from+n-1, to c (m x n, leading dimension ldc), or with set makes c that product.
// The caller has seen to it that all of it fits.
func (r *PackedRight) addRows(c, a []float32, first, steps, m, lda, from, n, ldc int, set bool) {
	t := &r.tile
	thin := m < t.least()
	if set && (steps == 0 || thin) {
		vec.ZeroRows(c, m, n, ldc)
	}
	if thin {
		for i := range m {
			r.thinRow(c[i*ldc:][:n], a[i*lda:][:steps], first, from)
		}
		return
	}
	pool := packsOf[float32]()
	p := pool.Get().(*packed[float32])
	b := r.panels[from*r.k+first*t.cols:]
	for i := 0; i < m; i += blockRows {
		rows := min(blockRows, m-i)
		t.packLeft(p.a[:], a[i*lda:], rows, steps, lda)
		t.block(c[i*ldc:], p.a[:], b, t.rows*steps, t.cols*r.k, rows, n, steps, ldc, &p.edge, set)
	}
	pool.Put(p)
}

// ReadsInPlace reports whether AddWindows reads rows where they lie, which makes it much faster.
func ReadsInPlace() bool { return active.tile32.windows != nil }

// blocks goes through c as MatMul does, and packs blocks of a only.
func (r *PackedRight) blocks(c, a []float32, m, from, n, lda, ldc int) {
	t, pool := &r.tile, packsOf[float32]()
	if t.windows != nil {
		inPlace(t, c, leftOperand{a, lda, 1, 1}, rightOperand{panels: r.panels[from*r.k:]}, m, n, r.k, ldc, true)
		return
	}
	p := pool.Get().(*packed[float32])
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for l := 0; l < r.k; l += depth {
			steps := min(depth, r.k-l)
			b := r.panels[(from+j)*r.k+l*t.cols:]
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				t.packLeft(p.a[:], a[i*lda+l:], rows, steps, lda)
				t.block(c[i*ldc+j:], p.a[:], b, t.rows*steps, t.cols*r.k, rows, cols, steps, ldc, &p.edge, l == 0)
			}
		}
	}
	pool.Put(p)
}

// thin is the product for few rows, panel by panel. c is zero.
func (r *PackedRight) thin(c, a []float32, m, from, n, lda, ldc int) {
	for i := range m {
		r.thinRow(c[i*ldc:][:n], a[i*lda:][:r.k], 0, from)
	}
}

// thinRow adds a row of as many elements as a has, times rows of r from first on, to c, which begins with column from.
func (r *PackedRight) thinRow(c, a []float32, first, from int) {
	t, j := &r.tile, 0
	for panels := rowPanels; t.row != nil && panels >= 2; panels /= 2 {
		for ; j+panels*t.cols <= len(c); j += panels * t.cols {
			t.row(c[j:][:panels*t.cols], a, r.panels[(from+j)*r.k+first*t.cols:], t.cols*r.k)
		}
	}
	for ; j < len(c); j += t.cols {
		t.addRows(c[j:][:min(t.cols, len(c)-j)], a, r.panel(from + j)[first*t.cols:], t.cols)
	}
}
