//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// tile512 is four rows of two vectors: with two vectors of b and one element
// of a that is eleven registers, as many as the compiler keeps without
// spilling; five rows run at half the speed.
var tile512 = tile{rows: 4, cols: 2 * lanes512, run: runTile512, row: rowTile512}

func runTile512(c []float32, ldc int, a, b []float32) {
	r0, r1, r2, r3 := c, c[ldc:], c[2*ldc:], c[3*ldc:]
	c00, c01 := archsimd.LoadFloat32x16Slice(r0), archsimd.LoadFloat32x16Slice(r0[lanes512:])
	c10, c11 := archsimd.LoadFloat32x16Slice(r1), archsimd.LoadFloat32x16Slice(r1[lanes512:])
	c20, c21 := archsimd.LoadFloat32x16Slice(r2), archsimd.LoadFloat32x16Slice(r2[lanes512:])
	c30, c31 := archsimd.LoadFloat32x16Slice(r3), archsimd.LoadFloat32x16Slice(r3[lanes512:])
	pa, pb := unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	for range min(len(a)/4, len(b)/(2*lanes512)) {
		// SAFETY: the loop stays within both slices, which the caller keeps
		// alive. After the last step the pointers are one past their panels,
		// still inside packed, where something follows each. Checked slices
		// would take more instructions than the products, and a second step in
		// the loop makes the compiler gather the loads and spill.
		x4, y := (*[4]float32)(pa), (*[2][lanes512]float32)(pb)
		b0, b1 := archsimd.LoadFloat32x16(&y[0]), archsimd.LoadFloat32x16(&y[1])
		x := archsimd.BroadcastFloat32x16(x4[0])
		c00, c01 = x.MulAdd(b0, c00), x.MulAdd(b1, c01)
		x = archsimd.BroadcastFloat32x16(x4[1])
		c10, c11 = x.MulAdd(b0, c10), x.MulAdd(b1, c11)
		x = archsimd.BroadcastFloat32x16(x4[2])
		c20, c21 = x.MulAdd(b0, c20), x.MulAdd(b1, c21)
		x = archsimd.BroadcastFloat32x16(x4[3])
		c30, c31 = x.MulAdd(b0, c30), x.MulAdd(b1, c31)
		pa, pb = unsafe.Add(pa, unsafe.Sizeof(*x4)), unsafe.Add(pb, unsafe.Sizeof(*y))
	}
	c00.StoreSlice(r0)
	c01.StoreSlice(r0[lanes512:])
	c10.StoreSlice(r1)
	c11.StoreSlice(r1[lanes512:])
	c20.StoreSlice(r2)
	c21.StoreSlice(r2[lanes512:])
	c30.StoreSlice(r3)
	c31.StoreSlice(r3[lanes512:])
	archsimd.ClearAVXUpperBits()
}

// rowTile512 adds a[k]*b[k] to one row of a tile, k ascending with one
// rounding each as in runTile512. b is not packed: its rows are ldb apart.
func rowTile512(c, a, b []float32, ldb int) {
	c0, c1 := archsimd.LoadFloat32x16Slice(c), archsimd.LoadFloat32x16Slice(c[lanes512:])
	for k := range a {
		x, row := archsimd.BroadcastFloat32x16(a[k]), b[k*ldb:]
		c0 = x.MulAdd(archsimd.LoadFloat32x16Slice(row), c0)
		c1 = x.MulAdd(archsimd.LoadFloat32x16Slice(row[lanes512:]), c1)
	}
	c0.StoreSlice(c)
	c1.StoreSlice(c[lanes512:])
	archsimd.ClearAVXUpperBits()
}
