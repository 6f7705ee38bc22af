//go:build goexperiment.simd && !race

package winograd

// The transforms of AVX-512, of sixteen kernels or tiles at once: see winograd.go. Distances are bytes.

//go:noescape
func kernelCells(to, w *float32, groups, cell int)

//go:noescape
func imageTiles(to, x *float32, t *tileVector, vectors, pitch, odd, cell int)

//go:noescape
func tileSums(to, m *float32, t *tileVector, vectors, cell, apart int) uint64
