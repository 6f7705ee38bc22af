//go:build goexperiment.simd && amd64 && !race

package reduction

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
	t.sum, t.sumSquares, t.sumBlock64 = Sum256, sumSquares256, sumBlock256
	t.product, t.countTrue = product256, countTrue256
	t.magnitudes = magnitudes256
	t.sumLines = sumLines256
	t.max, t.min = maxRow256, minRow256
	t.columns256()
}

func (t *table) use512() {
	t.sum, t.sumSquares, t.sumBlock64 = Sum512, sumSquares512, sumBlock512
	t.product, t.countTrue = product512, countTrue512
	t.magnitudes = magnitudes512
	t.max, t.min = maxRow512, minRow512
	t.columns512()
}
