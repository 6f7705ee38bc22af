package maths

import "math"

// The gamma function's relatives. Their coefficients are Chebyshev interpolations at 70 nodes, computed with mpmath to 50
// digits and cut off below 2**-57 of the largest.

// The positive zero of digamma, as a float64 and what is missing to it, and digamma(x) / (x - zero) on [1, 2] in 2*x - 3:
// divided by its zero, digamma keeps all digits near it.
const (
	digammaZero = 1.4616321449683622
	digammaRest = 9.549995429965697e-17
)

const logOf2Pi = 1.8378770664093453

var digammaNear = []float64{
	0.983570260441566988, -0.227064086334644397, 0.033368899023930109, -0.00532007727159654744, 0.000878865693782050533,
	-0.000147734926506060433, 0.0000250605434683591444, -4.27210340299933221e-6, 7.30276927246592305e-7, -1.25028868135595955e-7,
	2.14250093223594737e-8, -3.67329591856517904e-9, 6.29971723610893091e-10, -1.08059302888326601e-10, 1.85373519205363789e-11,
	-3.18023536582553001e-12, 5.45614757032279418e-13, -9.36099313103643816e-14, 1.60606463629507501e-14, -2.75554313774388131e-15,
	4.72773617860191139e-16, -8.11148420346509003e-17, 1.39170776947415407e-17,
}

// lgamma(1+y) / (y * (y-1)) on [0, 1], in 2*y - 1: lgamma has its zeros at the ends.
var lgammaNear = []float64{
	0.491415393029387127, -0.076114161670435843, 0.00843232496593277796, -0.00107949372632860815, 0.000149007480036929645,
	-0.0000215123998885567854, 3.19793298608621864e-6, -4.85169301213992619e-7, 7.47148782116315976e-8, -1.16382967001705186e-8,
	1.82940043711866796e-9, -2.89691806071296064e-10, 4.6157014062090901e-11, -7.39281023049798246e-12, 1.18942800083330856e-12,
	-1.92120686765228045e-13, 3.113975526387164e-14, -5.06284329844861127e-15, 8.25415028163114428e-16, -1.34905789875748432e-16,
	2.20987611678262285e-17, -3.62741295492397693e-18,
}

// lgammaOfNext is lgamma(1+y) for y from 0 to 1, with all digits near both.
func lgammaOfNext(y float64) float64 { return y * (y - 1) * chebyshev(lgammaNear, 2*y-1) }

// lgamma is the logarithm of |gamma(x)|. Below 0 it is reflected (DLMF 5.5.3), from 10 on it is Stirling's series (5.11.1),
// and in between its recurrence moves it to [1, 2].
func lgamma(x float64) float64 {
	switch size := math.Abs(x); {
	case math.IsInf(size, 1):
		return size
	case size < 0x1p-60: // gamma(x) is 1/x
		return -ln(size)
	case x < 0:
		sine := math.Sin(math.Pi * (x - math.RoundToEven(x))) // the rest is without rounding
		if sine == 0 {
			return math.Inf(1)
		}
		return math.Log(math.Pi/(size*math.Abs(sine))) - lgamma(size)
	case x < 10:
		return lgammaByRecurrence(x, lgammaOfNext)
	}
	return (x-0.5)*(math.Log(x)-1) + (logOf2Pi-1)/2 + stirling(x)
}

// lgammaByRecurrence takes x to [1, 2], where near is lgamma(1+y).
func lgammaByRecurrence(x float64, near func(y float64) float64) float64 {
	if x < 1 {
		return near(x) - math.Log(x)
	}
	product := 1.0
	for x > 2 {
		x--
		product *= x
	}
	return near(x-1) + math.Log(product)
}

// stirling is what Stirling's formula for the logarithm of gamma lacks, from 10 on.
func stirling(x float64) float64 {
	z := 1 / (x * x)
	return (1./12 - z*(1./360-z*(1./1260-z*(1./1680-z*(1./1188-z*(691./360360-z*(1./156))))))) / x
}

// digammaOfOne is digamma on [1, 2].
func digammaOfOne(x float64) float64 {
	return (x - digammaZero - digammaRest) * chebyshev(digammaNear, 2*x-3)
}

// digammaByRecurrence takes x to [1, 2], where near is digamma.
func digammaByRecurrence(x float64, near func(x float64) float64) float64 {
	if x < 1 {
		return near(x+1) - 1/x
	}
	var sum float64
	for x > 2 {
		x--
		sum += 1 / x
	}
	return sum + near(x)
}

// digamma is the derivative of the logarithm of gamma. Below 0 it is reflected (DLMF 5.5.4); in between it is moved to
// [1, 2] by its recurrence (5.5.2); from 10 on it is its asymptotic series (5.11.2).
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1) / math.Copysign(1, x)
	case x < 0:
		rest := x - math.RoundToEven(x) // without rounding
		if rest == 0 || math.IsInf(x, -1) {
			return math.NaN()
		}
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*rest)
	case x < 10:
		return digammaByRecurrence(x, digammaOfOne)
	}
	z := 1 / (x * x)
	series := z * (1./12 - z*(1./120-z*(1./252-z*(1./240-z*(1./132-z*(691./32760-z*(1./12-z*(3617./8160))))))))
	return math.Log(x) - 0.5/x - series
}

// The first terms of the interpolations, in powers: what is left out is below 1e-11, of which float32 shows nothing.
var lgammaFew, digammaFew = powersOf(lgammaNear[:14]), powersOf(digammaNear[:15])

// lgammaNarrow is lgamma with the digits that float32 needs.
func lgammaNarrow(x float64) float64 {
	if x < 0x1p-60 || !(x < 10) {
		return lgamma(x)
	}
	return lgammaByRecurrence(x, func(y float64) float64 { return y * (y - 1) * horner(lgammaFew, 2*y-1) })
}

// digammaNarrow is digamma with the digits that float32 needs.
func digammaNarrow(x float64) float64 {
	if !(x > 0 && x < 10) {
		return digamma(x)
	}
	return digammaByRecurrence(x, func(x float64) float64 { return (x - digammaZero - digammaRest) * horner(digammaFew, 2*x-3) })
}

// horner is a polynomial, from the constant term on.
func horner(c []float64, t float64) (p float64) {
	for k := len(c) - 1; k >= 0; k-- {
		p = p*t + c[k]
	}
	return p
}

// chebyshev is the sum of c[k] * T_k(t), by Clenshaw's recurrence.
func chebyshev(c []float64, t float64) float64 {
	var b, last float64
	for k := len(c) - 1; k > 0; k-- {
		b, last = 2*t*b-last+c[k], b
	}
	return t*b - last + c[0]
}

// powersOf is the sum of c[k] * T_k(t) in powers of t, which cancel where there are many: of the few terms that float32 needs they
// are accurate.
func powersOf(c []float64) []float64 {
	n := len(c)
	powers, last, next := make([]float64, n), make([]float64, n+1), make([]float64, n+1)
	last[0], next[1] = 1, 1 // T0 and T1
	for _, factor := range c {
		following := make([]float64, n+1)
		for i := range n {
			powers[i] += factor * last[i]
			following[i+1] += 2 * next[i]
			following[i] -= last[i]
		}
		last, next = next, following
	}
	return powers
}
