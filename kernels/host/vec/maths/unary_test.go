package maths

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// checkWithin sweeps the row function of every level against want.
func checkWithin(t *testing.T, limit int64, row func(set *table) func(dst, src []float32), want func(float64) float64) {
	t.Helper()
	sets := tables()
	worst := make([]int64, len(sets))
	dst, oracle := make([]float32, vectest.BlockLength), make([]float64, vectest.BlockLength)
	vectest.Sweep(func(src []float32) {
		vec.Convert(oracle, src, func(x float32) float64 { return want(float64(x)) })
		for l, set := range sets {
			row(set)(dst[:len(src)], src)
			for i, x := range src {
				d := vectest.Ulps(dst[i], oracle[i])
				if d < 0 || d > limit {
					t.Fatalf("%v: f(%g) = %g; want %g (%d ulp)", set.level, x, dst[i], float32(oracle[i]), d)
				}
				worst[l] = max(worst[l], d)
			}
		}
	})
	t.Logf("at most %d ulp, slowest level first", worst)
}

// exact are the functions whose float32 result is the correctly rounded one.
var exact = map[Function]bool{
	Neg: true, Abs: true, Sqrt: true, Reciprocal: true, Square: true, Relu: true,
	Floor: true, Ceil: true, Round: true, Trunc: true, Sign: true,
}

func TestUnaryWithinTwoUlp(t *testing.T) {
	for f := range Function(FunctionCount) {
		t.Run(f.String(), func(t *testing.T) {
			limit := int64(2)
			if exact[f] {
				limit = 0
			}
			checkWithin(t, limit, func(set *table) func(dst, src []float32) { return set.unary[f] }, f.At)
		})
	}
}

// TestGammaBesideItsZeros has float32 numbers around each change of sign, where the two terms of a reflection cancel, and a
// polynomial of few terms alone would be off by thousands of units.
func TestGammaBesideItsZeros(t *testing.T) {
	for _, f := range []Function{Lgamma, Digamma} {
		var beside []float32
		last := f.At(-30.5)
		for x := float32(-30.5); x < 4; x += 0x1p-7 {
			y := f.At(float64(x))
			if y*last <= 0 && !math.IsInf(y, 0) && !math.IsInf(last, 0) {
				low, high := float64(x-0x1p-7), float64(x)
				for high-low > 1e-9 {
					if middle := (low + high) / 2; f.At(middle)*last <= 0 {
						high = middle
					} else {
						low = middle
					}
				}
				zero := float32(high)
				for range 200 {
					zero = math.Nextafter32(zero, -100)
				}
				for range 400 {
					beside = append(beside, zero)
					zero = math.Nextafter32(zero, 100)
				}
			}
			last = y
		}
		require.Greater(t, len(beside), 10*400)
		for _, set := range tables() {
			dst := make([]float32, len(beside))
			set.unary[f](dst, beside)
			for i, x := range beside {
				want := f.At(float64(x))
				d := vectest.Ulps(dst[i], want)
				require.True(t, d >= 0 && d <= 2, "%v: %v(%g) = %g; want %g", set.level, f, x, dst[i], want)
			}
		}
	}
}

func TestLeakyReluIsExact(t *testing.T) {
	for _, slope := range []float32{0.01, 0, -2, 3} {
		row := func(set *table) func(dst, src []float32) {
			return func(dst, src []float32) { set.leakyRelu(dst, src, slope) }
		}
		checkWithin(t, 0, row, func(x float64) float64 {
			if x > 0 {
				return x
			}
			return float64(slope) * x
		})
	}
}

func TestSoftplusWithinTwoUlp(t *testing.T) {
	for _, p := range []struct{ beta, threshold float32 }{{1, 20}, {2.5, 1}, {-1, 20}, {1e-30, 20}, {1, 1e9}} {
		row := func(set *table) func(dst, src []float32) {
			return func(dst, src []float32) { set.softplus(dst, src, p.beta, p.threshold) }
		}
		checkWithin(t, 2, row, func(x float64) float64 {
			y := float64(p.beta) * x
			if y > float64(p.threshold) {
				return x
			}
			return (math.Max(y, 0) + math.Log1p(math.Exp(-math.Abs(y)))) / float64(p.beta)
		})
	}
}

