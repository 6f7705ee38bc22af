//go:build goexperiment.simd && amd64 && !race

package lowprec

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
	t.integers256()
}

func (t *table) use512() {
	t.integers512()
	t.pairs512()
}
