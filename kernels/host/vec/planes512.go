//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// takeEvens512 is Evens.
func takeEvens512(to, x []float32) {
	for len(to) >= lanes512 && len(x) >= 2*lanes512 {
		evens512(archsimd.LoadFloat32x16Slice(x), archsimd.LoadFloat32x16Slice(x[lanes512:])).StoreSlice(to)
		to, x = to[lanes512:], x[2*lanes512:]
	}
	if len(to) > 0 {
		evens512(archsimd.LoadFloat32x16SlicePart(x), archsimd.LoadFloat32x16SlicePart(x[min(lanes512, len(x)):])).StoreSlicePart(to)
	}
	archsimd.ClearAVXUpperBits()
}

// splitPlane512 is PadPlane for halves.
func splitPlane512(to, x []float32, lines, width, from, pitch, first, second int) {
	for i := range lines {
		split512(to[i*pitch+first:][:(width+1)/2], to[i*pitch+second:][:width/2], x[i*from:][:width])
	}
	archsimd.ClearAVXUpperBits()
}

// split512 copies elements with even numbers, and those with odd ones.
func split512(even, odd, x []float32) {
	for len(x) >= 2*lanes512 && len(even) >= lanes512 && len(odd) >= lanes512 {
		a, b := archsimd.LoadFloat32x16Slice(x), archsimd.LoadFloat32x16Slice(x[lanes512:])
		evens512(a, b).StoreSlice(even)
		odds512(a, b).StoreSlice(odd)
		even, odd, x = even[lanes512:], odd[lanes512:], x[2*lanes512:]
	}
	if len(x) > 0 {
		a, b := archsimd.LoadFloat32x16SlicePart(x), archsimd.LoadFloat32x16SlicePart(x[min(lanes512, len(x)):])
		evens512(a, b).StoreSlicePart(even)
		odds512(a, b).StoreSlicePart(odd)
	}
}

// tapPlane512 is TapPlane. Four lines use a weight that has been loaded, and no addition waits for the one before. Lines behind the last
// are that one once more.
// SAFETY: the caller has seen to it that a vector lies in x at each element of a line.
func tapPlane512(to, x, w []float32, offsets []int, lines, width, apart, pitch int) {
	offsets = offsets[:len(w)]
	for i := 0; i < lines; i += 4 {
		i1, i2, i3 := min(i+1, lines-1), min(i+2, lines-1), min(i+3, lines-1)
		line := unsafe.Pointer(&x[i*pitch])
		d1, d2, d3 := 4*(i1-i)*pitch, 4*(i2-i)*pitch, 4*(i3-i)*pitch
		for j := 0; j < width; j += lanes512 {
			var y0, y1, y2, y3 archsimd.Float32x16
			from := unsafe.Add(line, 4*j)
			for l := range w {
				at, k := unsafe.Add(from, 4*offsets[l]), archsimd.BroadcastFloat32x16(w[l])
				y0 = k.MulAdd(floats512(at, 0), y0)
				y1 = k.MulAdd(floats512(at, d1), y1)
				y2 = k.MulAdd(floats512(at, d2), y2)
				y3 = k.MulAdd(floats512(at, d3), y3)
			}
			end := min(j+lanes512, width)
			y0.StoreSlicePart(to[i*apart+j : i*apart+end])
			y1.StoreSlicePart(to[i1*apart+j : i1*apart+end])
			y2.StoreSlicePart(to[i2*apart+j : i2*apart+end])
			y3.StoreSlicePart(to[i3*apart+j : i3*apart+end])
		}
	}
	archsimd.ClearAVXUpperBits()
}
