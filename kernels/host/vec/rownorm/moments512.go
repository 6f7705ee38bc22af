//go:build goexperiment.simd && amd64 && !race

package rownorm

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/reduction"
)

// momentsState512 has the sums of as many rows as a vector has lanes; see rowsState512.
type momentsState512 struct {
	origin                 [vec.Lanes512]uint32 // the bits of what is subtracted from each element
	origins, sums, squares [2][vec.WideLanes512][vec.WideLanes512]float64
	means, scales          [vec.Lanes512]float64
}

// normalize512 is normalizeRows for several rows at a time. The state is made once: the instruction that clears it waits for all stores.
//
// Memory is read in one pass of a block and written in the other, so that each pass would wait for memory alone. Each asks for what the
// next one takes from memory.
func normalize512(dst, src, weight, bias []float32, length int, epsilon float64, centered bool, next func(scale float64)) {
	var s momentsState512
	most := max(rowsAtOnce(normalizeBlock, length, vec.Lanes512), min(4, normalizeMost/length))
	for len(src) >= length {
		n := min(len(src)/length, most)
		s.moments(dst, src, length, n, epsilon, centered)
		standardize512(dst, src, weight, bias, length, s.means[:n], s.scales[:n])
		for _, scale := range s.scales[:n] {
			next(scale)
		}
		dst, src = dst[n*length:], src[n*length:]
	}
}

// moments sets means and scales of rows in one pass: it adds up x - origin and the squares of that. The origin is an element, so that
// the variance is the difference of numbers that are at most as many times as large as the row has elements. Of longer rows than
// momentsLength that would take too many digits of float64; their origin is near the mean.
// SAFETY: a word has the bits of a float32, and legacy instructions for floats would wait for the vectors.
func (s *momentsState512) moments(dst, src []float32, length, rows int, epsilon float64, centered bool) {
	for j := 0; j < rows && centered; j++ {
		if s.origin[j&(vec.Lanes512-1)] = *(*uint32)(unsafe.Pointer(&src[j*length])); length > momentsLength {
			s.origin[j&(vec.Lanes512-1)] = math.Float32bits(float32(reduction.Sum512(src[j*length:][:length]) / float64(length)))
		}
	}
	s.add(dst, src, length, rows)
	perLane := archsimd.BroadcastFloat64x8(1.0 / vec.WideLanes512)
	n, more := archsimd.BroadcastFloat64x8(float64(length)), archsimd.BroadcastFloat64x8(epsilon)
	for i := 0; i*vec.WideLanes512 < rows; i++ {
		// The words would have to reach the cache, behind all stores of the rows before, until a vector of them could be loaded.
		origins := vec.SumOfEach512(&s.origins[i], rows-i*vec.WideLanes512).Mul(perLane)
		mean, squares := vec.SumOfEach512(&s.sums[i], rows-i*vec.WideLanes512).Div(n), vec.SumOfEach512(&s.squares[i], rows-i*vec.WideLanes512).Div(n)
		if centered {
			squares = squares.Sub(mean.Mul(mean))
			origins.Add(mean).Store((*[vec.WideLanes512]float64)(s.means[i*vec.WideLanes512:]))
		} else {
			origins.Store((*[vec.WideLanes512]float64)(s.means[i*vec.WideLanes512:]))
		}
		vec.LoadSplat512(&maths.Consts.One).Div(squares.Add(more).Sqrt()).Store((*[vec.WideLanes512]float64)(s.scales[i*vec.WideLanes512:]))
	}
	archsimd.ClearAVXUpperBits()
}
