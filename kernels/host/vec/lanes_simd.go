//go:build goexperiment.simd && amd64 && !race

package vec

// Lanes of float32 and of float64 in a vector of a level.
const (
	Lanes512, WideLanes512 = 16, 8
	Lanes256, WideLanes256 = 8, 4
)
