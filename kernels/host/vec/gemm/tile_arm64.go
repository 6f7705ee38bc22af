//go:build !race

package gemm

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// The tiles of vec.NEON are in tile_arm64.s. Other loops are C, in package neon, because Go's simd package is for amd64 only.

//go:noescape
func tile8x12(c *float32, ldc int, a, b *float32, steps int)

//go:noescape
func tile8x6(c *float64, ldc int, a, b *float64, steps int)

//go:noescape
func addRow32(c *float32, x float32, b *float32, n int)

//go:noescape
func addRow64(c *float64, x float64, b *float64, n int)

// use chooses the tiles of vec.NEON.
func (t *table) use(level vec.Level) {
	t.level = level
	t.tile32 = assembled(8, 12, tile8x12, addRow32)
	t.tile64 = assembled(8, 6, tile8x6, addRow64)
	t.loopsInC()
}

// assembled is a tile of the assembler, whose rows are added with the rounding of its own products.
func assembled[T vec.Real](rows, cols int, run func(c *T, ldc int, a, b *T, steps int), addRow func(c *T, x T, b *T, n int)) tile[T] {
	add := func(c []T, x T, b []T) {
		if len(c) > 0 {
			_ = b[len(c)-1]
			addRow(&c[0], x, &b[0], len(c))
		}
	}
	return tile[T]{
		rows: rows, cols: cols, run: checkedTile(rows, cols, setting(rows, cols, run)),
		addRows: func(c, a, b []T, ldb int) {
			for l, x := range a {
				add(c, x, b[l*ldb:])
			}
		},
		addRowsAt: func(c, a, b []T, offsets []int) {
			for l, x := range a {
				add(c, x, b[offsets[l]:])
			}
		},
		packPanel: func(to, b []T, offsets []int) {
			for l, o := range offsets {
				copy(to[l*cols:][:cols], b[o:])
			}
		},
	}
}

// setting is a tile that adds to c, and for one that is set makes it zero before.
func setting[T vec.Real](rows, cols int, run func(c *T, ldc int, a, b *T, steps int)) func(c *T, ldc int, a, b *T, steps int, set bool) {
	return func(c *T, ldc int, a, b *T, steps int, set bool) {
		for r := 0; set && r < rows; r++ {
			// SAFETY: checkedTile has seen that the rows of the tile are there.
			clear(unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(c), r*ldc*int(unsafe.Sizeof(*c)))), cols))
		}
		run(c, ldc, a, b, steps)
	}
}
