package maths

import "math"

// Powers of float64. Go's own multiplies squares, each of which is rounded: with exponents of thousands it is off by tens of
// thousands of units in the last place.

// pair is the sum of two float64, of which the second is below half a unit in the last place of the first.
type pair struct{ high, low float64 }

func twoSum(a, b float64) pair {
	s := a + b
	v := s - a
	return pair{s, (a - (s - v)) + (b - v)}
}

func twoProduct(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

// quickSum is twoSum where a is the larger one.
func quickSum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

func (a pair) plus(b pair) pair {
	s := twoSum(a.high, b.high)
	return quickSum(s.high, s.low+a.low+b.low)
}

func (a pair) times(b pair) pair {
	p := twoProduct(a.high, b.high)
	return quickSum(p.high, p.low+a.high*b.low+a.low*b.high)
}

// The logarithm of 2 as 32 bits, of which products with exponents are exact, and the rest.
const (
	ln2High = 0x1.62e42fee00000p-1
	ln2Mid  = 0x1.a39ef35793c76p-33
	ln2Low  = 0x1.cc01f97b57a08p-87
)

// third is what 1/3 as a float64 lacks.
const third = 0x1.5555555555555p-56

// logPair is the logarithm of a positive finite number, to 64 bits: log(m) = 2 artanh((m-1) / (m+1)), of a factor m in
// [sqrt(1/2), sqrt(2)).
func logPair(x float64) pair {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	over := twoSum(m, 1)
	q := (m - 1) / over.high
	s := quickSum(q, (math.FMA(-q, over.high, m-1)-q*over.low)/over.high)
	square := s.times(s)
	const terms = 16 // 0.0295**16 / 35 is 2**-86
	series := 0.0
	for n := terms; n >= 2; n-- {
		series = series*square.high + 1/float64(2*n+1)
	}
	inner := square.times(quickSum(1.0/3, third+series*square.high))
	log := s.plus(s.times(inner))
	log = pair{2 * log.high, 2 * log.low}
	k := float64(e)
	return pair{k * ln2High, 0}.plus(pair{k * ln2Mid, k * ln2Low}).plus(log)
}

// factorials are 1/n!.
var factorials = func() (f [17]float64) {
	f[0] = 1
	for n := 1; n < len(f); n++ {
		f[n] = f[n-1] / float64(n)
	}
	return f
}()

// expPair is the exponential of z, rounded once but for about one number in a hundred; z is between -760 and 760.
func expPair(z pair) float64 {
	k := math.RoundToEven(z.high * (1 / math.Ln2))
	r := twoSum(z.high-k*ln2High, -k*ln2Mid)
	r = quickSum(r.high, r.low+(z.low-k*ln2Low))
	tail := 0.0 // of r**3/3! on
	for n := len(factorials) - 1; n >= 3; n-- {
		tail = tail*r.high + factorials[n]
	}
	square := r.times(r)
	rest := pair{square.high / 2, square.low / 2}.plus(quickSum(r.high*square.high*tail, 0))
	sum := pair{1, 0}.plus(r).plus(rest)
	return math.Ldexp(sum.high+sum.low, int(k))
}

// Power is x to the y as math.Pow defines it, within 0.51 units in the last place.
func Power(x, y float64) float64 {
	a := math.Abs(x)
	if !(a > 0) || a > math.MaxFloat64 || y == 0 || !(math.Abs(y) <= math.MaxFloat64) || x == 1 {
		return math.Pow(x, y)
	}
	odd := false
	if x < 0 {
		whole := math.Trunc(y)
		if whole != y {
			return math.NaN()
		}
		odd = math.Mod(whole, 2) != 0
	}
	log := logPair(a)
	z := log.high * y
	v := 0.0
	switch {
	case z > 760:
		v = math.Inf(1)
	case z < -760:
	default:
		v = expPair(pair{z, math.FMA(log.high, y, -z) + log.low*y})
	}
	if odd {
		return -v
	}
	return v
}
