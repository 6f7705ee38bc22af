package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// TestAddWindows compares products of windows with those of the portable loops: lines and rows of every number, which may overlap, runs
// with gaps, more terms than are added at a time, and columns that fill a part of a tile. The elements are small integers, whose
// sums are exact.
func TestAddWindows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 400 {
			w := Windows{Lines: 1 + r.IntN(4), PerLine: 1 + r.IntN(17), Runs: 1 + r.IntN(4), Run: 1 + r.IntN(70)}
			if r.IntN(8) == 0 {
				w.Run = 1 + r.IntN(1200)
			}
			w.Step, w.Apart, w.Line = r.IntN(40), r.IntN(90), r.IntN(300)
			if r.IntN(4) == 0 {
				w.Step, w.Line = w.Run, w.Run*w.PerLine // one line
			}
			first, n := r.IntN(5), 1+r.IntN(100)
			k := first + w.terms() + r.IntN(3)
			b := vectest.SmallIntegers(r, k*n)
			right := rightOf(b, k, n, n)
			_, cols := MatMulTile[float32]()
			from := r.IntN(n) / cols * cols
			width := 1 + r.IntN(n-from)
			ldc := width + r.IntN(3)
			a := vectest.SmallIntegers(r, (w.Lines-1)*w.Line+(w.PerLine-1)*w.Step+(w.Runs-1)*w.Apart+w.Run)
			c := vectest.SmallIntegers(r, w.rows()*ldc)
			set, want := r.IntN(2) == 0, append([]float32(nil), c...)
			for i := range w.rows() {
				for j := range width {
					sum := want[i*ldc+j]
					if set {
						sum = 0
					}
					for l := range w.terms() {
						sum += a[i/w.PerLine*w.Line+i%w.PerLine*w.Step+l/w.Run*w.Apart+l%w.Run] * b[(first+l)*n+from+j]
					}
					want[i*ldc+j] = sum
				}
			}
			require.True(t, right.AddWindows(c, a, w, first, from, width, ldc, set))
			require.Equal(t, want, c, "%+v, n %d k %d from %d width %d first %d", w, n, k, from, width, first)
		}
	})
}

// TestAddWindowsOfNothing has products without rows, columns or terms, and operands that do not fit.
func TestAddWindowsOfNothing(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		right := rightOf(make([]float32, 6), 2, 3, 3)
		w := Windows{Lines: 2, PerLine: 2, Line: 4, Step: 2, Runs: 1, Run: 2}
		a, c := make([]float32, 8), []float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
		for _, none := range []Windows{{PerLine: 3, Run: 2, Runs: 1}, {Lines: 3, Run: 2, Runs: 1}, {}} {
			require.True(t, right.AddWindows(c, a, none, 0, 0, 3, 3, true))
		}
		require.True(t, right.AddWindows(c, a, w, 0, 0, 0, 3, true))
		require.True(t, right.AddWindows(c, nil, Windows{Lines: 1, PerLine: 4, Runs: 2}, 0, 0, 3, 3, false))
		require.Equal(t, float32(12), sumOf(c))
		require.True(t, right.AddWindows(c, nil, Windows{Lines: 1, PerLine: 3, Runs: 2}, 0, 0, 3, 3, true))
		require.Equal(t, float32(3), sumOf(c))
		require.False(t, right.AddWindows(c, a[1:], w, 0, 0, 3, 3, true))
		require.False(t, right.AddWindows(c[1:], a, w, 0, 0, 3, 3, true))
		require.False(t, right.AddWindows(c, a, w, 1, 0, 3, 3, true)) // more terms than there are
		require.False(t, right.AddWindows(c, a, w, 0, 0, 4, 4, true))
		require.False(t, right.AddWindows(c, a, w, 0, 1, 2, 3, true))
		w.Line = -1
		require.False(t, right.AddWindows(c, a, w, 0, 0, 3, 3, true))
	})
}

// sumOf is the sum of small integers.
func sumOf(x []float32) (sum float32) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func BenchmarkAddWindows(b *testing.B) {
	for _, size := range [][3]int{{3136, 64, 64}, {3136, 64, 256}, {784, 128, 512}, {196, 256, 1024}, {49, 512, 2048}, {3136, 16, 256}, {196, 48, 256}} {
		m, n, k := size[0], size[1], size[2]
		a, c, w := make([]float32, m*k), make([]float32, m*n), make([]float32, k*n)
		right := rightOf(w, k, n, n)
		report := func(b *testing.B) {
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < m; i += inPlaceRows {
					right.AddWindows(c[i*n:], a[i*k:], Windows{Lines: 1, PerLine: min(inPlaceRows, m-i), Step: k, Runs: 1, Run: k}, 0, 0, n, n, true)
				}
			}
			report(b)
		})
		b.Run(fmt.Sprint(size, "product"), func(b *testing.B) {
			for b.Loop() {
				right.MatMul(c, a, m, 0, n, k, n)
			}
			report(b)
		})
	}
}
