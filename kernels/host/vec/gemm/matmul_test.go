package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// checkProduct compares c with a triple loop in float64, within
// k 2^-24 of the sum of magnitudes, and looks at the gaps between rows.
func checkProduct(t *testing.T, c, a, b []float32, m, n, k, lda, ldb, ldc int) {
	t.Helper()
	for i := range m {
		for j := range n {
			sum, magnitude := 0.0, 0.0
			for l := range k {
				p := float64(a[i*lda+l]) * float64(b[l*ldb+j])
				sum, magnitude = sum+p, magnitude+math.Abs(p)
			}
			require.InDelta(t, sum, float64(c[i*ldc+j]), float64(k)*0x1p-24*magnitude, "c[%d][%d] of %dx%dx%d", i, j, m, n, k)
		}
		for j := n; j < ldc && i*ldc+j < len(c); j++ {
			require.EqualValues(t, vectest.Guard, c[i*ldc+j], "gap after row %d", i)
		}
	}
}

func TestMatMulFloat32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	shapes := [][3]int{
		{1, 1, 1},
		{1, 1, 300},
		{2, 3, 4},
		{3, 31, 5},
		{4, 32, 8},
		{5, 33, 9},
		{7, 70, 17},
		{8, 64, 256},
		{9, 16, 257},
		{65, 20, 3},
		{1, 100, 300},
		{3, 97, 513},
		{64, 40, 512},
		{66, 513, 30},
		{130, 35, 260},
		{4, 1030, 2},
		{24, 1, 300},
		{37, 2, 40},
		{203, 3, 9},
		{104, 4, 5},
		{6, 6, 0},
		{0, 3, 2},
		{3, 0, 2},
	}
	eachLevel(t, func(t *testing.T) {
		for _, s := range shapes {
			for _, gap := range []int{0, 3} {
				m, n, k := s[0], s[1], s[2]
				lda, ldb, ldc := k+gap, n+gap, n+gap
				a, b := vectest.RandomRow(r, m*lda), vectest.RandomRow(r, k*ldb)
				c := make([]float32, m*ldc)
				for i := range c {
					c[i] = vectest.Guard
				}
				require.True(t, MatMul(c, a, b, m, n, k, lda, ldb, ldc))
				checkProduct(t, c, a, b, m, n, k, lda, ldb, ldc)
			}
		}
	})
}

// TestMatMulSplit computes a product whole, by tiles and by single rows and
// odd columns: the bits must agree.
func TestMatMulSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	m, n, k := 21, 77, 300
	a, b := vectest.RandomRow(r, m*k), vectest.RandomRow(r, k*n)
	eachLevel(t, func(t *testing.T) {
		rows, cols := MatMulTile[float32]()
		require.Positive(t, rows)
		require.LessOrEqual(t, rows*cols, MaxTile)
		require.Zero(t, blockRows%rows)
		require.Zero(t, blockCols%cols)
		whole := make([]float32, m*n)
		require.True(t, MatMul(whole, a, b, m, n, k, k, n, n))
		for _, part := range [][2]int{{rows, cols}, {2 * rows, n}, {1, n}, {m, 1}, {3, 5}} {
			c := make([]float32, m*n)
			for i := 0; i < m; i += part[0] {
				for j := 0; j < n; j += part[1] {
					require.True(t, MatMul(c[i*n+j:], a[i*k:], b[j:], min(part[0], m-i), min(part[1], n-j), k, k, n, n))
				}
			}
			require.Equal(t, whole, c, "split in %dx%d", part[0], part[1])
		}
	})
}

// TestMatMulBlocks computes products of more than one block, and of rows that fill no tiles, whole and row by row: the bits must agree.
func TestMatMulBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for _, s := range [][3]int{{7, 40, 3}, {8, 32, 9}, {14, 32, 5}, {15, 33, 1}, {23, 64, 2}, {64, 10, 30}, {99, 65, 1030}, {101, 1057, 1024}} {
		eachLevel(t, func(t *testing.T) {
			checkBlocks(t, vectest.RandomRow(r, s[0]*s[2]), vectest.RandomRow(r, s[2]*s[1]), s[0], s[1], s[2])
			checkBlocks(t, doublesOf(vectest.RandomRow(r, s[0]*s[2])), doublesOf(vectest.RandomRow(r, s[2]*s[1])), s[0], s[1], s[2])
		})
	}
}

// doublesOf are elements with more bits than a float32 has.
func doublesOf(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v) / 3
	}
	return y
}

