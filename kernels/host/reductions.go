package host

import (
	"math"
	"math/bits"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

func init() {
	registerFloatReductions(dtype.Float16, halfCodec(dtype.Float16), half64Codec(dtype.Float16))
	registerFloatReductions(dtype.BFloat16, halfCodec(dtype.BFloat16), half64Codec(dtype.BFloat16))
	registerFloatReductions(dtype.Float32, new(codec[float32]), storing[float64](dtype.Float64, dtype.Float32))
	registerDoubleReductions()
	registerIntegerReductions[uint8](dtype.Uint8)
	registerIntegerReductions[int8](dtype.Int8)
	registerIntegerReductions[int16](dtype.Int16)
	registerIntegerReductions[int32](dtype.Int32)
	registerIntegerReductions[int64](dtype.Int64)
	for name, f := range map[string]folding[uint8, bool, uint8]{
		"any": anyOf[uint8](), "max": anyOf[uint8](), "sum": anyOf[uint8](), "mean": anyOf[uint8](),
		"all": allOf[uint8](), "min": allOf[uint8](), "prod": allOf[uint8](),
	} {
		reduce(name, dtype.Bool, new(codec[uint8]), new(codec[uint8]), f)
	}
}

// reduce registers a reduction whose output has one dtype.
func reduce[D, A, C any](name string, d dtype.DType, in *codec[C], out *codec[D], f folding[D, A, C]) {
	register(name, d, &reduction[D, A, C]{in: in, out: out, folding: f})
}

// registerFloatReductions adds the reductions of float32 and the halves. Sums and products are
// accumulated in float64 and rounded once; the other results are elements.
func registerFloatReductions(d dtype.DType, in *codec[float32], out *codec[float64]) {
	reduce("sum", d, in, out, sumIn64(func(a float64, _ int64) float64 { return a }))
	reduce("mean", d, in, out, sumIn64(func(a float64, n int64) float64 { return a / float64(n) }))
	reduce("prod", d, in, out, folding[float64, float64, float32]{
		zero: 1,
		fold: func(a float64, row []float32, _ int64) float64 {
			for _, x := range row {
				a *= float64(x)
			}
			return a
		},
		beside: func(as []float64, row []float32, _ int64) {
			for i, x := range row {
				as[i] *= float64(x)
			}
		},
		result: func(a float64, _ int64) float64 { return a },
	})
	inf := float32(math.Inf(1))
	largest, smallest := extreme(-inf, larger[float32]), extreme(inf, smaller[float32])
	largest.fold = func(a float32, row []float32, _ int64) float32 { return larger(a, vec.MaxRow(row)) }
	smallest.fold = func(a float32, row []float32, _ int64) float32 { return smaller(a, vec.MinRow(row)) }
	reduce("max", d, in, in, largest)
	reduce("min", d, in, in, smallest)
	registerSearches(d, in)
}

func registerDoubleReductions() {
	same, inf := new(codec[float64]), math.Inf(1)
	reduce("sum", dtype.Float64, same, same, sumExactly(func(a twofold, _ int64) float64 { return a.value() }))
	reduce("mean", dtype.Float64, same, same, sumExactly(func(a twofold, n int64) float64 { return a.value() / float64(n) }))
	reduce("prod", dtype.Float64, same, same, folded(1, func(a, x float64) float64 { return a * x }))
	reduce("max", dtype.Float64, same, same, extreme(-inf, larger[float64]))
	reduce("min", dtype.Float64, same, same, extreme(inf, smaller[float64]))
	registerSearches(dtype.Float64, same)
}

func registerIntegerReductions[T integer](d dtype.DType) {
	same := new(codec[T])
	low, high := limits[T]()
	reduce("sum", d, same, same, folded(0, func(a, x T) T { return a + x }))
	reduce("prod", d, same, same, folded(1, func(a, x T) T { return a * x }))
	reduce("max", d, same, same, extreme(low, larger[T]))
	reduce("min", d, same, same, extreme(high, smaller[T]))
	reduce("mean", d, same, same, folding[T, wide, T]{
		fold: func(a wide, row []T, _ int64) wide {
			for _, x := range row {
				a = a.plus(int64(x))
			}
			return a
		},
		beside: func(as []wide, row []T, _ int64) {
			for i, x := range row {
				as[i] = as[i].plus(int64(x))
			}
		},
		result: func(a wide, n int64) T { return T(a.over(n)) },
	})
	registerSearches(d, same)
}

// registerSearches adds the reductions that ask about elements rather than combine them.
func registerSearches[T number](d dtype.DType, in *codec[T]) {
	reduce("any", d, in, new(codec[uint8]), anyOf[T]())
	reduce("all", d, in, new(codec[uint8]), allOf[T]())
	index, narrow := new(codec[int64]), storing[int64](dtype.Int64, dtype.Int32)
	larger := func(x, best T) bool { return x > best || best != best && x == x }
	smaller := func(x, best T) bool { return x < best || best != best && x == x }
	register("argmax", d, &reduction[int64, found[T], T]{in: in, out: index, narrow: narrow, folding: search(larger)})
	register("argmin", d, &reduction[int64, found[T], T]{in: in, out: index, narrow: narrow, folding: search(smaller)})
}

// folded makes a folding of a function of two elements.
func folded[T any](zero T, f func(a, x T) T) folding[T, T, T] {
	return folding[T, T, T]{
		zero: zero,
		fold: func(a T, row []T, _ int64) T {
			for _, x := range row {
				a = f(a, x)
			}
			return a
		},
		beside: func(as []T, row []T, _ int64) {
			for i, x := range row {
				as[i] = f(as[i], x)
			}
		},
		result: func(a T, _ int64) T { return a },
	}
}

// extreme is folded for max and min.
func extreme[T number](zero T, f func(a, x T) T) folding[T, T, T] { return folded(zero, f) }

func larger[T number](a, x T) T {
	if x > a || x != x {
		return x
	}
	return a
}

func smaller[T number](a, x T) T {
	if x < a || x != x {
		return x
	}
	return a
}

func sumIn64(result func(float64, int64) float64) folding[float64, float64, float32] {
	return folding[float64, float64, float32]{
		fold: func(a float64, row []float32, _ int64) float64 { return a + vec.Sum(row) },
		beside: func(as []float64, row []float32, _ int64) {
			for i, x := range row {
				as[i] += float64(x)
			}
		},
		result: result,
	}
}

// twofold is a float64 sum and what rounding has dropped from it (Knuth's two-sum).
type twofold struct{ sum, dropped float64 }

func (a twofold) plus(x float64) twofold {
	s := a.sum + x
	back := s - a.sum
	return twofold{s, a.dropped + ((a.sum - (s - back)) + (x - back))}
}

// value is the sum; infinite and undefined sums have no use for what was dropped.
func (a twofold) value() float64 {
	if v := a.sum + a.dropped; v == v {
		return v
	}
	return a.sum
}

func sumExactly(result func(twofold, int64) float64) folding[float64, twofold, float64] {
	return folding[float64, twofold, float64]{
		fold: func(a twofold, row []float64, _ int64) twofold { return a.plus(vec.Sum64(row)) },
		beside: func(as []twofold, row []float64, _ int64) {
			for i, x := range row {
				as[i] = as[i].plus(x)
			}
		},
		result: result,
	}
}

// wide is a sum of int64 in 128 bits: the mean of large integers does not overflow.
type wide struct {
	high int64
	low  uint64
}

func (a wide) plus(x int64) wide {
	low, carry := bits.Add64(a.low, uint64(x), 0)
	return wide{a.high + x>>63 + int64(carry), low}
}

// over is the quotient by n, rounded towards zero; 0 for the mean of nothing.
func (a wide) over(n int64) int64 {
	if n == 0 {
		return 0
	}
	if a.high < 0 {
		low, borrow := bits.Sub64(0, a.low, 0)
		return -wide{-a.high - int64(borrow), low}.over(n)
	}
	q, _ := bits.Div64(uint64(a.high), a.low, uint64(n)) // high < n: the mean of int64s is an int64
	return int64(q)
}

func anyOf[T number]() folding[uint8, bool, T] {
	return untilTrue(false, func(x T) bool { return x != 0 })
}

func allOf[T number]() folding[uint8, bool, T] {
	return untilTrue(true, func(x T) bool { return x == 0 })
}

// untilTrue starts from an answer that the first element with a property turns round.
func untilTrue[T number](start bool, property func(T) bool) folding[uint8, bool, T] {
	return folding[uint8, bool, T]{
		zero: start,
		fold: func(a bool, row []T, _ int64) bool {
			for i := 0; i < len(row) && a == start; i++ {
				a = a != property(row[i])
			}
			return a
		},
		beside: func(as []bool, row []T, _ int64) {
			for i, x := range row {
				if property(x) {
					as[i] = !start
				}
			}
		},
		result: func(a bool, _ int64) uint8 { return bit(a) },
	}
}

// found is the best element so far; some is false before the first.
type found[T number] struct {
	value T
	some  bool
	at    int64
}

// search keeps the first of the elements that no other is better than.
func search[T number](better func(x, best T) bool) folding[int64, found[T], T] {
	return folding[int64, found[T], T]{
		fold: func(a found[T], row []T, at int64) found[T] {
			for i, x := range row {
				if !a.some || better(x, a.value) {
					a = found[T]{x, true, at + int64(i)}
				}
			}
			return a
		},
		beside: func(as []found[T], row []T, at int64) {
			for i, x := range row {
				if !as[i].some || better(x, as[i].value) {
					as[i] = found[T]{x, true, at}
				}
			}
		},
		result: func(a found[T], _ int64) int64 { return a.at },
	}
}
