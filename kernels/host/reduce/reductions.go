package reduce

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/kernels/host/elem"
	"github.com/paddle-mps/paddle-mps/kernels/host/engine"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// What sums, products and means add and multiply, and the extremes. What asks about elements is in any_all.go and argmax.go.
func init() {
	registerFloatReductions(dtype.Float16, engine.HalfCodec(dtype.Float16), engine.Half64Codec(dtype.Float16))
	registerFloatReductions(dtype.BFloat16, engine.HalfCodec(dtype.BFloat16), engine.Half64Codec(dtype.BFloat16))
	registerFloatReductions(dtype.Float32, new(engine.Codec[float32]), elem.Storing[float64](dtype.Float64, dtype.Float32))
	reduce(op.IDSquareSum, dtype.Float32, new(engine.Codec[float32]), elem.Storing[float64](dtype.Float64, dtype.Float32), squareSum())
	registerDoubleReductions()
	registerIntegerReductions[uint8](dtype.Uint8)
	registerIntegerReductions[int8](dtype.Int8)
	registerIntegerReductions[int16](dtype.Int16)
	registerIntegerReductions[int32](dtype.Int32)
	registerIntegerReductions[int64](dtype.Int64)
	registerWholeProducts()
	registerIntegerMeans()
	registerSearches()
	registerQuestions()
}

// registerFloatReductions adds the reductions of float32 and the halves. Sums and products are
// accumulated in float64 and rounded once; the other results are elements.
func registerFloatReductions(d dtype.DType, in *engine.Codec[float32], out *engine.Codec[float64]) {
	reduce(op.IDSum, d, in, out, sumIn64(accumulators))
	reduce(op.IDMean, d, in, out, sumIn64(func(dst, as []float64, n int64) { quotients.VS(dst, as, float64(n)) }))
	reduce(op.IDProd, d, in, out, folding[float64, float64, float32]{
		zero: 1,
		fold: func(a float64, row []float32) float64 { return a * reduction.Product(row) },
		beside: func(as []float64, row []float32) {
			for i, x := range row {
				as[i] *= float64(x)
			}
		},
		lines:   linesOf(reduction.ProductLines),
		results: accumulators[float64],
	})
	inf := float32(math.Inf(1))
	largest := extreme(-inf, Larger[float32], func(a float32, row []float32) float32 { return Larger(a, reduction.MaxRow(row)) })
	smallest := extreme(inf, smaller[float32], func(a float32, row []float32) float32 { return smaller(a, reduction.MinRow(row)) })
	largest.stack, smallest.stack = stackOf(reduction.MaxColumns), stackOf(reduction.MinColumns)
	largest.wide, smallest.wide = true, true
	reduce(op.IDMax, d, in, in, largest)
	reduce(op.IDMin, d, in, in, smallest)
}

// registerDoubleReductions adds those of float64, whose sums keep what rounding drops: there is no wider type to
// accumulate in.
func registerDoubleReductions() {
	same, inf := new(engine.Codec[float64]), math.Inf(1)
	reduce(op.IDSum, dtype.Float64, same, same, sumExactly(func(a Compensated, _ int64) float64 { return a.Value() }))
	reduce(op.IDMean, dtype.Float64, same, same, sumExactly(func(a Compensated, n int64) float64 { return a.Value() / float64(n) }))
	reduce(op.IDSquareSum, dtype.Float64, same, same, squareSum64())
	reduce(op.IDProd, dtype.Float64, same, same, product[float64]())
	reduce(op.IDMax, dtype.Float64, same, same, extreme(-inf, Larger[float64], largestOf))
	reduce(op.IDMin, dtype.Float64, same, same, extreme(inf, smaller[float64], smallestOf))
}

// registerIntegerReductions adds those of one integer type but for means. Sums and products wrap around.
func registerIntegerReductions[T engine.Integer](d dtype.DType) {
	same := new(engine.Codec[T])
	low, high := d.Range()
	sum := folded(0, func(a, x T) T { return a + x })
	// A loop of its own, because the call of a function for each element would cost more than the addition.
	sum.fold = func(a T, row []T) T {
		for _, x := range row {
			a += x
		}
		return a
	}
	reduce(op.IDSum, d, same, same, sum)
	reduce(op.IDProd, d, same, same, product[T]())
	reduce(op.IDMax, d, same, same, extreme(T(low), Larger[T], largestOf))
	reduce(op.IDMin, d, same, same, extreme(T(high), smaller[T], smallestOf))
	wholeSum[T](d)
}

