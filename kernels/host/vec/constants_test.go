//go:build goexperiment.simd && amd64 && !race

package vec

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// scaledErfc is (a+K) exp(a^2) erfc(a), by its asymptotic series where erfc
// itself is too small.
func scaledErfc(a float64) float64 {
	if a < 25 {
		return (a + erfcCentre) * math.Exp(a*a) * math.Erfc(a)
	}
	z := 1 / (2 * a * a)
	return (a + erfcCentre) / (a * math.SqrtPi) * (1 - z*(1-3*z*(1-5*z)))
}

// chebyshev interpolates f at n Chebyshev nodes of [-1, 1] and gives the
// polynomial in powers of t.
func chebyshev(n int, f func(t float64) float64) []float64 {
	powers, last, next := make([]float64, n), make([]float64, n+1), make([]float64, n+1)
	last[0], next[1] = 1, 1 // T0 and T1 in powers of t
	for j := range n {
		c := 0.0
		for k := range n {
			angle := math.Pi * (float64(k) + 0.5) / float64(n)
			c += f(math.Cos(angle)) * math.Cos(float64(j)*angle) * 2 / float64(n)
		}
		if j == 0 {
			c /= 2
		}
		following := make([]float64, n+1)
		for i := range n {
			powers[i] += c * last[i]
			following[i+1] += 2 * next[i]
			following[i] -= last[i]
		}
		last, next = next, following
	}
	return powers
}

func TestErfcFit(t *testing.T) {
	want := chebyshev(len(erfcFitted), func(t float64) float64 {
		return scaledErfc(erfcCentre * (1 + t) / (1 - t))
	})
	for i, c := range erfcFitted {
		require.InDelta(t, want[i], c[0], 1e-11, "coefficient %d", i)
	}
	for a := 0.0; a <= 11; a += 0x1p-10 {
		x, p := (a-erfcCentre)/(a+erfcCentre), 0.0
		for i := len(erfcFitted) - 1; i >= 0; i-- {
			p = p*x + erfcFitted[i][0]
		}
		require.InEpsilon(t, scaledErfc(a), p, 7e-10, "at %g", a)
	}
}

func TestAtanFit(t *testing.T) {
	scaled := func(t float64) float64 {
		q := math.Sqrt((1 + t) / 2)
		return math.Atan(q) / q
	}
	for i, c := range chebyshev(len(atanFitted), scaled) {
		require.InDelta(t, c, atanFitted[i][0], 1e-11, "coefficient %d", i)
	}
	for q := 0x1p-10; q <= 1; q += 0x1p-10 {
		u, p := 2*q*q-1, 0.0
		for i := len(atanFitted) - 1; i >= 0; i-- {
			p = p*u + atanFitted[i][0]
		}
		require.InEpsilon(t, math.Atan(q), p*q, 5e-10, "at %g", q)
	}
}

// TestTaylorErrors holds the polynomials to the errors that their comments
// state, at the ends of their intervals, where they are largest.
func TestTaylorErrors(t *testing.T) {
	horner := func(c []splat8, x float64) float64 {
		p := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			p = p*x + c[i][0]
		}
		return p
	}
	for _, r := range []float64{math.Ln2 / 2, -math.Ln2 / 2, 0.1} {
		require.InDelta(t, math.Expm1(r)/r, horner(expTaylor[:], r), 2.1e-11)
	}
	for _, m := range []float64{math.Sqrt2, math.Sqrt2 / 2, 1.1} {
		s := (m - 1) / (m + 1)
		require.InEpsilon(t, math.Log(m), 2*s*(1+s*s*horner(atanhTaylor[:], s*s)), 2e-12)
	}
	for _, r := range []float64{math.Pi / 4, 0.5} {
		require.InDelta(t, math.Sin(r)/r, horner(sinTaylor[:], r*r), 9e-12)
		require.InDelta(t, math.Cos(r), horner(cosTaylor[:], r*r), 4e-13)
	}
}

// TestNarrowFits holds the fits in float32 to a quarter of the error of the last rounding, relative to the function.
func TestNarrowFits(t *testing.T) {
	horner := func(c []float32, x float64) float64 {
		p := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			p = p*x + float64(c[i])
		}
		return p
	}
	for a := 0x1p-10; a <= 1; a += 0x1p-10 {
		require.InEpsilon(t, math.Erf(a), a+a*horner(erfNear[:], a*a), 1.5e-8, "at %g", a)
	}
	for a := 0x1p-10; a <= 0.6; a += 0x1p-10 {
		require.InEpsilon(t, math.Tanh(a), a+a*a*a*horner(tanhNear[:], a*a), 1.5e-8, "at %g", a)
	}
	for a := 1.0; a <= 4; a += 0x1p-10 {
		require.InEpsilon(t, math.Erf(a), -math.Expm1(horner(erfFar[:], a)), 1.5e-8, "at %g", a)
	}
}
