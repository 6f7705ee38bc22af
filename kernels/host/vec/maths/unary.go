package maths

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
)

// Function names a function of one element. Row computes float32 rows to within
// 2 ulp of the correctly rounded result over the whole range, subnormals
// included; the test sweeps every function and level for it.
//
// NaN gives NaN, except that Relu gives 0. The sign of zero follows the
// function's limit. Silu and both Gelus of -Inf are NaN, because they are
// x times a factor that is 0 there.
type Function uint8

const (
	Neg Function = iota
	Abs
	Sqrt
	Rsqrt      // 1/sqrt(x)
	Reciprocal // 1/x
	Square
	Exp
	Expm1
	Log
	Log1p
	Log2
	Log10
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Tanh
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	Erf
	Lgamma   // the logarithm of |gamma(x)|
	Digamma  // its derivative
	I0       // the modified Bessel function of the first kind of order 0
	I0e      // I0 times exp(-|x|)
	I1       // that of order 1
	I1e      // I1 times exp(-|x|)
	Sigmoid  // 1/(1+exp(-x))
	Relu     // x where x > 0, else 0
	Silu     // x*sigmoid(x)
	Gelu     // x*(1+erf(x/sqrt(2)))/2
	GeluTanh // x*(1+tanh(sqrt(2/pi)*(x+0.044715*x^3)))/2
	Floor
	Ceil
	Round // to nearest, ties to even
	Trunc
	Sign // -1, 0 or 1; 0 for both zeros

	FunctionCount = iota
)

// String gives the name in lower case with underscores, "gelu_tanh".
func (f Function) String() string {
	return [FunctionCount]string{
		"neg", "abs", "sqrt", "rsqrt", "reciprocal", "square", "exp", "expm1", "log", "log1p", "log2", "log10",
		"sin", "cos", "tan", "asin", "acos", "atan", "tanh", "sinh", "cosh", "asinh", "acosh", "atanh",
		"erf", "lgamma", "digamma", "i0", "i0e", "i1", "i1e", "sigmoid", "relu", "silu", "gelu", "gelu_tanh",
		"floor", "ceil", "round", "trunc", "sign",
	}[f]
}

// Row sets dst[i] to f(src[i]).
func (f Function) Row(dst, src []float32) {
	n := min(len(dst), len(src))
	active.unary[f](dst[:n], src[:n])
}

// Row64 sets dst[i] to f(src[i]) in float64.
func (f Function) Row64(dst, src []float64) { vec.Convert(dst, src, scalars[f]) }

// At gives f(x) in float64. It is the definition of f; its error is a few ulp
// of float64, that of package math.
func (f Function) At(x float64) float64 { return scalars[f](x) }

// Atan2 sets dst[i] to the angle of the point (x[i], y[i]), from -pi to pi, as
// C's atan2: the sign of a zero chooses the side, and infinities are as far out
// as each other. It is within 2 ulp.
func Atan2(dst, y, x []float32) {
	n := min(len(dst), len(y), len(x))
	active.atan2(dst[:n], y[:n], x[:n])
}

// Atan264 is Atan2 in float64.
func Atan264(dst, y, x []float64) {
	for i := range min(len(dst), len(y), len(x)) {
		dst[i] = math.Atan2(y[i], x[i])
	}
}

// Pow sets dst[i] to x[i] to the power of y[i], as math.Pow defines it: 1 for a power of 0, even of NaN. It is within 2 ulp,
// and of squares rounded once.
func Pow(dst, x, y []float32) {
	n := min(len(dst), len(x), len(y))
	active.pow(dst[:n], x[:n], y[:n])
}

// Exp2 sets dst[i] to 2 to the power of src[i], with the bits of Pow.
func Exp2(dst, src []float32) {
	n := min(len(dst), len(src))
	active.exp2(dst[:n], src[:n])
}

// LeakyRelu sets dst[i] to src[i] where it is positive, else to slope*src[i].
func LeakyRelu(dst, src []float32, slope float32) {
	n := min(len(dst), len(src))
	active.leakyRelu(dst[:n], src[:n], slope)
}

// LeakyRelu64 is LeakyRelu in float64.
func LeakyRelu64(dst, src []float64, slope float64) { leakyReluRow(dst, src, slope) }

// Softplus sets dst[i] to log(1+exp(beta*x))/beta for x = src[i], and to x
// itself where beta*x is above threshold.
func Softplus(dst, src []float32, beta, threshold float32) {
	n := min(len(dst), len(src))
	active.softplus(dst[:n], src[:n], beta, threshold)
}

// Softplus64 is Softplus in float64.
func Softplus64(dst, src []float64, beta, threshold float64) {
	for i := range min(len(dst), len(src)) {
		dst[i] = softplus(src[i], beta, threshold)
	}
}

// throughFloat64 makes a float32 row function of f. The result is rounded
// twice, which costs less than one millionth of an ulp; for arithmetic and
// square roots the second rounding is even innocuous.
func throughFloat64(f func(float64) float64) func(dst, src []float32) {
	return func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(f(float64(x)))
		}
	}
}

// powRow is the portable form; vectors leave single elements to power, too.
func powRow(dst, x, y []float32) {
	for i, v := range x {
		dst[i] = power(v, y[i])
	}
}

// exp2Row is what vectors must answer as well.
func exp2Row(dst, src []float32) {
	for i, y := range src {
		dst[i] = power(2, y)
	}
}

// power is x to the y, with a square that is the product: rounded once, as Square is.
func power(x, y float32) float32 {
	if y == 2 {
		return x * x
	}
	return float32(math.Pow(float64(x), float64(y)))
}

func leakyReluRow[T float32 | float64](dst, src []T, slope T) {
	for i := range min(len(dst), len(src)) {
		x := src[i]
		if !(x > 0) {
			x *= slope
		}
		dst[i] = x
	}
}

func atan2Row(dst, y, x []float32) {
	for i, v := range y {
		dst[i] = float32(math.Atan2(float64(v), float64(x[i])))
	}
}

func softplusRow(dst, src []float32, beta, threshold float32) {
	for i, x := range src {
		dst[i] = float32(softplus(float64(x), float64(beta), float64(threshold)))
	}
}
