package vec

// Right is the right operand of matrix products, laid out once in the order in which the loops of
// [MatMulF32] read it: panels of as many columns as a tile has, each with all of its rows one behind the
// other, the last one padded with zeros. It is immutable and free to use on any number of threads.
type Right struct {
	tile   tile // of the level that was active; panels have its width
	k, n   int
	panels []float32
}

// NewRight lays out b (k x n, row-major, leading dimension ldb), of which it keeps nothing. It is nil
// where MatMulF32 would refuse b.
func NewRight(b []float32, k, n, ldb int) *Right {
	if !fits(len(b), k, n, ldb) {
		return nil
	}
	r := &Right{tile: active.tile, k: k, n: n}
	cols := r.tile.cols
	// One element more than the panels: where a loop ends, its pointer is still inside of the slice.
	r.panels = make([]float32, (n+cols-1)/cols*cols*k+1)
	for j := 0; j < n; j += cols {
		width, panel := min(cols, n-j), r.panel(j)
		for l := range k {
			copy(panel[l*cols:], b[l*ldb+j:][:width])
		}
	}
	return r
}

// Bytes is the memory that r holds.
func (r *Right) Bytes() int64 { return 4 * int64(len(r.panels)) }

// panel is the panel that begins with column j, a multiple of the tile's columns.
func (r *Right) panel(j int) []float32 { return r.panels[j*r.k:][:r.tile.cols*r.k] }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, bit for bit as [MatMulF32]
// would; k is that of r. from is a multiple of the columns of [MatMulTile]. It reports false and leaves c
// alone where MatMulF32 would, and for columns that r does not have. It runs on the calling thread; c
// must not overlap a.
func (r *Right) MatMul(c, a []float32, m, from, n, lda, ldc int) bool {
	t := &r.tile
	if from < 0 || from%t.cols != 0 || n > r.n-from || !fits(len(c), m, n, ldc) || !fits(len(a), m, r.k, lda) {
		return false
	}
	for i := range m {
		clear(c[i*ldc:][:n])
	}
	switch {
	case m == 0 || n == 0 || r.k == 0:
	case m < t.rows:
		r.thin(c, a, m, from, n, lda, ldc)
	default:
		r.blocks(c, a, m, from, n, lda, ldc)
	}
	return true
}

// blocks goes through c as MatMulF32 does, and packs blocks of a only.
func (r *Right) blocks(c, a []float32, m, from, n, lda, ldc int) {
	t := &r.tile
	p := packs.Get().(*packed)
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for l := 0; l < r.k; l += depth {
			steps := min(depth, r.k-l)
			b := r.panels[(from+j)*r.k+l*t.cols:]
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				t.packA(p, a[i*lda+l:], rows, steps, lda)
				t.block(c[i*ldc+j:], p, b, t.cols*r.k, rows, cols, steps, ldc)
			}
		}
	}
	packs.Put(p)
}

// thin is the product for fewer rows than a tile has, row by row. c is zero.
func (r *Right) thin(c, a []float32, m, from, n, lda, ldc int) {
	t := &r.tile
	whole := n / t.cols * t.cols
	for j := 0; j < whole; j += t.cols {
		for i := range m {
			t.row(c[i*ldc+j:], a[i*lda:][:r.k], r.panel(from+j), t.cols)
		}
	}
	if whole == n {
		return
	}
	p := packs.Get().(*packed)
	edge := p.edge[:t.cols] // c has only part of the last tile
	for i := range m {
		clear(edge)
		t.row(edge, a[i*lda:][:r.k], r.panel(from+whole), t.cols)
		copy(c[i*ldc+whole:][:n-whole], edge)
	}
	packs.Put(p)
}
