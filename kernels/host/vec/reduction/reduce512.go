//go:build goexperiment.simd && amd64 && !race

package reduction

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Four running vectors, so that one addition does not wait for the one before.
// The tails and the lanes of the result are left to the portable loops.

// Sum512 is [Sum].
func Sum512(x []float32) float64 { return sumAhead512(x, new(upcoming)) }

func sumRows512(sums []float64, x []float32, stride, length int) {
	sumRowsBy(vec.WideLanes512, sums, x, stride, length)
}

// sumAhead512 adds up a row, and asks for what is ahead.
// SAFETY: see vec.LoadFloats512.
func sumAhead512(x []float32, ahead *upcoming) float64 {
	var s0, s1, s2, s3 archsimd.Float64x8
	whole, from := 4*(len(x)&^(4*vec.WideLanes512-1)), unsafe.Pointer(unsafe.SliceData(x))
	for i := 0; i < whole; {
		ahead.next()
		for end := min(whole, i+streamPiece); i < end; i += 16 * vec.WideLanes512 {
			s0, s1 = s0.Add(vec.LoadWidened512(from, i)), s1.Add(vec.LoadWidened512(from, i+4*vec.WideLanes512))
			s2, s3 = s2.Add(vec.LoadWidened512(from, i+8*vec.WideLanes512)), s3.Add(vec.LoadWidened512(from, i+12*vec.WideLanes512))
		}
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + PortableSumRow(x[whole/4:])
}

func sumSquares512(x []float32) float64 {
	var s0, s1, s2, s3 archsimd.Float64x8
	for ; len(x) >= 4*vec.WideLanes512; x = x[4*vec.WideLanes512:] {
		x0 := archsimd.LoadFloat32x8Slice(x).ConvertToFloat64()
		x1 := archsimd.LoadFloat32x8Slice(x[vec.WideLanes512:]).ConvertToFloat64()
		x2 := archsimd.LoadFloat32x8Slice(x[2*vec.WideLanes512:]).ConvertToFloat64()
		x3 := archsimd.LoadFloat32x8Slice(x[3*vec.WideLanes512:]).ConvertToFloat64()
		s0, s1, s2, s3 = x0.MulAdd(x0, s0), x1.MulAdd(x1, s1), x2.MulAdd(x2, s2), x3.MulAdd(x3, s3)
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumSquaresRow(x)
}

// magnitudes512 is Magnitudes. A NaN may be lost as the largest, but never in the sum.
func magnitudes512(x []float32) (largest, sum float64) {
	var s0, s1, most archsimd.Float64x8
	sizes := archsimd.BroadcastInt64x8(math.MaxInt64)
	for ; len(x) >= 2*vec.WideLanes512; x = x[2*vec.WideLanes512:] {
		x0 := archsimd.LoadFloat32x8Slice(x).ConvertToFloat64().AsInt64x8().And(sizes).AsFloat64x8()
		x1 := archsimd.LoadFloat32x8Slice(x[vec.WideLanes512:]).ConvertToFloat64().AsInt64x8().And(sizes).AsFloat64x8()
		s0, s1, most = s0.Add(x0), s1.Add(x1), most.Max(x0).Max(x1)
	}
	var lanes [vec.WideLanes512]float64
	most.Store(&lanes)
	sum = across512(s0.Add(s1))
	largest, rest := magnitudesRow(x)
	for _, v := range lanes {
		largest = max(largest, v)
	}
	return largest, sum + rest
}

// product512 is Product. Each lane is scaled by itself; the exponents of all are counted together, as numbers.
// SAFETY: see vec.LoadFloats512.
func product512(x []float32) float64 {
	const lanes, step = 8 * vec.WideLanes512, 16 * vec.WideLanes512 // elements of a turn, bytes of half of them
	p0, exponents := vec.LoadSplat512(&consts.one), vec.LoadSplat512(&consts.zero)
	p1 := p0
	for ; len(x) >= lanes; x = x[lanes:] {
		from := unsafe.Pointer(&x[0])
		var e0, e1 archsimd.Float64x8
		// A scaled product is within 2^300 on both sides and four elements within 2^596, so that neither product leaves the
		// range of float64.
		p0, e0 = scaled512(p0.Mul(four512(from, 0)))
		p1, e1 = scaled512(p1.Mul(four512(from, step)))
		exponents = exponents.Add(e0.Add(e1))
	}
	var values, counts [vec.WideLanes512]float64
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
// SAFETY: see vec.LoadFloats512.
func four512(p unsafe.Pointer, i int) archsimd.Float64x8 {
	const bytes = 4 * vec.WideLanes512
	return vec.LoadWidened512(p, i).Mul(vec.LoadWidened512(p, i+bytes)).Mul(vec.LoadWidened512(p, i+2*bytes).Mul(vec.LoadWidened512(p, i+3*bytes)))
}

// scaled512 is scaled.times after the product.
func scaled512(p archsimd.Float64x8) (value, exponent archsimd.Float64x8) {
	a, unit, nought := magnitude512(p), vec.LoadSplat512(&consts.one), vec.LoadSplat512(&consts.zero)
	large, small := a.Greater(vec.LoadSplat512(&consts.productHigh)), a.Less(vec.LoadSplat512(&consts.productLow))
	factor := vec.LoadSplat512(&consts.productDown).Merge(vec.LoadSplat512(&consts.productUp).Merge(unit, small), large)
	return p.Mul(factor), unit.Merge(vec.LoadSplat512(&consts.minusOne).Merge(nought, small), large)
}

func countTrue512(x []uint8) (n int64) {
	const lanes = 4 * vec.Lanes512
	var nought archsimd.Uint8x64
	for ; len(x) >= lanes; x = x[lanes:] {
		zeros := archsimd.LoadUint8x64Slice(x).Equal(nought).ToBits()
		n += lanes - int64(bits.OnesCount64(uint64(zeros)))
	}
	archsimd.ClearAVXUpperBits()
	return n + countTrueRow(x)
}

func sumBlock512(x []float64) float64 {
	var s0, s1, s2, s3 archsimd.Float64x8
	for ; len(x) >= 4*vec.WideLanes512; x = x[4*vec.WideLanes512:] {
		s0 = s0.Add(archsimd.LoadFloat64x8Slice(x))
		s1 = s1.Add(archsimd.LoadFloat64x8Slice(x[vec.WideLanes512:]))
		s2 = s2.Add(archsimd.LoadFloat64x8Slice(x[2*vec.WideLanes512:]))
		s3 = s3.Add(archsimd.LoadFloat64x8Slice(x[3*vec.WideLanes512:]))
	}
	return across512(s0.Add(s1).Add(s2.Add(s3))) + sumBlock64(x)
}

// across512 adds up the lanes.
func across512(s archsimd.Float64x8) float64 {
	var lanes [vec.WideLanes512]float64
	s.StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return halve(lanes[:])
}

// The instructions for the larger and the smaller of two numbers drop NaN. A sum of all elements beside them is NaN if one
// is; it also is for infinities of both signs. Only then each element is asked, which takes twice as long.

func maxRow512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	var s0, s1, s2, s3 archsimd.Float32x16
	rest := x
	for ; len(rest) >= 4*vec.Lanes512; rest = rest[4*vec.Lanes512:] {
		x0, x1 := archsimd.LoadFloat32x16Slice(rest), archsimd.LoadFloat32x16Slice(rest[vec.Lanes512:])
		x2, x3 := archsimd.LoadFloat32x16Slice(rest[2*vec.Lanes512:]), archsimd.LoadFloat32x16Slice(rest[3*vec.Lanes512:])
		m0, m1, m2, m3 = m0.Max(x0), m1.Max(x1), m2.Max(x2), m3.Max(x3)
		s0, s1, s2, s3 = s0.Add(x0), s1.Add(x1), s2.Add(x2), s3.Add(x3)
	}
	unclear := s0.Add(s1).Add(s2.Add(s3)).IsNaN().ToBits() != 0
	var lanes [vec.Lanes512]float32
	m0.Max(m1).Max(m2.Max(m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	if unclear {
		return maxAny512(x)
	}
	return vec.Larger(PortableMaxRow(lanes[:]), PortableMaxRow(rest))
}

func minRow512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(1)))
	m1, m2, m3 := m0, m0, m0
	var s0, s1, s2, s3 archsimd.Float32x16
	rest := x
	for ; len(rest) >= 4*vec.Lanes512; rest = rest[4*vec.Lanes512:] {
		x0, x1 := archsimd.LoadFloat32x16Slice(rest), archsimd.LoadFloat32x16Slice(rest[vec.Lanes512:])
		x2, x3 := archsimd.LoadFloat32x16Slice(rest[2*vec.Lanes512:]), archsimd.LoadFloat32x16Slice(rest[3*vec.Lanes512:])
		m0, m1, m2, m3 = m0.Min(x0), m1.Min(x1), m2.Min(x2), m3.Min(x3)
		s0, s1, s2, s3 = s0.Add(x0), s1.Add(x1), s2.Add(x2), s3.Add(x3)
	}
	unclear := s0.Add(s1).Add(s2.Add(s3)).IsNaN().ToBits() != 0
	var lanes [vec.Lanes512]float32
	m0.Min(m1).Min(m2.Min(m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	if unclear {
		return minAny512(x)
	}
	return vec.Smaller(portableMinRow(lanes[:]), portableMinRow(rest))
}

// maxAny512 is maxRow512 of any numbers. The running vector is the second operand, so that the test for NaN is one of the element
// and does not wait.
func maxAny512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	for ; len(x) >= 4*vec.Lanes512; x = x[4*vec.Lanes512:] {
		m0 = vec.Larger512(archsimd.LoadFloat32x16Slice(x), m0)
		m1 = vec.Larger512(archsimd.LoadFloat32x16Slice(x[vec.Lanes512:]), m1)
		m2 = vec.Larger512(archsimd.LoadFloat32x16Slice(x[2*vec.Lanes512:]), m2)
		m3 = vec.Larger512(archsimd.LoadFloat32x16Slice(x[3*vec.Lanes512:]), m3)
	}
	var lanes [vec.Lanes512]float32
	vec.Larger512(vec.Larger512(m0, m1), vec.Larger512(m2, m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return vec.Larger(PortableMaxRow(lanes[:]), PortableMaxRow(x))
}

// minAny512 is minRow512 of any numbers. The running vector is the second operand, so that the test for NaN is one of the element
// and does not wait.
func minAny512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(1)))
	m1, m2, m3 := m0, m0, m0
	for ; len(x) >= 4*vec.Lanes512; x = x[4*vec.Lanes512:] {
		m0 = vec.Smaller512(archsimd.LoadFloat32x16Slice(x), m0)
		m1 = vec.Smaller512(archsimd.LoadFloat32x16Slice(x[vec.Lanes512:]), m1)
		m2 = vec.Smaller512(archsimd.LoadFloat32x16Slice(x[2*vec.Lanes512:]), m2)
		m3 = vec.Smaller512(archsimd.LoadFloat32x16Slice(x[3*vec.Lanes512:]), m3)
	}
	var lanes [vec.Lanes512]float32
	vec.Smaller512(vec.Smaller512(m0, m1), vec.Smaller512(m2, m3)).StoreSlice(lanes[:])
	archsimd.ClearAVXUpperBits()
	return vec.Smaller(portableMinRow(lanes[:]), portableMinRow(x))
}

// magnitude512 clears the signs.
func magnitude512(x archsimd.Float64x8) archsimd.Float64x8 {
	return x.AsInt64x8().And(vec.LoadSplat512(&consts.magnitude).AsInt64x8()).AsFloat64x8()
}
