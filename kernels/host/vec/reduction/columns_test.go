package reduction

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

func TestColumnsOfFloats(t *testing.T) {
	vectest.EachStack(t, eachLevel, func(t *testing.T, r *rand.Rand, n, stride, rows int) {
		x := vectest.Specials32(r, max(rows-1, 0)*stride+n)
		sums, checkSums := vectest.Guarded(make([]float64, n))
		tops, checkTops := vectest.Guarded(vectest.Specials32(r, n))
		least, checkLeast := vectest.Guarded(vectest.Specials32(r, n))
		wantSums, wantTops, wantLeast := append([]float64{}, sums...), append([]float32{}, tops...), append([]float32{}, least...)
		for i := range rows {
			for j, v := range x[i*stride:][:n] {
				wantSums[j] += float64(v)
				wantTops[j], wantLeast[j] = vec.Larger(v, wantTops[j]), vec.Smaller(v, wantLeast[j])
			}
		}
		SumColumns(sums, x, stride, rows)
		MaxColumns(tops, x, stride, rows)
		MinColumns(least, x, stride, rows)
		for j := range n {
			what := fmt.Sprintf("column %d of %d, %d rows, %d apart", j, n, rows, stride)
			require.True(t, vectest.SameBits(wantSums[j], sums[j]), what)
			require.True(t, vectest.SameBits(float64(wantTops[j]), float64(tops[j])), what)
			require.True(t, vectest.SameBits(float64(wantLeast[j]), float64(least[j])), what)
		}
		checkSums(t)
		checkTops(t)
		checkLeast(t)
	})
}

func TestColumnsOfBytes(t *testing.T) {
	vectest.EachStack(t, eachLevel, func(t *testing.T, r *rand.Rand, n, stride, rows int) {
		x := make([]uint8, max(rows-1, 0)*stride+n)
		for i := range x {
			x[i] = uint8(max(r.IntN(259)-3, 0)) * uint8(r.IntN(2))
		}
		some, checkSome := vectest.Guarded(make([]uint8, n))
		all, checkAll := vectest.Guarded(make([]uint8, n))
		want := make([]uint8, n)
		for j := range all {
			all[j] = 255
		}
		wantAll := append([]uint8{}, all...)
		for i := range rows {
			for j, v := range x[i*stride:][:n] {
				want[j] |= v
				if v == 0 {
					wantAll[j] = 0
				}
			}
		}
		OrColumns(some, x, stride, rows)
		AndColumns(all, x, stride, rows)
		require.Equal(t, want, some, "%d columns, %d rows, %d apart", n, rows, stride)
		require.Equal(t, wantAll, all, "%d columns, %d rows, %d apart", n, rows, stride)
		checkSome(t)
		checkAll(t)
	})
}

// Rows that do not lie in the memory that is given are not read.
func TestColumnsOutsideMemory(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		sums := make([]float64, 16)
		SumColumns(sums, make([]float32, 40), 13, 3)
		SumColumns(sums, make([]float32, 40), -1, 2)
		SumColumns(nil, make([]float32, 40), 1, 2)
		SumColumns(sums, nil, 0, 0)
		require.Equal(t, make([]float64, 16), sums)
	})
}

func TestArgColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		nan := float32(math.NaN())
		for _, n := range vectest.Sizes {
			for _, flip := range []uint32{0, vec.Descending} {
				best, at := make([]float32, n), make([]int32, n)
				for i := range best {
					best[i] = nan
				}
				wantBest, wantAt := append([]float32{}, best...), make([]int32, n)
				best, checkBest := vectest.Guarded(best)
				at, checkAt := vectest.Guarded(at)
				for row := range int32(9) {
					x := vectest.Specials32(r, n)
					ArgColumns(best, at, x, flip, row)
					argColumnsRow(wantBest, wantAt, x, flip, row)
					require.Equal(t, wantAt, at, "%d columns, row %d", n, row)
				}
				for i := range n {
					require.True(t, vectest.SameBits(float64(wantBest[i]), float64(best[i])))
				}
				checkBest(t)
				checkAt(t)
			}
		}
	})
}

func TestLargestAndFind(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for n := range 300 {
			for _, flip := range []uint32{0, vec.Descending} {
				x := vectest.Specials32(r, n)
				if n%5 == 0 { // nothing but NaN
					for i := range x {
						x[i] = float32(math.NaN())
					}
				}
				top, from := Largest(x, flip)
				want, _ := largestRow(x, flip)
				require.True(t, top == want, n)
				first := findRow(x, top, flip)
				require.Equal(t, first, Find(x, top, flip), n)
				require.True(t, from >= 0 && from <= len(x) && (first < 0 || from <= first), n)
				for _, v := range []float32{0, float32(math.NaN()), 1, 7} {
					require.Equal(t, findRow(x, v, flip), Find(x, v, flip), n)
				}
			}
		}
	})
}

// One byte that differs is found wherever it is.
func TestAnyAndAllBytes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 127, 128, 129, 255, 256, 257, 600} {
			none, all := make([]uint8, n), make([]uint8, n)
			for i := range all {
				all[i] = uint8(1 + i%255)
			}
			require.False(t, AnyByte(none), n)
			require.True(t, AllBytes(all), n)
			for i := range n {
				none[i], all[i] = 0x80, 0
				require.True(t, AnyByte(none), "%d of %d", i, n)
				require.False(t, AllBytes(all), "%d of %d", i, n)
				none[i], all[i] = 0, uint8(1+i%255)
			}
		}
	})
}

func TestRunningSums(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, n := range vectest.Sizes {
			x := vectest.Specials32(r, n)
			sums, dst := make([]float64, n), make([]float32, n)
			for i := range sums {
				sums[i] = r.NormFloat64()
			}
			want := append([]float64{}, sums...)
			dst, check := vectest.Guarded(dst)
			RunningSums(sums, dst, x)
			for i, v := range x {
				want[i] += float64(v)
				require.True(t, vectest.SameBits(want[i], sums[i]) && vectest.SameBits(float64(float32(want[i])), float64(dst[i])), "%d of %d", i, n)
			}
			check(t)
		}
	})
}

// Sums of small integers are exact in any order; what is infinite or NaN is so from its element on.
func TestRunningSum(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 40 {
		for _, special := range []bool{false, true} {
			x, want, sum := make([]float32, n), make([]float32, n), float32(math.Copysign(0, -1))
			if special {
				x = vectest.Specials32(r, n)
			}
			for i := range x {
				x[i] = float32(math.Trunc(float64(x[i] * 9)))
				if !special {
					x[i] = float32(r.IntN(1000) - 500)
				}
				sum += x[i]
				want[i] = sum
			}
			dst, check := vectest.Guarded(make([]float32, n))
			RunningSum(dst, x)
			RunningSum(x, x)
			for i := range x {
				require.True(t, vectest.SameBits(float64(want[i]), float64(dst[i])), "%d of %d", i, n)
				require.True(t, vectest.SameBits(float64(want[i]), float64(x[i])), "%d of %d, in place", i, n)
			}
			check(t)
		}
	}
}
