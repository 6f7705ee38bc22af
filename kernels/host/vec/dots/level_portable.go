//go:build !((goexperiment.simd && amd64) || (arm64 && cgo)) || race

package dots

import "github.com/paddle-mps/paddle-mps/kernels/host/vec"

// use: this build has no vector loops.
func (t *table) use(level vec.Level) { t.level = level }
