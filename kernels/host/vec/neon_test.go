//go:build arm64 && cgo && !race

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// The loops in C are called here for rows of any length, also those that tables leave to portable loops, on operands that end
// in front of a page that may not be touched, or begin behind one. Portable loops tell what is right, to the bit.

// eachFenced calls f for each length and both places of operands.
func eachFenced(t *testing.T, f func(fenced *fences, r *rand.Rand, n int)) {
	fenced := newFences(t)
	for n := range maxLength + 1 {
		for _, high := range []bool{false, true} {
			fenced.high, fenced.used = high, 0
			f(fenced, rand.New(rand.NewPCG(uint64(n), 2)), n)
		}
	}
}

// filled is an operand with special numbers among others.
func filled(f *fences, r *rand.Rand, n int) []float32 {
	x := operand[float32](f, n)
	copy(x, specials32(r, n))
	return x
}

// requireBits fails unless rows have the same bits, any NaN being as good as another.
func requireBits(t *testing.T, want, got []float32, what string, at ...any) {
	t.Helper()
	for i := range want {
		require.True(t, sameBits(float64(want[i]), float64(got[i])), append([]any{what + ", element %d: %g; want %g"}, append(at, i, got[i], want[i])...)...)
	}
}

func TestPairsInC(t *testing.T) {
	portable := portableRows[float32]()
	for op, f := range []neon.Operation{Add: neon.Add, Sub: neon.Sub, Mul: neon.Mul, Div: neon.Div, Max: neon.Max, Min: neon.Min} {
		eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
			a, b, got, want := filled(fenced, r, n), filled(fenced, r, n), operand[float32](fenced, n), make([]float32, n)
			number := specials32(r, 1)[0]
			f.VV(got, a, b)
			portable[op].VV(want, a, b)
			requireBits(t, want, got, "%v of %d", Binary(op), n)
			f.VS(got, a, number)
			portable[op].VS(want, a, number)
			requireBits(t, want, got, "%v of %d and %g", Binary(op), n, number)
			f.SV(got, number, b)
			portable[op].SV(want, number, b)
			requireBits(t, want, got, "%v of %g and %d", Binary(op), number, n)
			portable[op].VV(want, a, b)
			f.VV(a, a, b)
			requireBits(t, want, a, "%v of %d in place", Binary(op), n)
		})
	}
}

func TestComparisonsInC(t *testing.T) {
	for _, c := range []struct {
		long  neon.Comparison
		short func(dst []uint8, a, b []float32)
	}{{neon.Less, lessRow}, {neon.LessEqual, lessEqualRow}, {neon.Equal, equalRow}, {neon.NotEqual, notEqualRow}} {
		eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
			a, b, got, want := filled(fenced, r, n), filled(fenced, r, n), operand[uint8](fenced, n), make([]uint8, n)
			c.long.Row(got, a, b)
			c.short(want, a, b)
			require.Equal(t, want, append([]uint8{}, got...))
		})
	}
	eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
		a, b, got, want := operand[int32](fenced, n), operand[int32](fenced, n), operand[uint8](fenced, n), make([]uint8, n)
		for i := range a {
			a[i], b[i] = int32(r.Uint32()), int32(r.Uint32())
			if i%3 == 0 {
				b[i] = a[i]
			}
		}
		neon.LessInt32(got, a, b)
		lessInt32Row(want, a, b)
		require.Equal(t, want, append([]uint8{}, got...))
	})
}

func TestConversionsInC(t *testing.T) {
	eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
		x, halves, got, doubles := filled(fenced, r, n), operand[uint16](fenced, n), operand[float32](fenced, n), operand[float64](fenced, n)
		wantHalves, want := make([]uint16, n), make([]float32, n)
		for i := range x {
			if i%2 == 0 {
				x[i] = math.Float32frombits(r.Uint32())
			}
			doubles[i] = float64(x[i]) * (1 + 0x1p-25)
		}
		neon.F32ToF16(halves, x)
		f32ToF16Row(wantHalves, x)
		require.Equal(t, wantHalves, append([]uint16{}, halves...))
		neon.F16ToF32(got, halves)
		f16ToF32Row(want, halves)
		requireBits(t, want, got, "float16 of %d", n)
		neon.F32ToBF16(halves, x)
		f32ToBF16Row(wantHalves, x)
		require.Equal(t, wantHalves, append([]uint16{}, halves...))
		neon.BF16ToF32(got, halves)
		bf16ToF32Row(want, halves)
		requireBits(t, want, got, "bfloat16 of %d", n)
		neon.ToFloat32(got, doubles)
		toFloat32Row(want, doubles)
		requireBits(t, want, got, "float64 of %d", n)
		ints, wantInts := operand[int32](fenced, n), make([]int32, n)
		for i := range x {
			x[i] *= 0x1p31
		}
		neon.ToInt32(ints, x)
		toInt32Row(wantInts, x)
		require.Equal(t, wantInts, append([]int32{}, ints...))
	})
}

// Functions that round correctly, or not at all, have the bits of the portable ones.
func TestExactFunctionsInC(t *testing.T) {
	portable := portableTable()
	for f, in := range map[Unary]neon.Function{
		Neg: neon.Neg, Abs: neon.Abs, Sqrt: neon.Sqrt, Reciprocal: neon.Reciprocal, Square: neon.Square, Relu: neon.Relu,
		Floor: neon.Floor, Ceil: neon.Ceil, Round: neon.Round, Trunc: neon.Trunc, Sign: neon.Sign,
	} {
		eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
			x, got, want := filled(fenced, r, n), operand[float32](fenced, n), make([]float32, n)
			require.Equal(t, n, in.Row(got, x))
			portable.unary[f](want, x)
			requireBits(t, want, got, "%v of %d", f, n)
			require.Equal(t, n, in.Row(x, x))
			requireBits(t, want, x, "%v of %d in place", f, n)
		})
	}
}

