package reduction

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/arith"
)

// Rows that lie one below the other are folded into accumulators, one for each column. Row i begins at x[i*stride]; all of
// them lie in x. Four rows are taken at a time, so that accumulators are read and written a quarter as often, and each
// column is folded from its first row to its last: results do not depend on which columns a caller takes together.

// SumColumns adds rows to sums.
func SumColumns(sums []float64, x []float32, stride, rows int) {
	if vec.RowsFit(len(sums), len(x), stride, rows) {
		active.sumColumns(sums, x, stride, rows)
	}
}

// MaxColumns makes of each element of tops the largest of it and its column, the first of equals, NaN if there is one.
func MaxColumns(tops, x []float32, stride, rows int) {
	if vec.RowsFit(len(tops), len(x), stride, rows) {
		active.maxColumns(tops, x, stride, rows)
	}
}

// MinColumns is MaxColumns for the smallest.
func MinColumns(tops, x []float32, stride, rows int) {
	if vec.RowsFit(len(tops), len(x), stride, rows) {
		active.minColumns(tops, x, stride, rows)
	}
}

// OrColumns sets the bits of bytes that are set in their column.
func OrColumns(some, x []uint8, stride, rows int) {
	if vec.RowsFit(len(some), len(x), stride, rows) {
		active.orColumns(some, x, stride, rows)
	}
}

// AndColumns sets bytes to 0 whose column has a 0.
func AndColumns(all, x []uint8, stride, rows int) {
	if vec.RowsFit(len(all), len(x), stride, rows) {
		active.andColumns(all, x, stride, rows)
	}
}

// ArgColumns goes on with the search for the first largest of each column, in row number index: best has the largest so
// far, NaN before the first, and at its row. NaN is passed over. flip is xored to the bits of elements: [vec.Descending]
// for the smallest.
func ArgColumns(best []float32, at []int32, x []float32, flip uint32, index int32) {
	n := min(len(best), len(at), len(x))
	active.argColumns(best[:n], at[:n], x[:n], flip, index)
}

// Largest is the largest element, each with flip xored to its bits; NaN is passed over, and the answer -Inf where there is
// nothing else. The first element that equals it is not in front of place from.
func Largest(x []float32, flip uint32) (top float32, from int) { return active.largest(x, flip) }

// Find is the place of the first element that equals v, with flip xored to its bits; -1 where there is none.
func Find(x []float32, v float32, flip uint32) int { return active.find(x, v, flip) }

// AnyByte reports whether a byte is not 0.
func AnyByte(x []uint8) bool { return active.anyByte(x) }

// AllBytes reports whether no byte is 0.
func AllBytes(x []uint8) bool { return active.allBytes(x) }

// RunningSums adds a row to sums and writes them, rounded, to dst, which may be the row.
func RunningSums(sums []float64, dst, src []float32) {
	n := min(len(sums), len(dst), len(src))
	active.runningSums(sums[:n], dst[:n], src[:n])
}

// eachRow calls f for each of the rows.
func eachRow[A, T any](as []A, x []T, stride, rows int, f func(x T, a A) A) {
	for i := range rows {
		row := x[i*stride:][:len(as)]
		for j, v := range row {
			as[j] = f(v, as[j])
		}
	}
}

// sumColumnsRow adds one row after the other.
func sumColumnsRow(sums []float64, x []float32, stride, rows int) {
	eachRow(sums, x, stride, rows, func(v float32, a float64) float64 { return a + float64(v) })
}

// maxColumnsRow takes one row after the other; of equals the accumulator stays.
func maxColumnsRow(tops, x []float32, stride, rows int) {
	eachRow(tops, x, stride, rows, vec.Larger[float32])
}

// minColumnsRow is the same for the smallest.
func minColumnsRow(tops, x []float32, stride, rows int) {
	eachRow(tops, x, stride, rows, vec.Smaller[float32])
}

// orColumnsRow takes eight bytes at a time.
func orColumnsRow(some, x []uint8, stride, rows int) {
	for i := range rows {
		arith.Or(some, x[i*stride:])
	}
}

// andColumnsRow does too.
func andColumnsRow(all, x []uint8, stride, rows int) {
	for i := range rows {
		arith.AndTrue(all, x[i*stride:])
	}
}

// argColumnsRow says what ArgColumns computes: an element is better if it is larger, or the first that is no NaN.
func argColumnsRow(best []float32, at []int32, x []float32, flip uint32, index int32) {
	for i, v := range x {
		v = math.Float32frombits(math.Float32bits(v) ^ flip)
		if v > best[i] || best[i] != best[i] && v == v {
			best[i], at[i] = v, index
		}
	}
}

// largestRow passes over NaN because no comparison with it is true.
func largestRow(x []float32, flip uint32) (top float32, from int) {
	top = float32(math.Inf(-1))
	for i, v := range x {
		if v = math.Float32frombits(math.Float32bits(v) ^ flip); v > top {
			top, from = v, i
		}
	}
	return top, from
}

// findRow inverts the bits of what it looks for, and not those of each element.
func findRow(x []float32, v float32, flip uint32) int {
	v = math.Float32frombits(math.Float32bits(v) ^ flip)
	for i, e := range x {
		if e == v {
			return i
		}
	}
	return -1
}

// anyByteRow counts, which is as fast as to look for the first.
func anyByteRow(x []uint8) bool { return countTrueRow(x) > 0 }

// allBytesRow counts as well.
func allBytesRow(x []uint8) bool { return countTrueRow(x) == int64(len(x)) }

// runningSumsRow may write over the row that it reads.
func runningSumsRow(sums []float64, dst, src []float32) {
	for i, v := range src {
		sums[i] += float64(v)
		dst[i] = float32(sums[i])
	}
}

// RunningSum writes to dst the sums of the elements of src up to each, which are added up in float64 and rounded once; dst
// may be src. Four at a time are added among themselves before the sum of those in front of them is, so that an addition
// waits for the one before only once in four.
func RunningSum(dst, src []float32) {
	sum := math.Copysign(0, -1) // which changes no element: 0 would turn -0 into 0
	n := min(len(dst), len(src))
	for dst, src = dst[:n], src[:n]; len(src) >= 4 && len(dst) >= 4; dst, src = dst[4:], src[4:] {
		first, third := float64(src[0]), float64(src[2])
		second := first + float64(src[1])
		fourth := second + (third + float64(src[3]))
		third += second
		dst[0], dst[1], dst[2], dst[3] = float32(sum+first), float32(sum+second), float32(sum+third), float32(sum+fourth)
		sum += fourth
	}
	for i, v := range src {
		sum += float64(v)
		dst[i] = float32(sum)
	}
}
