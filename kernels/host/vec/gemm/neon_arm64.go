//go:build cgo && !race

package gemm

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// loopsInC chooses the loops of package neon beside the tile of float32. Products of few elements are left to the assembler, whose bits are
// the same.
func (t *table) loopsInC() {
	f := &t.tile32
	f.packLines, f.row, f.column = neon.PackLines, neon.AddPanelRow, neon.Column
	rows, rowsAt := f.addRows, f.addRowsAt
	f.addRows = func(c, a, b []float32, ldb int) {
		if len(a)*len(c) < vec.ShortRow {
			rows(c, a, b, ldb)
			return
		}
		_ = b[(len(a)-1)*ldb+len(c)-1]
		neon.AddRows(c, a, b, ldb)
	}
	f.addRowsAt = func(c, a, b []float32, offsets []int) {
		if len(a)*len(c) < vec.ShortRow {
			rowsAt(c, a, b, offsets)
			return
		}
		neon.AddRowsAt(c, a, b, offsets)
	}
	f.addTwoRowsAt = neon.AddTwoRowsAt
}