// wholeSum adds elements of any integer type in int64, without a copy of them.
func wholeSum[T engine.Integer](d dtype.DType) {
	sum := folding[int64, int64, T]{
		fold: func(a int64, row []T) int64 {
			for _, x := range row {
				a += int64(x)
			}
			return a
		},
		beside: func(as []int64, row []T) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] += int64(x)
			}
		},
		results: accumulators[int64],
	}
	reduce(op.IDWholeSum, d, new(engine.Codec[T]), new(engine.Codec[int64]), sum)
}

// registerWholeProducts adds the products in int64 of narrower elements, which are converted in blocks.
func registerWholeProducts() {
	for _, d := range (dtype.Integers | dtype.Bools).Members() {
		reduce(op.IDWholeProd, d, elem.Reading[int64](d, dtype.Int64), new(engine.Codec[int64]), product[int64]())
	}
}

// registerIntegerMeans adds the means of integers, which do not overflow. Elements are converted to int64, because adding to
// 128 bits takes longer.
func registerIntegerMeans() {
	mean := folding[int64, wide, int64]{
		fold: func(a wide, row []int64) wide {
			for _, x := range row {
				a = a.plus(x)
			}
			return a
		},
		beside: func(as []wide, row []int64) {
			for i, x := range row {
				as[i] = as[i].plus(x)
			}
		},
		results: func(dst []int64, as []wide, n int64) {
			for i, a := range as {
				dst[i] = a.over(n)
			}
		},
	}
	reduce(op.IDMean, dtype.Int64, new(engine.Codec[int64]), new(engine.Codec[int64]), mean)
	// What has been converted comes in blocks, whose sums are no larger than an int64.
	mean.fold = func(a wide, row []int64) wide {
		sum := int64(0)
		for _, x := range row {
			sum += x
		}
		return a.plus(sum)
	}
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Int8, dtype.Int16, dtype.Int32} {
		reduce(op.IDMean, d, elem.Reading[int64](d, dtype.Int64), elem.Storing[int64](dtype.Int64, d), mean)
	}
}

// accumulators are the results where these need nothing more.
func accumulators[T any](dst, as []T, _ int64) { copy(dst, as) }

// product multiplies in T, each line in the order of its elements. Its loops are its own, because the call of a function for
// each element would cost more than the multiplication.
func product[T engine.Number]() folding[T, T, T] {
	return folding[T, T, T]{
		zero: 1,
		fold: func(a T, row []T) T {
			for _, x := range row {
				a *= x
			}
			return a
		},
		beside: func(as, row []T) {
			as = as[:len(row)]
			for i, x := range row {
				as[i] *= x
			}
		},
		results: accumulators[T],
	}
}

// folded makes a folding of a function of two elements. Inlined, it would be functions for each of them.
//
//go:noinline
func folded[T any](zero T, f func(a, x T) T) folding[T, T, T] {
	return folding[T, T, T]{
		zero: zero,
		fold: func(a T, row []T) T {
			for _, x := range row {
				a = f(a, x)
			}
			return a
		},
		beside: func(as []T, row []T) {
			for i, x := range row {
				as[i] = f(as[i], x)
			}
		},
		results: accumulators[T],
	}
}

// extreme is folded for max and min, with a loop of its own for rows.
func extreme[T engine.Number](zero T, f func(a, x T) T, row func(a T, row []T) T) folding[T, T, T] {
	e := folded(zero, f)
	e.fold = row
	return e
}

// largestOf keeps four running maxima, so that one comparison does not wait for the one before.
func largestOf[T engine.Number](a T, row []T) T {
	b, c, d := a, a, a
	for ; len(row) >= 4; row = row[4:] {
		a, b, c, d = Larger(a, row[0]), Larger(b, row[1]), Larger(c, row[2]), Larger(d, row[3])
	}
	for _, x := range row {
		a = Larger(a, x)
	}
	return Larger(Larger(a, b), Larger(c, d))
}