// TestAtan2WithinTwoUlp pairs the edges with each other, and every pattern of the sweep with itself moved on.
func TestAtan2WithinTwoUlp(t *testing.T) {
	for _, set := range tables() {
		worst := int64(0)
		check := func(y, x []float32) {
			dst := make([]float32, len(y))
			set.atan2(dst, y, x)
			for i := range y {
				want := math.Atan2(float64(y[i]), float64(x[i]))
				d := vectest.Ulps(dst[i], want)
				if d < 0 || d > 2 {
					t.Fatalf("%v: atan2(%g, %g) = %g; want %g", set.level, y[i], x[i], dst[i], want)
				}
				worst = max(worst, d)
			}
		}
		edges := vectest.Edges32()
		for _, x := range edges {
			row := make([]float32, len(edges))
			for i := range row {
				row[i] = x
			}
			check(edges, row)
		}
		near := make([]float32, 0, vectest.BlockLength) // of the magnitude of the other operand
		vectest.Sweep(func(src []float32) {
			check(src, append(near[:0:0], append(src[len(src)/3:], src[:len(src)/3]...)...))
			near = near[:0]
			for i, x := range src {
				near = append(near, x*float32(1-2*(i&1))*(0.5+float32(i)/float32(len(src))))
			}
			check(src, near)
			check(near, src)
		})
		t.Logf("%v: at most %d ulp", set.level, worst)
	}
}

func TestUnarySpecialValues(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	cases := []struct {
		f       Function
		x, want float64
	}{
		{Relu, nan, 0},
		{Relu, minus, 0},
		{Relu, -inf, 0},
		{Relu, inf, inf},
		{Sign, nan, nan},
		{Sign, minus, 0},
		{Sign, -inf, -1},
		{Sign, 1e-45, 1},
		{Round, 0.5, 0},
		{Round, 1.5, 2},
		{Round, 2.5, 2},
		{Round, -0.5, minus},
		{Floor, -0.5, -1},
		{Ceil, -0.5, minus},
		{Trunc, -0.5, minus},
		{Exp, -inf, 0},
		{Exp, inf, inf},
		{Expm1, -inf, -1},
		{Expm1, minus, minus},
		{Log, 0, -inf},
		{Log, minus, -inf},
		{Log, -1, nan},
		{Log, inf, inf},
		{Log, 1, 0},
		{Log1p, -1, -inf},
		{Log1p, -2, nan},
		{Log1p, minus, minus},
		{Log1p, inf, inf},
		{Log2, 1e-45, -149},
		{Log2, 8, 3},
		{Log2, 0, -inf},
		{Log10, 0, -inf},
		{Log10, -1, nan},
		{Log10, inf, inf},
		{Log10, 1, 0},
		{Log10, 1e10, 10},
		{Asin, minus, minus},
		{Asin, 1.5, nan},
		{Asin, inf, nan},
		{Acos, 1, 0},
		{Acos, -1.5, nan},
		{Acos, -inf, nan},
		{Atan, minus, minus},
		{Asinh, minus, minus},
		{Asinh, -inf, -inf},
		{Acosh, 1, 0},
		{Acosh, 0.5, nan},
		{Acosh, -1e30, nan},
		{Acosh, -inf, nan},
		{Acosh, inf, inf},
		{Atanh, minus, minus},
		{Atanh, 1, inf},
		{Atanh, -1, -inf},
		{Atanh, 2, nan},
		{Atanh, -inf, nan},
		{Sin, inf, nan},
		{Sin, minus, minus},
		{Cos, -inf, nan},
		{Cos, 0, 1},
		{Tan, minus, minus},
		{Tanh, inf, 1},
		{Tanh, -inf, -1},
		{Tanh, minus, minus},
		{Sinh, minus, minus},
		{Sinh, -inf, -inf},
		{Cosh, -inf, inf},
		{Erf, inf, 1},
		{Erf, -inf, -1},
		{Erf, minus, minus},
		{Lgamma, 0, inf},
		{Lgamma, minus, inf},
		{Lgamma, -3, inf},
		{Lgamma, -1e30, inf},
		{Lgamma, 1, 0},
		{Lgamma, 2, 0},
		{Lgamma, inf, inf},
		{Lgamma, -inf, inf},
		{Lgamma, nan, nan},
		{Digamma, 0, -inf},
		{Digamma, minus, inf},
		{Digamma, -3, nan},
		{Digamma, -1e30, nan},
		{Digamma, inf, inf},
		{Digamma, -inf, nan},
		{Digamma, nan, nan},
		{I0, 0, 1},
		{I0, -inf, inf},
		{I0, nan, nan},
		{I0e, 0, 1},
		{I0e, inf, 0},
		{I1, minus, minus},
		{I1, -inf, -inf},
		{I1, nan, nan},
		{I1e, minus, minus},
		{I1e, -inf, minus},
		{Sigmoid, inf, 1},
		{Sigmoid, -inf, 0},
		{Sigmoid, 0, 0.5},
		{Silu, -inf, nan},
		{Silu, inf, inf},
		{Silu, minus, minus},
		{Gelu, -inf, nan},
		{Gelu, inf, inf},
		{GeluTanh, -inf, nan},
		{GeluTanh, inf, inf},
		{Gelu, minus, minus},
		{Sqrt, -1, nan},
		{Sqrt, minus, minus},
		{Rsqrt, 0, inf},
		{Rsqrt, minus, -inf},
		{Rsqrt, inf, 0},
		{Reciprocal, minus, -inf},
		{Reciprocal, inf, 0},
		{Abs, minus, 0},
		{Neg, 0, minus},
		{Abs, -inf, inf},
	}
	eachLevel(t, func(t *testing.T) {
		for _, c := range cases {
			row := []float32{float32(c.x)}
			c.f.Row(row, row)
			require.True(t, vectest.SameBits(c.want, float64(row[0])), "%v(%g) = %g; want %g", c.f, c.x, row[0], c.want)
			row64 := []float64{float64(float32(c.x))}
			c.f.Row64(row64, row64)
			require.True(t, vectest.SameBits(c.want, row64[0]), "%v(%g) = %g in float64; want %g", c.f, c.x, row64[0], c.want)
		}
	})
}

