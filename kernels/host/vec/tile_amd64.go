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

// assembled is a tile of the assembler. It looks at c, a and b before run does without looking.
func assembled[T Real](rows, cols int, run func(c *T, ldc int, a, b *T, steps int), few func(c, a, b []T, ldb int), panel func(to, b []T, steps, ldb int)) tile[T] {
	return tile[T]{rows: rows, cols: cols, few: few, panel: panel, run: func(c []T, ldc int, a, b []T) {
		if steps := min(len(a)/rows, len(b)/cols); steps > 0 {
			_ = c[(rows-1)*ldc+cols-1]
			run(&c[0], ldc, &a[0], &b[0], steps)
		}
	}}
}

func (t *table) tiles256() {
	t.tile32 = assembled(6, 2*lanes256, tile6x16, few256, panel256)
	t.tile64 = assembled(6, 2*half256, tile6x8, few64x256, panel64x256)
}

func (t *table) tiles512() {
	t.tile32 = assembled(12, 2*lanes512, tile12x32, few512, panel512)
	t.tile64 = assembled(12, 2*half512, tile12x16, few64x512, panel64x512)
}
