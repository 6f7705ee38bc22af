//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"math"
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
)

// rowsState512 is what softmax and its logarithm know of as many rows as a vector has lanes. Each step is made for all rows before the
// next one: what is one number for each row is then computed for all rows at once, and the sums across lanes do not wait for each other.
// A row's numbers do not depend on the others.
type rowsState512 struct {
	highest, low [vec.Lanes512]float32 // the largest element of a row, and what is too far below it
	near, far    [vec.Lanes512]float32 // the factor of a row in two parts; near: what is subtracted from it
	bias         [vec.Lanes512]int32   // see power512
	ends         [vec.Lanes512][vec.Lanes512]float32
	sums         [2][vec.WideLanes512][vec.WideLanes512]float64 // of each lane, by row
}

// everywhere512 has a number in all lanes. It is read as a word, because a legacy instruction for floats would wait for the vectors.
// SAFETY: a word has the bits of a float32.
func everywhere512(x *float32) archsimd.Float32x16 {
	return archsimd.BroadcastInt32x16(*(*int32)(unsafe.Pointer(x))).AsFloat32x16()
}

// endingMask512 has the lanes of the last vector of a row, which the row does not fill.
func endingMask512(length int) archsimd.Mask32x16 {
	return archsimd.LoadInt32x16((*[vec.Lanes512]int32)(vec.LaneNumbers[:])).Less(archsimd.BroadcastInt32x16(int32(length & (vec.Lanes512 - 1))))
}

// loadRow512 is the vector of a row from element i on, with -Inf, whose exponential is 0, in the lanes beyond the row.
// SAFETY: memory beyond the row is not read.
func loadRow512(x []float32, i int, ending archsimd.Mask32x16) archsimd.Float32x16 {
	if i+vec.Lanes512 <= len(x) {
		return archsimd.LoadFloat32x16(vec.At512(&x[i]))
	}
	return archsimd.LoadMaskedFloat32x16(vec.At512(&x[i]), ending).Merge(vec.LoadNarrow512(&consts.padding), ending)
}

// storeRow512 stores the vector from element i on, but for the lanes beyond the row.
// SAFETY: memory beyond the row is not written.
func storeRow512(y []float32, i int, v archsimd.Float32x16, ending archsimd.Mask32x16) {
	if i+vec.Lanes512 <= len(y) {
		v.Store(vec.At512(&y[i]))
	} else {
		v.StoreMasked(vec.At512(&y[i]), ending)
	}
}

// tops sets the largest elements of the next rows and returns how many rows these are. In a row with NaN it is anything.
func (s *rowsState512) tops(src []float32, length int) (rows int) {
	ending := endingMask512(length)
	rows = min(len(src)/length, rowsAtOnce(softmaxBlock, length, vec.Lanes512))
	for j := range rows {
		x := src[j*length:][:length]
		m0 := vec.LoadNarrow512(&consts.padding)
		m1, m2, m3 := m0, m0, m0
		i := 0
		for ; i+4*vec.Lanes512 <= len(x); i += 4 * vec.Lanes512 {
			m0 = m0.Max(archsimd.LoadFloat32x16(vec.At512(&x[i])))
			m1 = m1.Max(archsimd.LoadFloat32x16(vec.At512(&x[i+vec.Lanes512])))
			m2 = m2.Max(archsimd.LoadFloat32x16(vec.At512(&x[i+2*vec.Lanes512])))
			m3 = m3.Max(archsimd.LoadFloat32x16(vec.At512(&x[i+3*vec.Lanes512])))
		}
		for ; i < len(x); i += vec.Lanes512 {
			m0 = m0.Max(loadRow512(x, i, ending))
		}
		m0.Max(m1).Max(m2.Max(m3)).Store(&s.ends[j&(vec.Lanes512-1)])
	}
	top := vec.TopOfEach512(&s.ends, rows)
	top.Store(&s.highest)
	top.Add(vec.LoadNarrow512(&consts.narrowDeepest)).Store(&s.low)
	magic := vec.LoadNarrow512(&maths.Consts.NarrowMagic)
	n := top.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowLog2e), magic).Sub(magic)
	archsimd.BroadcastInt32x16(127 + 64).Sub(n.ConvertToInt32()).Store(&s.bias)
	archsimd.ClearAVXUpperBits()
	return rows
}

// usual is the first of the rows from first to rows-1 whose largest element is beyond the limit, or rows.
func (s *rowsState512) usual(first, rows int) int {
	for ; first < rows; first++ {
		if magnitude := math.Float32bits(s.highest[first&(vec.Lanes512-1)]) &^ (1 << 31); magnitude > softmaxLimitBits {
			break
		}
	}
	return first
}

