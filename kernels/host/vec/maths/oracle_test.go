package maths

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec/vectest"
)

// An oracle that owes nothing to package math: power series in math/big, with
// enough bits that cancellation and the reduction of large angles do not show.
const bigPrecision = 700

func bigf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrecision).SetFloat64(x) }

func newBig() *big.Float { return new(big.Float).SetPrec(bigPrecision) }

// series adds term 0, 1, 2, ... until they no longer count; next turns a term
// into the one after it.
func series(term *big.Float, next func(t *big.Float, n int64)) *big.Float {
	sum := newBig().Set(term)
	for n := int64(1); term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-400); n++ {
		next(term, n)
		sum.Add(sum, term)
	}
	return sum
}

func ratio(t, num *big.Float, den int64) {
	t.Mul(t, num)
	t.Quo(t, bigf(float64(den)))
}

// bigExp halves its argument until the series is short.
func bigExp(x *big.Float) *big.Float {
	halvings := max(0, x.MantExp(nil)+8)
	small := newBig().SetMantExp(x, -halvings)
	e := series(bigf(1), func(t *big.Float, n int64) { ratio(t, small, n) })
	for range halvings {
		e.Mul(e, e)
	}
	return e
}

// bigLog is Newton's method on exp from float64's logarithm: each step
// squares the error, and a wrong start would not converge.
func bigLog(x *big.Float) *big.Float {
	mantissa := newBig()
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := newBig().Add(bigf(math.Log(m)), newBig().Mul(bigf(float64(exponent)), bigLn2()))
	for range 4 {
		e := bigExp(newBig().Neg(y))
		e.Mul(e, x)
		y.Add(y, e.Sub(e, bigf(1)))
	}
	return y
}

// bigLn2 is 2 atanh(1/3).
func bigLn2() *big.Float {
	sum, power := newBig(), newBig().Quo(bigf(2), bigf(3))
	for n := int64(1); n < 2*bigPrecision; n += 2 {
		sum.Add(sum, newBig().Quo(power, bigf(float64(n))))
		power.Quo(power, bigf(9))
	}
	return sum
}

// bigPi is Machin's 16 atan(1/5) - 4 atan(1/239).
func bigPi() *big.Float {
	atan := func(d float64) *big.Float {
		sum, power := newBig(), newBig().Quo(bigf(1), bigf(d))
		for n := int64(1); n < bigPrecision; n += 2 {
			term := newBig().Quo(power, bigf(float64(n)))
			if n%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, bigf(d*d))
		}
		return sum
	}
	return newBig().Sub(newBig().Mul(bigf(16), atan(5)), newBig().Mul(bigf(4), atan(239)))
}

// bigTrig gives sin and cos: x less a multiple of 2 pi, then the series.
func bigTrig(x *big.Float) (sin, cos *big.Float) {
	turn := bigPi()
	turn.Mul(turn, bigf(2))
	turns, _ := newBig().Quo(x, turn).Int(nil)
	r := newBig().Sub(x, newBig().Mul(newBig().SetInt(turns), turn))
	minus := newBig().Mul(r, r)
	minus.Neg(minus)
	sin = series(newBig().Set(r), func(t *big.Float, n int64) { ratio(t, minus, 2*n*(2*n+1)) })
	cos = series(bigf(1), func(t *big.Float, n int64) { ratio(t, minus, 2*n*(2*n-1)) })
	return sin, cos
}

// bigErf is 2/sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1)/(2n+1)!!, whose
// terms are all of one sign.
func bigErf(x *big.Float) *big.Float {
	square := newBig().Mul(x, x)
	twice := newBig().Mul(square, bigf(2))
	sum := series(newBig().Set(x), func(t *big.Float, n int64) { ratio(t, twice, 2*n+1) })
	sum.Mul(sum, bigExp(square.Neg(square)))
	return sum.Quo(sum.Mul(sum, bigf(2)), newBig().Sqrt(bigPi()))
}

