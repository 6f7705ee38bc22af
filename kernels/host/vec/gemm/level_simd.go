//go:build goexperiment.simd && amd64 && !race

package gemm

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the tiles of a level.
func (t *table) use(level vec.Level) {
	if t.level = level; level == vec.AVX512 {
		t.tiles512()
	} else {
		t.tiles256()
	}
}
