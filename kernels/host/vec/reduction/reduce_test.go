package reduction

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

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
			want, magnitude := vectest.ExactSum(x)
			// As float64, before the caller's rounding to float32.
			require.InDelta(t, want, Sum(x), float64(len(x))*0x1p-53*magnitude, name)
			wide := make([]float64, len(x))
			vec.Convert(wide, x, func(v float32) float64 { return float64(v) / 3 })
			want, magnitude = vectest.ExactSum(wide)
			require.InDelta(t, want, Sum64(wide), (68+math.Log2(float64(len(x))/sumBlock))*0x1p-53*magnitude, name)
		}
	})
}

// TestMagnitudes: of whole numbers, whose sums are exact, at each place of the largest; and of what is not finite.
func TestMagnitudes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range vectest.MaxLength + 1 {
			row, want := make([]float32, n), 0.0
			for i := range row {
				row[i] = float32(i%7 - 3)
				want += math.Abs(float64(row[i]))
			}
			for at := range n {
				v := row[at]
				row[at] = -100
				largest, sum := Magnitudes(row)
				require.Equal(t, 100.0, largest, "%d of %d", at, n)
				require.Equal(t, want-math.Abs(float64(v))+100, sum, "%d of %d", at, n)
				for _, other := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					row[at] = float32(other)
					_, sum = Magnitudes(row)
					require.False(t, sum-sum == 0, "%v at %d of %d", other, at, n)
				}
				row[at] = v
			}
		}
	})
}

// TestSumSquaresWithinBound: squares of float32 are exact in float64, so that only their sum is rounded.
func TestSumSquaresWithinBound(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for name, x := range rowsToSum() {
			squares := make([]float64, len(x))
			vec.Convert(squares, x, func(v float32) float64 { return float64(v) * float64(v) })
			want, magnitude := vectest.ExactSum(squares)
			require.InDelta(t, want, SumSquares(x), float64(len(x))*0x1p-53*magnitude, name)
		}
		for n := range vectest.MaxLength + 1 { // whole numbers, whose sums are exact
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
		for n := range 4*vectest.MaxLength + 1 {
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
		for n := 1; n <= 4*vectest.MaxLength; n++ {
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
		for _, n := range vectest.Sizes[1:] {
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

// TestProduct multiplies rows of every length that a vector loop treats in its own way, and rows whose product leaves the range
// of float64 on the way in any order that does not take the magnitudes of its factors into account.
func TestProduct(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 300 {
			row := make([]float32, n)
			want := new(big.Float).SetPrec(200).SetInt64(1)
			for i := range row {
				row[i] = float32(math.Ldexp(1+r.Float64(), r.IntN(250)-125))
				if i%2 == 1 {
					row[i] = -1 / row[i-1]
				}
				want.Mul(want, big.NewFloat(float64(row[i])))
			}
			product, _ := want.Float64()
			require.InDelta(t, product, Product(row), float64(n+1)*0x1p-53*math.Abs(product), "%d elements", n)
			for _, special := range []struct{ x, want float64 }{{float64(nan), float64(nan)}, {float64(inf), math.Inf(1)}, {0, 0}} {
				for at := 0; at < n; at += 7 {
					some := append([]float32(nil), row...)
					some[at] = float32(special.x)
					got := Product(some)
					require.True(t, vectest.SameBits(math.Abs(got), special.want), "%g at %d of %d: %g", special.x, at, n, got)
				}
			}
		}
		large, small := make([]float32, 1000), make([]float32, 1000)
		for i := range large {
			large[i], small[i] = math.MaxFloat32, math.SmallestNonzeroFloat32
		}
		require.Equal(t, math.Inf(1), Product(large))
		require.Zero(t, Product(small))
		require.True(t, math.IsNaN(Product(append(append(large, 0), inf))))
		require.True(t, math.IsNaN(Product(append(small, inf, 0))))
		require.Equal(t, math.Inf(-1), Product(append(small, -inf)))
		balanced := make([]float32, 4096) // half of all lanes sees large numbers only
		for i := range balanced {
			balanced[i] = []float32{0x1p100, 0x1p-100}[i%2]
		}
		require.Equal(t, 1.0, Product(balanced))
	})
}

// TestProductLines wants the products in the order of the elements.
func TestProductLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 400)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for lines := range 11 {
		for length := 1; length <= 9; length++ {
			for _, stride := range []int{0, length - 1, length, length + 3} {
				products, check := vectest.Guarded(make([]float64, lines))
				for i := range products {
					products[i] = float64(i)
				}
				ProductLines(products, x[:max((lines-1)*stride, 0)+length], stride, length)
				check(t)
				for i, got := range products {
					want := float64(i)
					for _, v := range x[i*stride:][:length] {
						want *= float64(v)
					}
					require.Equal(t, want, got, "row %d of %d, %d elements, stride %d", i, lines, length, stride)
				}
			}
		}
	}
	ProductLines(nil, nil, 1, 1)
	ProductLines([]float64{0}, x[:1], 1, 2) // x is too short
}

func TestSumLines(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, 500)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	eachLevel(t, func(t *testing.T) {
		for lines := range 11 {
			for length := 1; length <= 33; length++ {
				for _, stride := range []int{0, length - 1, length, length + 3} {
					sums, check := vectest.Guarded(make([]float64, lines))
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
						// A rounding for each element and one for the number that was there, of magnitudes below 32.
						require.InDelta(t, float64(i)+want, got, float64(length+1)*32*0x1p-53, "row %d of %d, %d elements, stride %d", i, lines, length, stride)
						one := []float64{float64(i)}
						SumLines(one, x[i*stride:][:length], stride, length)
						require.Equal(t, one[0], got, "alone")
					}
				}
			}
		}
	})
	SumLines(nil, nil, 1, 1)
	SumLines([]float64{0}, x[:1], 1, 2) // x is too short
}
