package vec

import "unsafe"

// Right is the right operand of matrix products, laid out once in the order in which the loops of
// [MatMul] read it: panels of as many columns as a tile has, each with all of its rows one behind the
// other, the last one padded with zeros. It is immutable and free to use on any number of threads.
type Right[T Real] struct {
	tile   tile[T] // of the level that was active; panels have its width
	k, n   int
	panels []T
}

// NewRight lays out b (k x n, row-major, leading dimension ldb), of which it keeps nothing. It is nil
// where MatMul would refuse b.
func NewRight[T Real](b []T, k, n, ldb int) *Right[T] {
	if !fits(len(b), k, n, ldb) {
		return nil
	}
	r := &Right[T]{tile: *tileOf[T](), k: k, n: n}
	cols := r.tile.cols
	// One element more than the panels: where a loop ends, its pointer is still inside of the slice.
	r.panels = make([]T, (n+cols-1)/cols*cols*k+1)
	for j := 0; j < n; j += cols {
		width, panel := min(cols, n-j), r.panel(j)
		for l := range k {
			copy(panel[l*cols:], b[l*ldb+j:][:width])
		}
	}
	return r
}

// Bytes is the memory that r holds.
func (r *Right[T]) Bytes() int64 { return int64(unsafe.Sizeof(*new(T))) * int64(len(r.panels)) }

// panel is the panel that begins with column j, a multiple of the tile's columns.
func (r *Right[T]) panel(j int) []T { return r.panels[j*r.k:][:r.tile.cols*r.k] }

// MatMul sets c (m x n) to a (m x k) times columns from to from+n-1 of r, bit for bit as [MatMul]
// would; k is that of r. from is a multiple of the columns of [MatMulTile]. It reports false and leaves c
// alone where MatMul would, and for columns that r does not have. It runs on the calling thread; c
// must not overlap a.
func (r *Right[T]) MatMul(c, a []T, m, from, n, lda, ldc int) bool {
	t := &r.tile
	if from < 0 || from%t.cols != 0 || n > r.n-from || !fits(len(c), m, n, ldc) || !fits(len(a), m, r.k, lda) {
		return false
	}
	if n == 0 {
		return true
	}
	for i := range m {
		clear(c[i*ldc:][:n])
	}
	switch {
	case m == 0 || n == 0 || r.k == 0:
	case m < t.least():
		r.thin(c, a, m, from, n, lda, ldc)
	default:
		r.blocks(c, a, m, from, n, lda, ldc)
	}
	return true
}

// blocks goes through c as MatMul does, and packs blocks of a only.
func (r *Right[T]) blocks(c, a []T, m, from, n, lda, ldc int) {
	t, pool := &r.tile, packsOf[T]()
	p := pool.Get().(*packed[T])
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for l := 0; l < r.k; l += depth {
			steps := min(depth, r.k-l)
			b := r.panels[(from+j)*r.k+l*t.cols:]
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				t.packLeft(p.a[:], a[i*lda+l:], rows, steps, lda)
				t.block(c[i*ldc+j:], p.a[:], b, t.rows*steps, t.cols*r.k, rows, cols, steps, ldc, &p.edge)
			}
		}
	}
	pool.Put(p)
}

// thin is the product for few rows, panel by panel. c is zero.
func (r *Right[T]) thin(c, a []T, m, from, n, lda, ldc int) {
	for j := 0; j < n; j += r.tile.cols {
		for i := range m {
			r.tile.few(c[i*ldc+j:][:min(r.tile.cols, n-j)], a[i*lda:][:r.k], r.panel(from+j), r.tile.cols)
		}
	}
}
