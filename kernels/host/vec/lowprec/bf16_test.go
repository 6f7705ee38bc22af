package lowprec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// randomPairs is a matrix of bfloat16 with a gap behind each row, whose exponents are around that of scale; one element in 16 is 0.
func randomPairs(r *rand.Rand, rows, cols, gap int, scale float64) []uint16 {
	m := make([]uint16, rows*(cols+gap))
	for i := range m {
		if m[i] = dtype.F64ToBF16(r.NormFloat64() * scale); r.IntN(16) == 0 {
			m[i] = uint16(r.IntN(2)) << 15
		}
	}
	return m
}

// pairsOf multiplies with b in memory and laid out before, and wants the same of both and of columns alone.
func pairsOf(t *testing.T, a, b []uint16, m, n, k, gap int) []uint16 {
	t.Helper()
	ldc := n + gap
	c, again := make([]uint16, m*ldc), make([]uint16, m*ldc)
	for i := range c {
		c[i], again[i] = vectest.Guard&0xffff, vectest.Guard&0xffff
	}
	require.True(t, MatMulBF16(c, a, b, m, n, k, k+gap, n+gap, ldc))
	right := NewPackedRightBF16(b, k, n, n+gap)
	require.NotNil(t, right)
	require.True(t, right.MatMul(again, a, m, 0, n, k+gap, ldc))
	require.Equal(t, c, again)
	for from := 0; from < n; from += pairCols {
		width := min(pairCols, n-from)
		require.True(t, right.MatMul(again[from:], a, m, from, width, k+gap, ldc))
	}
	require.Equal(t, c, again)
	for i := range m {
		for j := n; j < ldc; j++ {
			require.EqualValues(t, vectest.Guard&0xffff, c[i*ldc+j])
		}
	}
	return c
}

// eachPairs calls f with each tile: that of VDPBF16PS, that of AMX, and one in Go that sums as AMX does.
func eachPairs(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if !HasBF16() {
		t.Skip("this processor, or this build, has no products of pairs of bfloat16")
	}
	chosen := active
	defer func() { active = chosen }()
	for _, amx := range []struct {
		name string
		tile pairTile
	}{{"VDPBF16PS", pairTile{}}, {"AMX", chosen.amx}, {"AMX in Go", plainAMX(chosen.pairs)}} {
		set := chosen
		set.amx = amx.tile
		active = set
		t.Run(amx.name, func(t *testing.T) {
			if amx.name == "AMX" && (amx.tile.run == nil || !amx.tile.lent()) {
				t.Skip("this processor has no AMX, or the system does not lend its registers")
			}
			f(t)
		})
	}
}

// plainAMX is the tile of AMX in plain Go.
func plainAMX(p pairTile) pairTile {
	rows := func(n int) func(c *float32, a *uint16, lda int, b *uint32, pairs int) {
		return func(c *float32, a *uint16, lda int, b *uint32, pairs int) {
			sums, panel := unsafe.Slice(c, n*pairCols), unsafe.Slice(b, pairs*pairCols)
			left := unsafe.Slice(a, (n-1)*lda+2*pairs)
			for i := range sums {
				sums[i] = amxSum(left[i/pairCols*lda:][:2*pairs], panel[i%pairCols:])
			}
		}
	}
	p.rows, p.run, p.fewRows, p.few = 32, rows(32), 16, rows(16)
	p.apart, p.lent = 16, func() bool { return true }
	return p
}

// amxSum is one element: products are exact, and so each addition is a fused one.
func amxSum(row []uint16, col []uint32) (sum float32) {
	for from := 0; from < len(row); from += 32 {
		var parts [2]float32
		for l := from; l < min(from+32, len(row)); l++ {
			parts[l%2] += dtype.BF16ToF32(row[l]) * math.Float32frombits(col[l/2*pairCols]>>(l%2*16)<<16)
		}
		sum += parts[0] + parts[1]
	}
	return sum
}

// The tile of AMX has the bits of the one in Go, for numbers of rows and of pairs around those of a step.
func TestAMX(t *testing.T) {
	if active.amx.run == nil || !active.amx.lent() {
		t.Skip("this processor, or this build, has no AMX, or the system does not lend its registers")
	}
	r := rand.New(rand.NewPCG(3, 16))
	plain := plainAMX(active.pairs)
	for _, pairs := range []int{1, 2, 15, 16, 17, 31, 32, 33, 100, 512} {
		for _, tile := range []struct {
			rows        int
			run, oracle func(c *float32, a *uint16, lda int, b *uint32, pairs int)
		}{{32, active.amx.run, plain.run}, {16, active.amx.few, plain.few}} {
			a, b := randomPairs(r, tile.rows, 2*pairs, 6, 1), randomPairs(r, 2*pairs, pairCols, 0, 1)
			panel := make([]uint32, pairs*pairCols)
			active.pairs.pack(panel, b, pairCols, pairs, noMagnitude)
			got, want := make([]float32, tile.rows*pairCols+1), make([]float32, tile.rows*pairCols+1)
			got[tile.rows*pairCols], want[tile.rows*pairCols] = vectest.Guard, vectest.Guard
			tile.run(&got[0], &a[0], 2*pairs+6, &panel[0], pairs)
			tile.oracle(&want[0], &a[0], 2*pairs+6, &panel[0], pairs)
			require.Equal(t, want, got, "%d rows, %d pairs", tile.rows, pairs)
		}
	}
}

// Elements are within the roundings of their sums and half a unit of the result, for sizes around those of tiles and blocks, also
// where sums are subnormal or overflow.
func TestMatMulPairs(t *testing.T) { eachPairs(t, checkMatMulPairs) }

func checkMatMulPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 16))
	for _, s := range [][3]int{
		{0, 3, 2},
		{3, 0, 2},
		{3, 2, 0},
		{1, 1, 1},
		{1, 33, 7},
		{4, 32, 2},
		{5, 31, 3},
		{11, 64, 17},
		{12, 32, 16},
		{13, 65, 33},
		{25, 40, 512},
		{12, 33, 1024},
		{24, 130, 1023},
		{3, 32, 9001},
		{30, 5000, 61},
	} {
		for _, gap := range []int{0, 3} {
			for _, scale := range []float64{1, 1e-20, 1e-19, 1e-30, 1e19} {
				t.Run(fmt.Sprintf("%v+%d*%g", s, gap, scale), func(t *testing.T) {
					m, n, k := s[0], s[1], s[2]
					a, b := randomPairs(r, m, k, gap, scale), randomPairs(r, k, n, gap, scale)
					c := pairsOf(t, a, b, m, n, k, gap)
					for i := range m {
						for j := range n {
							checkPairs(t, a[i*(k+gap):][:k], b[min(j, len(b)):], n+gap, c[i*(n+gap)+j])
						}
					}
				})
			}
		}
	}
}

// checkPairs compares one element with its sum in float64.
func checkPairs(t *testing.T, row, col []uint16, ldb int, got uint16) {
	t.Helper()
	var sum, all float64
	for l, x := range row {
		p := float64(dtype.BF16ToF32(x)) * float64(dtype.BF16ToF32(col[l*ldb]))
		sum += p
		all += math.Abs(p)
	}
	const least = 0x1p-149 // a sum of float32 is rounded to no less
	bound := float64(len(row)) * (all*0x1p-24 + least)
	low, high := dtype.F64ToBF16(sum-bound), dtype.F64ToBF16(sum+bound)
	x, from, to := dtype.BF16ToF32(got), dtype.BF16ToF32(low), dtype.BF16ToF32(high)
	if all > math.MaxFloat32 {
		return // a partial sum may be infinite
	}
	if !(from <= x && x <= to) {
		t.Fatalf("%g for %d products; want %g to %g", x, len(row), from, to)
	}
}

// An element that is subnormal makes a product go the way of float32: all other rows keep their bits.
func TestMatMulPairsWidened(t *testing.T) { eachPairs(t, checkMatMulPairsWidened) }

func checkMatMulPairsWidened(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 16))
	for _, s := range [][3]int{{13, 33, 64}, {24, 64, 255}, {30, 200, 1000}} {
		m, n, k := s[0], s[1], s[2]
		a, b := randomPairs(r, m+1, k, 0, 1), randomPairs(r, k, n, 0, 1)
		want := pairsOf(t, a[:m*k], b, m, n, k, 0)
		a[m*k] = 1
		require.Equal(t, want, pairsOf(t, a, b, m+1, n, k, 0)[:m*n])
	}
	// 2^-133 of a times 2^127 of b, and a sum that only underflows because its products cancel.
	one := uint16(0x3f80)
	require.Equal(t, []uint16{dtype.F64ToBF16(0x1p-6)}, pairsOf(t, []uint16{1, 0}, []uint16{0x7f00, one}, 1, 1, 2, 0))
	x, y := dtype.F64ToBF16(0x1p-67*(1+0x1p-7)), dtype.F64ToBF16(-0x1p-67)
	scale := dtype.F64ToBF16(0x1p-59)
	require.Equal(t, []uint16{dtype.F64ToBF16(0x1p-133)}, pairsOf(t, []uint16{scale, scale}, []uint16{x, y}, 1, 1, 2, 0))
}

// NaN and infinities come through, and what lies behind a row of a, or a matrix of b, does not.
func TestMatMulPairsOfSpecials(t *testing.T) { eachPairs(t, checkMatMulPairsOfSpecials) }

func checkMatMulPairsOfSpecials(t *testing.T) {
	one, infinity, nan := uint16(0x3f80), uint16(0x7f80), uint16(0x7fc0)
	a := []uint16{one, one, one, nan, one, one, infinity, nan}
	b := []uint16{one, 0, one, infinity, one, one}
	c := make([]uint16, 4)
	require.True(t, MatMulBF16(c, a, b, 2, 2, 3, 4, 2, 2))
	require.Equal(t, []uint16{dtype.F64ToBF16(3), infinity, infinity, infinity}, c)
	require.True(t, MatMulBF16(c, []uint16{0, infinity}, []uint16{infinity, one, 0, one}, 1, 2, 2, 2, 2, 2))
	require.NotEqual(t, c[0], c[0]&0x7f80, "infinity times 0 is NaN")
	require.Equal(t, infinity, c[1])
}

// What does not fit is refused.
func TestMatMulPairsRefuses(t *testing.T) { eachPairs(t, checkMatMulPairsRefuses) }

func checkMatMulPairsRefuses(t *testing.T) {
	c := []uint16{7, 7, 7, 7}
	require.False(t, MatMulBF16(c, make([]uint16, 4), make([]uint16, 3), 2, 2, 2, 2, 2, 2))
	require.False(t, MatMulBF16(c, make([]uint16, 4), make([]uint16, 4), 2, 2, 2, 1, 2, 2))
	require.False(t, MatMulBF16(c[:3], make([]uint16, 4), make([]uint16, 4), 2, 2, 2, 2, 2, 2))
	require.Nil(t, NewPackedRightBF16(make([]uint16, 3), 2, 2, 2))
	right := NewPackedRightBF16(make([]uint16, 4), 2, 2, 2)
	require.False(t, right.MatMul(c, make([]uint16, 4), 2, 1, 1, 2, 2))
	require.False(t, right.MatMul(c, make([]uint16, 4), 2, 0, 3, 2, 3))
	require.Equal(t, []uint16{7, 7, 7, 7}, c)
}