// smallestOf is the same for minima.
func smallestOf[T engine.Number](a T, row []T) T {
	b, c, d := a, a, a
	for ; len(row) >= 4; row = row[4:] {
		a, b, c, d = smaller(a, row[0]), smaller(b, row[1]), smaller(c, row[2]), smaller(d, row[3])
	}
	for _, x := range row {
		a = smaller(a, x)
	}
	return smaller(smaller(a, b), smaller(c, d))
}

// Larger is the maximum of two elements; nan where either is.
func Larger[T engine.Number](a, x T) T {
	if x > a || x != x {
		return x
	}
	return a
}

// smaller is the minimum of two elements; nan where either is.
func smaller[T engine.Number](a, x T) T {
	if x < a || x != x {
		return x
	}
	return a
}

// quotients divides sums by their counts.
var quotients = arith.RowsOf[float64](arith.Div)

// sumIn64 adds float32 up in float64; results are made of sums and the count.
func sumIn64(results func(dst, sums []float64, count int64)) folding[float64, float64, float32] {
	return folding[float64, float64, float32]{
		fold:    func(a float64, row []float32) float64 { return a + reduction.Sum(row) },
		stack:   stackOf(reduction.SumColumns),
		lines:   linesOf(reduction.SumLines),
		long:    linesOf(reduction.SumRows),
		results: results,
	}
}

// linesOf makes a lining of a function of vec.
// SAFETY: the elements of all outputs are in the memory of the operand, which the call holds.
func linesOf(f func(as []float64, x []float32, stride, length int)) lining {
	return func(as, from unsafe.Pointer, n, stride, length int64) {
		f(engine.Slice[float64](as, n), engine.Slice[float32](from, (n-1)*stride+length), int(stride), int(length))
	}
}

// squareSum adds the squares of float32 up in float64, which holds them exactly.
func squareSum() folding[float64, float64, float32] {
	f := sumIn64(accumulators)
	f.fold = func(a float64, row []float32) float64 { return a + reduction.SumSquares(row) }
	f.stack, f.lines, f.long, f.beside = nil, nil, nil, func(as []float64, row []float32) {
		for i, x := range row {
			as[i] += float64(x) * float64(x)
		}
	}
	return f
}

// The squares of a block are an array on the stack: they are added in pairs as any row is, and only the sums of blocks are
// added one after the other, with what rounding drops.

// squareSum64 rounds each square once and adds them up as sums of float64 are.
func squareSum64() folding[float64, Compensated, float64] {
	f := sumExactly(func(a Compensated, _ int64) float64 { return a.Value() })
	f.fold = func(a Compensated, row []float64) Compensated {
		var squares [engine.Block]float64
		for len(row) > 0 {
			n := min(len(row), engine.Block)
			for i, x := range row[:n] {
				squares[i] = x * x
			}
			a, row = a.Plus(reduction.Sum64(squares[:n])), row[n:]
		}
		return a
	}
	f.beside = func(as []Compensated, row []float64) {
		for i, x := range row {
			as[i] = as[i].Plus(x * x)
		}
	}
	return f
}

// Compensated is a float64 sum and what rounding has dropped from it (Knuth's two-sum).
type Compensated struct{ sum, dropped float64 }

// Plus adds x; what rounding drops is exact unless the sum overflows.
func (a Compensated) Plus(x float64) Compensated {
	s := a.sum + x
	back := s - a.sum
	return Compensated{s, a.dropped + ((a.sum - (s - back)) + (x - back))}
}

// Value is the sum; infinite and undefined sums have no use for what was dropped.
func (a Compensated) Value() float64 {
	if v := a.sum + a.dropped; v == v {
		return v
	}
	return a.sum
}

// sumExactly adds float64 up with what rounding drops; result as in sumIn64.
func sumExactly(result func(Compensated, int64) float64) folding[float64, Compensated, float64] {
	return folding[float64, Compensated, float64]{
		fold: func(a Compensated, row []float64) Compensated { return a.Plus(reduction.Sum64(row)) },
		beside: func(as []Compensated, row []float64) {
			for i, x := range row {
				as[i] = as[i].Plus(x)
			}
		},
		results: func(dst []float64, as []Compensated, n int64) {
			for i, a := range as {
				dst[i] = result(a, n)
			}
		},
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
