package rownorm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two blocks of scores, one after the other, beside sums in float64 over all of them.
func TestWeighColumns(t *testing.T) {
	inf := math.Inf(1)
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{1, 5, 16, 32, 48} {
			for _, rows := range []int{0, 1, 3, 50} {
				for _, scaling := range []int{0, 11, maxScaling} {
					blocks := [2][]float32{}
					for i := range blocks {
						blocks[i] = make([]float32, rows*n)
						for j := range blocks[i] {
							blocks[i][j] = float32(r.NormFloat64() * math.Pow(10, float64(j%n%4)))
							if r.IntN(10) == 0 || j%n%7 == 6 {
								blocks[i][j] = float32(-inf)
							}
						}
					}
					tops, sums, factors := make([]float32, n), make([]float32, n), make([]float32, n)
					for c := range tops {
						tops[c] = float32(-inf)
					}
					var weights [2][]float32
					for i, s := range blocks {
						weights[i] = append([]float32{}, s...)
						OnlineSoftmaxColumns(weights[i], tops, sums, factors, scaling)
					}
					for c := range tops {
						top, sum := -inf, 0.0
						for _, s := range blocks {
							for at := c; at < len(s); at += n {
								top = max(top, float64(s[at]))
							}
						}
						require.Equal(t, float32(top), tops[c])
						for i, s := range blocks {
							factor := 1.0
							if i == 0 {
								factor = float64(factors[c])
							}
							for at := c; at < len(s); at += n {
								want := 0.0
								if !math.IsInf(float64(s[at]), -1) {
									want = math.Exp(float64(s[at]) - top)
								}
								sum += want
								got := float64(weights[i][at]) * factor * math.Exp2(float64(scaling))
								// The difference of two scores is rounded, and so are two exponentials and a product.
								off := 0x1p-24*math.Abs(float64(s[at])-top) + 0x1p-21
								require.InDelta(t, want, got, want*off+math.Exp2(float64(scaling-124)), "column %d of %d", c, n)
							}
						}
						require.InDelta(t, sum, float64(sums[c])*math.Exp2(float64(scaling)), sum*0x1p-15+math.Exp2(float64(scaling-120)))
					}
				}
			}
		}
	})
}

// A NaN or +Inf makes its own column NaN; one without a finite score has the weights 0.
func TestWeighColumnsOfSpecials(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			first, second [2]float32
			sum           float32
		}{
			"nan first":     {[2]float32{nan, 1}, [2]float32{2, 3}, nan},
			"nan last":      {[2]float32{1, 2}, [2]float32{3, nan}, nan},
			"inf first":     {[2]float32{inf, 1}, [2]float32{2, 3}, nan},
			"inf last":      {[2]float32{-inf, -inf}, [2]float32{3, inf}, nan},
			"hidden":        {[2]float32{-inf, -inf}, [2]float32{-inf, -inf}, 0},
			"hidden first":  {[2]float32{-inf, -inf}, [2]float32{-inf, 5}, 1},
			"hidden second": {[2]float32{-inf, 5}, [2]float32{-inf, -inf}, 1},
			"far apart":     {[2]float32{-math.MaxFloat32, 0}, [2]float32{0, math.MaxFloat32}, 1},
		} {
			const n = 32
			tops, sums, factors := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range tops {
				tops[i] = -inf
			}
			for _, pair := range [][2]float32{c.first, c.second} {
				s := make([]float32, 2*n)
				s[3], s[n+3] = pair[0], pair[1]
				OnlineSoftmaxColumns(s, tops, sums, factors, 0)
			}
			if c.sum != c.sum {
				require.True(t, math.IsNaN(float64(sums[3])), name)
			} else {
				require.Equal(t, c.sum, sums[3], name)
			}
			require.Equal(t, float32(4), sums[4], name)
		}
		OnlineSoftmaxColumns(nil, nil, nil, nil, 0)
		OnlineSoftmaxColumns([]float32{1}, []float32{1, 2}, nil, nil, 0)
	})
}
