package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// transposed is the transpose of a rows x cols matrix whose rows are ld apart, with rows that are to apart and gaps of nan.
func transposed(a []float32, rows, cols, ld, to int) []float32 {
	x := make([]float32, max(0, (cols-1)*to+rows))
	for i := range x {
		x[i] = float32(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			x[j*to+i] = a[i*ld+j]
		}
	}
	return x
}

// TestMatMulTurned has the bits of MatMul, whole and in parts, for sizes around tiles and blocks.
func TestMatMulTurned(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	eachLevel(t, func(t *testing.T) {
		rows, cols := MatMulTile[float32]()
		for _, s := range [][3]int{{1, 1, 1}, {2, 3, 4}, {rows, cols, 1}, {rows + 1, cols + 1, 9}, {97, 500, 257}, {200, 3, 300}, {512, cols + 1, 1030}, {3, 97, 513}, {6, 6, 0}, {0, 3, 2}, {3, 0, 2}} {
			m, n, k := s[0], s[1], s[2]
			a, b := vectest.RandomRow(r, m*k), vectest.RandomRow(r, k*n)
			want := make([]float32, m*n)
			require.True(t, MatMul(want, a, b, m, n, k, k, n, n))
			for _, gap := range []int{0, 3} {
				lda, ldc := m+gap, n+gap
				x, c := transposed(a, m, k, k, lda), make([]float32, m*ldc)
				for i := range c {
					c[i] = vectest.Guard
				}
				require.True(t, MatMulTransposed(c, x, b, m, n, k, lda, n, ldc))
				for i := range m {
					require.Equal(t, want[i*n:][:n], c[i*ldc:][:n], "row %d of %v", i, s)
					require.Equal(t, c[i*ldc+n:][:gap], []float32{vectest.Guard, vectest.Guard, vectest.Guard}[:gap])
				}
				if k == 0 {
					continue
				}
				for i := 0; i < m; i += rows {
					for j := 0; j < n; j += cols {
						require.True(t, MatMulTransposed(c[i*ldc+j:], x[i:], b[j:], min(rows, m-i), min(cols, n-j), k, lda, n, ldc))
					}
				}
				for i := range m {
					require.Equal(t, want[i*n:][:n], c[i*ldc:][:n], "row %d of %v in parts", i, s)
				}
			}
		}
	})
}

// TestMatMulTurnedRefuses leaves c alone where operands do not fit.
func TestMatMulTurnedRefuses(t *testing.T) {
	x := make([]float32, 100)
	for _, s := range []struct {
		what                   string
		m, n, k, lda, ldb, ldc int
	}{
		{"a negative size", -1, 2, 3, 4, 4, 4},
		{"rows of a that overlap", 5, 2, 3, 4, 4, 4},
		{"a too long", 2, 2, 30, 4, 2, 2},
		{"c too long", 60, 2, 1, 60, 2, 2},
	} {
		c := []float32{vectest.Guard, vectest.Guard, vectest.Guard, vectest.Guard}
		require.False(t, MatMulTransposed(c, x, x, s.m, s.n, s.k, s.lda, s.ldb, s.ldc), s.what)
		require.Equal(t, []float32{vectest.Guard, vectest.Guard, vectest.Guard, vectest.Guard}, c, s.what)
	}
}

// BenchmarkMatMulTurned is the gradient of a weight, beside the same product of a row-major operand.
func BenchmarkMatMulTurned(b *testing.B) {
	const m, n, k = 784, 256, 64
	r := rand.New(rand.NewPCG(27, 3))
	x, y, c := vectest.RandomRow(r, m*k), vectest.RandomRow(r, k*n), make([]float32, m*n)
	b.Run("turned", func(b *testing.B) {
		for range b.N {
			MatMulTransposed(c, x, y, m, n, k, m, n, n)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for range b.N {
			MatMul(c, x, y, m, n, k, k, n, n)
		}
	})
}
