package vec

// RowsFit reports whether there is anything to fold, and rows of n elements lie in memory of so many.
func RowsFit(n, all, stride, rows int) bool {
	return n > 0 && rows > 0 && stride >= 0 && (rows-1)*stride+n <= all
}

// ZeroRows makes the first n elements of m rows 0.
func ZeroRows[T any](c []T, m, n, ldc int) {
	for i := 0; i < m && n > 0; i++ {
		clear(c[i*ldc:][:n])
	}
}

// MatrixFits tells whether a rows x cols matrix lies within n elements. It divides
// where a product could overflow.
func MatrixFits(n, rows, cols, ld int) bool {
	if rows < 0 || cols < 0 || ld < cols {
		return false
	}
	if rows == 0 || cols == 0 {
		return true
	}
	return cols <= n && rows-1 <= (n-cols)/ld
}
