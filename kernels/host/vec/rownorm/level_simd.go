//go:build goexperiment.simd && amd64 && !race

package rownorm

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
	t.softmax, t.logSoftmax = softmax256, logSoftmax256
	t.onlineSoftmax = onlineSoftmax256
	t.normalize, t.standardize = normalize256, standardize256
}

func (t *table) use512() {
	t.softmax, t.logSoftmax = softmax512, logSoftmax512
	t.onlineSoftmax = onlineSoftmax512
	t.normalize, t.standardize = normalize512, standardize512
}
