//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// softmax512 is softmaxRows in float32, but for rows whose largest element is beyond the limit.
//
// Nothing is subtracted before the exponential, because the rounding of x - max(x) would be a factor after it. Each element is split for
// itself, exp(x) = 2^n exp(r), and from n that of the maximum is subtracted, which is exact. All is 2^64 times as large until the end, so
// that no power is subnormal. What rounding drops from an exponential is kept until the end too, in room.
func softmax512(dst, src []float32, length int) {
	if length <= softmaxFew {
		softmaxColumns512(dst, src, length)
		return
	}
	room := softmaxRoom(length)
	for ; len(src) >= length; dst, src = dst[length:], src[length:] {
		row, to := src[:length], dst[:length]
		top := highest512(row)
		if !(math.Abs(float64(top)) <= softmaxLimit) {
			softmaxRow(to, row, top, expSum512)
			continue
		}
		factor := 1 / powers512(to, row, *room, top)
		near := float32(factor)
		scale512(to, *room, near, float32(factor-float64(near)))
	}
	softmaxRests.Put(room)
}

// highest512 is the largest element of a row. Of a row with NaN it is anything: its sum will be NaN.
func highest512(x []float32) float32 {
	m0 := archsimd.BroadcastFloat32x16(float32(math.Inf(-1)))
	m1, m2, m3 := m0, m0, m0
	i := 0
	for ; i+4*lanes512 <= len(x); i += 4 * lanes512 {
		m0 = m0.Max(archsimd.LoadFloat32x16(at512(&x[i])))
		m1 = m1.Max(archsimd.LoadFloat32x16(at512(&x[i+lanes512])))
		m2 = m2.Max(archsimd.LoadFloat32x16(at512(&x[i+2*lanes512])))
		m3 = m3.Max(archsimd.LoadFloat32x16(at512(&x[i+3*lanes512])))
	}
	for ; i+lanes512 <= len(x); i += lanes512 {
		m0 = m0.Max(archsimd.LoadFloat32x16(at512(&x[i])))
	}
	// A second look at an element does not change a maximum.
	if i < len(x) && i > 0 { // once more what has been seen
		m1 = m1.Max(archsimd.LoadFloat32x16(at512(&x[len(x)-lanes512])))
	}
	if i == 0 {
		return maxRow(x)
	}
	var lanes [half512]float32
	m0 = m0.Max(m1).Max(m2.Max(m3))
	m0.GetLo().Max(m0.GetHi()).Store(&lanes)
	archsimd.ClearAVXUpperBits()
	top := lanes[0]
	for _, v := range lanes[1:] {
		top = max(top, v)
	}
	return top
}

// power512 is 2^64 exp(x) / 2^n, given n by the bias of exponents, in two parts, of which the second is what rounding drops. What is
// less than low counts as low.
func power512(x, low narrow512, bias shifts512) (e, rest narrow512) {
	x = low.Merge(x, x.Less(low))
	magic := loadNarrow512(&consts.narrowMagic)
	t := x.MulAdd(loadNarrow512(&consts.narrowLog2e), magic)
	n := t.Sub(magic)
	r := n.MulAdd(loadNarrow512(&consts.narrowMinusLn2), x)
	g := growthNarrow512(n.MulAdd(loadNarrow512(&consts.narrowMinusLn2Low), r))
	s := t.AsInt32x16().Add(bias).ShiftAllLeft(23).AsFloat32x16()
	e = g.MulAdd(s, s)
	return e, g.MulAdd(s, s.Sub(e))
}

