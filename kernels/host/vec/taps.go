package vec

// A convolution is a product whose right operand is never in memory as a matrix: row l of it is the image from
// offsets[l] on. The offset says which channel a row is about, and where in it the window sees the row's element of the
// kernel. Panels of it are picked from the image just before the tiles read them.

// LeftSize is the number of elements that [PackLeft] writes.
func LeftSize[T Real](m, k int) int {
	rows := tileOf[T]().rows
	return (m + rows - 1) / rows * rows * k
}

// PackLeft lays out a (m x k, row-major, leading dimension lda) as the left operand of [AddTaps], which needs it where m
// is at least [FewRows]. It reports false where an operand does not fit its slice.
func PackLeft[T Real](to, a []T, m, k, lda int) bool {
	if !fits(len(a), m, k, lda) || len(to) < LeftSize[T](m, k) {
		return false
	}
	tileOf[T]().packLeft(to, a, m, k, lda)
	return true
}

// FewRows is the least number of rows of a packed left operand.
func FewRows[T Real]() int { return tileOf[T]().least() }

// PanelRows is the number of rows that a packed left operand has side by side.
func PanelRows[T Real]() int { return tileOf[T]().rows }

// AddTaps adds len(offsets) columns of a times the matrix of rows b[offsets[l]:][:n] to c (m x n, leading dimension ldc).
// With at least [FewRows] rows, a is what [PackLeft] makes of a matrix of lda columns, from column*[PanelRows] on, and else that
// matrix itself, from its column on. Every element of c is the sum over ascending l as in [AddMatMul]. It reports false and
// leaves c alone where an operand does not fit its slice, and runs on the calling thread.
func AddTaps[T Real](c, a, b []T, offsets []int, m, n, lda, ldc int) bool {
	t, k := tileOf[T](), len(offsets)
	reach := 0
	for _, o := range offsets {
		if o < 0 {
			return false
		}
		reach = max(reach, o)
	}
	if m < 0 || n < 0 || !fits(len(c), m, n, ldc) || k > 0 && (reach > len(b) || n > len(b)-reach) {
		return false
	}
	if m == 0 || n == 0 || k == 0 {
		return true
	}
	if m < t.least() {
		if !fits(len(a), m, k, lda) {
			return false
		}
		for i := range m {
			t.taps(c[i*ldc:][:n], a[i*lda:][:k], b, offsets)
		}
		return true
	}
	if !fits(len(a), (m+t.rows-1)/t.rows, k*t.rows, lda*t.rows) {
		return false
	}
	pool := packsOf[T]()
	p := pool.Get().(*packed[T])
	for i := 0; i < m; i += blockRows {
		rows := min(blockRows, m-i)
		for l := 0; l < k; l += depth {
			steps := min(depth, k-l)
			left, seen := a[i*lda+l*t.rows:], offsets[l:][:steps]
			for j := 0; j < n; j += t.cols {
				panel, cols := p.b[:t.cols*steps], min(t.cols, n-j)
				if reach+j+t.cols <= len(b) { // columns beyond the last are never read
					t.pick(panel, b[j:], seen)
				} else {
					t.pickPart(panel, b[j:], seen, cols)
				}
				t.block(c[i*ldc+j:], left, panel, t.rows*lda, 0, rows, cols, steps, ldc, &p.edge)
			}
		}
	}
	pool.Put(p)
	return true
}

// A tile reads whole rows of b, and the last ones may end where b ends.

// pickPart is pick for the last columns of a matrix at the end of b.
func (t *tile[T]) pickPart(to, b []T, offsets []int, cols int) {
	for l, o := range offsets {
		row := to[l*t.cols:][:t.cols]
		clear(row[copy(row, b[o:][:cols]):])
	}
}

// pickRows is pick, portable.
func pickRows[T Real](to, b []T, offsets []int) {
	const cols = 4
	for l, o := range offsets {
		copy(to[l*cols:][:cols], b[o:])
	}
}

// tapRow is taps, portable.
func tapRow[T Real](c, a, b []T, offsets []int) {
	for l, x := range a {
		for j, y := range b[offsets[l]:][:len(c)] {
			c[j] += T(x * y)
		}
	}
}
