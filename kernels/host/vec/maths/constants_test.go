//go:build goexperiment.simd && amd64 && !race

package maths

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// scaledErfc is exp(a^2) erfc(a), by its asymptotic series where erfc itself is too small.
func scaledErfc(a float64) float64 {
	if a < 25 {
		return math.Exp(a*a) * math.Erfc(a)
	}
	z := 1 / (2 * a * a)
	return 1 / (a * math.SqrtPi) * (1 - z*(1-3*z*(1-5*z)))
}

// fitted interpolates f at n Chebyshev nodes of [-1, 1] and gives the
// polynomial in powers of t.
func fitted(n int, f func(t float64) float64) []float64 {
	factors := make([]float64, n)
	for j := range factors {
		for k := range n {
			angle := math.Pi * (float64(k) + 0.5) / float64(n)
			factors[j] += f(math.Cos(angle)) * math.Cos(float64(j)*angle) * 2 / float64(n)
		}
	}
	factors[0] /= 2
	return powersOf(factors)
}

func TestAtanFit(t *testing.T) {
	scaled := func(t float64) float64 {
		q := math.Sqrt((1 + t) / 2)
		return math.Atan(q) / q
	}
	for i, c := range fitted(len(Consts.atanFitted[:]), scaled) {
		require.InDelta(t, c, Consts.atanFitted[i][0], 1e-11, "coefficient %d", i)
	}
	for q := 0x1p-10; q <= 1; q += 0x1p-10 {
		u, p := 2*q*q-1, 0.0
		for i := len(Consts.atanFitted[:]) - 1; i >= 0; i-- {
			p = p*u + Consts.atanFitted[i][0]
		}
		require.InEpsilon(t, math.Atan(q), p*q, 5e-10, "at %g", q)
	}
}

// TestTaylorErrors holds the polynomials to the errors that their comments
// state, at the ends of their intervals, where they are largest.
func TestTaylorErrors(t *testing.T) {
	horner := func(c []vec.Splat64, x float64) float64 {
		p := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			p = p*x + c[i][0]
		}
		return p
	}
	for _, r := range []float64{math.Ln2 / 2, -math.Ln2 / 2, 0.1} {
		require.InDelta(t, math.Expm1(r)/r, horner(Consts.expTaylor[:], r), 2.1e-11)
	}
	for _, m := range []float64{math.Sqrt2, math.Sqrt2 / 2, 1.1} {
		s := (m - 1) / (m + 1)
		require.InEpsilon(t, math.Log(m), 2*s*(1+s*s*horner(Consts.atanhTaylor[:], s*s)), 2e-12)
	}
	for _, r := range []float64{math.Pi / 4, 0.5} {
		require.InDelta(t, math.Sin(r)/r, horner(Consts.sinTaylor[:], r*r), 9e-12)
		require.InDelta(t, math.Cos(r), horner(Consts.cosTaylor[:], r*r), 4e-13)
	}
}

// polynomial is one in float64 with coefficients in float32.
func polynomial(c []float32, x float64) float64 {
	p := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		p = p*x + float64(c[i])
	}
	return p
}

// TestPowFits holds both polynomials of pow to the errors that their comments state, relative to the function.
func TestPowFits(t *testing.T) {
	horner := func(c []vec.Splat64, x float64) float64 {
		p := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			p = p*x + c[i][0]
		}
		return p
	}
	for f := math.Sqrt2/2 - 1 - 0x1p-25; f <= math.Sqrt2-1+0x1p-24; f += 0x1p-12 {
		require.InEpsilon(t, math.Log1p(f)/math.Ln2, f*horner(Consts.log2Fitted[:], f), 1.1e-10, "log2 at %g", f)
	}
	for r := -0.5; r <= 0.5; r += 0x1p-12 {
		require.InEpsilon(t, math.Exp2(r), 1+r*horner(Consts.exp2Fitted[:], r), 2.4e-10, "exp2 at %g", r)
	}
}

