//go:build goexperiment.simd && !race

package vec

// The tiles of AVX2 and AVX-512 are in tile_amd64.s: two vectors of b, and as many rows as the other registers hold.

//go:noescape
func tile6x16(c *float32, ldc int, a, b *float32, steps int, set bool)

//go:noescape
func tileAt6x16(c *float32, ldc int, a, b *float32, steps int, set bool, offsets *int)

//go:noescape
func tile6x8(c *float64, ldc int, a, b *float64, steps int, set bool)

//go:noescape
func tile12x32(c *float32, ldc int, a, b *float32, steps int, set bool)

//go:noescape
func column8(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k, rows int, set bool)

// checkedColumn is column with a look at the operands before. It needs no vectors but a fused multiply-add.
func checkedColumn(c, a, b []float32, m, k, lda, ldb, ldc int, set bool) {
	_, _, _ = c[(m-1)*ldc], a[(m-1)*lda+k-1], b[(k-1)*ldb]
	column8(&c[0], ldc, &a[0], lda, &b[0], ldb, k, m, set)
}

//go:noescape
func tile12x16(c *float64, ldc int, a, b *float64, steps int, set bool)

// tiles256 sets the tiles of AVX2: six rows of two vectors leave four registers of sixteen for two vectors of b and two
// elements of a.
func (t *table) tiles256() {
	t.transpose = bySquares(lanes256, square8)
	t.tapPlane = tapPlane256
	t.tile32 = tile[float32]{6, 2 * lanes256, checkedTile(6, 2*lanes256, tile6x16), few256, pick256, taps256, twoTaps256, checkedTileAt(6, 2*lanes256, tileAt6x16), row256, checkedColumn, nil, 0, nil}
	t.tile64 = tile[float64]{6, 2 * half256, checkedTile(6, 2*half256, tile6x8), few64x256, pick64x256, taps64x256, nil, nil, nil, nil, nil, 0, nil}
}

// AVX-512 has no dots of its own.
func (t *table) dots256() {
	t.dots32, t.dots64 = checkedDots(lanes256, dots32), checkedDots(half256, dots64)
}

// tiles512 sets those of AVX-512: twelve rows of two vectors, in 32 registers.
func (t *table) tiles512() {
	t.depthwise, t.interleave3, t.transpose = windowsDeep512, interleave3With512, bySquares(lanes512, square16)
	t.splitLines, t.tapPlane = splitLines, tapPlane512
	t.kernelCells, t.imageTiles, t.tileSums = kernelCells, imageTiles, tileSums
	t.tile32 = tile[float32]{12, 2 * lanes512, checkedTile(12, 2*lanes512, tile12x32), few512, pick512, taps512, twoTaps512, nil, row512, checkedColumn, windows512, 2 * groupRows, addGrid512}
	t.tile64 = tile[float64]{12, 2 * half512, checkedTile(12, 2*half512, tile12x16), few64x512, pick64x512, taps64x512, nil, nil, nil, nil, nil, 0, nil}
}

//go:noescape
func dots32(to *[dotRows * dotCols]float32, a *float32, lda int, b *float32, ldb, vectors int)

//go:noescape
func dots64(to *[dotRows * dotCols]float64, a *float64, lda int, b *float64, ldb, vectors int)

// checkedDots is dots of the assembler with a look at the operands before, and the elements behind the last vector.
func checkedDots[T Real](lanes int, run func(to *[dotRows * dotCols]T, a *T, lda int, b *T, ldb, vectors int)) dots[T] {
	return func(to *[dotRows * dotCols]T, a, b []T, lda, ldb, k int) {
		_, _ = a[(dotRows-1)*lda+k-1], b[(dotCols-1)*ldb+k-1]
		run(to, &a[0], lda, &b[0], ldb, k/lanes)
		for l := k / lanes * lanes; l < k; l++ {
			for i := range to {
				to[i] += T(a[i/dotCols*lda+l] * b[i%dotCols*ldb+l])
			}
		}
	}
}

// checkedTileAt is direct for a tile that reads b at offsets, with a look at the operands before. The caller has seen that a row of b follows each offset.
func checkedTileAt(height, width int, run func(c *float32, ldc int, a, b *float32, steps int, set bool, offsets *int)) func(c, a, b []float32, offsets []int, m, cols, lda, ldc int, edge *[maxTile]float32, set bool) {
	return func(c, a, b []float32, offsets []int, m, cols, lda, ldc int, edge *[maxTile]float32, set bool) {
		for i := 0; i < m; i += height {
			left, rows := a[i*lda:][:height*len(offsets)], min(height, m-i)
			if rows == height && cols == width {
				_ = c[(i+height-1)*ldc+width-1]
				run(&c[i*ldc], ldc, &left[0], &b[0], len(offsets), set, &offsets[0])
				continue
			}
			for r := 0; r < rows && !set; r++ {
				copy(edge[r*width:], c[(i+r)*ldc:][:cols])
			}
			run(&edge[0], width, &left[0], &b[0], len(offsets), set, &offsets[0])
			for r := range rows {
				copy(c[(i+r)*ldc:][:cols], edge[r*width:])
			}
		}
	}
}