// powers512 sets dst and rests to power512 of a row and returns the sum. What fills no vector is padded with -Inf.
func powers512(dst, src, rests []float32, top float32) float64 {
	var even, odd wide512
	var dropped narrow512
	low := archsimd.BroadcastFloat32x16(top - softmaxDepth)
	bias := archsimd.BroadcastInt32x16(127 + 64 - int32(math.RoundToEven(float64(top)*math.Log2E)))
	i := 0
	for ; i+lanes512 <= len(src); i += lanes512 {
		e, rest := power512(archsimd.LoadFloat32x16(at512(&src[i])), low, bias)
		e.Store(at512(&dst[i]))
		rest.Store(at512(&rests[i]))
		dropped = dropped.Add(rest)
		even, odd = even.Add(e.GetLo().ConvertToFloat64()), odd.Add(e.GetHi().ConvertToFloat64())
	}
	if i < len(src) {
		row := consts.padding
		copy(row[:lanes512], src[i:])
		e, rest := power512(archsimd.LoadFloat32x16(at512(&row[0])), low, bias)
		e.Store(at512(&row[0]))
		copy(dst[i:len(src)], row[:lanes512])
		rest.Store(at512(&rests[i]))
		dropped = dropped.Add(rest)
		even, odd = even.Add(e.GetLo().ConvertToFloat64()), odd.Add(e.GetHi().ConvertToFloat64())
	}
	even, odd = even.Add(dropped.GetLo().ConvertToFloat64()), odd.Add(dropped.GetHi().ConvertToFloat64())
	return across512(even.Add(odd))
}

// scale512 multiplies a row, with what has been dropped from it, by near + far, and rounds once.
func scale512(row, rests []float32, near, far float32) {
	n, f := archsimd.BroadcastFloat32x16(near), archsimd.BroadcastFloat32x16(far)
	i := 0
	// The products with what is small are added first.
	for ; i+lanes512 <= len(row); i += lanes512 {
		e := archsimd.LoadFloat32x16(at512(&row[i]))
		e.MulAdd(n, n.MulAdd(archsimd.LoadFloat32x16(at512(&rests[i])), e.Mul(f))).Store(at512(&row[i]))
	}
	if i < len(row) {
		var pad [lanes512]float32
		copy(pad[:], row[i:])
		e := archsimd.LoadFloat32x16(&pad)
		e.MulAdd(n, n.MulAdd(archsimd.LoadFloat32x16(at512(&rests[i])), e.Mul(f))).Store(&pad)
		copy(row[i:], pad[:])
	}
	archsimd.ClearAVXUpperBits()
}

// softmaxColumns512 is softmaxRows of short rows, which would fill no vectors: each has a lane. Elements move to lanes and back as
// words, because legacy instructions for floats would wait for the vectors.
// SAFETY: a word has the bits of a float32; rows and columns are inside of their slices and arrays.
func softmaxColumns512(dst, src []float32, length int) {
	var columns [softmaxFew][half512]uint32
	var exps [softmaxFew]wide512
	column := func(j int) *[half512]float32 { return (*[half512]float32)(unsafe.Pointer(&columns[j&(softmaxFew-1)])) }
	words := func(x []float32, i int) []uint32 {
		return unsafe.Slice((*uint32)(unsafe.Pointer(&x[i*length])), length)
	}
	for len(src) > 0 {
		// Lanes without a row keep what was there before, which no other lane sees.
		rows := min(len(src)/length, half512)
		for i := range rows {
			for j, x := range words(src, i) {
				columns[j&(softmaxFew-1)][i&(half512-1)] = x
			}
		}
		// A maximum may miss NaN, and that of infinities is no number: the sum is NaN then, and all of the row with it.
		top := archsimd.LoadFloat32x8(column(0))
		for j := 1; j < length; j++ {
			top = top.Max(archsimd.LoadFloat32x8(column(j)))
		}
		var sum wide512
		for j := range length {
			r, scale := foldExp512(archsimd.LoadFloat32x8(column(j)).ConvertToFloat64().Sub(top.ConvertToFloat64()))
			e := expTaylor512(r).MulAdd(scale, scale)
			exps[j&(softmaxFew-1)] = e
			sum = sum.Add(e)
		}
		// A product instead of a division for each element: its rounding is one of float64.
		factor := load512(&consts.one).Div(sum)
		for j := range length {
			exps[j&(softmaxFew-1)].Mul(factor).ConvertToFloat32().Store(column(j))
		}
		for i := range rows {
			to := words(dst, i)
			for j := range to {
				to[j] = columns[j&(softmaxFew-1)][i&(half512-1)]
			}
		}
		src, dst = src[rows*length:], dst[rows*length:]
	}
	archsimd.ClearAVXUpperBits()
}
