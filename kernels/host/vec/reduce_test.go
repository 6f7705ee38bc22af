package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// exactSum adds up without rounding, and the magnitudes beside.
func exactSum[T float32 | float64](x []T) (sum, magnitude float64) {
	s, m := new(big.Float).SetPrec(2200), new(big.Float).SetPrec(2200)
	for _, v := range x {
		s.Add(s, big.NewFloat(float64(v)))
		m.Add(m, big.NewFloat(math.Abs(float64(v))))
	}
	sum, _ = s.Float64()
	magnitude, _ = m.Float64()
	return sum, magnitude
}

// rowsToSum are rows on which a careless sum goes wrong.
func rowsToSum() map[string][]float32 {
	r := rand.New(rand.NewPCG(3, 4))
	n := 1 << 16
	normal, equal, cancelling, spread := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		normal[i] = float32(r.NormFloat64())
		equal[i] = 0.1
		cancelling[i] = float32((i%2)*2-1) * (1e8 + float32(i))
		spread[i] = float32(math.Exp(20 * r.NormFloat64()))
	}
	return map[string][]float32{"normal": normal, "equal": equal, "cancelling": cancelling, "spread": spread}
}

func TestSumWithinBound(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for name, x := range rowsToSum() {
			want, magnitude := exactSum(x)
			// As float64, before the caller's rounding to float32.
			require.InDelta(t, want, Sum(x), float64(len(x))*0x1p-53*magnitude, name)
			wide := make([]float64, len(x))
			convert(wide, x, func(v float32) float64 { return float64(v) / 3 })
			want, magnitude = exactSum(wide)
			require.InDelta(t, want, Sum64(wide), (68+math.Log2(float64(len(x))/sumBlock))*0x1p-53*magnitude, name)
		}
	})
}

// TestSumSquaresWithinBound: squares of float32 are exact in float64, so that only their sum is rounded.
func TestSumSquaresWithinBound(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for name, x := range rowsToSum() {
			squares := make([]float64, len(x))
			convert(squares, x, func(v float32) float64 { return float64(v) * float64(v) })
			want, magnitude := exactSum(squares)
			require.InDelta(t, want, SumSquares(x), float64(len(x))*0x1p-53*magnitude, name)
		}
		for n := range maxLength + 1 { // whole numbers, whose sums are exact
			row, want := make([]float32, n), 0.0
			for i := range row {
				row[i] = float32(i - 5)
				want += float64(row[i]) * float64(row[i])
			}
			require.Equal(t, want, SumSquares(row), "%d elements", n)
		}
	})
}

// TestCountTrue counts rows of every length that a vector loop treats in its own way. Any byte but 0 is true.
func TestCountTrue(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 300 {
			row, want := make([]uint8, n), int64(0)
			for i := range row {
				if r.IntN(3) > 0 {
					row[i] = uint8(1 + r.IntN(255))
					want++
				}
			}
			require.Equal(t, want, CountTrue(row), "%d bytes", n)
		}
	})
}

// TestSumOf16M is the promise of the CPU device for float32 at n = 2^24. The
// row repeats one value, so that the exact sum is a product.
func TestSumOf16M(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	const n = 1 << 24
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.1
	}
	want := n * float64(float32(0.1))
	eachLevel(t, func(t *testing.T) {
		require.InDelta(t, want, float64(float32(Sum(x))), (2+24)*0x1p-24*want)
	})
}

func TestSumTails(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range 4*maxLength + 1 {
			a, wide := make([]float32, n), make([]float64, n)
			sum := 0.0
			for i := range n {
				a[i], wide[i] = float32(i+1), float64(i+1)
				sum += float64(i + 1)
			}
			require.Equal(t, sum, Sum(a))
			require.Equal(t, sum, Sum64(wide))
		}
	})
}

func TestMaxRowMinRow(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		require.Equal(t, float32(math.Inf(-1)), MaxRow(nil))
		require.Equal(t, float32(math.Inf(1)), MinRow(nil))
		for n := 1; n <= 4*maxLength; n++ {
			x := make([]float32, n)
			for i := range n {
				copy(x, make([]float32, n))
				x[i] = 1
				require.Equal(t, float32(1), MaxRow(x), "largest at %d of %d", i, n)
				x[i] = -1
				require.Equal(t, float32(-1), MinRow(x), "smallest at %d of %d", i, n)
				x[i], x[n-1-i] = float32(math.NaN()), x[n-1-i]+5
				if i != n-1-i {
					require.True(t, math.IsNaN(float64(MaxRow(x))), "NaN at %d of %d", i, n)
					require.True(t, math.IsNaN(float64(MinRow(x))), "NaN at %d of %d", i, n)
				}
			}
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	x, wide := make([]float32, 1<<20), make([]float64, 1<<20)
	for name, reduce := range map[string]func(){
		"Sum": func() { Sum(x) }, "MaxRow": func() { MaxRow(x) }, "Sum64": func() { Sum64(wide) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				reduce()
			}
		})
	}
}

// Infinities of both signs are no NaN, though their sum is, and neither are numbers whose sum is infinite.
func TestMaxRowMinRowOfInfinities(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		inf := float32(math.Inf(1))
		for _, n := range sizes[1:] {
			for at := range n {
				for _, v := range []float32{inf, math.MaxFloat32} {
					x := make([]float32, n)
					x[at], x[(at+n/2)%n] = v, -v
					require.Equal(t, v, MaxRow(x), "at %d of %d", at, n)
					require.Equal(t, -v, MinRow(x), "at %d of %d", at, n)
					for i := range x {
						x[i] = -v
					}
					require.Equal(t, -v, MaxRow(x), "%d elements", n)
					x[at] = float32(math.NaN())
					require.True(t, math.IsNaN(float64(MaxRow(x))) && math.IsNaN(float64(MinRow(x))), "NaN at %d of %d", at, n)
				}
			}
		}
	})
}

func TestSumLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 400)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for lines := range 11 {
		for length := 1; length <= 9; length++ {
			for _, stride := range []int{0, length - 1, length, length + 3} {
				sums, check := guarded(make([]float64, lines))
				for i := range sums {
					sums[i] = float64(i)
				}
				SumLines(sums, x[:max((lines-1)*stride, 0)+length], stride, length)
				check(t)
				for i, got := range sums {
					want := 0.0
					for _, v := range x[i*stride:][:length] {
						want += float64(v)
					}
					require.Equal(t, float64(i)+want, got, "row %d of %d, %d elements, stride %d", i, lines, length, stride)
				}
			}
		}
	}
	SumLines(nil, nil, 1, 1)
	SumLines([]float64{0}, x[:1], 1, 2) // x is too short
}
