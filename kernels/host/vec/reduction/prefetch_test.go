//go:build linux || darwin

package reduction

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// manyRows are rows, columns and distances of more elements than are in the cache, which some loops read in another way, and of few.
var manyRows = [][3]int{
	{70, 1000, 1000},
	{64, 1024, 1024},
	{65, 1024, 1030},
	{2, 33000, 33001},
	{1, 70001, 1},
	{4, 17000, 17000},
	{3, 25000, 25003},
	{300, 257, 300},
	{2200, 33, 33},
	{1100, 64, 65},
	{9000, 8, 8},
	{9000, 7, 8},
	{30000, 1, 3},
	{33, 2051, 2100},
	{1, 5, 5},
	{3, 100, 101},
	{7, 1000, 1000},
	{9, 40, 0},
	{80, 1000, 1},
}

// eachOfMany calls f for each of manyRows at each level, with numbers behind a page and in front of one that must not be read.
func eachOfMany(t *testing.T, f func(t *testing.T, fenced *vectest.Fences, x []float32, rows, length, stride int, what string)) {
	eachLevel(t, func(t *testing.T) {
		r, fences := rand.New(rand.NewPCG(9, 4)), vectest.NewFences(t)
		for _, m := range manyRows {
			rows, length, stride := m[0], m[1], m[2]
			for _, fences.High = range []bool{false, true} {
				fences.Used = 0
				x := vectest.Operand[float32](fences, (rows-1)*stride+length)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				copy(x[len(x)/2:], vectest.Edges32())
				fences.Try(t, func() { // takes x again
					f(t, fences, vectest.Operand[float32](fences, len(x)), rows, length, stride, fmt.Sprintf("%d rows of %d, %d apart", rows, length, stride))
				}, "%d rows of %d, %d apart", rows, length, stride)
			}
		}
	})
}

// The sum of a row has the same bits beside others as by itself.
func TestSumRows(t *testing.T) {
	eachOfMany(t, func(t *testing.T, f *vectest.Fences, x []float32, rows, length, stride int, what string) {
		sums := vectest.Operand[float64](f, rows)
		for j := range sums {
			sums[j] = float64(j)
		}
		SumRows(sums, x, stride, length)
		for j, s := range sums {
			require.True(t, vectest.SameBits(float64(j)+Sum(x[j*stride:][:length]), s), "row %d of %s", j, what)
		}
	})
	sums := []float64{1, 2}
	SumRows(sums, make([]float32, 3), 2, 2) // x is too short
	SumRows(sums, make([]float32, 3), 2, 0)
	SumRows(sums, nil, -1, 1)
	SumRows(nil, nil, 1, 1)
	require.Equal(t, []float64{1, 2}, sums)
}

// Columns are added from the first row to the last, however many elements there are.
func TestSumManyColumns(t *testing.T) {
	eachOfMany(t, func(t *testing.T, f *vectest.Fences, x []float32, rows, length, stride int, what string) {
		if length > vectest.Fenced/8 {
			return
		}
		sums, want := vectest.Operand[float64](f, length), make([]float64, length)
		for j := range sums {
			sums[j], want[j] = float64(j), float64(j)
		}
		SumColumns(sums, x, stride, rows)
		sumColumnsRow(want, x, stride, rows)
		for j := range sums {
			require.True(t, vectest.SameBits(want[j], sums[j]), "column %d of %s", j, what)
		}
	})
}

// BenchmarkSumOfMemory adds up 64 MiB, row by row and column by column.
func BenchmarkSumOfMemory(b *testing.B) {
	x := make([]float32, 1<<24)
	for i := range x {
		x[i] = float32(i & 1023)
	}
	sums := make([]float64, 1024)
	b.Run("rows", func(b *testing.B) {
		b.SetBytes(int64(4 * len(x)))
		for b.Loop() {
			for i := 0; i < len(x); i += 1 << 20 {
				SumRows(sums, x[i:i+1<<20], 1024, 1024)
			}
		}
	})
	b.Run("columns", func(b *testing.B) {
		b.SetBytes(int64(4 * len(x)))
		for b.Loop() {
			SumColumns(sums, x, 1024, len(x)/1024)
		}
	})
}
