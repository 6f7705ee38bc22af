//go:build goexperiment.simd && amd64 && !race

package stencil

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// depthwisePlane256 is DepthwisePlane of vec.AVX2. Four lines use a weight that has been loaded, and no addition waits for the one before. Lines behind the last
// are that one once more.
// SAFETY: the caller has seen to it that a vector lies in x at each element of a line.
func depthwisePlane256(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	offsets = offsets[:len(w)]
	for i := 0; i < lines; i += 4 {
		i1, i2, i3 := min(i+1, lines-1), min(i+2, lines-1), min(i+3, lines-1)
		line := unsafe.Pointer(&x[i*pitch])
		d1, d2, d3 := 4*(i1-i)*pitch, 4*(i2-i)*pitch, 4*(i3-i)*pitch
		for j := 0; j < width; j += vec.Lanes256 {
			var y0, y1, y2, y3 archsimd.Float32x8
			from := unsafe.Add(line, 4*j)
			for l := range w {
				at, k := unsafe.Add(from, 4*offsets[l]), archsimd.BroadcastFloat32x8(w[l])
				y0 = k.MulAdd(vec.LoadFloats256(at, 0), y0)
				y1 = k.MulAdd(vec.LoadFloats256(at, d1), y1)
				y2 = k.MulAdd(vec.LoadFloats256(at, d2), y2)
				y3 = k.MulAdd(vec.LoadFloats256(at, d3), y3)
			}
			end := min(j+vec.Lanes256, width)
			y0.StoreSlicePart(to[i*apart+j : i*apart+end])
			y1.StoreSlicePart(to[i1*apart+j : i1*apart+end])
			y2.StoreSlicePart(to[i2*apart+j : i2*apart+end])
			y3.StoreSlicePart(to[i3*apart+j : i3*apart+end])
		}
	}
	archsimd.ClearAVXUpperBits()
}
