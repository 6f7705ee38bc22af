//go:build goexperiment.simd && !race

package vec

// The tiles of AVX2 and AVX-512 are in tile_amd64.s: two vectors of b, and as many rows as the other registers hold.

//go:noescape
func tile6x16(c *float32, ldc int, a, b *float32, steps int)

//go:noescape
func tile6x8(c *float64, ldc int, a, b *float64, steps int)

//go:noescape
func tile12x32(c *float32, ldc int, a, b *float32, steps int)

//go:noescape
func tile12x16(c *float64, ldc int, a, b *float64, steps int)

// tiles256 sets the tiles of AVX2: six rows of two vectors leave four registers of sixteen for two vectors of b and two
// elements of a.
func (t *table) tiles256() {
	t.tile32 = tile[float32]{6, 2 * lanes256, checkedTile(6, 2*lanes256, tile6x16), few256, pick256, taps256}
	t.tile64 = tile[float64]{6, 2 * half256, checkedTile(6, 2*half256, tile6x8), few64x256, pick64x256, taps64x256}
}

// AVX-512 has no dots of its own.
func (t *table) dots256() {
	t.dots32, t.dots64 = checkedDots(lanes256, dots32), checkedDots(half256, dots64)
}

// tiles512 sets those of AVX-512: twelve rows of two vectors, in 32 registers.
func (t *table) tiles512() {
	t.tile32 = tile[float32]{12, 2 * lanes512, checkedTile(12, 2*lanes512, tile12x32), few512, pick512, taps512}
	t.tile64 = tile[float64]{12, 2 * half512, checkedTile(12, 2*half512, tile12x16), few64x512, pick64x512, taps64x512}
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
