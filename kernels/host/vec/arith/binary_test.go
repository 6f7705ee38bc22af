package arith

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/maths"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// wantBinary is the oracle: Go's operators, and Go's own max and min for all
// but the sign of zero.
func wantBinary[T vec.Number](op Binary, x, y T) T {
	switch op {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Max:
		if x == y {
			return y
		}
		return max(x, y)
	}
	if x == y {
		return y
	}
	return min(x, y)
}

func checkRows[T vec.Number](t *testing.T, rowsOf func(Binary) Rows[T], ops Binary, values []T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() T { return values[r.IntN(len(values))] }
	same := func(want, got T, what string, args ...any) {
		require.True(t, vectest.SameBits(float64(want), float64(got)), "%T %s: got %v; want %v", got, fmt.Sprintf(what, args...), got, want)
	}
	for op := range ops {
		rows := rowsOf(op)
		for n := range vectest.MaxLength + 1 {
			a, b, s := make([]T, n), make([]T, n), pick()
			for i := range n {
				a[i], b[i] = pick(), pick()
			}
			vv, check1 := vectest.Guarded(make([]T, n))
			rows.VV(vv, a, b)
			vs, check2 := vectest.Guarded(a)
			rows.VS(vs, vs, s)
			sv, check3 := vectest.Guarded(b)
			rows.SV(sv, s, sv)
			check1(t)
			check2(t)
			check3(t)
			for i := range n {
				same(wantBinary(op, a[i], b[i]), vv[i], "%v(%v, %v)", op, a[i], b[i])
				same(wantBinary(op, a[i], s), vs[i], "%v(%v, scalar %v)", op, a[i], s)
				same(wantBinary(op, s, b[i]), sv[i], "%v(scalar %v, %v)", op, s, b[i])
			}
		}
	}
}

func TestBinaryRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		checkRows(t, RowsOf[float32], BinaryCount, vectest.Edges32())
		checkRows(t, RowsOf[float64], BinaryCount, []float64{0, math.Copysign(0, -1), 1, -3, 0.1, 5e-324, 1e308, -1e308, math.Inf(1), math.Inf(-1), math.NaN()})
	})
	checkRows(t, IntegerRows[int8], Mul+1, []int8{0, 1, -1, 7, 100, 127, -128})
	checkRows(t, IntegerRows[uint8], Mul+1, []uint8{0, 1, 7, 200, 255})
	checkRows(t, IntegerRows[int16], Mul+1, []int16{0, 1, -1, 300, 32767, -32768})
	checkRows(t, IntegerRows[uint16], Mul+1, []uint16{0, 1, 300, 65535})
	checkRows(t, IntegerRows[int32], Mul+1, []int32{0, 1, -1, 99, math.MaxInt32, math.MinInt32})
	checkRows(t, IntegerRows[uint32], Mul+1, []uint32{0, 1, 99, math.MaxUint32})
	checkRows(t, IntegerRows[int64], Mul+1, []int64{0, 1, -1, 99, 1 << 40, -1 << 40})
	checkRows(t, IntegerRows[uint64], Mul+1, []uint64{0, 1, 99, 1 << 40})
}

func TestBinaryRowsOfUnequalLength(t *testing.T) {
	rows := RowsOf[float32](Add)
	dst := []float32{9, 9, 9}
	rows.VV(dst, []float32{1, 2}, []float32{1})
	require.Equal(t, []float32{2, 9, 9}, dst)
	rows.VS(dst, []float32{5, 6}, 1)
	require.Equal(t, []float32{6, 7, 9}, dst)
	rows.SV(dst, 1, nil)
	rows.VV(nil, dst, dst)
	require.Equal(t, []float32{6, 7, 9}, dst)
}

func TestRowsDoNotAllocate(t *testing.T) {
	rows, x := RowsOf[float32](Mul), make([]float32, 100)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		rows.VS(x, x, 2)
		maths.Exp.Row(x, x)
		maths.Softplus(x, x, 1, 20)
		maths.LeakyRelu(x, x, 0.1)
	}))
}

func BenchmarkBinary(b *testing.B) {
	for _, n := range []int{8, 16384} {
		x, y := make([]float32, n), make([]float32, n)
		for op := range Binary(BinaryCount) {
			rows := RowsOf[float32](op)
			b.Run(fmt.Sprintf("%v/%d", op, n), func(b *testing.B) {
				b.SetBytes(int64(12 * n))
				for b.Loop() {
					rows.VV(x, x, y)
				}
			})
		}
	}
}