// bigUnary are the functions that have an oracle here, and where their
// argument may lie for it to be quick.
var bigUnary = map[Function]struct {
	low, high float64 // magnitude of the argument
	positive  bool
	f         func(x *big.Float) *big.Float
}{
	Exp:   {1e-40, 110, false, bigExp},
	Expm1: {1e-40, 110, false, func(x *big.Float) *big.Float { return newBig().Sub(bigExp(x), bigf(1)) }},
	Log:   {1e-45, 3e38, true, bigLog},
	Log2:  {1e-45, 3e38, true, func(x *big.Float) *big.Float { return newBig().Quo(bigLog(x), bigLn2()) }},
	Log1p: {1e-40, 3e38, true, func(x *big.Float) *big.Float { return bigLog(newBig().Add(x, bigf(1))) }},
	Sin:   {1e-40, 3e38, false, func(x *big.Float) *big.Float { s, _ := bigTrig(x); return s }},
	Cos:   {1e-40, 3e38, false, func(x *big.Float) *big.Float { _, c := bigTrig(x); return c }},
	Tan:   {1e-40, 3e38, false, func(x *big.Float) *big.Float { s, c := bigTrig(x); return s.Quo(s, c) }},
	Tanh: {1e-40, 20, false, func(x *big.Float) *big.Float {
		e := bigExp(newBig().Mul(x, bigf(2)))
		return newBig().Quo(newBig().Sub(e, bigf(1)), newBig().Add(e, bigf(1)))
	}},
	Sinh: {1e-40, 95, false, func(x *big.Float) *big.Float {
		s := newBig().Sub(bigExp(x), bigExp(newBig().Neg(x)))
		return s.Quo(s, bigf(2))
	}},
	Cosh: {1e-40, 95, false, func(x *big.Float) *big.Float {
		s := newBig().Add(bigExp(x), bigExp(newBig().Neg(x)))
		return s.Quo(s, bigf(2))
	}},
	Sigmoid: {1e-40, 105, false, bigSigmoid},
	Silu:    {1e-40, 105, false, func(x *big.Float) *big.Float { return newBig().Mul(x, bigSigmoid(x)) }},
	Erf:     {1e-40, 5, false, bigErf},
	Gelu: {1e-40, 14, false, func(x *big.Float) *big.Float {
		g := newBig().Add(bigErf(newBig().Quo(x, newBig().Sqrt(bigf(2)))), bigf(1))
		return g.Mul(g, newBig().Quo(x, bigf(2)))
	}},
	GeluTanh: {1e-40, 10, false, func(x *big.Float) *big.Float {
		cubic := newBig().Mul(bigf(geluCubic), newBig().Mul(x, newBig().Mul(x, x)))
		u := cubic.Add(cubic, x)
		u.Mul(u, newBig().Sqrt(newBig().Quo(bigf(8), bigPi())))
		return newBig().Mul(x, bigSigmoid(u))
	}},
	Rsqrt: {1e-45, 3e38, true, func(x *big.Float) *big.Float { return newBig().Quo(bigf(1), newBig().Sqrt(x)) }},
}

func bigSigmoid(x *big.Float) *big.Float {
	return newBig().Quo(bigf(1), newBig().Add(bigf(1), bigExp(newBig().Neg(x))))
}

// TestUnaryAgainstBig takes arguments evenly over the exponents and checks
// every level, and At, against the series.
func TestUnaryAgainstBig(t *testing.T) {
	count := 500
	if testing.Short() {
		count = 20
	}
	r := rand.New(rand.NewPCG(11, 12))
	for f, oracle := range bigUnary {
		t.Run(f.String(), func(t *testing.T) {
			for range count {
				low, high := math.Log(oracle.low), math.Log(oracle.high)
				x := float32(math.Exp(low + (high-low)*r.Float64()))
				if !oracle.positive && r.IntN(2) == 0 {
					x = -x
				}
				want, _ := oracle.f(bigf(float64(x))).Float64()
				if d := vectest.Ulps(float32(f.At(float64(x))), want); d < 0 || d > 1 {
					t.Fatalf("At(%g) = %g; want %g", x, f.At(float64(x)), want)
				}
				for _, set := range tables() {
					got := []float32{x}
					set.unary[f](got, got)
					if d := vectest.Ulps(got[0], want); d < 0 || d > 2 {
						t.Fatalf("%v: f(%g) = %g; want %g (%d ulp)", set.level, x, got[0], float32(want), d)
					}
				}
			}
		})
	}
}