// factors sets the inverses of the sums.
func (s *rowsState512) factors(rows int) {
	for i := 0; i*vec.WideLanes512 < rows; i++ {
		factor := vec.LoadSplat512(&maths.Consts.One).Div(vec.SumOfEach512(&s.sums[i], rows-i*vec.WideLanes512))
		near := factor.ConvertToFloat32()
		far := factor.Sub(near.ConvertToFloat64()).ConvertToFloat32()
		near.Store((*[vec.WideLanes512]float32)(s.near[i*vec.WideLanes512:]))
		far.Store((*[vec.WideLanes512]float32)(s.far[i*vec.WideLanes512:]))
	}
	archsimd.ClearAVXUpperBits()
}

// logSoftmax512 is logSoftmaxRows in float32.
func logSoftmax512(dst, src []float32, length int) {
	var s rowsState512
	for len(src) >= length {
		n := s.tops(src, length)
		s.addExps(src, length, n)
		s.logSums(n)
		s.subtract(dst, src, length, n)
		src, dst = src[n*length:], dst[n*length:]
	}
}

// dropped512 is what the difference d = x - top drops.
//
// Knuth, The Art of Computer Programming 2, 4.2.2.
func dropped512(x, top, d archsimd.Float32x16) archsimd.Float32x16 {
	back := d.Sub(x)
	return x.Sub(d.Sub(back)).Sub(top.Add(back))
}

// below512 is exp(d), 2^64 times as large. What d lacks is added to the exponent, because it would be dozens of ulps of a small
// exponential. Less than minus softmaxDepth counts as that.
func below512(d, dropped archsimd.Float32x16) archsimd.Float32x16 {
	low := vec.LoadNarrow512(&consts.narrowDeepest)
	n, r := maths.SplitExpNarrow512(low.Merge(d, d.Less(low)))
	scale := n.Add(vec.LoadNarrow512(&maths.Consts.NarrowBiasUp)).AsInt32x16().ShiftAllLeft(23).AsFloat32x16()
	return maths.Expm1Narrow512(r.Add(dropped.Masked(d.Greater(low)))).MulAdd(scale, scale)
}

// addExps sets the sums of the exponentials of rows, and how often they have their largest elements.
func (s *rowsState512) addExps(src []float32, length, rows int) {
	ending := endingMask512(length)
	var nought archsimd.Float32x16
	share := archsimd.BroadcastFloat64x8(0x1p64 / vec.WideLanes512)
	for j := range rows {
		x := src[j*length:][:length]
		top := everywhere512(&s.highest[j&(vec.Lanes512-1)])
		var even, odd archsimd.Float64x8
		less := 0
		for i := 0; i < len(x); i += vec.Lanes512 {
			v := loadRow512(x, i, ending)
			d := v.Sub(top)
			differs := d.NotEqual(nought)
			less += bits.OnesCount16(uint16(differs.ToBits()))
			e := below512(d, dropped512(v, top, d)).Masked(differs)
			even, odd = even.Add(e.GetLo().ConvertToFloat64()), odd.Add(e.GetHi().ConvertToFloat64())
		}
		less -= -length & (vec.Lanes512 - 1) // beyond the row
		// How many elements but one equal the largest, shared out among the lanes.
		more := archsimd.BroadcastInt64x8(two52Bits + int64(length-less-1)).AsFloat64x8().Sub(vec.LoadSplat512(&maths.Consts.Two52))
		more.MulAdd(share, even.Add(odd)).Store(&s.sums[j/vec.WideLanes512&1][j&(vec.WideLanes512-1)])
	}
	archsimd.ClearAVXUpperBits()
}

// logSums sets log(1 + u), where u is the sum of all exponentials of a row but one of the largest, which is 1. This has all digits also
// where u is far below 1.
func (s *rowsState512) logSums(rows int) {
	for i := 0; i*vec.WideLanes512 < rows; i++ {
		u := vec.SumOfEach512(&s.sums[i], rows-i*vec.WideLanes512).Mul(vec.LoadSplat512(&consts.wideDown))
		maths.Log1p512(u).ConvertToFloat32().Store((*[vec.WideLanes512]float32)(s.near[i*vec.WideLanes512:]))
	}
	archsimd.ClearAVXUpperBits()
}

// subtract sets rows of dst to x - top less the logarithm. Both are negative or 0, so that rounding is all that is lost.
func (s *rowsState512) subtract(dst, src []float32, length, rows int) {
	ending := endingMask512(length)
	for j := range rows {
		x, y := src[j*length:][:length], dst[j*length:][:length]
		top, log := everywhere512(&s.highest[j&(vec.Lanes512-1)]), everywhere512(&s.near[j&(vec.Lanes512-1)])
		for i := 0; i < len(x); i += vec.Lanes512 {
			storeRow512(y, i, loadRow512(x, i, ending).Sub(top).Sub(log), ending)
		}
	}
	archsimd.ClearAVXUpperBits()
}
