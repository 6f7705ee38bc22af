//go:build goexperiment.simd && amd64 && !race

package gemm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// packPanel512 is packPanel of a tile of float32.
func packPanel512(to, b []float32, offsets []int) {
	for l, o := range offsets {
		from, row := b[o:][:2*vec.Lanes512], to[l*2*vec.Lanes512:][:2*vec.Lanes512]
		x, y := archsimd.LoadFloat32x16(vec.At512(&from[0])), archsimd.LoadFloat32x16(vec.At512(&from[vec.Lanes512]))
		x.Store(vec.At512(&row[0]))
		y.Store(vec.At512(&row[vec.Lanes512]))
	}
	archsimd.ClearAVXUpperBits()
}

// packPanel64x512 is packPanel of a tile of float64, which is as wide in bytes.
func packPanel64x512(to, b []float64, offsets []int) {
	for l, o := range offsets {
		from, row := b[o:][:2*vec.WideLanes512], to[l*2*vec.WideLanes512:][:2*vec.WideLanes512]
		x, y := archsimd.LoadFloat64x8Slice(from), archsimd.LoadFloat64x8Slice(from[vec.WideLanes512:])
		x.StoreSlice(row)
		y.StoreSlice(row[vec.WideLanes512:])
	}
	archsimd.ClearAVXUpperBits()
}

// addRowsAt512 is taps of a tile of float32. Four vectors of c stay in registers while all rows of b are added.
func addRowsAt512(c, a, b []float32, offsets []int) {
	offsets = offsets[:len(a)]
	j := 0
	for ; j+4*vec.Lanes512 <= len(c); j += 4 * vec.Lanes512 {
		to := c[j:][:4*vec.Lanes512]
		y0, y1 := archsimd.LoadFloat32x16(vec.At512(&to[0])), archsimd.LoadFloat32x16(vec.At512(&to[vec.Lanes512]))
		y2, y3 := archsimd.LoadFloat32x16(vec.At512(&to[2*vec.Lanes512])), archsimd.LoadFloat32x16(vec.At512(&to[3*vec.Lanes512]))
		base := unsafe.Pointer(&b[j])
		for l := range a {
			// SAFETY: AddAtOffsets has seen that len(c) elements follow each offset.
			row := (*[4][vec.Lanes512]float32)(unsafe.Add(base, offsets[l]*4))
			x := archsimd.BroadcastFloat32x16(a[l])
			y0 = x.MulAdd(archsimd.LoadFloat32x16(&row[0]), y0)
			y1 = x.MulAdd(archsimd.LoadFloat32x16(&row[1]), y1)
			y2 = x.MulAdd(archsimd.LoadFloat32x16(&row[2]), y2)
			y3 = x.MulAdd(archsimd.LoadFloat32x16(&row[3]), y3)
		}
		y0.Store(vec.At512(&to[0]))
		y1.Store(vec.At512(&to[vec.Lanes512]))
		y2.Store(vec.At512(&to[2*vec.Lanes512]))
		y3.Store(vec.At512(&to[3*vec.Lanes512]))
	}
	for ; j+vec.Lanes512 <= len(c); j += vec.Lanes512 {
		y, from := archsimd.LoadFloat32x16(vec.At512(&c[j])), b[j:]
		for l := range a {
			y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16(vec.At512(&from[offsets[l]])), y)
		}
		y.Store(vec.At512(&c[j]))
	}
	if rest := c[j:]; len(rest) > 0 {
		y, from := archsimd.LoadFloat32x16SlicePart(rest), b[j:]
		for l := range a {
			row := from[offsets[l]:]
			if len(row) >= vec.Lanes512 {
				y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16(vec.At512(&row[0])), y)
			} else {
				y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16SlicePart(row), y)
			}
		}
		y.StoreSlicePart(rest)
	}
	archsimd.ClearAVXUpperBits()
}

// addTwoRowsAt512 is addTwoRowsAt of a tile of float32: each vector of b that is loaded is added to two rows.
func addTwoRowsAt512(c, d, a, e, b []float32, offsets []int) {
	offsets, d, e = offsets[:len(a)], d[:len(c)], e[:len(a)]
	j := 0
	for ; j+4*vec.Lanes512 <= len(c); j += 4 * vec.Lanes512 {
		to, other := c[j:][:4*vec.Lanes512], d[j:][:4*vec.Lanes512]
		y0, y1 := archsimd.LoadFloat32x16(vec.At512(&to[0])), archsimd.LoadFloat32x16(vec.At512(&to[vec.Lanes512]))
		y2, y3 := archsimd.LoadFloat32x16(vec.At512(&to[2*vec.Lanes512])), archsimd.LoadFloat32x16(vec.At512(&to[3*vec.Lanes512]))
		z0, z1 := archsimd.LoadFloat32x16(vec.At512(&other[0])), archsimd.LoadFloat32x16(vec.At512(&other[vec.Lanes512]))
		z2, z3 := archsimd.LoadFloat32x16(vec.At512(&other[2*vec.Lanes512])), archsimd.LoadFloat32x16(vec.At512(&other[3*vec.Lanes512]))
		base := unsafe.Pointer(&b[j])
		for l := range a {
			// SAFETY: AddAtOffsets has seen that len(c) elements follow each offset.
			row := (*[4][vec.Lanes512]float32)(unsafe.Add(base, offsets[l]*4))
			x, w := archsimd.BroadcastFloat32x16(a[l]), archsimd.BroadcastFloat32x16(e[l])
			r := archsimd.LoadFloat32x16(&row[0])
			y0, z0 = x.MulAdd(r, y0), w.MulAdd(r, z0)
			r = archsimd.LoadFloat32x16(&row[1])
			y1, z1 = x.MulAdd(r, y1), w.MulAdd(r, z1)
			r = archsimd.LoadFloat32x16(&row[2])
			y2, z2 = x.MulAdd(r, y2), w.MulAdd(r, z2)
			r = archsimd.LoadFloat32x16(&row[3])
			y3, z3 = x.MulAdd(r, y3), w.MulAdd(r, z3)
		}
		y0.Store(vec.At512(&to[0]))
		y1.Store(vec.At512(&to[vec.Lanes512]))
		y2.Store(vec.At512(&to[2*vec.Lanes512]))
		y3.Store(vec.At512(&to[3*vec.Lanes512]))
		z0.Store(vec.At512(&other[0]))
		z1.Store(vec.At512(&other[vec.Lanes512]))
		z2.Store(vec.At512(&other[2*vec.Lanes512]))
		z3.Store(vec.At512(&other[3*vec.Lanes512]))
	}
	addRowsAt512(c[j:], a, b[j:], offsets)
	addRowsAt512(d[j:], e, b[j:], offsets)
}

// addRowsAt64x512 is taps of a tile of float64.
func addRowsAt64x512(c, a, b []float64, offsets []int) {
	offsets = offsets[:len(a)]
	for j := 0; j < len(c); j += vec.WideLanes512 {
		rest, from := c[j:min(j+vec.WideLanes512, len(c))], b[j:]
		y := archsimd.LoadFloat64x8SlicePart(rest)
		for l := range a {
			y = archsimd.BroadcastFloat64x8(a[l]).MulAdd(archsimd.LoadFloat64x8SlicePart(from[offsets[l]:][:len(rest)]), y)
		}
		y.StoreSlicePart(rest)
	}
	archsimd.ClearAVXUpperBits()
}
