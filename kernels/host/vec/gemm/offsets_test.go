package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// checkAtOffsets compares AddAtOffsets with AddMatMul on the matrix that the offsets stand for: the bits must agree.
func checkAtOffsets[T vec.Real](t *testing.T, r *rand.Rand, m, n, k, slack int) {
	t.Helper()
	offsets, reach := make([]int, k), 0
	for l := range offsets {
		offsets[l] = r.IntN(50)
		reach = max(reach, offsets[l])
	}
	a, b := make([]T, m*k), make([]T, reach+n+slack)
	for _, x := range [][]T{a, b} {
		for i := range x {
			x[i] = T(r.NormFloat64())
		}
	}
	matrix := make([]T, k*n)
	for l, o := range offsets {
		copy(matrix[l*n:][:n], b[o:])
	}
	ldc := n + 3
	want, got := make([]T, m*ldc), make([]T, m*ldc)
	for i := range want {
		want[i] = T(i)
	}
	copy(got, want)
	require.True(t, AddMatMul(want, a, matrix, m, n, k, k, n, ldc))
	left := a
	if m >= LeastTileRows[T]() {
		left = make([]T, LeftSize[T](m, k))
		require.True(t, PackLeft(left, a, m, k, k))
	}
	step := 1 // from one column of a to the next
	if m >= LeastTileRows[T]() {
		step = PanelRows[T]()
	}
	for from, to := 0, k/3; from < k; from, to = to, k { // a third of the rows of b, and the rest
		require.True(t, AddAtOffsets(got, left[from*step:], b, offsets[from:to], m, n, k, ldc, false))
	}
	require.Equal(t, want, got, "%d x %d x %d", m, n, k)

	// Set once, with what c holds before in no element of it.
	for i := range m {
		clear(want[i*ldc:][:n])
		for j := range got[i*ldc:][:n] {
			got[i*ldc+j] = T(math.NaN())
		}
	}
	require.True(t, AddMatMul(want, a, matrix, m, n, k, k, n, ldc))
	require.True(t, AddAtOffsets(got, left, b, offsets, m, n, k, ldc, true))
	require.Equal(t, want, got, "set: %d x %d x %d", m, n, k)
}

func TestAddTaps(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	eachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{
			{1, 1, 1}, {1, 200, 9}, {1, 77, 25}, {3, 70, 9}, {5, 31, 7}, {6, 16, 25}, {6, 77, 5}, {7, 33, 300}, {12, 64, 4}, {13, 100, 18}, {100, 40, 20}, {200, 17, 513}, {2, 2050, 19}, {3, 2048, 8}, {0, 3, 2}, {2, 0, 3}, {9, 9, 0},
		} {
			for _, slack := range []int{0, 5, 40} {
				checkAtOffsets[float32](t, r, s[0], s[1], s[2], slack)
				checkAtOffsets[float64](t, r, s[0], s[1], s[2], slack)
			}
		}
	})
}

// TestAddGrid compares AddGridAtOffsets with AddMatMul on the matrix that its lines stand for, where the last column is the end of b.
func TestAddGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	eachLevel(t, func(t *testing.T) {
		for _, s := range []struct{ m, n, k, width, pitch int }{
			{7, 40, 3, 20, 20}, {8, 49, 30, 7, 9}, {29, 100, 270, 14, 16}, {100, 35, 9, 5, 5}, {14, 33, 5, 16, 90}, {6, 18, 2, 17, 30}, {6, 196, 400, 14, 18}, {6, 40, 3, 9, 9}, {6, 150, 9, 40, 41}, {6, 33, 5, 7, 8}, {12, 500, 4, 100, 101}, {20, 6, 1, 5, 8}, {8, 15, 30, 7, 8},
		} {
			if !HasGrid[float32](s.m, s.width) {
				require.False(t, AddGridAtOffsets(make([]float32, s.m*s.n), make([]float32, LeftSize[float32](s.m, 1)), make([]float32, s.n*s.pitch), []int{0}, s.m, s.n, 1, s.n, s.width, s.pitch, true) && s.n > s.width)
				continue
			}
			offsets, reach := make([]int, s.k), 0
			for l := range offsets {
				offsets[l] = r.IntN(50)
				reach = max(reach, offsets[l])
			}
			a, b, matrix := make([]float32, s.m*s.k), make([]float32, reach+(s.n-1)/s.width*s.pitch+(s.n-1)%s.width+1), make([]float32, s.k*s.n)
			for _, x := range [][]float32{a, b} {
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
			}
			for i := range matrix {
				l, j := i/s.n, i%s.n
				matrix[i] = b[offsets[l]+j/s.width*s.pitch+j%s.width]
			}
			left := make([]float32, LeftSize[float32](s.m, s.k))
			require.True(t, PackLeft(left, a, s.m, s.k, s.k))
			want, got := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
			for _, set := range []bool{true, false} {
				require.True(t, AddMatMul(want, a, matrix, s.m, s.n, s.k, s.k, s.n, s.n))
				require.True(t, AddGridAtOffsets(got, left, b, offsets, s.m, s.n, s.k, s.n, s.width, s.pitch, set))
				require.Equal(t, want, got, "%v, set: %v", s, set)
			}
			for _, wrong := range []struct {
				b            []float32
				width, pitch int
			}{{b[1:], s.width, s.pitch}, {b, 0, s.pitch}, {b, s.width, s.width - 1}, {b, 4, 9}, {nil, s.width, s.pitch}, {b, s.width, math.MaxInt}} {
				require.False(t, AddGridAtOffsets(got, left, wrong.b, offsets, s.m, s.n, s.k, s.n, wrong.width, wrong.pitch, false), "%v, %v", s, wrong)
			}
			require.Equal(t, want, got, "what is refused is left alone")
		}
	})
}

func TestAddTapsRefuses(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rows := LeastTileRows[float32]()
		c, b := make([]float32, rows*8), make([]float32, 20)
		few, left := make([]float32, 2), make([]float32, LeftSize[float32](rows, 2))
		require.True(t, AddAtOffsets(c, few, b, []int{0, 12}, 1, 8, 2, 8, false))
		require.True(t, AddAtOffsets(c, left, b, []int{0, 12}, rows, 8, 2, 8, false))
		require.False(t, AddAtOffsets(c, few, b, []int{0, 13}, 1, 8, 2, 8, false), "b is too short")
		require.False(t, AddAtOffsets(c, few, b, []int{0, -1}, 1, 8, 2, 8, false))
		require.False(t, AddAtOffsets(c, few[:1], b, []int{0, 1}, 1, 8, 2, 8, false), "a is too short")
		require.False(t, AddAtOffsets(c, left[1:], b, []int{0, 1}, rows, 8, 2, 8, false), "a is too short")
		require.False(t, AddAtOffsets(c, left, b, []int{0, 1}, rows+1, 8, 2, 8, false), "c is too short")
		require.False(t, AddAtOffsets(c, few, b, []int{0}, 1, -1, 2, 8, false))
		require.False(t, PackLeft(left[1:], make([]float32, 2*rows), rows, 2, 2))
		require.False(t, PackLeft(left, make([]float32, 2*rows-1), rows, 2, 2))
	})
}
