package rownorm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// exactlyNormalized is the last element that Normalize makes of a row, and its scale, in so many digits that none is wrong.
func exactlyNormalized(x []float32, weight, bias float32, epsilon float64, centered bool) (y, scale float64) {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	n, mean, squares := number(float64(len(x))), number(0), number(0)
	for _, v := range x {
		mean.Add(mean, number(float64(v)))
	}
	mean.Quo(mean, n)
	if !centered {
		mean = number(0)
	}
	d := number(0)
	for _, v := range x {
		d = number(float64(v))
		d.Sub(d, mean)
		squares.Add(squares, new(big.Float).Mul(d, d))
	}
	squares.Quo(squares, n)
	squares.Add(squares, number(epsilon))
	by := number(1)
	by.Quo(by, squares.Sqrt(squares))
	scale, _ = by.Float64()
	d.Mul(d, by)
	d.Mul(d, number(float64(weight)))
	d.Add(d, number(float64(bias)))
	y, _ = d.Float64()
	return y, scale
}

// Each element is right to a unit in the last place, also where the mean is a thousand deviations and where the bias
// takes most of it away.
func TestNormalizeWithinBound(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1, 2, 3, 7, 8, 15, 16, 31, 33, 64, 100, 1000, 4097} {
			for kind := range 8 {
				x, weight, bias, dst := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
				for i := range x {
					x[i], weight[i] = float32(r.NormFloat64()+1000*float64(kind&1)), float32(r.NormFloat64())
				}
				centered := kind&2 == 0
				y, _ := exactlyNormalized(x, weight[n-1], 0, 1e-5, centered)
				bias[n-1] = float32(-y * (1 - 1e-4))
				w, b := weight, bias
				if kind&4 != 0 {
					w, b = nil, nil
				}
				scale := Normalize(dst, x, w, b, 1e-5, centered)
				want, wantScale := exactlyNormalized(x, weight[n-1], bias[n-1], 1e-5, centered)
				if w == nil {
					want, wantScale = exactlyNormalized(x, 1, 0, 1e-5, centered)
				}
				what := fmt.Sprintf("%d elements, kind %d", n, kind)
				require.InEpsilon(t, wantScale, scale, 1e-12, what)
				unit := math.Abs(float64(math.Nextafter32(float32(want), 2*float32(want)) - float32(want)))
				require.InDelta(t, want, float64(dst[n-1]), unit, what)
			}
		}
	})
}

// TestNormalizeRows compares rows side by side with each by itself, and rows whose first element is far from all others, from which
// moments are counted, with the exact result.
func TestNormalizeRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 6))
		for _, n := range []int{1, 3, 15, 16, 17, 64, 1000, 4096, 4097} {
			for kind := range 4 {
				rows := 1 + 40/n + 18*(kind&1)
				x, weight, bias := make([]float32, rows*n), make([]float32, n), make([]float32, n)
				for i := range x {
					x[i] = float32(r.NormFloat64())
					if i%n == 0 && kind&2 != 0 {
						x[i] = 1e6
					}
				}
				for i := range n {
					weight[i], bias[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				}
				for _, centered := range []bool{true, false} {
					dst, check := vectest.Guarded(make([]float32, len(x)))
					var scales []float64
					NormalizeRows(dst, x, weight, bias, n, 1e-5, centered, func(s float64) { scales = append(scales, s) })
					check(t)
					require.Len(t, scales, rows)
					for j := range rows {
						row, alone := x[j*n:][:n], make([]float32, n)
						scale := Normalize(alone, row, weight, bias, 1e-5, centered)
						require.Equal(t, alone, dst[j*n:][:n], "row %d of %d elements", j, n)
						require.Equal(t, scale, scales[j])
						if j%7 != 0 {
							continue
						}
						_, want := exactlyNormalized(row, weight[n-1], bias[n-1], 1e-5, centered)
						require.InEpsilon(t, want, scale, 1e-11, "row %d of %d elements, kind %d", j, n, kind)
					}
				}
			}
		}
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		for _, n := range []int{2, 16, 33} {
			for _, odd := range []float32{inf, -inf, nan} {
				for at := range n {
					x := make([]float32, 3*n)
					x[n+at] = odd
					NormalizeRows(x, x, nil, nil, n, 1, true, func(float64) {})
					for i, y := range x {
						require.Equal(t, i/n == 1, y != y, "element %d of rows of %d", i, n)
					}
				}
			}
		}
	})
}

// What is beyond the shortest of the slices stays, and nothing is read of empty ones.
func TestNormalizeTakesTheShortest(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		dst := []float32{9, 9, 9, 9}
		Normalize(dst, []float32{1, 3, 100}, []float32{1, 1}, nil, 0, true)
		require.Equal(t, []float32{-1, 1, 9, 9}, dst)
		require.InDelta(t, 2, Normalize(nil, dst, nil, nil, 0.25, true), 0)
	})
}

// An element has the same bits wherever it lies in its row, the sign of zero included, and whichever rows lie beside its own.
func TestNormalizedElementsHaveNoPlace(t *testing.T) {
	const rows = 7 // four that are computed together, and others
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		means := []float64{0, math.Copysign(0, -1), 1, -3, 0.5, 1e9, math.Copysign(0, -1)}
		scales := []float64{0.75, 3, 0.75, 0.1, math.Inf(1), 2, 0.75}
		for _, n := range vectest.Sizes {
			for kind := range 4 {
				x, weight, bias := vectest.Specials32(r, rows*n), vectest.Specials32(r, n), vectest.Specials32(r, n)
				for j := range rows {
					copy(x[j*n:], vectest.Edges32()[:min(n, 12)])
				}
				if kind&1 != 0 {
					weight = nil
				}
				if kind&2 != 0 {
					bias = nil
				}
				dst, check := vectest.Guarded(make([]float32, rows*n))
				active.standardize(dst, x, weight, bias, n, means, scales)
				check(t)
				for i := range x {
					y, w := (float64(x[i])-means[i/n])*scales[i/n], 1.0
					if weight != nil {
						w = float64(weight[i%n])
					}
					if bias != nil {
						y = math.FMA(y, w, float64(bias[i%n]))
					} else {
						y *= w
					}
					require.True(t, vectest.SameBits(float64(float32(y)), float64(dst[i])), "element %d of rows of %d, kind %d: %g", i, n, kind, x[i])
				}
			}
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	src, dst := make([]float32, 16384), make([]float32, 16384)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = float32(r.NormFloat64())
	}
	for _, n := range []int{64, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				NormalizeRows(dst, src, src[:n], src[:n], n, 1e-5, true, func(float64) {})
			}
		})
	}
}
