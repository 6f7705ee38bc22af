//go:build goexperiment.simd && !race

package winograd

// The transforms of AVX-512, of sixteen kernels or tiles at once: see winograd.go. Distances are bytes.

//go:noescape
func kernelCells(to, w *float32, groups, cell int)

//go:noescape
func imageTiles(to, x *float32, t *tileVector, vectors, pitch, odd, cell int)

//go:noescape
func tileSums(to, m *float32, t *tileVector, vectors, cell, apart int) uint64

// The functions of the table. SAFETY: the exported functions have seen that all kernels, tiles and cells lie in their slices.

func kernelCells512(to, w []float32, groups, cell int) { kernelCells(&to[0], &w[0], groups, 4*cell) }

func imageTiles512(t *Tiles, to, x []float32, cell int) {
	imageTiles(&to[0], &x[0], &t.vectors[0], len(t.vectors), 4*t.Pitch, 4*t.Odd, 4*cell)
}

func tileSums512(t *Tiles, to, m []float32, cell int) (finite bool) {
	return tileSums(&to[0], &m[0], &t.vectors[0], len(t.vectors), 4*cell, 4*t.Apart) == 0
}
