//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// Four running vectors, so that one addition does not wait for the one before.
// The tails and the lanes of the result are left to the portable loops.

func sum512(x []float32) float64 { return sumAhead512(x, new(upcoming)) }

func sumRows512(sums []float64, x []float32, stride, length int) {
	sumRowsBy(half512, sums, x, stride, length)
}

// sumAhead512 adds up a row, and asks for what is ahead.
// SAFETY: see floats512.
func sumAhead512(x []float32, ahead *upcoming) float64 {
	var s0, s1, s2, s3 wide512
	whole, from := 4*(len(x)&^(4*half512-1)), unsafe.Pointer(unsafe.SliceData(x))
	for i := 0; i < whole; {
		ahead.next()
		for end := min(whole, i+streamPiece); i < end; i += 16 * half512 {
			s0, s1 = s0.Add(widened512(from, i)), s1.Add(widened512(from, i+4*half512))
			s2, s3 = s2.Add(widened512(from, i+8*half512)), s3.Add(widened512(from, i+12*half512))
		}
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumRow(x[whole/4:])
}

func sumSquares512(x []float32) float64 {
	var s0, s1, s2, s3 wide512
	for ; len(x) >= 4*half512; x = x[4*half512:] {
		x0 := archsimd.LoadFloat32x8Slice(x).ConvertToFloat64()
		x1 := archsimd.LoadFloat32x8Slice(x[half512:]).ConvertToFloat64()
		x2 := archsimd.LoadFloat32x8Slice(x[2*half512:]).ConvertToFloat64()
		x3 := archsimd.LoadFloat32x8Slice(x[3*half512:]).ConvertToFloat64()
		s0, s1, s2, s3 = x0.MulAdd(x0, s0), x1.MulAdd(x1, s1), x2.MulAdd(x2, s2), x3.MulAdd(x3, s3)
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumSquaresRow(x)
}

// product512 is Product. Each lane is scaled by itself; the exponents of all are counted together, as numbers.
// SAFETY: see floats512.
func product512(x []float32) float64 {
	const lanes, step = 8 * half512, 16 * half512 // elements of a turn, bytes of half of them
	p0, exponents := load512(&consts.one), load512(&consts.zero)
	p1 := p0
	for ; len(x) >= lanes; x = x[lanes:] {
		from := unsafe.Pointer(&x[0])
		var e0, e1 wide512
		// A scaled product is within 2^300 on both sides and four elements within 2^596, so that neither product leaves the
		// range of float64.
		p0, e0 = scaled512(p0.Mul(four512(from, 0)))
		p1, e1 = scaled512(p1.Mul(four512(from, step)))
		exponents = exponents.Add(e0.Add(e1))
	}
	var values, counts [half512]float64
	// The lanes are multiplied one after the other, with the exponents that they have.
	p0, e := scaled512(p0.Mul(p1))
	p0.Store(&values)
	exponents.Add(e).Store(&counts)
	archsimd.ClearAVXUpperBits()
	p := scaled{value: 1}
	for i, v := range values {
		p.times(v)
		p.exponent += int(counts[i])
	}
	return p.timesRow(x)
}

// four512 multiplies four vectors.
// SAFETY: see floats512.
func four512(p unsafe.Pointer, i int) wide512 {
	const bytes = 4 * half512
	return widened512(p, i).Mul(widened512(p, i+bytes)).Mul(widened512(p, i+2*bytes).Mul(widened512(p, i+3*bytes)))
}

// scaled512 is scaled.times after the product.
func scaled512(p wide512) (value, exponent wide512) {
	a, unit, nought := abs512(p), load512(&consts.one), load512(&consts.zero)
	large, small := a.Greater(load512(&consts.productHigh)), a.Less(load512(&consts.productLow))
	factor := load512(&consts.productDown).Merge(load512(&consts.productUp).Merge(unit, small), large)
	return p.Mul(factor), unit.Merge(load512(&consts.minusOne).Merge(nought, small), large)
}

func countTrue512(x []uint8) (n int64) {
	const lanes = 4 * lanes512
	var nought archsimd.Uint8x64
	for ; len(x) >= lanes; x = x[lanes:] {
		zeros := archsimd.LoadUint8x64Slice(x).Equal(nought).ToBits()
		n += lanes - int64(bits.OnesCount64(uint64(zeros)))
	}
	archsimd.ClearAVXUpperBits()
	return n + countTrueRow(x)
}

func sumBlock512(x []float64) float64 {
	var s0, s1, s2, s3 wide512
	for ; len(x) >= 4*half512; x = x[4*half512:] {
		s0 = s0.Add(archsimd.LoadFloat64x8Slice(x))
		s1 = s1.Add(archsimd.LoadFloat64x8Slice(x[half512:]))
		s2 = s2.Add(archsimd.LoadFloat64x8Slice(x[2*half512:]))
		s3 = s3.Add(archsimd.LoadFloat64x8Slice(x[3*half512:]))
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumBlock64(x)
}

// across512 adds up the lanes.
func across512(s wide512) float64 {
	var lanes [half512]float64
	s.StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return halve(lanes[:])
}

// The instructions for the larger and the smaller of two numbers drop NaN. A sum of all elements beside them is NaN if one
// is; it also is for infinities of both signs. Only then each element is asked, which takes twice as long.

func maxRow512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	var s0, s1, s2, s3 narrow512
	rest := x
	for ; len(rest) >= 4*lanes512; rest = rest[4*lanes512:] {
		x0, x1 := archsimd.LoadFloat32x16Slice(rest), archsimd.LoadFloat32x16Slice(rest[lanes512:])
		x2, x3 := archsimd.LoadFloat32x16Slice(rest[2*lanes512:]), archsimd.LoadFloat32x16Slice(rest[3*lanes512:])
		m0, m1, m2, m3 = m0.Max(x0), m1.Max(x1), m2.Max(x2), m3.Max(x3)
		s0, s1, s2, s3 = s0.Add(x0), s1.Add(x1), s2.Add(x2), s3.Add(x3)
	}
	unclear := s0.Add(s1).Add(s2.Add(s3)).IsNaN().ToBits() != 0
	var lanes [lanes512]float32
	m0.Max(m1).Max(m2.Max(m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	if unclear {
		return maxAny512(x)
	}
	return larger(maxRow(lanes[:]), maxRow(rest))
}

func minRow512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(1)))
	m1, m2, m3 := m0, m0, m0
	var s0, s1, s2, s3 narrow512
	rest := x
	for ; len(rest) >= 4*lanes512; rest = rest[4*lanes512:] {
		x0, x1 := archsimd.LoadFloat32x16Slice(rest), archsimd.LoadFloat32x16Slice(rest[lanes512:])
		x2, x3 := archsimd.LoadFloat32x16Slice(rest[2*lanes512:]), archsimd.LoadFloat32x16Slice(rest[3*lanes512:])
		m0, m1, m2, m3 = m0.Min(x0), m1.Min(x1), m2.Min(x2), m3.Min(x3)
		s0, s1, s2, s3 = s0.Add(x0), s1.Add(x1), s2.Add(x2), s3.Add(x3)
	}
	unclear := s0.Add(s1).Add(s2.Add(s3)).IsNaN().ToBits() != 0
	var lanes [lanes512]float32
	m0.Min(m1).Min(m2.Min(m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	if unclear {
		return minAny512(x)
	}
	return smaller(minRow(lanes[:]), minRow(rest))
}

// maxAny512 is maxRow512 of any numbers. The running vector is the second operand, so that the test for NaN is one of the element
// and does not wait.
func maxAny512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	for ; len(x) >= 4*lanes512; x = x[4*lanes512:] {
		m0 = larger512(archsimd.LoadFloat32x16Slice(x), m0)
		m1 = larger512(archsimd.LoadFloat32x16Slice(x[lanes512:]), m1)
		m2 = larger512(archsimd.LoadFloat32x16Slice(x[2*lanes512:]), m2)
		m3 = larger512(archsimd.LoadFloat32x16Slice(x[3*lanes512:]), m3)
	}
	var lanes [lanes512]float32
	larger512(larger512(m0, m1), larger512(m2, m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return larger(maxRow(lanes[:]), maxRow(x))
}

// minAny512 is minRow512 of any numbers. The running vector is the second operand, so that the test for NaN is one of the element
// and does not wait.
func minAny512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(1)))
	m1, m2, m3 := m0, m0, m0
	for ; len(x) >= 4*lanes512; x = x[4*lanes512:] {
		m0 = smaller512(archsimd.LoadFloat32x16Slice(x), m0)
		m1 = smaller512(archsimd.LoadFloat32x16Slice(x[lanes512:]), m1)
		m2 = smaller512(archsimd.LoadFloat32x16Slice(x[2*lanes512:]), m2)
		m3 = smaller512(archsimd.LoadFloat32x16Slice(x[3*lanes512:]), m3)
	}
	var lanes [lanes512]float32
	smaller512(smaller512(m0, m1), smaller512(m2, m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return smaller(minRow(lanes[:]), minRow(x))
}
