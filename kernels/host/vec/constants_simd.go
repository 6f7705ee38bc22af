//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// Splat64 is a constant in every lane. Loading one costs less than a broadcast,
// which needs the shuffle port, and the compiler folds the load into the
// instruction that uses it. The 256-bit loops read its first half.
type Splat64 [8]float64

// Set sets it to a number. Inlined, it would be a loop of its own for each constant.
//
//go:noinline
func (s *Splat64) Set(x float64) {
	for i := range s {
		s[i] = x
	}
}

// SetBits sets it to the number with these bits.
func (s *Splat64) SetBits(b uint64) { s.Set(math.Float64frombits(b)) }

// LoadSplat512 loads all of it.
func LoadSplat512(s *Splat64) archsimd.Float64x8 { return archsimd.LoadFloat64x8((*[8]float64)(s)) }

// LoadSplat256 loads the first half. A slice of it would cost the compiler's budget of inlining more.
// SAFETY: a constant has eight elements.
func LoadSplat256(s *Splat64) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(s)))
}

// Splat32 is Splat64 for float32; the 256-bit loops read its first half.
type Splat32 [16]float32

// Set sets it to a number. Inlined, it would be a loop of its own for each constant.
//
//go:noinline
func (s *Splat32) Set(x float32) {
	for i := range s {
		s[i] = x
	}
}

// LoadNarrow512 loads all of it.
func LoadNarrow512(s *Splat32) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(s))
}

// LoadNarrow256 loads the first half.
func LoadNarrow256(s *Splat32) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(s[:8]))
}

// CacheLine is what the vectors of AVX-512 fill.
const CacheLine = 64

// NewAligned is the memory of an object of zeros that begins at a line of the cache. The constants of a room's loops are fields of one such
// object, so that its address aligns every one of them, and no loop loads a vector from two lines: the linker aligns variables to 32 bytes
// only, and exp of 10^7 elements took 5.2 ms instead of 2.1 where its constants crossed lines. A type parameter would put a description of
// the object's type into the library.
// SAFETY: the object has no pointers, is as large as it says, and lives as long as a pointer into it.
func NewAligned(size uintptr) unsafe.Pointer {
	room := make([]byte, size+CacheLine-1)
	start := unsafe.Pointer(unsafe.SliceData(room))
	return unsafe.Add(start, -uintptr(start)%CacheLine)
}
