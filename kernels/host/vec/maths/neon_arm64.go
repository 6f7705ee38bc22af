//go:build cgo && !race

package maths

import (
	"math"

	"github.com/paddle-mps/paddle-mps/kernels/host/vec"
	"github.com/paddle-mps/paddle-mps/kernels/host/vec/neon"
)

// use chooses the loops of package neon.
func (t *table) use(level vec.Level) {
	t.level = level
	t.pow, t.exp2, t.atan2 = neon.Pow, neon.Exp2, neon.Atan2
	t.leakyRelu, t.softplus = neon.LeakyRelu, neon.Softplus
	for f, in := range map[Function]neon.Function{
		Neg: neon.Neg, Abs: neon.Abs, Sqrt: neon.Sqrt, Reciprocal: neon.Reciprocal, Square: neon.Square, Relu: neon.Relu,
		Floor: neon.Floor, Ceil: neon.Ceil, Round: neon.Round, Trunc: neon.Trunc, Sign: neon.Sign,
	} {
		t.unary[f] = vec.LeaveShort(functionInC(in), t.unary[f])
	}
	for f, in := range map[Function]neon.Function{
		Rsqrt: neon.Rsqrt, Exp: neon.Exp, Expm1: neon.Expm1, Log: neon.Log, Log1p: neon.Log1p, Log2: neon.Log2, Log10: neon.Log10,
		Asin: neon.Asin, Acos: neon.Acos, Atan: neon.Atan, Tanh: neon.Tanh, Sinh: neon.Sinh, Cosh: neon.Cosh,
		Asinh: neon.Asinh, Acosh: neon.Acosh, Atanh: neon.Atanh, Erf: neon.Erf, Sigmoid: neon.Sigmoid,
		Silu: neon.Silu, Gelu: neon.Gelu, GeluTanh: neon.GeluTanh,
	} {
		t.unary[f] = functionInC(in)
	}
	t.unary[Sin] = turnInC(neon.Sin, math.Sin)
	t.unary[Cos] = turnInC(neon.Cos, math.Cos)
	t.unary[Tan] = turnInC(neon.Tan, math.Tan)
}

// functionInC is a row function that does all elements.
func functionInC(f neon.Function) func(dst, src []float32) {
	return func(dst, src []float32) { f.Row(dst, src) }
}

// turnInC is a row function of angles. C leaves numbers far beyond a turn to the scalar function. It stops in front of a vector with
// such a number, of which the other elements are computed one by one: an element's neighbors do not show in its result.
func turnInC(f neon.Function, scalar func(float64) float64) func(dst, src []float32) {
	far := throughFloat64(scalar)
	return func(dst, src []float32) {
		for done := f.Row(dst, src); done < len(src); done += f.Row(dst[done:], src[done:]) {
			for end := min(done+4, len(src)); done < end; done++ {
				to, x := dst[done:done+1], src[done:done+1]
				if a := math.Abs(float64(x[0])); a > neon.TrigLimit && a <= math.MaxFloat32 {
					far(to, x)
				} else {
					f.Row(to, x)
				}
			}
		}
	}
}
