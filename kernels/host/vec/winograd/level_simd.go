//go:build goexperiment.simd && amd64 && !race

package winograd

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level.
func (t *table) use(level vec.Level) {
	if t.level = level; level == vec.AVX512 {
		t.kernelCells, t.imageTiles, t.tileSums = kernelCells512, imageTiles512, tileSums512
	}
}
