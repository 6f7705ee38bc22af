package maths

import "math"

// scalars defines every Function in float64.
var scalars = [FunctionCount]func(float64) float64{
	Neg:        func(x float64) float64 { return -x },
	Abs:        math.Abs,
	Sqrt:       math.Sqrt,
	Rsqrt:      func(x float64) float64 { return 1 / math.Sqrt(x) },
	Reciprocal: func(x float64) float64 { return 1 / x },
	Square:     func(x float64) float64 { return x * x },
	Exp:        math.Exp,
	Expm1:      math.Expm1,
	Log:        ln,
	Log1p:      math.Log1p,
	Log2:       log2,
	Log10:      log10,
	Sin:        sin,
	Cos:        cos,
	Tan:        tan,
	Asin:       asin,
	Acos:       acos,
	Atan:       math.Atan,
	Tanh:       math.Tanh,
	Sinh:       sinh,
	Cosh:       cosh,
	Asinh:      math.Asinh,
	Acosh:      math.Acosh,
	Atanh:      math.Atanh,
	Erf:        math.Erf,
	Lgamma:     lgamma,
	Digamma:    digamma,
	I0:         i0,
	I0e:        i0e,
	I1:         i1,
	I1e:        i1e,
	Sigmoid:    sigmoid,
	Relu:       relu,
	Silu:       func(x float64) float64 { return x * sigmoid(x) },
	Gelu:       func(x float64) float64 { return x * (math.Erfc(-x*(1/math.Sqrt2)) / 2) },
	GeluTanh:   geluTanh,
	Floor:      math.Floor,
	Ceil:       math.Ceil,
	Round:      math.RoundToEven,
	Trunc:      math.Trunc,
	Sign:       sign,
}

// sigmoid never takes the exponential of a large number, whose reciprocal would be zero too early.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func relu(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}

// geluCubic is the constant of Hendrycks and Gimpel, "Gaussian Error Linear
// Units", arXiv:1606.08415, section 2.
const geluCubic = 0.044715

// geluTanh uses (1+tanh(u))/2 = 1/(1+exp(-2u)), which does not cancel for
// negative u.
func geluTanh(x float64) float64 {
	u := math.Sqrt2 / math.SqrtPi * (x + geluCubic*x*x*x)
	return x / (1 + math.Exp(-2*u))
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// softplus splits off the part that grows, so that exp cannot overflow.
func softplus(x, beta, threshold float64) float64 {
	y := beta * x
	if y > threshold {
		return x
	}
	l := math.Log1p(math.Exp(-math.Abs(y)))
	if y > 0 {
		l += y
	}
	return l / beta
}
