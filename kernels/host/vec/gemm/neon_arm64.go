//go:build cgo && !race

package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"

// shortProduct is the number of products below which a call to C takes longer than adding rows one by one.
const shortProduct = 512

// shortPanel is the same for rows that are copied to a panel.
const shortPanel = 8

// loopsInC chooses the loops of package neon beside the tile of float32. Products of few elements are left to the assembler, whose bits are
// the same.
func (t *table) loopsInC() {
	f := &t.tile32
	f.packRows, f.packLines, f.row, f.column = neon.PackRows, neon.PackLines, neon.AddPanelRow, neon.Column
	pack := f.packPanel
	f.packPanel = func(to, b []float32, offsets []int) {
		if len(offsets) < shortPanel {
			pack(to, b, offsets)
			return
		}
		neon.PackPanel(to, b, offsets)
	}
	rows, rowsAt := f.addRows, f.addRowsAt
	f.addRows = func(c, a, b []float32, ldb int) {
		if len(a)*len(c) < shortProduct {
			rows(c, a, b, ldb)
			return
		}
		_ = b[(len(a)-1)*ldb+len(c)-1]
		neon.AddRows(c, a, b, ldb)
	}
	f.addRowsAt = func(c, a, b []float32, offsets []int) {
		if len(a)*len(c) < shortProduct {
			rowsAt(c, a, b, offsets)
			return
		}
		neon.AddRowsAt(c, a, b, offsets)
	}
	f.addTwoRowsAt = neon.AddTwoRowsAt
}
