//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// evenLanes512 are the lanes with even numbers of two vectors, and inOrder256 what brings halves of AVX2's selections in order:
// those take elements within 128 bits alone.
var (
	evenLanes512 = [Lanes512]uint32{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}
	inOrder256   = [Lanes256]uint32{0, 1, 4, 5, 2, 3, 6, 7}
)

// EvenLanes512 and EvenLanes256 are every second element of two vectors, from the first on.
func EvenLanes512(x, y archsimd.Float32x16) archsimd.Float32x16 {
	return x.ConcatPermute(y, archsimd.LoadUint32x16(&evenLanes512))
}

// EvenLanes256 is EvenLanes512 of AVX2.
func EvenLanes256(x, y archsimd.Float32x8) archsimd.Float32x8 {
	return x.SelectFromPairGrouped(0, 2, 4, 6, y).Permute(archsimd.LoadUint32x8(&inOrder256))
}
