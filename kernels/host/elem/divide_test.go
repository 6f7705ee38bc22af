package elem

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFlooredDivision compares with exact rational numbers: quotients next to integers, of every size, with operands of all
// magnitudes and both signs.
func TestFlooredDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	sign := func(x float64) float64 { return x * float64(1-2*r.IntN(2)) }
	var x, y []float64
	for range 20_000 {
		b := sign(math.Ldexp(1+r.Float64(), r.IntN(60)-30))
		if r.IntN(2) == 0 {
			b = float64(float32(b)) // products with small integers are exact
		}
		q := math.Floor(math.Ldexp(r.Float64(), r.IntN(56)))
		a := sign(q * b)
		switch r.IntN(4) {
		case 0:
			a = math.Nextafter(a, 0)
		case 1:
			a = math.Nextafter(a, 2*a)
		case 2:
			a = sign(math.Ldexp(r.Float64(), r.IntN(80)-40))
		}
		x, y = append(x, a), append(y, b)
	}
	x = append(x, -5e-324, 5e-324, -1e-20, 1e-320, math.MaxFloat64, -math.MaxFloat64, 1)
	y = append(y, 1e300, -1e300, 1, 5e-324, 5e-324, 3, 0.1)
	checkFloored(t, x, y)
	narrowX, narrowY := make([]float32, 0, len(x)), make([]float32, 0, len(x))
	for i := range x {
		if v := float32(y[i]); v != 0 && !math.IsInf(float64(v), 0) && !math.IsInf(float64(float32(x[i])), 0) {
			narrowX, narrowY = append(narrowX, float32(x[i])), append(narrowY, v)
		}
	}
	checkFloored(t, narrowX, narrowY)
}

// checkFloored wants the quotient rounded once, and the remainder as far as one rounding of its exact value allows.
func checkFloored[T float32 | float64](t *testing.T, x, y []T) {
	t.Helper()
	quotients, rests := make([]T, len(x)), make([]T, len(x))
	floorDivides(quotients, x, y)
	remainders(rests, x, y)
	for i := range x {
		a, b := new(big.Rat).SetFloat64(float64(x[i])), new(big.Rat).SetFloat64(float64(y[i]))
		q := new(big.Rat).Quo(a, b)
		floor := new(big.Int).Div(q.Num(), q.Denom()) // rounds down: a denominator is positive
		rest := new(big.Rat).Sub(a, new(big.Rat).Mul(new(big.Rat).SetInt(floor), b))
		wantRest, _ := rest.Float64()
		if T(wantRest) != rests[i] {
			t.Fatalf("%g %% %g = %g; want %g", x[i], y[i], rests[i], wantRest)
		}
		wantQuotient, _ := new(big.Rat).SetInt(floor).Float64()
		if math.Abs(wantQuotient) < smallQuotient && T(wantQuotient) != quotients[i] {
			t.Fatalf("%g // %g = %g; want %g", x[i], y[i], quotients[i], wantQuotient)
		}
	}
}

// TestFlooredDivisionOfSpecials compares with the functions for any operands, bit for bit.
func TestFlooredDivisionOfSpecials(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	specials := []float64{0, zero, 1, -1, 0.1, -0.1, 3, -3, 1e308, -1e308, 5e-324, -5e-324, inf, -inf, nan}
	var x, y []float64
	for _, a := range specials {
		for _, b := range specials {
			x, y = append(x, a), append(y, b)
		}
	}
	quotients, rests := make([]float64, len(x)), make([]float64, len(x))
	floorDivides(quotients, x, y)
	remainders(rests, x, y)
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	for i := range x {
		if want := floorDivide(x[i], y[i]); !same(quotients[i], want) {
			t.Errorf("%g // %g = %g; want %g", x[i], y[i], quotients[i], want)
		}
		if want := remainder(x[i], y[i]); !same(rests[i], want) {
			t.Errorf("%g %% %g = %g; want %g", x[i], y[i], rests[i], want)
		}
	}
}

func BenchmarkFlooredDivision(b *testing.B) {
	x, y, dst := make([]float32, 1<<12), make([]float32, 1<<12), make([]float32, 1<<12)
	for i := range x {
		x[i], y[i] = rand.Float32()+0.05, rand.Float32()+0.05
	}
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		remainders(dst, x, y)
	}
}