// checkBlocks compares a product with those of single rows, and adds it in two parts of k.
func checkBlocks[T vec.Real](t *testing.T, a, b []T, m, n, k int) {
	t.Helper()
	ldc := n + 1
	whole, cut, row := make([]T, m*ldc), make([]T, m*ldc), make([]T, n)
	for i := range whole {
		whole[i] = vectest.Guard
	}
	require.True(t, MatMul(whole, a, b, m, n, k, k, n, ldc))
	half := k / 2
	require.True(t, MatMul(cut, a, b, m, n, half, k, n, ldc))
	require.True(t, AddMatMul(cut, a[half:], b[half*n:], m, n, k-half, k, n, ldc))
	for i := range m {
		require.True(t, MatMul(row, a[i*k:], b, 1, n, k, k, n, n))
		require.Equal(t, row, whole[i*ldc:][:n], "row %d of %dx%dx%d", i, m, n, k)
		require.Equal(t, row, cut[i*ldc:][:n], "row %d of %dx%dx%d, in two parts", i, m, n, k)
		require.EqualValues(t, vectest.Guard, whole[i*ldc+n])
	}
}

// Products of a few columns that are cut along k, by columns and by rows have the bits of a whole product of more columns.
func TestMatMulOfFewColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	m, n, k := 109, 9, 37
	a, b := vectest.RandomRow(r, m*k), vectest.RandomRow(r, k*n)
	a[5*k+3], b[7*n] = float32(math.NaN()), float32(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		whole := make([]float32, m*n)
		require.True(t, MatMul(whole, a, b, m, n, k, k, n, n))
		for cols := 1; cols <= narrowColumns+1; cols++ {
			for _, rows := range []int{8, 12, 100, m} {
				c, check := vectest.Guarded(make([]float32, m*n))
				for i := 0; i < m; i += rows {
					for j := 0; j < n; j += cols {
						for l := 0; l < k; l += 10 {
							require.True(t, AddMatMul(c[i*n+j:], a[i*k+l:], b[l*n+j:], min(rows, m-i), min(cols, n-j), min(10, k-l), k, n, n))
						}
					}
				}
				check(t)
				for i := range whole {
					if whole[i] == whole[i] { //nolint:gocritic,staticcheck // NaN has no bits of its own
						require.Equal(t, math.Float32bits(whole[i]), math.Float32bits(c[i]), "%d rows, %d columns, element %d", rows, cols, i)
					} else {
						require.True(t, math.IsNaN(float64(c[i])))
					}
				}
			}
		}
	})
}

// TestRight multiplies by a right operand that was laid out before, whole and by columns: the bits are
// those of MatMul.
func TestRight(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 10))
	eachLevel(t, func(t *testing.T) {
		_, cols := MatMulTile[float32]()
		for _, s := range [][3]int{
			{1, 1, 1}, {1, 33, 300}, {2, 64, 513}, {3, 31, 5}, {7, 70, 17}, {65, 20, 3}, {66, 513, 30}, {130, 1100, 260}, {6, 6, 0}, {0, 3, 2}, {3, 0, 2},
		} {
			for _, gap := range []int{0, 3} {
				m, n, k := s[0], s[1], s[2]
				lda, ldb, ldc := k+gap, n+gap, n+gap
				a, b := vectest.RandomRow(g, m*lda), vectest.RandomRow(g, k*ldb)
				want, got := make([]float32, m*ldc), make([]float32, m*ldc)
				require.True(t, MatMul(want, a, b, m, n, k, lda, ldb, ldc))
				right := rightOf(b, k, n, ldb)
				require.GreaterOrEqual(t, right.Bytes(), int64(4*k*n))
				require.True(t, right.MatMul(got, a, m, 0, n, lda, ldc))
				require.Equal(t, want, got, "%v", s)
				for from := 0; m > 0 && from < n; from += 2 * cols { // the rest of c stays as it is
					require.True(t, right.MatMul(got[from:], a, m, from, min(cols, n-from), lda, ldc))
				}
				require.Equal(t, want, got, "%v by columns", s)
			}
		}
	})
}

// rightOf is b (k x n, leading dimension ldb) as a right operand.
func rightOf(b []float32, k, n, ldb int) *PackedRight {
	r := NewPackedRight(k, n)
	panels, cols := r.Panels()
	for j := range n {
		for l := range k {
			panels[j/cols*cols*k+l*cols+j%cols] = b[l*ldb+j]
		}
	}
	return r
}

