package gemm

// Attention in panels: as many queries as a tile has columns stand side by side, and what belongs to a query is a column. Scores
// of a block of keys are keys times queries, and their weights, in the same place, are the right operand of the product with the
// values as they lie.

// PanelTile is the shape of a tile of float32: left panels have this many rows, and right panels this many columns.
func PanelTile() (rows, cols int) { return active.tile32.rows, active.tile32.cols }

// MulPanels adds a times b to c, or with set makes c the product. a is left panels, as many as c has tiles one below the other, of
// whose columns the first k count; the panels have so many columns, each of them one behind the other. b is k rows of a right
// panel. It reports false and leaves c alone where a or b are shorter than that, or the length of c is no multiple of a tile.
func MulPanels(c, a, b []float32, k, columns int, set bool) bool {
	t := &active.tile32
	panels := len(c) / (t.rows * t.cols)
	if k < 0 || columns < k || len(c)%(t.rows*t.cols) != 0 || len(b) < t.cols*k || panels > 0 && len(a) < ((panels-1)*columns+k)*t.rows {
		return false
	}
	if k == 0 && set {
		clear(c)
	}
	for i := 0; i < panels && k > 0; i++ {
		t.run(c[i*t.rows*t.cols:], t.cols, a[i*columns*t.rows:][:t.rows*k], b[:t.cols*k], set)
	}
	return true
}

// PanelCols is the columns of a right panel of float32.
func PanelCols() int { return active.tile32.cols }

// PackedRightOf is a right operand of k x n in panels that the caller has filled: all of them, the last one padded to its full width.
func PackedRightOf(panels []float32, k, n int) PackedRight {
	return PackedRight{tile: active.tile32, k: k, n: n, panels: panels}
}

// MulPanelWindows adds rows of a, which lie there as w says, times one panel of b to the first cols columns of c, line after line, or with
// set makes c that product. The caller has seen to it that all operands fit, and needs [ReadsInPlace].
func MulPanelWindows(c, a, b []float32, w Windows, cols, ldc int, set bool) {
	active.tile32.windows(c, a, b, 0, w, cols, ldc, set)
}

// AddRows adds len(a) rows of b, ldb apart, times elements of a to the row c. The caller has seen to it that they fit.
func AddRows(c, a, b []float32, ldb int) { active.tile32.addRows(c, a, b, ldb) }

// AddRowsAt is AddRows for rows of b that begin at offsets.
func AddRowsAt(c, a, b []float32, offsets []int) { active.tile32.addRowsAt(c, a, b, offsets) }
