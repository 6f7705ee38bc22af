package host

import (
	"math"
	"math/bits"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Reductions of bools are questions: any of them, or all of them.
func init() {
	registerFloatReductions(dtype.Float16, halfCodec(dtype.Float16), half64Codec(dtype.Float16))
	registerFloatReductions(dtype.BFloat16, halfCodec(dtype.BFloat16), half64Codec(dtype.BFloat16))
	registerFloatReductions(dtype.Float32, new(codec[float32]), storing[float64](dtype.Float64, dtype.Float32))
	reduce(op.IDSquareSum, dtype.Float32, new(codec[float32]), storing[float64](dtype.Float64, dtype.Float32), squareSum())
	registerDoubleReductions()
	registerIntegerReductions[uint8](dtype.Uint8)
	registerIntegerReductions[int8](dtype.Int8)
	registerIntegerReductions[int16](dtype.Int16)
	registerIntegerReductions[int32](dtype.Int32)
	registerIntegerReductions[int64](dtype.Int64)
	for id, f := range map[op.ID]folding[uint8, uint8, uint8]{
		op.IDAny: anyTrue(), op.IDMax: anyTrue(), op.IDSum: anyTrue(), op.IDMean: anyTrue(),
		op.IDAll: allTrue(), op.IDMin: allTrue(), op.IDProd: allTrue(),
	} {
		reduce(id, dtype.Bool, new(codec[uint8]), new(codec[uint8]), f)
	}
	bools := counting[uint8]()
	bools.fold = func(a int64, row []uint8, _ int64) int64 { return a + vec.CountTrue(row) }
	reduce(op.IDCountNonzero, dtype.Bool, new(codec[uint8]), new(codec[int64]), bools)
}

// reduce registers a reduction whose output has one dtype.
func reduce[D, A, C any](id op.ID, d dtype.DType, in *codec[C], out *codec[D], f folding[D, A, C]) {
	register(id, d, &reduction[D, A, C]{in: in, out: out, folding: f})
}

// registerFloatReductions adds the reductions of float32 and the halves. Sums and products are
// accumulated in float64 and rounded once; the other results are elements.
func registerFloatReductions(d dtype.DType, in *codec[float32], out *codec[float64]) {
	reduce(op.IDSum, d, in, out, sumIn64(func(a float64, _ int64) float64 { return a }))
	reduce(op.IDMean, d, in, out, sumIn64(func(a float64, n int64) float64 { return a / float64(n) }))
	reduce(op.IDProd, d, in, out, folding[float64, float64, float32]{
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
	mostOf, leastOf := vec.RowsOf[float32](vec.Max), vec.RowsOf[float32](vec.Min)
	largest, smallest := extreme(-inf, larger[float32]), extreme(inf, smaller[float32])
	largest.fold = func(a float32, row []float32, _ int64) float32 { return larger(a, vec.MaxRow(row)) }
	smallest.fold = func(a float32, row []float32, _ int64) float32 { return smaller(a, vec.MinRow(row)) }
	// Equal elements keep the first, as larger does: the second operand of vec's.
	largest.beside = func(as, row []float32, _ int64) { mostOf.VV(as, row, as) }
	smallest.beside = func(as, row []float32, _ int64) { leastOf.VV(as, row, as) }
	reduce(op.IDMax, d, in, in, largest)
	reduce(op.IDMin, d, in, in, smallest)
	registerSearches(d, in, vec.MaxRow, vec.MinRow)
}

// registerDoubleReductions adds those of float64, whose sums keep what rounding drops: there is no wider type to
// accumulate in.
func registerDoubleReductions() {
	same, inf := new(codec[float64]), math.Inf(1)
	reduce(op.IDSum, dtype.Float64, same, same, sumExactly(func(a twofold, _ int64) float64 { return a.value() }))
	reduce(op.IDMean, dtype.Float64, same, same, sumExactly(func(a twofold, n int64) float64 { return a.value() / float64(n) }))
	reduce(op.IDSquareSum, dtype.Float64, same, same, squareSum64())
	reduce(op.IDProd, dtype.Float64, same, same, folded(1, func(a, x float64) float64 { return a * x }))
	reduce(op.IDMax, dtype.Float64, same, same, extreme(-inf, larger[float64]))
	reduce(op.IDMin, dtype.Float64, same, same, extreme(inf, smaller[float64]))
	registerSearches(dtype.Float64, same, nil, nil)
}

// registerIntegerReductions adds those of one integer type. Sums and products wrap around; means do not overflow.
func registerIntegerReductions[T integer](d dtype.DType) {
	same := new(codec[T])
	low, high := d.Range()
	sum := folded(0, func(a, x T) T { return a + x })
	// A loop of its own, because the call of a function for each element would cost more than the addition.
	sum.fold = func(a T, row []T, _ int64) T {
		for _, x := range row {
			a += x
		}
		return a
	}
	reduce(op.IDSum, d, same, same, sum)
	reduce(op.IDProd, d, same, same, folded(1, func(a, x T) T { return a * x }))
	reduce(op.IDMax, d, same, same, extreme(T(low), larger[T]))
	reduce(op.IDMin, d, same, same, extreme(T(high), smaller[T]))
	reduce(op.IDMean, d, same, same, folding[T, wide, T]{
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
	registerSearches(d, same, nil, nil)
}

// registerSearches adds the reductions that ask about elements rather than combine them. most and least are the extremes
// of a row, nan where it has one, if package vec has them; else nil.
func registerSearches[T number](d dtype.DType, in *codec[T], most, least func([]T) T) {
	reduce(op.IDAny, d, in, new(codec[uint8]), anyOf[T]())
	reduce(op.IDAll, d, in, new(codec[uint8]), allOf[T]())
	reduce(op.IDCountNonzero, d, in, new(codec[int64]), counting[T]())
	index, narrow := new(codec[int64]), storing[int64](dtype.Int64, dtype.Int32)
	larger := func(x, best T) bool { return x > best || best != best && x == x }
	smaller := func(x, best T) bool { return x < best || best != best && x == x }
	register(op.IDArgmax, d, &reduction[int64, found[T], T]{in: in, out: index, narrow: narrow, folding: search(larger, most)})
	register(op.IDArgmin, d, &reduction[int64, found[T], T]{in: in, out: index, narrow: narrow, folding: search(smaller, least)})
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

// larger is the maximum of two elements; nan where either is.
func larger[T number](a, x T) T {
	if x > a || x != x {
		return x
	}
	return a
}

// smaller is the minimum of two elements; nan where either is.
func smaller[T number](a, x T) T {
	if x < a || x != x {
		return x
	}
	return a
}

// sumIn64 adds float32 up in float64; result makes the output of the sum and the count.
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

// squareSum adds the squares of float32 up in float64, which holds them exactly.
func squareSum() folding[float64, float64, float32] {
	f := sumIn64(func(a float64, _ int64) float64 { return a })
	f.fold = func(a float64, row []float32, _ int64) float64 { return a + vec.SumSquares(row) }
	f.beside = func(as []float64, row []float32, _ int64) {
		for i, x := range row {
			as[i] += float64(x) * float64(x)
		}
	}
	return f
}

// The squares of a block are an array on the stack: they are added in pairs as any row is, and only the sums of blocks are
// added one after the other, with what rounding drops.

// squareSum64 rounds each square once and adds them up as sums of float64 are.
func squareSum64() folding[float64, twofold, float64] {
	f := sumExactly(func(a twofold, _ int64) float64 { return a.value() })
	f.fold = func(a twofold, row []float64, _ int64) twofold {
		var squares [block]float64
		for len(row) > 0 {
			n := min(len(row), block)
			for i, x := range row[:n] {
				squares[i] = x * x
			}
			a, row = a.plus(vec.Sum64(squares[:n])), row[n:]
		}
		return a
	}
	f.beside = func(as []twofold, row []float64, _ int64) {
		for i, x := range row {
			as[i] = as[i].plus(x * x)
		}
	}
	return f
}

// counting counts the elements that are not zero. A comparison is added as a number: zeros among others cannot be
// predicted, so that a branch would cost more than the addition.
func counting[T number]() folding[int64, int64, T] {
	return folding[int64, int64, T]{
		fold: func(a int64, row []T, _ int64) int64 {
			for _, x := range row {
				a += int64(bit(x != 0))
			}
			return a
		},
		beside: func(as []int64, row []T, _ int64) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] += int64(bit(x != 0))
			}
		},
		result: func(a, _ int64) int64 { return a },
	}
}

// twofold is a float64 sum and what rounding has dropped from it (Knuth's two-sum).
type twofold struct{ sum, dropped float64 }

// plus adds x; what rounding drops is exact unless the sum overflows.
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

// sumExactly adds float64 up with what rounding drops; result as in sumIn64.
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

// plus adds x, extended to 128 bits.
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

// anyOf is true where an element is not zero; false for no elements.
func anyOf[T number]() folding[uint8, bool, T] {
	return untilTrue(false, func(x T) bool { return x != 0 })
}

// allOf is false where an element is zero; true for no elements.
func allOf[T number]() folding[uint8, bool, T] {
	return untilTrue(true, func(x T) bool { return x == 0 })
}

// untilKnown is how many bools are looked at before it is asked whether the answer is known.
const untilKnown = 1 << 14

// anyTrue is anyOf for bools. Their bytes are counted, or joined eight at a time, and not looked at one by one. Accumulators
// are bytes for that, any but 0 for true.
func anyTrue() folding[uint8, uint8, uint8] {
	return folding[uint8, uint8, uint8]{
		fold: func(a uint8, row []uint8, _ int64) uint8 {
			for ; len(row) > 0 && a == 0; row = row[min(untilKnown, len(row)):] {
				a = bit(vec.CountTrue(row[:min(untilKnown, len(row))]) != 0)
			}
			return a
		},
		beside: func(as, row []uint8, _ int64) { vec.Or(as, row) },
		result: func(a uint8, _ int64) uint8 { return bit(a != 0) },
	}
}

// allTrue is allOf for bools, in the same way. Accumulators are 1 until a byte is 0.
func allTrue() folding[uint8, uint8, uint8] {
	return folding[uint8, uint8, uint8]{
		zero: 1,
		fold: func(a uint8, row []uint8, _ int64) uint8 {
			for ; len(row) > 0 && a != 0; row = row[min(untilKnown, len(row)):] {
				part := row[:min(untilKnown, len(row))]
				a = bit(vec.CountTrue(part) == int64(len(part)))
			}
			return a
		},
		beside: func(as, row []uint8, _ int64) { vec.AndTrue(as, row) },
		result: func(a uint8, _ int64) uint8 { return a },
	}
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

// search keeps the first of the elements that no other is better than. With a function for the best of a row, parts of
// a row that have nothing better are passed over by it.
func search[T number](better func(x, best T) bool, of func([]T) T) folding[int64, found[T], T] {
	each := func(a found[T], row []T, at int64) found[T] {
		for i, x := range row {
			if !a.some || better(x, a.value) {
				a = found[T]{x, true, at + int64(i)}
			}
		}
		return a
	}
	// Of random numbers the best so far changes with the logarithm of their number: nearly all parts are passed over.
	fold := each
	if of != nil {
		fold = func(a found[T], row []T, at int64) found[T] {
			for len(row) > 0 {
				part := row[:min(len(row), block)]
				if best := of(part); !a.some || best != best || better(best, a.value) {
					a = each(a, part, at)
				}
				row, at = row[len(part):], at+int64(len(part))
			}
			return a
		}
	}
	return folding[int64, found[T], T]{
		fold: fold,
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