// TestUnaryPlaceInRow holds every row function to the invariant of the
// package: length, place and aliasing do not show in an element.
func TestUnaryPlaceInRow(t *testing.T) {
	functions := map[string]func(dst, src []float32){
		"leaky_relu": func(dst, src []float32) { LeakyRelu(dst, src, 0.1) },
		"softplus":   func(dst, src []float32) { Softplus(dst, src, 1, 20) },
		"atan2":      func(dst, src []float32) { Atan2(dst, src, src) },
	}
	for f := range Function(FunctionCount) {
		functions[f.String()] = f.Row
	}
	eachLevel(t, func(t *testing.T) {
		for name, row := range functions {
			values := vectest.Edges32()
			alone := make([]float32, len(values))
			for i := range values {
				row(alone[i:i+1], values[i:i+1])
			}
			for n := range vectest.MaxLength + 1 {
				src, want := values[n/2:][:n], alone[n/2:][:n]
				dst, check := vectest.Guarded(make([]float32, n))
				row(dst, src)
				check(t)
				same, check := vectest.Guarded(src)
				row(same, same)
				check(t)
				for i := range want {
					require.True(t, vectest.SameBits(float64(want[i]), float64(dst[i])), "%s(%g), element %d of %d", name, src[i], i, n)
					require.True(t, vectest.SameBits(float64(want[i]), float64(same[i])), "%s(%g) in place", name, src[i])
				}
			}
		}
	})
}

func TestRowsOfUnequalLength(t *testing.T) {
	dst, check := vectest.Guarded(make([]float32, 3))
	Exp.Row(dst, make([]float32, 5))
	check(t)
	require.Equal(t, []float32{1, 1, 1}, dst)
	Exp.Row(dst, []float32{0.5})
	require.Equal(t, float32(1), dst[1])
	Exp.Row(nil, dst)
	Exp.Row(dst, nil)
	Softplus(nil, dst, 1, 20)
	LeakyRelu64(nil, nil, 1)
	require.Equal(t, float32(1), dst[2])
}

func TestFloat64Forms(t *testing.T) {
	dst := make([]float64, 3)
	LeakyRelu64(dst, []float64{-2, 0, 3}, 0.25)
	require.Equal(t, []float64{-0.5, 0, 3}, dst)
	Softplus64(dst, []float64{0, 30, -800}, 1, 20)
	require.Equal(t, []float64{math.Ln2, 30, 0}, dst)
}

func BenchmarkUnary(b *testing.B) {
	src, dst := make([]float32, 16384), make([]float32, 16384)
	for i := range src {
		src[i] = float32(i%2000)/250 + 0.001
	}
	for f := range Function(FunctionCount) {
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(int64(8 * len(src)))
			for b.Loop() {
				f.Row(dst, src)
			}
		})
	}
}
