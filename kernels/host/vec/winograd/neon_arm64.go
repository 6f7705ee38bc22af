//go:build cgo && !race

package winograd

import (
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon.
func (t *table) use(level vec.Level) {
	t.level = level
	t.kernelCells = func(to, w []float32, groups, cell int) { neon.KernelCells(to, w, groups*tileLanes/neon.Kernels, cell) }
	t.imageTiles = func(t *Tiles, to, x []float32, cell int) { tilesInC(t).Image(to, x, cell) }
	t.tileSums = func(t *Tiles, to, m []float32, cell int) bool { return tilesInC(t).Sums(to, m, cell) }
}

// tilesInC are the same tiles.
func tilesInC(t *Tiles) neon.Tiles {
	return neon.Tiles{PerLine: t.PerLine, Count: t.Count, Columns: t.Columns, Lines: t.Lines, Apart: t.Apart, Pitch: t.Pitch, Odd: t.Odd, PanelTiles: t.panelTiles, Panel: t.Panel}
}
