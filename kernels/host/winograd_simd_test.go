//go:build goexperiment.simd && amd64 && !race

package host

import "simd/archsimd"

// expectsWinograd reports whether this processor and this build have the vectors of convolutions in tiles.
func expectsWinograd() bool { return archsimd.X86.AVX512() }
