package vec

import "math"

// Sum adds the row up in float64, so that only the caller's final rounding to
// float32 shows: for fewer than 2^29 elements the error before it is below
// 2^-24 of the sum of magnitudes. Sums of parts may be added up and rounded
// once.
func Sum(x []float32) float64 { return active.sum(x) }

// SumLines adds the elements of each of several rows to its sum, in their order. Row i has length elements from x[i*stride]
// on; all of them lie in x. It is for rows that are too short for vectors: four are added beside each other, so that one
// addition does not wait for the one before.
func SumLines(sums []float64, x []float32, stride, length int) {
	if length <= 0 || stride < 0 || len(x) < (len(sums)-1)*stride+length {
		return
	}
	for ; len(sums) >= 4; sums = sums[4:] {
		a := x[:length]
		b, c, d := x[stride:][:len(a)], x[2*stride:][:len(a)], x[3*stride:][:len(a)]
		var s0, s1, s2, s3 float64
		for j, v := range a {
			s0 += float64(v)
			s1 += float64(b[j])
			s2 += float64(c[j])
			s3 += float64(d[j])
		}
		sums[0], sums[1], sums[2], sums[3] = sums[0]+s0, sums[1]+s1, sums[2]+s2, sums[3]+s3
		x = x[min(4*stride, len(x)):]
	}
	for i := range sums {
		var s float64
		for _, v := range x[i*stride:][:length] {
			s += float64(v)
		}
		sums[i] += s
	}
}

// SumSquares adds the squares up in float64, in which they are exact; the error is that of Sum.
func SumSquares(x []float32) float64 { return active.sumSquares(x) }

// CountTrue counts the bytes that are not 0.
func CountTrue(x []uint8) int64 { return active.countTrue(x) }

// Sum64 adds the row up pairwise: the error is at most
// (68 + log2(n/1024)) 2^-53 of the sum of magnitudes.
func Sum64(x []float64) float64 { return pairwise(x, active.sumBlock64) }

// MaxRow gives the largest element, NaN if there is one, -Inf for an empty row.
func MaxRow(x []float32) float32 { return active.max(x) }

// MinRow gives the smallest element, NaN if there is one, +Inf for an empty row.
func MinRow(x []float32) float32 { return active.min(x) }

// sumBlock is the longest row that sumBlock64 sees: long enough to make the
// recursion free, short enough to keep its bound.
const sumBlock = 1024

// pairwise halves the row, at multiples of a block, down to blocks.
func pairwise(x []float64, block func([]float64) float64) float64 {
	if len(x) <= sumBlock {
		return block(x)
	}
	half := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
	return pairwise(x[:half], block) + pairwise(x[half:], block)
}

// The portable loops below keep four running values, so that one addition
// does not wait for the one before.

func sumRow(x []float32) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		s[0] += float64(x[0])
		s[1] += float64(x[1])
		s[2] += float64(x[2])
		s[3] += float64(x[3])
	}
	for _, v := range x {
		s[0] += float64(v)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func sumSquaresRow(x []float32) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		s[0] += float64(x[0]) * float64(x[0])
		s[1] += float64(x[1]) * float64(x[1])
		s[2] += float64(x[2]) * float64(x[2])
		s[3] += float64(x[3]) * float64(x[3])
	}
	for _, v := range x {
		s[0] += float64(v) * float64(v)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func countTrueRow(x []uint8) (n int64) {
	for _, v := range x {
		if v != 0 {
			n++
		}
	}
	return n
}

func sumBlock64(x []float64) float64 {
	var s [32]float64
	for ; len(x) >= len(s); x = x[len(s):] {
		for i := range s {
			s[i] += x[i]
		}
	}
	for i, v := range x {
		s[i] += v
	}
	return halve(s[:])
}

// halve adds up a power of two of partial sums as a balanced tree.
func halve(s []float64) float64 {
	for n := len(s) / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

func maxRow(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		m = larger(m, v)
	}
	return m
}

func minRow(x []float32) float32 {
	m := float32(math.Inf(1))
	for _, v := range x {
		m = smaller(m, v)
	}
	return m
}
