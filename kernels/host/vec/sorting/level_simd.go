//go:build goexperiment.simd && amd64 && !race

package sorting

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
	t.sortKeys, t.ofSortKeys, t.beyond = sortKeys256, ofSortKeys256, beyond256
}

func (t *table) use512() {
	t.sortKeys, t.ofSortKeys, t.beyond = sortKeys512, ofSortKeys512, beyond512
	t.sortUint32 = sortUint32512
}