func TestRightRefuses(t *testing.T) {
	_, cols := MatMulTile[float32]()
	x := make([]float32, 4*2*cols)
	require.Nil(t, NewPackedRight(-1, 2*cols))
	require.Nil(t, NewPackedRight(4, -1))
	r := rightOf(x, 4, 2*cols, 2*cols)
	c := make([]float32, 3*2*cols)
	require.True(t, r.MatMul(c, x, 3, 0, 2*cols, 4, 2*cols))
	require.False(t, r.MatMul(c, x, 4, 0, 2*cols, 4, 2*cols), "c is too short")
	require.False(t, r.MatMul(c, x[:11], 3, 0, 2*cols, 4, 2*cols), "a is too short")
	require.False(t, r.MatMul(c, x, 3, 0, 2*cols, 3, 2*cols), "rows of a overlap")
	require.False(t, r.MatMul(c, x, 3, cols, 2*cols, 4, 2*cols), "more columns than there are")
	require.False(t, r.MatMul(c, x, 3, 1, cols, 4, 2*cols), "from the middle of a panel")
	require.False(t, r.MatMul(c, x, 3, -cols, cols, 4, 2*cols))
}

func TestMatMulSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		// One bad element of a spoils its row of c and no other.
		for _, bad := range []float32{inf, nan} {
			m, n, k := 6, 35, 10
			a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
			for i := range b {
				b[i] = 1
			}
			a[2*k+3] = bad
			require.True(t, MatMul(c, a, b, m, n, k, k, n, n))
			for i, v := range c {
				if i/n == 2 {
					require.True(t, vectest.SameBits(float64(bad), float64(v)))
				} else {
					require.Zero(t, v)
				}
			}
		}
	})
}

func TestMatMulRefuses(t *testing.T) {
	const huge = math.MaxInt
	cases := []struct {
		name                   string
		m, n, k, lda, ldb, ldc int
	}{
		{"negative m", -1, 2, 2, 2, 2, 2},
		{"negative n", 2, -2, 2, 2, 2, 2},
		{"negative k", 2, 2, -1, 2, 2, 2},
		{"lda < k", 2, 2, 2, 1, 2, 2},
		{"ldb < n", 2, 2, 2, 2, 1, 2},
		{"ldc < n", 2, 2, 2, 2, 2, 1},
		{"short a", 2, 2, 2, 9, 2, 2},
		{"short b", 2, 2, 2, 2, 9, 2},
		{"short c", 2, 2, 2, 2, 2, 9},
		{"rows overflow", huge, 2, 2, 2, 2, 2},
		{"stride overflows", 2, 2, 2, huge, 2, 2},
		{"both", huge, 1, 1, huge, 1, huge},
	}
	for _, x := range cases {
		a, b, c := make([]float32, 4), make([]float32, 4), []float32{1, 1, 1, 1}
		require.False(t, MatMul(c, a, b, x.m, x.n, x.k, x.lda, x.ldb, x.ldc), x.name)
		require.False(t, MatMulPlain[float32, float64](c, a, b, x.m, x.n, x.k, x.lda, x.ldb, x.ldc), x.name)
		require.Equal(t, []float32{1, 1, 1, 1}, c, x.name)
	}
}

// TestMatMulIntegers: sums wrap as the element type does, whatever the
// accumulator.
func TestMatMulIntegers(t *testing.T) {
	a, b := []int8{100, 100, -100, 1}, []int8{1, 2, 1, 0, 1, 1, 7, 7}
	want := []int8{100 + 100 - 100 + 7, 200 + 0 - 100 + 7}
	narrow, wide := make([]int8, 2), make([]int8, 2)
	require.True(t, MatMulPlain[int8, int8](narrow, a, b, 1, 2, 4, 4, 2, 2))
	require.True(t, MatMulPlain[int8, int64](wide, a, b, 1, 2, 4, 4, 2, 2))
	require.Equal(t, want, narrow)
	require.Equal(t, want, wide)
}

func TestMatMulFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	m, n, k := 5, 150, 40
	a, b := make([]float64, m*k), make([]float64, k*n)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	for i := range b {
		b[i] = r.NormFloat64()
	}
	c := make([]float64, m*n)
	require.True(t, MatMul(c, a, b, m, n, k, k, n, n))
	column := make([]float64, k)
	for i := range m {
		for j := range n {
			for l := range k {
				column[l] = a[i*k+l] * b[l*n+j]
			}
			want, magnitude := vectest.ExactSum(column)
			require.InDelta(t, want, c[i*n+j], float64(k+1)*0x1p-53*magnitude)
		}
	}
}

func BenchmarkMatMul(b *testing.B) {
	chosen := active
	defer func() { active = chosen }()
	for _, set := range tables()[1:] {
		for _, n := range []int{64, 512, 1024} {
			x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
			b.Run(fmt.Sprintf("%s/%d", set.level, n), func(b *testing.B) {
				active = *set
				for b.Loop() {
					MatMul(z, x, y, n, n, n, n, n, n)
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
