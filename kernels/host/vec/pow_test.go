package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPowWithinTwoUlp pairs the edges with each other and with small integers, and random bases with powers that keep
// the result in the range of float32.
func TestPowWithinTwoUlp(t *testing.T) {
	var x, y []float32
	powers := append(edges32(), -3, -2, -1, 5, 7, 16777215, 16777216)
	for _, a := range edges32() {
		for _, b := range powers {
			// A vector of one pair, and one among ordinary pairs, which must not be drawn into the scalar way with other bits.
			x, y = append(x, a, 2, a, 1.5), append(y, b, 3, b, -2.5)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		a := math.Exp(80 * (2*r.Float64() - 1))
		b := 100 * (2*r.Float64() - 1) / max(math.Abs(math.Log(a)), 1e-3)
		if r.IntN(4) == 0 {
			a, b = -a, math.Round(b)
		}
		x, y = append(x, float32(a)), append(y, float32(b))
	}
	// The portable loop is the oracle's own rounding; the others have 2 ulp, and the sign and nan of each special pair.
	dst := make([]float32, len(x))
	for _, set := range tables() {
		set.pow(dst, x, y)
		for i := range x {
			want := math.Pow(float64(x[i]), float64(y[i]))
			if d := ulps(dst[i], want); d < 0 || d > 2 {
				t.Fatalf("%v: pow(%g, %g) = %g; want %g (%d ulp)", set.level, x[i], y[i], dst[i], float32(want), d)
			}
		}
	}
}

// TestSoftmaxWithinTwoUlp compares rows of every length up to maxLength with float64, and rows that are nan as a whole.
func TestSoftmaxWithinTwoUlp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= maxLength; n++ {
		for _, scale := range []float64{0.01, 1, 30, 1e30} {
			src := make([]float32, n)
			top := math.Inf(-1)
			for i := range src {
				src[i] = float32(scale * r.NormFloat64())
				top = max(top, float64(src[i]))
			}
			sum := 0.0
			for _, x := range src {
				sum += math.Exp(float64(x) - top)
			}
			for _, set := range tables() {
				chosen := active
				active = set
				dst, check := guarded(make([]float32, n))
				Softmax(dst, src, make([]float64, n))
				active = chosen
				check(t)
				for i, x := range src {
					if d := ulps(dst[i], math.Exp(float64(x)-top)/sum); d < 0 || d > 2 {
						t.Fatalf("%v: element %d of %d is %d ulp off", set.level, i, n, d)
					}
				}
			}
		}
	}
	for _, odd := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		row := []float32{1, odd, 2}
		Softmax(row, row, make([]float64, 3))
		for _, x := range row {
			if x == x {
				t.Fatalf("a row with %g has %g", odd, x)
			}
		}
	}
}
