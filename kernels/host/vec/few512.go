//go:build goexperiment.simd && amd64 && !race

package vec

import "simd/archsimd"

// few512 is few of a tile of float32: four rows of b are added in one pass over c. Each product is rounded once with its
// sum, as in the tiles.
func few512(c, a, b []float32, ldb int) {
	for ; len(a) >= 4; a = a[4:] {
		x0, x1 := archsimd.BroadcastFloat32x16(a[0]), archsimd.BroadcastFloat32x16(a[1])
		x2, x3 := archsimd.BroadcastFloat32x16(a[2]), archsimd.BroadcastFloat32x16(a[3])
		b0, b1, b2, b3 := b[:len(c)], b[ldb:][:len(c)], b[2*ldb:][:len(c)], b[3*ldb:][:len(c)]
		j := 0
		for ; j+lanes512 <= len(c); j += lanes512 {
			y := archsimd.LoadFloat32x16(at512(&c[j]))
			y = x0.MulAdd(archsimd.LoadFloat32x16(at512(&b0[j])), y)
			y = x1.MulAdd(archsimd.LoadFloat32x16(at512(&b1[j])), y)
			y = x2.MulAdd(archsimd.LoadFloat32x16(at512(&b2[j])), y)
			y = x3.MulAdd(archsimd.LoadFloat32x16(at512(&b3[j])), y)
			y.Store(at512(&c[j]))
		}
		if j < len(c) {
			y := archsimd.LoadFloat32x16SlicePart(c[j:])
			y = x0.MulAdd(archsimd.LoadFloat32x16SlicePart(b0[j:]), y)
			y = x1.MulAdd(archsimd.LoadFloat32x16SlicePart(b1[j:]), y)
			y = x2.MulAdd(archsimd.LoadFloat32x16SlicePart(b2[j:]), y)
			y = x3.MulAdd(archsimd.LoadFloat32x16SlicePart(b3[j:]), y)
			y.StoreSlicePart(c[j:])
		}
		b = b[min(4*ldb, len(b)):]
	}
	for l := range a {
		x, row := archsimd.BroadcastFloat32x16(a[l]), b[l*ldb:][:len(c)]
		j := 0
		for ; j+lanes512 <= len(c); j += lanes512 {
			x.MulAdd(archsimd.LoadFloat32x16(at512(&row[j])), archsimd.LoadFloat32x16(at512(&c[j]))).Store(at512(&c[j]))
		}
		if j < len(c) {
			x.MulAdd(archsimd.LoadFloat32x16SlicePart(row[j:]), archsimd.LoadFloat32x16SlicePart(c[j:])).StoreSlicePart(c[j:])
		}
	}
	archsimd.ClearAVXUpperBits()
}

// few64x512 is few of a tile of float64, row by row of b.
func few64x512(c, a, b []float64, ldb int) {
	for l := range a {
		x, row := archsimd.BroadcastFloat64x8(a[l]), b[l*ldb:][:len(c)]
		j := 0
		for ; j+half512 <= len(c); j += half512 {
			x.MulAdd(archsimd.LoadFloat64x8Slice(row[j:]), archsimd.LoadFloat64x8Slice(c[j:])).StoreSlice(c[j:])
		}
		if j < len(c) {
			x.MulAdd(archsimd.LoadFloat64x8SlicePart(row[j:]), archsimd.LoadFloat64x8SlicePart(c[j:])).StoreSlicePart(c[j:])
		}
	}
	archsimd.ClearAVXUpperBits()
}
