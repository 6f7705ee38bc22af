//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// What Larger and Smaller say, of vectors. With AVX-512 an or of two masks moves both to vectors and back, so that choosing twice takes
// half as long; with AVX2, where a mask is a vector, the or does.

// Larger512 is [Larger] of float32.
func Larger512(x, y archsimd.Float32x16) archsimd.Float32x16 {
	return x.Merge(x.Merge(y, x.Greater(y)), x.IsNaN())
}

// Smaller512 is [Smaller] of float32.
func Smaller512(x, y archsimd.Float32x16) archsimd.Float32x16 {
	return x.Merge(x.Merge(y, x.Less(y)), x.IsNaN())
}

// WideLarger512 is [Larger] of float64.
func WideLarger512(x, y archsimd.Float64x8) archsimd.Float64x8 {
	return x.Merge(x.Merge(y, x.Greater(y)), x.IsNaN())
}

// WideSmaller512 is [Smaller] of float64.
func WideSmaller512(x, y archsimd.Float64x8) archsimd.Float64x8 {
	return x.Merge(x.Merge(y, x.Less(y)), x.IsNaN())
}

// Larger256 is [Larger] of float32.
func Larger256(x, y archsimd.Float32x8) archsimd.Float32x8 {
	return x.Merge(y, x.Greater(y).Or(x.IsNaN()))
}

// Smaller256 is [Smaller] of float32.
func Smaller256(x, y archsimd.Float32x8) archsimd.Float32x8 {
	return x.Merge(y, x.Less(y).Or(x.IsNaN()))
}

// WideLarger256 is [Larger] of float64.
func WideLarger256(x, y archsimd.Float64x4) archsimd.Float64x4 {
	return x.Merge(y, x.Greater(y).Or(x.IsNaN()))
}

// WideSmaller256 is [Smaller] of float64.
func WideSmaller256(x, y archsimd.Float64x4) archsimd.Float64x4 {
	return x.Merge(y, x.Less(y).Or(x.IsNaN()))
}