func TestReductionsInC(t *testing.T) {
	eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
		x, whole := filled(fenced, r, n), operand[float32](fenced, n)
		for i := range whole {
			whole[i] = float32(r.IntN(2000) - 1000) // sums of these are exact
		}
		require.Equal(t, sumRow(whole), neon.Sum(whole))
		require.Equal(t, sumSquaresRow(whole), neon.SumSquares(whole))
		require.Equal(t, sumDeviationsRow(whole, 3), neon.SumDeviations(whole, 3))
		for _, row := range [][]float32{x, whole} {
			top, bottom := neon.Top(row), neon.Bottom(row)
			require.True(t, top == maxRow(row) || top != top && maxRow(row) != maxRow(row))
			require.True(t, bottom == minRow(row) || bottom != bottom && minRow(row) != minRow(row))
			for _, flip := range []uint32{0, Descending} {
				want, _ := largestRow(row, flip)
				require.Equal(t, want, neon.Largest(row, flip))
				place := findRow(row, want, 0)
				if place < 0 {
					place = n
				}
				require.Equal(t, place, neon.Find(row, want))
			}
		}
		for i := range x { // NaN that is not quiet is passed over like any other
			if x[i] != x[i] {
				x[i] = math.Float32frombits(0x7f800001)
			}
		}
		want, _ := largestRow(x, 0)
		require.Equal(t, want, neon.Largest(x, 0))
	})
}

func TestColumnsInC(t *testing.T) {
	for _, rows := range []int{1, 3, 4, 5, 8, 9, 13} {
		eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
			stride := n + n%3
			x := filled(fenced, r, (rows-1)*stride+n)
			sums, want := operand[float64](fenced, n), make([]float64, n)
			neon.SumColumns(sums, x, stride, rows)
			sumColumnsRow(want, x, stride, rows)
			for i := range want {
				require.True(t, sameBits(want[i], sums[i]), "column %d of %d", i, n)
				sums[i] = 0
			}
			tops := filled(fenced, r, n)
			wanted := append([]float32{}, tops...)
			neon.MaxColumns(tops, x, stride, rows)
			maxColumnsRow(wanted, x, stride, rows)
			requireBits(t, wanted, tops, "largest of %d", n)
			neon.MinColumns(tops, x, stride, rows)
			minColumnsRow(wanted, x, stride, rows)
			requireBits(t, wanted, tops, "smallest of %d", n)
			at, wantAt := operand[int32](fenced, n), make([]int32, n)
			clear(at)
			neon.ArgColumns(tops, at, x[:n], Descending, 7)
			argColumnsRow(wanted, wantAt, x[:n], Descending, 7)
			requireBits(t, wanted, tops, "best of %d", n)
			require.Equal(t, wantAt, append([]int32{}, at...))
		})
	}
}

func TestStandardizeInC(t *testing.T) {
	eachFenced(t, func(fenced *fences, r *rand.Rand, n int) {
		x, weight, bias, got, want := filled(fenced, r, n), filled(fenced, r, n), filled(fenced, r, n), operand[float32](fenced, n), make([]float32, n)
		for _, w := range [][]float32{nil, weight} {
			for _, b := range [][]float32{nil, bias} {
				neon.Standardize(got, x, w, b, 0.3, 1.7)
				standardizeRow(want, x, w, b, 0.3, 1.7)
				requireBits(t, want, got, "%d, with weight %v, bias %v", n, w != nil, b != nil)
			}
		}
	})
}

// TestTapsInC compares the fields of both types.
func TestTapsInC(t *testing.T) {
	require.Equal(t, unsafe.Sizeof(Tap{}), unsafe.Sizeof(neon.Tap{}))
	require.Equal(t, unsafe.Offsetof(Tap{}.Number), unsafe.Offsetof(neon.Tap{}.Number))
	require.Equal(t, []neon.Tap{{Offset: 3, Number: 4}}, tapsInC([]Tap{{Offset: 3, Number: 4}}))
}

func TestWeighInC(t *testing.T) {
	for _, columns := range []int{4, 8, 12} {
		for _, rows := range []int{0, 1, 5} {
			fenced := newFences(t)
			fenced.high = true
			s, tops := operand[float32](fenced, rows*columns), operand[float32](fenced, columns)
			sums, factors := operand[float32](fenced, columns), operand[float32](fenced, columns)
			for i := range s {
				s[i] = float32(i%7) - 3
			}
			for i := range tops {
				tops[i], sums[i] = float32(math.Inf(-1)), 0
			}
			all, high, sum, factor := append([]float32{}, s...), append([]float32{}, tops...), make([]float32, columns), make([]float32, columns)
			neon.Weigh(s, tops, sums, factors, 2)
			weighColumns(all, high, sum, factor, 2)
			require.Equal(t, high, append([]float32{}, tops...))
			require.InDeltaSlice(t, all, s, 0x1p-22)
			require.InDeltaSlice(t, sum, sums, 0x1p-20)
			require.Equal(t, factor, append([]float32{}, factors...))
		}
	}
}
