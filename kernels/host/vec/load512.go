//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"simd/archsimd"
	"unsafe"
)

// At512 is the vector at an element.
// SAFETY: rows have whole vectors and equal lengths (withTail, checked), and the element is the first of one.
func At512(p *float32) *[Lanes512]float32 { return (*[Lanes512]float32)(unsafe.Pointer(p)) }

// Vectors are loaded from an address and a number of bytes: of a part of a slice the compiler computes length and capacity
// too, which took longer than the arithmetic. What does not fill a vector is left to the portable loops.

// VectorBytes512 is how many bytes a vector holds.
const VectorBytes512 = 4 * Lanes512

// LoadFloats512 loads the elements that begin so many bytes behind an address.
// SAFETY: the loops stay inside of slices whose lengths they have.
func LoadFloats512(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[Lanes512]float32)(unsafe.Add(p, i)))
}

// LoadFlipped512 is LoadFloats512 with bits inverted.
func LoadFlipped512(p unsafe.Pointer, i int, flips archsimd.Int32x16) archsimd.Float32x16 {
	return LoadFloats512(p, i).AsInt32x16().Xor(flips).AsFloat32x16()
}

// LoadWidened512 loads half as many, as float64.
// SAFETY: see LoadFloats512.
func LoadWidened512(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat32x8((*[WideLanes512]float32)(unsafe.Add(p, i))).ConvertToFloat64()
}

// LoadBytes512 loads bytes.
// SAFETY: see LoadFloats512.
func LoadBytes512(p unsafe.Pointer, i int) archsimd.Uint8x64 {
	return archsimd.LoadUint8x64((*[VectorBytes512]uint8)(unsafe.Add(p, i)))
}
