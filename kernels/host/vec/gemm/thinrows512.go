//go:build goexperiment.simd && amd64 && !race

package gemm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// addRows512 is few of a tile of float32: four rows of b are added in one pass over c, and those that are left one by one. Each
// product is rounded once with its sum, as in the tiles.
func addRows512(c, a, b []float32, ldb int) {
	for ; len(a) >= 4; a = a[4:] {
		x0, x1 := archsimd.BroadcastFloat32x16(a[0]), archsimd.BroadcastFloat32x16(a[1])
		x2, x3 := archsimd.BroadcastFloat32x16(a[2]), archsimd.BroadcastFloat32x16(a[3])
		b0, b1, b2, b3 := b[:len(c)], b[ldb:][:len(c)], b[2*ldb:][:len(c)], b[3*ldb:][:len(c)]
		j := 0
		for ; j+vec.Lanes512 <= len(c); j += vec.Lanes512 {
			y := archsimd.LoadFloat32x16(vec.At512(&c[j]))
			y = x0.MulAdd(archsimd.LoadFloat32x16(vec.At512(&b0[j])), y)
			y = x1.MulAdd(archsimd.LoadFloat32x16(vec.At512(&b1[j])), y)
			y = x2.MulAdd(archsimd.LoadFloat32x16(vec.At512(&b2[j])), y)
			y = x3.MulAdd(archsimd.LoadFloat32x16(vec.At512(&b3[j])), y)
			y.Store(vec.At512(&c[j]))
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
		for ; j+4*vec.Lanes512 <= len(c); j += 4 * vec.Lanes512 { // memory is the limit, which needs many loads at once
			r, y := (*[4][vec.Lanes512]float32)(unsafe.Pointer(&row[j])), (*[4][vec.Lanes512]float32)(unsafe.Pointer(&c[j])) // SAFETY: j+4*vec.Lanes512 is at most len(c).
			y0 := x.MulAdd(archsimd.LoadFloat32x16(&r[0]), archsimd.LoadFloat32x16(&y[0]))
			y1 := x.MulAdd(archsimd.LoadFloat32x16(&r[1]), archsimd.LoadFloat32x16(&y[1]))
			y2 := x.MulAdd(archsimd.LoadFloat32x16(&r[2]), archsimd.LoadFloat32x16(&y[2]))
			y3 := x.MulAdd(archsimd.LoadFloat32x16(&r[3]), archsimd.LoadFloat32x16(&y[3]))
			y0.Store(&y[0])
			y1.Store(&y[1])
			y2.Store(&y[2])
			y3.Store(&y[3])
		}
		for ; j+vec.Lanes512 <= len(c); j += vec.Lanes512 {
			x.MulAdd(archsimd.LoadFloat32x16(vec.At512(&row[j])), archsimd.LoadFloat32x16(vec.At512(&c[j]))).Store(vec.At512(&c[j]))
		}
		if j < len(c) {
			x.MulAdd(archsimd.LoadFloat32x16SlicePart(row[j:]), archsimd.LoadFloat32x16SlicePart(c[j:])).StoreSlicePart(c[j:])
		}
	}
	archsimd.ClearAVXUpperBits()
}

// addPanelRow512 is row of a tile of float32: eight vectors of c stay in registers while all rows of b are added, or four.
func addPanelRow512(c, a, b []float32, stride int) {
	const width = 2 * vec.Lanes512
	if len(c) < rowPanels*width {
		addPanelPair512(c, a, b, stride)
		return
	}
	to := c[:rowPanels*width]
	_ = b[(rowPanels-1)*stride+len(a)*width-1]
	y0, y1 := archsimd.LoadFloat32x16(vec.At512(&to[0])), archsimd.LoadFloat32x16(vec.At512(&to[vec.Lanes512]))
	y2, y3 := archsimd.LoadFloat32x16(vec.At512(&to[width])), archsimd.LoadFloat32x16(vec.At512(&to[width+vec.Lanes512]))
	y4, y5 := archsimd.LoadFloat32x16(vec.At512(&to[2*width])), archsimd.LoadFloat32x16(vec.At512(&to[2*width+vec.Lanes512]))
	y6, y7 := archsimd.LoadFloat32x16(vec.At512(&to[3*width])), archsimd.LoadFloat32x16(vec.At512(&to[3*width+vec.Lanes512]))
	base := unsafe.Pointer(&b[0])
	for l := range a {
		// SAFETY: the last row of the last panel ends inside of b.
		at := unsafe.Add(base, l*width*4)
		r0, r1 := (*[2][vec.Lanes512]float32)(at), (*[2][vec.Lanes512]float32)(unsafe.Add(at, stride*4))
		r2, r3 := (*[2][vec.Lanes512]float32)(unsafe.Add(at, stride*8)), (*[2][vec.Lanes512]float32)(unsafe.Add(at, stride*12))
		x := archsimd.BroadcastFloat32x16(a[l])
		y0 = x.MulAdd(archsimd.LoadFloat32x16(&r0[0]), y0)
		y1 = x.MulAdd(archsimd.LoadFloat32x16(&r0[1]), y1)
		y2 = x.MulAdd(archsimd.LoadFloat32x16(&r1[0]), y2)
		y3 = x.MulAdd(archsimd.LoadFloat32x16(&r1[1]), y3)
		y4 = x.MulAdd(archsimd.LoadFloat32x16(&r2[0]), y4)
		y5 = x.MulAdd(archsimd.LoadFloat32x16(&r2[1]), y5)
		y6 = x.MulAdd(archsimd.LoadFloat32x16(&r3[0]), y6)
		y7 = x.MulAdd(archsimd.LoadFloat32x16(&r3[1]), y7)
	}
	y0.Store(vec.At512(&to[0]))
	y1.Store(vec.At512(&to[vec.Lanes512]))
	y2.Store(vec.At512(&to[width]))
	y3.Store(vec.At512(&to[width+vec.Lanes512]))
	y4.Store(vec.At512(&to[2*width]))
	y5.Store(vec.At512(&to[2*width+vec.Lanes512]))
	y6.Store(vec.At512(&to[3*width]))
	y7.Store(vec.At512(&to[3*width+vec.Lanes512]))
	archsimd.ClearAVXUpperBits()
}

// addPanelPair512 is addPanelRow512 for two panels.
func addPanelPair512(c, a, b []float32, stride int) {
	const width = 2 * vec.Lanes512
	to := c[:2*width]
	_ = b[stride+len(a)*width-1]
	y0, y1 := archsimd.LoadFloat32x16(vec.At512(&to[0])), archsimd.LoadFloat32x16(vec.At512(&to[vec.Lanes512]))
	y2, y3 := archsimd.LoadFloat32x16(vec.At512(&to[width])), archsimd.LoadFloat32x16(vec.At512(&to[width+vec.Lanes512]))
	base := unsafe.Pointer(&b[0])
	for l := range a {
		// SAFETY: the last row of the second panel ends inside of b.
		at := unsafe.Add(base, l*width*4)
		r0, r1 := (*[2][vec.Lanes512]float32)(at), (*[2][vec.Lanes512]float32)(unsafe.Add(at, stride*4))
		x := archsimd.BroadcastFloat32x16(a[l])
		y0 = x.MulAdd(archsimd.LoadFloat32x16(&r0[0]), y0)
		y1 = x.MulAdd(archsimd.LoadFloat32x16(&r0[1]), y1)
		y2 = x.MulAdd(archsimd.LoadFloat32x16(&r1[0]), y2)
		y3 = x.MulAdd(archsimd.LoadFloat32x16(&r1[1]), y3)
	}
	y0.Store(vec.At512(&to[0]))
	y1.Store(vec.At512(&to[vec.Lanes512]))
	y2.Store(vec.At512(&to[width]))
	y3.Store(vec.At512(&to[width+vec.Lanes512]))
	archsimd.ClearAVXUpperBits()
}

// addRows64x512 is few of a tile of float64, row by row of b.
func addRows64x512(c, a, b []float64, ldb int) {
	for l := range a {
		x, row := archsimd.BroadcastFloat64x8(a[l]), b[l*ldb:][:len(c)]
		j := 0
		for ; j+vec.WideLanes512 <= len(c); j += vec.WideLanes512 {
			x.MulAdd(archsimd.LoadFloat64x8Slice(row[j:]), archsimd.LoadFloat64x8Slice(c[j:])).StoreSlice(c[j:])
		}
		if j < len(c) {
			x.MulAdd(archsimd.LoadFloat64x8SlicePart(row[j:]), archsimd.LoadFloat64x8SlicePart(c[j:])).StoreSlicePart(c[j:])
		}
	}
	archsimd.ClearAVXUpperBits()
}
