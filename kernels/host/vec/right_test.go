package vec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddMatMul compares products of parts of a right operand with those of the portable loops: rows of every number, columns
// that fill a part of a tile, and rows of a that lie in the middle of longer ones or overlap.
func TestAddMatMul(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			m, n, k := 1+r.IntN(40), 1+r.IntN(100), 1+r.IntN(300)
			b := make([]float32, k*n)
			for i := range b {
				b[i] = float32(r.IntN(9) - 4)
			}
			right := rightOf(b, k, n, n)
			_, cols := MatMulTile[float32]()
			from := r.IntN(n) / cols * cols
			width, first := 1+r.IntN(n-from), r.IntN(k)
			steps := 1 + r.IntN(min(k-first, MostSteps))
			lda, ldc := steps+r.IntN(3), width+r.IntN(3)
			if r.IntN(3) == 0 {
				lda = r.IntN(steps) // rows overlap, or are all the same
			}
			a, c := make([]float32, (m-1)*lda+steps), make([]float32, m*ldc)
			for i := range a {
				a[i] = float32(r.IntN(9) - 4)
			}
			for i := range c {
				c[i] = float32(r.IntN(9))
			}
			set, want := r.IntN(2) == 0, append([]float32(nil), c...)
			for i := range m {
				for j := range width {
					sum := want[i*ldc+j]
					if set {
						sum = 0
					}
					for l := range steps {
						sum += a[i*lda+l] * b[(first+l)*n+from+j]
					}
					want[i*ldc+j] = sum
				}
			}
			require.True(t, right.AddMatMul(c, a, first, steps, m, lda, from, width, ldc, set))
			require.Equal(t, want, c, "m %d n %d k %d from %d width %d first %d steps %d", m, n, k, from, width, first, steps)
		}
	})
}

func BenchmarkAddMatMul(b *testing.B) {
	for _, size := range [][3]int{{3136, 64, 64}, {3136, 64, 256}, {784, 128, 512}, {196, 256, 1024}, {49, 512, 2048}, {3136, 16, 256}, {196, 48, 256}} {
		m, n, k := size[0], size[1], size[2]
		a, c, w := make([]float32, m*k), make([]float32, m*n), make([]float32, k*n)
		right := rightOf(w, k, n, n)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < m; i += 96 {
					for l := 0; l < k; l += depth {
						right.AddMatMul(c[i*n:], a[i*k+l:], l, min(depth, k-l), min(96, m-i), k, 0, n, n, l == 0)
					}
				}
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
		rows := make([]float32, 96*(depth+16))
		b.Run(fmt.Sprint(size, "copied"), func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < m; i += 96 {
					for l := 0; l < k; l += depth {
						steps, have := min(depth, k-l), min(96, m-i)
						for r := range have {
							copy(rows[r*(steps+16):][:steps], a[(i+r)*k+l:])
						}
						right.AddMatMul(c[i*n:], rows, l, steps, have, steps+16, 0, n, n, l == 0)
					}
				}
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
		b.Run(fmt.Sprint(size, "packed"), func(b *testing.B) {
			for b.Loop() {
				right.MatMul(c, a, m, 0, n, k, n)
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