// TestPowTables holds r to its bound and to be exact in float32 for each number of each interval, and the polynomials and sums of two to the errors that their comments state.
func TestPowTables(t *testing.T) {
	first := math.Float32bits(powFirst)
	for i := range powIntervals {
		inverse := float64(powInverses[i]) / 128
		for b := first + uint32(i)<<18; b < first+uint32(i+1)<<18; b++ {
			if r := float64(math.Float32frombits(b))*inverse - 1; math.Abs(r) > 0.0198 || float64(float32(r)) != r {
				t.Fatalf("interval %d: r of %g is %g", i, math.Float32frombits(b), r)
			}
		}
		table, low := float64(Consts.powLog[i/16][i%16]), float64(Consts.powLogLow[i/16][i%16])
		require.Equal(t, math.Trunc(table*0x1p16), table*0x1p16)
		require.InDelta(t, -math.Log2(inverse), table+low, 0x1p-40)
		require.Equal(t, inverse, float64(Consts.powInverse[i/16][i%16]))
	}
	require.Equal(t, uint32(1<<23), math.Float32bits(2*powFirst)-first, "the intervals are one binade")
	for r := -0.0198; r <= 0.0198; r += 0x1p-15 {
		if r != 0 {
			require.InDelta(t, (math.Log1p(r)-r)/math.Ln2/(r*r), polynomial(powCurve[:], r), 1e-8, "log2 at %g", r)
		}
	}
	for r := -1. / 32; r <= 1./32; r += 0x1p-12 {
		require.InDelta(t, math.Expm1(r*math.Ln2), r*polynomial(stepCurve[:], r), 8e-8/32, "exp2 at %g", r)
	}
	for i := range powSteps {
		require.InDelta(t, math.Exp2(float64(i)/powSteps), float64(Consts.step[i])+float64(Consts.stepLow[i]), 0x1p-48)
	}
}

// TestNarrowFits holds the fits in float32 to errors below that of the last rounding, 2^-24, relative to the function.
func TestNarrowFits(t *testing.T) {
	within := func(want, got, bound, at float64, what string) {
		require.LessOrEqual(t, math.Abs(got-want), bound*math.Abs(want), "%s at %g", what, at)
	}
	for r := -math.Ln2 / 2; r <= math.Ln2/2; r += 0x1p-12 {
		within(math.Exp(r), 1+r+r*r*polynomial(growth[:], r), 3.3e-9, r, "exp")
	}
	for f := math.Sqrt2/2 - 1 + 0x1p-13; f <= math.Sqrt2-1; f += 0x1p-12 {
		within(math.Log1p(f), f+f*f*polynomial(logCurve[:], f), 4.5e-9, f, "log")
		within(math.Log1p(f)/math.Ln2, f/math.Ln2+f*f*polynomial(log2Curve[:], f), 5e-9, f, "log2")
	}
	for r := 0x1p-10; r <= math.Pi/2+0.02; r += 0x1p-10 {
		within(math.Sin(r), r+r*r*r*polynomial(sinFit[:], r*r), 8e-9, r, "sin")
	}
}

// TestPieces does so for polynomials of intervals, from end to end of each: above lies what is in the last one.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name         string
		rows         [][8]float32
		table        *[9]vec.Splat32
		shift, above float64
		first        float64 // what is left out in the first interval, divided by a
		bound        float64
		f            func(a float64) float64
	}{
		{"gelu", geluPieces[:], &Consts.narrowGelu, 1, 14.5, 0.5, 1e-8, func(a float64) float64 { return a * scaledErfc(a/math.Sqrt2) / 2 }},
		{"tanh", tanhPieces[:], &Consts.narrowTanh, 0.75, 9.05, 0, 3.3e-8, math.Tanh},
		{"erf", erfPieces[:], &Consts.narrowErf, 0.375, 4, 1, 5e-8, math.Erf},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := 0.0, c.shift
			for i := range 8 {
				if _, e := math.Frexp(to); math.Ldexp(0.5, e) == to {
					to *= 1.5 // halves of binades
				} else {
					to /= 0.75
				}
				var coefficients []float32
				lane := int(math.Float32bits(float32(from+c.shift))>>22) & 7
				for j, row := range c.rows {
					coefficients = append(coefficients, row[i])
					require.Equal(t, row[i], c.table[j][lane], "row %d of interval %d", j, i)
					require.Equal(t, row[i], c.table[j][lane+8], "row %d of interval %d", j, i)
				}
				end := min(to-c.shift, c.above)
				for step := range 1001 {
					a := from + (end-from)*float64(step)/1000
					want, got := c.f(a), polynomial(coefficients[1:], a-float64(coefficients[0]))
					if i == 0 {
						got += c.first * a
					}
					require.LessOrEqual(t, math.Abs(got-want), c.bound*want, "at %g", a)
				}
				from = to - c.shift
			}
			require.GreaterOrEqual(t, from, c.above)
		})
	}
}

// TestConstantsAreAligned fails if a vector load of a constant crosses a line of the cache.
func TestConstantsAreAligned(t *testing.T) { vectest.RequireAligned(t, Consts) }

func TestLoopsLoadAlignedConstants(t *testing.T) { vectest.RequireLoadsOfConstants(t, 100) }
