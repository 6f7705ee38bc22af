//go:build !((goexperiment.simd && amd64) || (arm64 && cgo)) || race

package host

// expectsWinograd reports whether this processor and this build have the vectors of convolutions in tiles.
func expectsWinograd() bool { return false }
