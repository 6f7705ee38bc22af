//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// The vectors of one level: narrow elements as loaded, and wide ones for
// arithmetic in float64. Both wide types hold as many elements as fit, so a
// wide vector has half the lanes.
type (
	narrow512    = archsimd.Float32x16
	wide512      = archsimd.Float64x8
	int512       = archsimd.Int64x8
	mask512      = archsimd.Mask64x8
	lanesMask512 = archsimd.Mask32x16
	index512     = archsimd.Uint32x16
	shifts512    = archsimd.Int32x16
	narrow256    = archsimd.Float32x8
	wide256      = archsimd.Float64x4
	int256       = archsimd.Int64x4
	mask256      = archsimd.Mask64x4
	lanesMask256 = archsimd.Mask32x8
	index256     = archsimd.Uint32x8
	shifts256    = archsimd.Int32x8
)

const (
	lanes512, half512 = 16, 8
	lanes256, half256 = 8, 4
)

// splat8 is a constant in every lane. Loading one costs less than a broadcast,
// which needs the shuffle port, and the compiler folds the load into the
// instruction that uses it. The 256-bit loops read its first half.
type splat8 [8]float64

// Inlined, it would be a loop of its own for each constant.
//
//go:noinline
func (s *splat8) set(x float64) {
	for i := range s {
		s[i] = x
	}
}

// setBits sets it to the number with these bits.
func (s *splat8) setBits(b uint64) { s.set(math.Float64frombits(b)) }

// load512 loads all of it.
func load512(s *splat8) wide512 { return archsimd.LoadFloat64x8((*[8]float64)(s)) }

// load256 loads the first half. A slice of it would cost the compiler's budget of inlining more.
// SAFETY: a constant has eight elements.
func load256(s *splat8) wide256 { return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(s))) }

// Every function that has used vectors ends with ClearAVXUpperBits, and uses
// no scalar floats before: the compiler gives those legacy SSE instructions,
// and the first of them after a vector instruction was measured to stall for
// 160 ns (Sapphire Rapids) unless the upper halves are clear.

// simdTables builds on base what this CPU can run.
func simdTables(base table) []*table {
	var all []*table
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		base.level = AVX2
		base.use256()
		all = append(all, new(base))
	}
	if archsimd.X86.AVX512() {
		base.level = AVX512
		base.use512()
		all = append(all, new(base))
	}
	return all
}

func (t *table) use256() {
	t.binary256()
	t.unary256()
	t.f16ToF32, t.bf16ToF32, t.addBF16Rows = f16ToF32Row256, bf16ToF32Row256, addBF16Rows256
	t.sum, t.sumSquares, t.sumBlock64 = sum256, sumSquares256, sumBlock256
	t.product, t.countTrue = product256, countTrue256
	t.sumLines = sumLines256
	t.max, t.min = maxRow256, minRow256
	t.columns256()
	t.bitwise256()
	t.philox = philox256
	t.normalize, t.standardize = normalize256, standardize256
	t.tiles256()
	t.dots256()
	t.integers256()
}

func (t *table) use512() {
	t.binary512()
	t.unary512()
	t.functions512()
	t.f16ToF32, t.bf16ToF32, t.addBF16Rows = f16ToF32Row512, bf16ToF32Row512, addBF16Rows512
	t.f32ToF16, t.f32ToBF16 = f32ToF16Row512, f32ToBF16Row512
	t.sum, t.sumSquares, t.sumBlock64 = sum512, sumSquares512, sumBlock512
	t.product, t.countTrue = product512, countTrue512
	t.max, t.min = maxRow512, minRow512
	t.columns512()
	t.bitwise512()
	t.normalize, t.standardize = normalize512, standardize512
	t.tiles512()
	t.integers512()
	t.pairs512()
	t.lineDots = addedLines
	t.sortUint32 = sortUint32512
}

// after is a line from an element on; nil of none.
func after(line []float32, n int) []float32 {
	if line == nil {
		return nil
	}
	return line[n:]
}
