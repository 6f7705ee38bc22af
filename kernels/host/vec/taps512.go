//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// pick512 is pick of a tile of float32.
func pick512(to, b []float32, offsets []int) {
	for l, o := range offsets {
		from, row := b[o:][:2*lanes512], to[l*2*lanes512:][:2*lanes512]
		x, y := archsimd.LoadFloat32x16(at512(&from[0])), archsimd.LoadFloat32x16(at512(&from[lanes512]))
		x.Store(at512(&row[0]))
		y.Store(at512(&row[lanes512]))
	}
	archsimd.ClearAVXUpperBits()
}

// pick64x512 is pick of a tile of float64, which is as wide in bytes.
func pick64x512(to, b []float64, offsets []int) {
	for l, o := range offsets {
		from, row := b[o:][:2*half512], to[l*2*half512:][:2*half512]
		x, y := archsimd.LoadFloat64x8Slice(from), archsimd.LoadFloat64x8Slice(from[half512:])
		x.StoreSlice(row)
		y.StoreSlice(row[half512:])
	}
	archsimd.ClearAVXUpperBits()
}

// taps512 is taps of a tile of float32. Four vectors of c stay in registers while all rows of b are added.
func taps512(c, a, b []float32, offsets []int) {
	offsets = offsets[:len(a)]
	j := 0
	for ; j+4*lanes512 <= len(c); j += 4 * lanes512 {
		to := c[j:][:4*lanes512]
		y0, y1 := archsimd.LoadFloat32x16(at512(&to[0])), archsimd.LoadFloat32x16(at512(&to[lanes512]))
		y2, y3 := archsimd.LoadFloat32x16(at512(&to[2*lanes512])), archsimd.LoadFloat32x16(at512(&to[3*lanes512]))
		base := unsafe.Pointer(&b[j])
		for l := range a {
			// SAFETY: AddTaps has seen that len(c) elements follow each offset.
			row := (*[4][lanes512]float32)(unsafe.Add(base, offsets[l]*4))
			x := archsimd.BroadcastFloat32x16(a[l])
			y0 = x.MulAdd(archsimd.LoadFloat32x16(&row[0]), y0)
			y1 = x.MulAdd(archsimd.LoadFloat32x16(&row[1]), y1)
			y2 = x.MulAdd(archsimd.LoadFloat32x16(&row[2]), y2)
			y3 = x.MulAdd(archsimd.LoadFloat32x16(&row[3]), y3)
		}
		y0.Store(at512(&to[0]))
		y1.Store(at512(&to[lanes512]))
		y2.Store(at512(&to[2*lanes512]))
		y3.Store(at512(&to[3*lanes512]))
	}
	for ; j+lanes512 <= len(c); j += lanes512 {
		y, from := archsimd.LoadFloat32x16(at512(&c[j])), b[j:]
		for l := range a {
			y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16(at512(&from[offsets[l]])), y)
		}
		y.Store(at512(&c[j]))
	}
	if rest := c[j:]; len(rest) > 0 {
		y, from := archsimd.LoadFloat32x16SlicePart(rest), b[j:]
		for l := range a {
			row := from[offsets[l]:]
			if len(row) >= lanes512 {
				y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16(at512(&row[0])), y)
			} else {
				y = archsimd.BroadcastFloat32x16(a[l]).MulAdd(archsimd.LoadFloat32x16SlicePart(row), y)
			}
		}
		y.StoreSlicePart(rest)
	}
	archsimd.ClearAVXUpperBits()
}

// twoTaps512 is twoTaps of a tile of float32: each vector of b that is loaded is added to two rows.
func twoTaps512(c, d, a, e, b []float32, offsets []int) {
	offsets, d, e = offsets[:len(a)], d[:len(c)], e[:len(a)]
	j := 0
	for ; j+4*lanes512 <= len(c); j += 4 * lanes512 {
		to, other := c[j:][:4*lanes512], d[j:][:4*lanes512]
		y0, y1 := archsimd.LoadFloat32x16(at512(&to[0])), archsimd.LoadFloat32x16(at512(&to[lanes512]))
		y2, y3 := archsimd.LoadFloat32x16(at512(&to[2*lanes512])), archsimd.LoadFloat32x16(at512(&to[3*lanes512]))
		z0, z1 := archsimd.LoadFloat32x16(at512(&other[0])), archsimd.LoadFloat32x16(at512(&other[lanes512]))
		z2, z3 := archsimd.LoadFloat32x16(at512(&other[2*lanes512])), archsimd.LoadFloat32x16(at512(&other[3*lanes512]))
		base := unsafe.Pointer(&b[j])
		for l := range a {
			// SAFETY: AddTaps has seen that len(c) elements follow each offset.
			row := (*[4][lanes512]float32)(unsafe.Add(base, offsets[l]*4))
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
		y0.Store(at512(&to[0]))
		y1.Store(at512(&to[lanes512]))
		y2.Store(at512(&to[2*lanes512]))
		y3.Store(at512(&to[3*lanes512]))
		z0.Store(at512(&other[0]))
		z1.Store(at512(&other[lanes512]))
		z2.Store(at512(&other[2*lanes512]))
		z3.Store(at512(&other[3*lanes512]))
	}
	taps512(c[j:], a, b[j:], offsets)
	taps512(d[j:], e, b[j:], offsets)
}

// taps64x512 is taps of a tile of float64.
func taps64x512(c, a, b []float64, offsets []int) {
	offsets = offsets[:len(a)]
	for j := 0; j < len(c); j += half512 {
		rest, from := c[j:min(j+half512, len(c))], b[j:]
		y := archsimd.LoadFloat64x8SlicePart(rest)
		for l := range a {
			y = archsimd.BroadcastFloat64x8(a[l]).MulAdd(archsimd.LoadFloat64x8SlicePart(from[offsets[l]:][:len(rest)]), y)
		}
		y.StoreSlicePart(rest)
	}
	archsimd.ClearAVXUpperBits()
}
