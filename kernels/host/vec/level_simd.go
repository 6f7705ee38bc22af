//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// Every function that has used vectors ends with ClearAVXUpperBits, and uses
// no scalar floats before: the compiler gives those legacy SSE instructions,
// and the first of them after a vector instruction was measured to stall for
// 160 ns (Sapphire Rapids) unless the upper halves are clear.

// vectorLevels are those above Portable.
func vectorLevels() (levels []Level) {
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		levels = append(levels, AVX2)
	}
	if archsimd.X86.AVX512() {
		levels = append(levels, AVX512)
	}
	return levels
}
