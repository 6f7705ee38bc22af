package reduction

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Sum adds the row up in float64, so that only the caller's final rounding to
// float32 shows: for fewer than 2^29 elements the error before it is below
// 2^-24 of the sum of magnitudes. Sums of parts may be added up and rounded
// once.
func Sum(x []float32) float64 { return active.sum(x) }

// SumRows adds the Sum of each of several rows to its sum. Row i has length elements from x[i*stride] on; all of them lie in x.
func SumRows(sums []float64, x []float32, stride, length int) {
	if !vec.RowsFit(length, len(x), stride, len(sums)) {
		return
	}
	if active.sumRows != nil {
		active.sumRows(sums, x, stride, length)
		return
	}
	for i := range sums {
		sums[i] += active.sum(x[i*stride:][:length])
	}
}

// SumLines adds the elements of each of several rows to its sum. Row i has length elements from x[i*stride] on; all of them lie
// in x. It is for short rows: several are added beside each other, so that one addition does not wait for the one before. A sum
// depends on the elements of its row alone.
func SumLines(sums []float64, x []float32, stride, length int) {
	if length > 0 && stride >= 0 && len(sums) > 0 && len(x) >= (len(sums)-1)*stride+length {
		active.sumLines(sums, x, stride, length)
	}
}

// sumLinesRow adds four rows at a time, each in the order of its elements.
func sumLinesRow(sums []float64, x []float32, stride, length int) {
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

// ProductLines multiplies as SumLines adds, each row in the order of its elements.
func ProductLines(products []float64, x []float32, stride, length int) {
	if length <= 0 || stride < 0 || len(x) < (len(products)-1)*stride+length {
		return
	}
	for ; len(products) >= 4; products = products[4:] {
		a := x[:length]
		b, c, d := x[stride:][:len(a)], x[2*stride:][:len(a)], x[3*stride:][:len(a)]
		p0, p1, p2, p3 := products[0], products[1], products[2], products[3]
		for j, v := range a {
			p0 *= float64(v)
			p1 *= float64(b[j])
			p2 *= float64(c[j])
			p3 *= float64(d[j])
		}
		products[0], products[1], products[2], products[3] = p0, p1, p2, p3
		x = x[min(4*stride, len(x)):]
	}
	for i := range products {
		for _, v := range x[i*stride:][:length] {
			products[i] *= float64(v)
		}
	}
}

// SumSquares adds the squares up in float64, in which they are exact; the error is that of Sum.
func SumSquares(x []float32) float64 { return active.sumSquares(x) }

// Magnitudes are the largest absolute value and the sum of all, both 0 of an empty row. Where an element is not finite, the sum is
// not, and the largest is of no use.
func Magnitudes(x []float32) (largest, sum float64) { return active.magnitudes(x) }

// Product multiplies the row in float64, whose range it leaves only if the product itself does: no order of the elements lets
// it overflow on the way. Each element costs one rounding of float64.
func Product(x []float32) float64 { return active.product(x) }

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

// PortableSumRow is [Sum], portable.
func PortableSumRow(x []float32) float64 {
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

func magnitudesRow(x []float32) (largest, sum float64) {
	var most, s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		for i := range s {
			size := math.Abs(float64(x[i]))
			most[i], s[i] = max(most[i], size), s[i]+size
		}
	}
	for i, v := range x {
		size := math.Abs(float64(v))
		most[i], s[i] = max(most[i], size), s[i]+size
	}
	return max(most[0], most[1], most[2], most[3]), (s[0] + s[1]) + (s[2] + s[3])
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

// scaled is the number value 2^(productStep exponent). value is 0, not finite, or a magnitude between 1/productLimit and
// productLimit, which may be multiplied by four float32, 2^-149 to 2^128 each, and by another such value.
type scaled struct {
	value    float64
	exponent int
}

const (
	productLimit = 0x1p300
	productStep  = 600 // as powers of 2, so that scaling does not round
)

// times multiplies by a magnitude between 2^-600 and 2^600.
func (s *scaled) times(x float64) {
	s.value *= x
	switch a := math.Abs(s.value); {
	case a > productLimit:
		s.value, s.exponent = s.value*0x1p-600, s.exponent+1
	case a < 1/productLimit:
		s.value, s.exponent = s.value*0x1p600, s.exponent-1 // of 0 no exponent counts
	}
}

// float64 is the number, 0 or infinite where it is beyond the range.
func (s *scaled) float64() float64 { return math.Ldexp(s.value, productStep*s.exponent) }

// productRow is the portable form: four elements at a time, whose product is in the range in any case.
func productRow(x []float32) float64 { return (&scaled{value: 1}).timesRow(x) }

// timesRow is the number times the elements of a row.
func (s *scaled) timesRow(x []float32) float64 {
	p := *s
	for ; len(x) >= 4; x = x[4:] {
		p.times(float64(x[0]) * float64(x[1]) * (float64(x[2]) * float64(x[3])))
	}
	for _, v := range x {
		p.times(float64(v))
	}
	return p.float64()
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

// PortableMaxRow is [MaxRow], portable.
func PortableMaxRow(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		m = vec.Larger(m, v)
	}
	return m
}

func portableMinRow(x []float32) float32 {
	m := float32(math.Inf(1))
	for _, v := range x {
		m = vec.Smaller(m, v)
	}
	return m
}
