package rownorm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestSoftmaxWithinTwoUlp compares rows with float64, of every length up to vectest.MaxLength and long ones, around 0, around what rounding
// x - max(x) would show, and around both sides of the limit of float32.
func TestSoftmaxWithinTwoUlp(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		worst := 0.0
		for n := 1; n <= 1100; n++ {
			if n > vectest.MaxLength && n%97 != 0 && n != 1024 {
				continue
			}
			for _, scale := range []float64{0.01, 1, 5, 30, 100, 1e30} {
				for _, shift := range []float64{0, -20, 1000.3, softmaxLimit - 10, -softmaxLimit - 10} {
					src := make([]float32, 3*n)
					for i := range src {
						src[i] = float32(scale*r.NormFloat64() + shift)
					}
					dst, check := vectest.Guarded(make([]float32, 3*n))
					Softmax(dst, src, n)
					check(t)
					for row := 0; row < len(src); row += n {
						worst = max(worst, softmaxError(dst[row:row+n], src[row:row+n]))
					}
					require.LessOrEqual(t, worst, 2.0, "rows of %d, scale %g, shift %g", n, scale, shift)
					Softmax(src, src, n)
					require.Equal(t, dst, src, "in place")
				}
			}
		}
		t.Logf("at most %.3f ulp", worst)
	})
}

// softmaxError is by how many units in the last place the softmax of a row is off.
func softmaxError(got, src []float32) (worst float64) {
	top, sum := math.Inf(-1), 0.0
	for _, x := range src {
		top = max(top, float64(x))
	}
	for _, x := range src {
		sum += math.Exp(float64(x) - top)
	}
	for i, x := range src {
		worst = max(worst, vectest.TrueUlps(got[i], math.Exp(float64(x)-top)/sum))
	}
	return worst
}

// TestLogSoftmaxWithinTwoUlp compares rows with float64, among them rows whose largest element is far above the others:
// its result is nearly 0.
func TestLogSoftmaxWithinTwoUlp(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 7))
		worst := 0.0
		for n := 1; n <= 1100; n++ {
			if n > vectest.MaxLength && n%97 != 0 && n != 1024 {
				continue
			}
			for _, scale := range []float64{0.01, 1, 5, 30, 100, 1e30} {
				for _, shift := range []float64{0, -20, 1000.3, softmaxLimit} {
					src := make([]float32, 19*n) // more rows than lanes
					for i := range src {
						src[i] = float32(scale*r.NormFloat64() + shift)
					}
					for i := range n {
						src[n+i] = src[n] // all elements are equal
					}
					dst, check := vectest.Guarded(make([]float32, len(src)))
					LogSoftmax(dst, src, n)
					check(t)
					for row := 0; row < len(src); row += n {
						worst = max(worst, logSoftmaxError(dst[row:row+n], src[row:row+n]))
					}
					require.LessOrEqual(t, worst, 2.0, "rows of %d, scale %g, shift %g", n, scale, shift)
					alone := make([]float32, n)
					LogSoftmax(alone, src[2*n:3*n], n)
					require.Equal(t, alone, dst[2*n:3*n], "a row by itself")
					LogSoftmax(src, src, n)
					require.Equal(t, dst, src, "in place")
				}
			}
		}
		t.Logf("at most %.3f ulp", worst)
	})
}

// logSoftmaxError is by how many units in the last place the logarithm of the softmax of a row is off. It adds up the exponentials of
// all but the first of the largest elements.
func logSoftmaxError(got, src []float32) (worst float64) {
	top, sum, first := math.Inf(-1), 0.0, -1
	for i, x := range src {
		if float64(x) > top {
			top, first = float64(x), i
		}
	}
	for i, x := range src {
		if i != first {
			sum += math.Exp(float64(x) - top)
		}
	}
	for i, x := range src {
		worst = max(worst, vectest.TrueUlps(got[i], float64(x)-top-math.Log1p(sum)))
	}
	return worst
}

// oddRows gives the middle one of three rows of n elements a NaN or an infinity: it becomes NaN as a whole, and the others do not.
func oddRows(t *testing.T, f func(dst, src []float32, length int), n int) {
	for _, odd := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		for at := range n {
			src := make([]float32, 3*n)
			src[n+at] = odd
			f(src, src, n)
			for i, x := range src {
				require.Equal(t, i/n == 1, x != x, "element %d of rows of %d", i, n)
			}
		}
	}
}

// A row with NaN or an infinite maximum is NaN as a whole, and minus infinity stays beside numbers.
func TestLogSoftmaxSpecialRows(t *testing.T) {
	inf := float32(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 3, 8, 15, 16, 17, 64, 100, 130} {
			oddRows(t, LogSoftmax, n)
			row := make([]float32, n)
			for i := range row {
				row[i] = -inf
			}
			LogSoftmax(row, row, n)
			for _, x := range row {
				require.True(t, x != x)
			}
			for i := range row {
				row[i] = []float32{-inf, -math.MaxFloat32, -105}[i%3]
			}
			row[n/2] = math.MaxFloat32
			LogSoftmax(row, row, n)
			for i, x := range row {
				require.Equal(t, i == n/2, x == 0, "element %d of %d", i, n)
				if i != n/2 && i%3 != 2 {
					require.Equal(t, -inf, x)
				}
			}
		}
		dst := []float32{9, 9, 9}
		LogSoftmax(dst, []float32{1, 1, 5}, 2)
		require.Equal(t, []float32{-math.Ln2, -math.Ln2, 9}, dst)
		LogSoftmax(dst, dst, 0)
		LogSoftmax(nil, nil, 4)
	})
}

// A row has no part in another one, a whole row is NaN or none of it, and numbers far below the largest are 0.
func TestSoftmaxSpecialRows(t *testing.T) {
	inf := float32(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 3, 8, 15, 16, 17, 64, 100, 130} {
			oddRows(t, Softmax, n)
			row := make([]float32, n)
			for i := range row {
				row[i] = -inf
			}
			Softmax(row, row, n)
			require.True(t, row[0] != row[0])
			for i := range row {
				row[i] = []float32{-inf, -math.MaxFloat32, -105}[i%3]
			}
			row[n/2] = 1.5
			Softmax(row, row, n)
			for i, x := range row {
				require.Equal(t, i == n/2, x == 1, "element %d of %d", i, n)
				require.True(t, x == 1 || x == 0 && !math.Signbit(float64(x)))
			}
		}
		dst := []float32{9, 9, 9}
		Softmax(dst, []float32{1, 1, 5}, 2)
		require.Equal(t, []float32{0.5, 0.5, 9}, dst)
		Softmax(dst, dst, 0)
		Softmax(nil, nil, 4)
	})
}

func BenchmarkSoftmax(b *testing.B) {
	src, dst := make([]float32, 16384), make([]float32, 16384)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = float32(r.NormFloat64())
	}
	for name, f := range map[string]func(dst, src []float32, length int){"softmax": Softmax, "logarithm": LogSoftmax} {
		for _, n := range []int{10, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					f(dst, src, n)
				}
			})
		}
	}
}
