//go:build goexperiment.simd && amd64 && !race

package rearrange

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level.
func (t *table) use(level vec.Level) {
	if t.level = level; level == vec.AVX512 {
		t.use512()
	} else {
		t.use256()
	}
}

func (t *table) use256() {
	t.transpose = bySquares(vec.Lanes256, square8)
}

func (t *table) use512() {
	t.transpose = bySquares(vec.Lanes512, square16)
}
