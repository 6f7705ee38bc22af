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
