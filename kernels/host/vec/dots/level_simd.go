//go:build goexperiment.simd && amd64 && !race

package dots

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level. Those along rows are of AVX2 at both.
func (t *table) use(level vec.Level) {
	t.dots256()
	if t.level = level; level == vec.AVX512 {
		t.lineDots = addedLines
	}
}
