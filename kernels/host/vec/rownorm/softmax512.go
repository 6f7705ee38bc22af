//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
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
	room := softmaxRoom(length, rowsAtOnce(softmaxBlock, length, vec.Lanes512))
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
func power512(x, low archsimd.Float32x16, bias archsimd.Int32x16) (e, rest archsimd.Float32x16) {
	x = low.Merge(x, x.Less(low))
	magic := vec.LoadNarrow512(&maths.Consts.NarrowMagic)
	t := x.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowLog2e), magic)
	n := t.Sub(magic)
	r := n.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowMinusLn2), x)
	g := maths.Expm1Narrow512(n.MulAdd(vec.LoadNarrow512(&maths.Consts.NarrowMinusLn2Low), r))
	s := t.AsInt32x16().Add(bias).ShiftAllLeft(23).AsFloat32x16()
	e = g.MulAdd(s, s)
	return e, g.MulAdd(s, s.Sub(e))
}

// powers512 sets rows first to last-1 of dst and rests to power512 of those of src, and s to the sums of each lane. Rows of rests begin
// with a vector.
func powers512(s *rowsState512, dst, src, rests []float32, length, first, last int) {
	ending := endingMask512(length)
	stride := (length + vec.Lanes512 - 1) &^ (vec.Lanes512 - 1)
	for j := first; j < last; j++ {
		x, y, rest := src[j*length:][:length], dst[j*length:][:length], rests[(j-first)*stride:][:stride]
		low, bias := everywhere512(&s.low[j&(vec.Lanes512-1)]), archsimd.BroadcastInt32x16(s.bias[j&(vec.Lanes512-1)])
		var even, odd archsimd.Float64x8
		var dropped archsimd.Float32x16
		for i := 0; i < len(x); i += vec.Lanes512 {
			e, r := power512(loadRow512(x, i, ending), low, bias)
			storeRow512(y, i, e, ending)
			r.Store(vec.At512(&rest[i]))
			dropped = dropped.Add(r)
			even, odd = even.Add(e.GetLo().ConvertToFloat64()), odd.Add(e.GetHi().ConvertToFloat64())
		}
		even, odd = even.Add(dropped.GetLo().ConvertToFloat64()), odd.Add(dropped.GetHi().ConvertToFloat64())
		even.Add(odd).Store(&s.sums[j/vec.WideLanes512&1][j&(vec.WideLanes512-1)])
	}
	archsimd.ClearAVXUpperBits()
}

// scale512 multiplies rows, with what has been dropped from them, by the factors of s, and rounds once.
func scale512(s *rowsState512, rows, rests []float32, length, first, last int) {
	ending := endingMask512(length)
	stride := (length + vec.Lanes512 - 1) &^ (vec.Lanes512 - 1)
	for j := first; j < last; j++ {
		row, rest := rows[j*length:][:length], rests[(j-first)*stride:][:stride]
		n, f := everywhere512(&s.near[j&(vec.Lanes512-1)]), everywhere512(&s.far[j&(vec.Lanes512-1)])
		// The products with what is small are added first.
		for i := 0; i < len(row); i += vec.Lanes512 {
			e := loadRow512(row, i, ending)
			storeRow512(row, i, e.MulAdd(n, n.MulAdd(archsimd.LoadFloat32x16(vec.At512(&rest[i])), e.Mul(f))), ending)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// softmaxColumns512 is softmaxRows of short rows, which would fill no vectors: each has a lane. Elements move to lanes and back as
// words, because legacy instructions for floats would wait for the vectors.
// SAFETY: a word has the bits of a float32; rows and columns are inside of their slices and arrays.
func softmaxColumns512(dst, src []float32, length int) {
	var columns [softmaxFew][vec.WideLanes512]uint32
	var exps [softmaxFew]archsimd.Float64x8
	column := func(j int) *[vec.WideLanes512]float32 {
		return (*[vec.WideLanes512]float32)(unsafe.Pointer(&columns[j&(softmaxFew-1)]))
	}
	words := func(x []float32, i int) []uint32 {
		return unsafe.Slice((*uint32)(unsafe.Pointer(&x[i*length])), length)
	}
	for len(src) > 0 {
		// Lanes without a row keep what was there before, which no other lane sees.
		rows := min(len(src)/length, vec.WideLanes512)
		for i := range rows {
			for j, x := range words(src, i) {
				columns[j&(softmaxFew-1)][i&(vec.WideLanes512-1)] = x
			}
		}
		// A maximum may miss NaN, and that of infinities is no number: the sum is NaN then, and all of the row with it.
		top := archsimd.LoadFloat32x8(column(0))
		for j := 1; j < length; j++ {
			top = top.Max(archsimd.LoadFloat32x8(column(j)))
		}
		var sum archsimd.Float64x8
		for j := range length {
			r, scale := maths.SplitExp512(archsimd.LoadFloat32x8(column(j)).ConvertToFloat64().Sub(top.ConvertToFloat64()))
			e := maths.ExpTaylor512(r).MulAdd(scale, scale)
			exps[j&(softmaxFew-1)] = e
			sum = sum.Add(e)
		}
		// A product instead of a division for each element: its rounding is one of float64.
		factor := vec.LoadSplat512(&maths.Consts.One).Div(sum)
		for j := range length {
			exps[j&(softmaxFew-1)].Mul(factor).ConvertToFloat32().Store(column(j))
		}
		for i := range rows {
			to := words(dst, i)
			for j := range to {
				to[j] = columns[j&(softmaxFew-1)][i&(vec.WideLanes512-1)]
			}
		}
		src, dst = src[rows*length:], dst[rows*length:]
	}
	archsimd.ClearAVXUpperBits()
}
