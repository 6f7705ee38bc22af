//go:build goexperiment.simd && !race

package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// The tiles of vec.AVX2 and AVX-512 are in tile_amd64.s: two vectors of b, and as many rows as the other registers hold.

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

// tiles256 sets the tiles of vec.AVX2: six rows of two vectors leave four registers of sixteen for two vectors of b and two
// elements of a.
func (t *table) tiles256() {
	t.tile32 = tile[float32]{
		rows: 6, cols: 2 * vec.Lanes256, run: checkedTile(6, 2*vec.Lanes256, tile6x16),
		addRows: addRows256, packPanel: packPanel256, addRowsAt: addRowsAt256,
		addTwoRowsAt: addTwoRowsAt256, direct: checkedTileAt(6, 2*vec.Lanes256, tileAt6x16), row: addPanelRow256, column: checkedColumn,
	}
	t.tile64 = tile[float64]{
		rows: 6, cols: 2 * vec.WideLanes256, run: checkedTile(6, 2*vec.WideLanes256, tile6x8),
		addRows: addRows64x256, packPanel: packPanel64x256, addRowsAt: addRowsAt64x256,
	}
}

// tiles512 sets those of AVX-512: twelve rows of two vectors, in 32 registers.
func (t *table) tiles512() {
	t.tile32 = tile[float32]{
		rows: 12, cols: 2 * vec.Lanes512, run: checkedTile(12, 2*vec.Lanes512, tile12x32),
		addRows: addRows512, packPanel: packPanel512, addRowsAt: addRowsAt512,
		addTwoRowsAt: addTwoRowsAt512, row: addPanelRow512, column: checkedColumn, windows: windows512, layRows: 2 * groupRows, grid: addGrid512,
	}
	t.tile64 = tile[float64]{
		rows: 12, cols: 2 * vec.WideLanes512, run: checkedTile(12, 2*vec.WideLanes512, tile12x16),
		addRows: addRows64x512, packPanel: packPanel64x512, addRowsAt: addRowsAt64x512,
	}
}

// checkedTileAt is direct for a tile that reads b at offsets, with a look at the operands before. The caller has seen that a row of b follows each offset.
func checkedTileAt(height, width int, run func(c *float32, ldc int, a, b *float32, steps int, set bool, offsets *int)) func(c, a, b []float32, offsets []int, m, cols, lda, ldc int, edge *[MaxTile]float32, set bool) {
	return func(c, a, b []float32, offsets []int, m, cols, lda, ldc int, edge *[MaxTile]float32, set bool) {
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
