package dots

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// checkDots compares AddTransposed with sums in float64, and a split of c with the whole.
func checkDots[T vec.Real](t *testing.T, r *rand.Rand, m, n, k int, unit float64) {
	t.Helper()
	lda, ldb, ldc := k+2, k+1, n+3
	a, b, c := make([]T, m*lda), make([]T, n*ldb), make([]T, m*ldc)
	for _, x := range [][]T{a, b} {
		for i := range x {
			x[i] = T(r.NormFloat64())
		}
	}
	for i := range c {
		c[i] = vectest.Guard
	}
	split := slices.Clone(c)
	require.True(t, AddTransposed(c, a, b, m, n, k, lda, ldb, ldc))
	for i := range m {
		for j := range n {
			sum, magnitude := float64(vectest.Guard), math.Abs(float64(vectest.Guard))
			for l := range k {
				p := float64(a[i*lda+l]) * float64(b[j*ldb+l])
				sum, magnitude = sum+p, magnitude+math.Abs(p)
			}
			require.InDelta(t, sum, float64(c[i*ldc+j]), float64(k+1)*unit*magnitude, "%d, %d of %d x %d x %d", i, j, m, n, k)
			require.True(t, AddTransposed(split[i*ldc+j:], a[i*lda:], b[j*ldb:], 1, 1, k, lda, ldb, ldc))
		}
	}
	require.Equal(t, c, split)
}

func TestAddDots(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	eachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 1, 1}, {3, 4, 8}, {3, 4, 64}, {6, 25, 50}, {4, 5, 7}, {5, 7, 33}, {16, 3, 129}, {2, 2, 0}, {0, 3, 4}, {3, 0, 4}} {
			checkDots[float32](t, r, s[0], s[1], s[2], 0x1p-23)
			checkDots[float64](t, r, s[0], s[1], s[2], 0x1p-51)
		}
	})
}

// One bad element spoils the sums of its row and no other.
func TestAddDotsSpecial(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 7, 9, 21
		a, b, c := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
		for i := range b {
			b[i] = 1
		}
		a[2*k+20] = float32(math.Inf(1))
		require.True(t, AddTransposed(c, a, b, m, n, k, k, k, n))
		for i, v := range c {
			if i/n == 2 {
				require.True(t, math.IsInf(float64(v), 1))
			} else {
				require.Zero(t, v)
			}
		}
	})
}

func TestAddDotsRefuses(t *testing.T) {
	a, b, c := make([]float32, 8), make([]float32, 8), make([]float32, 4)
	require.True(t, AddTransposed(c, a, b, 2, 2, 4, 4, 4, 2))
	require.False(t, AddTransposed(c, a, b[:7], 2, 2, 4, 4, 4, 2))
	require.False(t, AddTransposed(c, a[:7], b, 2, 2, 4, 4, 4, 2))
	require.False(t, AddTransposed(c[:3], a, b, 2, 2, 4, 4, 4, 2))
	require.False(t, AddTransposed(c, a, b, 2, 2, 4, 3, 4, 2))
	require.False(t, AddTransposed(c, a, b, 2, -2, 4, 4, 4, 2))
}
