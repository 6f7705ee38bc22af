//go:build goexperiment.simd && amd64 && !race

package vec

import (
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
	room := softmaxRoom(length, rowsAtOnce(softmaxBlock, length, lanes512))
	var s rowsState512
	for len(src) >= length {
		n := s.tops(src, length)
		for first := 0; first < n; {
			last := s.usual(first, n)
			if last == first {
				last++
				softmaxRow(dst[first*length:last*length], src[first*length:last*length], s.highest[first])
			} else {
				powers512(&s, dst, src, *room, length, first, last)
				s.factors(last)
				scale512(&s, dst, *room, length, first, last)
			}
			first = last
		}
		src, dst = src[n*length:], dst[n*length:]
	}
	softmaxRests.Put(room)
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

// powers512 sets rows first to last-1 of dst and rests to power512 of those of src, and s to the sums of each lane. Rows of rests begin
// with a vector.
func powers512(s *rowsState512, dst, src, rests []float32, length, first, last int) {
	ending := endingMask512(length)
	stride := (length + lanes512 - 1) &^ (lanes512 - 1)
	for j := first; j < last; j++ {
		x, y, rest := src[j*length:][:length], dst[j*length:][:length], rests[(j-first)*stride:][:stride]
		low, bias := everywhere512(&s.low[j&(lanes512-1)]), archsimd.BroadcastInt32x16(s.bias[j&(lanes512-1)])
		var even, odd wide512
		var dropped narrow512
		for i := 0; i < len(x); i += lanes512 {
			e, r := power512(loadRow512(x, i, ending), low, bias)
			storeRow512(y, i, e, ending)
			r.Store(at512(&rest[i]))
			dropped = dropped.Add(r)
			even, odd = even.Add(e.GetLo().ConvertToFloat64()), odd.Add(e.GetHi().ConvertToFloat64())
		}
		even, odd = even.Add(dropped.GetLo().ConvertToFloat64()), odd.Add(dropped.GetHi().ConvertToFloat64())
		even.Add(odd).Store(&s.sums[j/half512&1][j&(half512-1)])
	}
	archsimd.ClearAVXUpperBits()
}

// scale512 multiplies rows, with what has been dropped from them, by the factors of s, and rounds once.
func scale512(s *rowsState512, rows, rests []float32, length, first, last int) {
	ending := endingMask512(length)
	stride := (length + lanes512 - 1) &^ (lanes512 - 1)
	for j := first; j < last; j++ {
		row, rest := rows[j*length:][:length], rests[(j-first)*stride:][:stride]
		n, f := everywhere512(&s.near[j&(lanes512-1)]), everywhere512(&s.far[j&(lanes512-1)])
		// The products with what is small are added first.
		for i := 0; i < len(row); i += lanes512 {
			e := loadRow512(row, i, ending)
			storeRow512(row, i, e.MulAdd(n, n.MulAdd(archsimd.LoadFloat32x16(at512(&rest[i])), e.Mul(f))), ending)
		}
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
