//go:build goexperiment.simd && amd64 && !race

package random

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use chooses the loops of a level.
func (t *table) use(level vec.Level) { t.level, t.philox = level, philox256 }
