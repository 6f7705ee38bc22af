package metal

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// one is MPSGraph's own function of a tensor.
func one(o mpsgraph.Unary) formula {
	return func(b *builder, in []tensor) tensor { return b.unary(o, in[0]) }
}

// asks is MPSGraph's own question about floats.
func asks(o mpsgraph.Unary) formula {
	return func(b *builder, in []tensor) tensor { return b.test(o, in[0]) }
}

// itself is what integers are already.
func itself(b *builder, in []tensor) tensor { return b.unary(mpsgraph.Identity, in[0]) }

// never and ever answer questions that integers leave no doubt about.
func never(b *builder, in []tensor) tensor { return b.compare(mpsgraph.NotEqual, in[0], in[0]) }
func ever(b *builder, in []tensor) tensor  { return b.compare(mpsgraph.Equal, in[0], in[0]) }

func init() {
	for name, f := range map[string]function{
		"abs":        {one(mpsgraph.Absolute), magnitude, itself},
		"neg":        {one(mpsgraph.Negative), negative, itself},
		"sign":       {sign, signOfIntegers, nil},
		"square":     {square, square, nil},
		"relu":       {relu, relu, nil},
		"floor":      {one(mpsgraph.Floor), itself, nil},
		"ceil":       {one(mpsgraph.Ceil), itself, nil},
		"round":      {one(mpsgraph.Rint), itself, nil},
		"trunc":      {one(mpsgraph.Truncate), itself, nil},
		"isnan":      {asks(mpsgraph.IsNaN), never, nil},
		"isinf":      {asks(mpsgraph.IsInfinite), never, nil},
		"isfinite":   {asks(mpsgraph.IsFinite), ever, nil},
		"exp":        {one(mpsgraph.Exponent), nil, nil},
		"expm1":      {expLess1, nil, nil},
		"log":        {one(mpsgraph.Logarithm), nil, nil},
		"log1p":      {logOf1And, nil, nil},
		"log2":       {one(mpsgraph.LogarithmBase2), nil, nil},
		"sqrt":       {one(mpsgraph.SquareRoot), nil, nil},
		"rsqrt":      {one(mpsgraph.ReverseSquareRoot), nil, nil},
		"reciprocal": {reciprocal, nil, nil},
		"sin":        {one(mpsgraph.Sin), nil, nil},
		"cos":        {one(mpsgraph.Cos), nil, nil},
		"tan":        {one(mpsgraph.Tan), nil, nil},
		"sinh":       {one(mpsgraph.Sinh), nil, nil},
		"cosh":       {one(mpsgraph.Cosh), nil, nil},
		"tanh":       {one(mpsgraph.Tanh), nil, nil},
		"erf":        {one(mpsgraph.Erf), nil, nil},
		"sigmoid":    {one(mpsgraph.Sigmoid), nil, nil},
		"silu":       {silu, nil, nil},
		"softplus":   {softplus, nil, nil},
		"leaky_relu": {leakyRelu, nil, nil},
	} {
		f.lower(name)
	}
}

// negative wraps around, also without a sign.
func negative(b *builder, in []tensor) tensor {
	return b.minus(b.like(in[0], 0), in[0])
}

func magnitude(b *builder, in []tensor) tensor {
	if in[0].dtype == dtype.Uint8 {
		return itself(b, in)
	}
	return b.choose(b.compare(mpsgraph.LessThan, in[0], b.like(in[0], 0)), negative(b, in), in[0])
}

// sign keeps NaN, of which MPSGraph's is 0.
func sign(b *builder, in []tensor) tensor {
	return b.choose(b.test(mpsgraph.IsNaN, in[0]), in[0], b.unary(mpsgraph.Sign, in[0]))
}

func signOfIntegers(b *builder, in []tensor) tensor {
	x, zero, one := in[0], b.like(in[0], 0), b.like(in[0], 1)
	positive := b.choose(b.compare(mpsgraph.GreaterThan, x, zero), one, zero)
	if x.dtype == dtype.Uint8 {
		return positive
	}
	return b.choose(b.compare(mpsgraph.LessThan, x, zero), b.like(x, -1), positive)
}

func square(b *builder, in []tensor) tensor {
	return b.times(in[0], in[0])
}

// relu is 0 of NaN, which loses to a number here.
func relu(b *builder, in []tensor) tensor {
	return b.binary(mpsgraph.Maximum, in[0], b.like(in[0], 0))
}

// reciprocal is rounded once, as a division is.
func reciprocal(b *builder, in []tensor) tensor {
	return b.over(b.like(in[0], 1), in[0])
}

// expLess1 mends the rounding of exp(x) by that of its logarithm, after W. Kahan. Beyond 1 nothing is lost.
func expLess1(b *builder, in []tensor) tensor {
	x := in[0]
	u := b.unary(mpsgraph.Exponent, x)
	less := b.minus(u, b.like(x, 1))
	mended := b.times(less, b.over(x, b.unary(mpsgraph.Logarithm, u)))
	plain := b.either(
		b.compare(mpsgraph.GreaterThan, x, b.like(x, 1)), b.compare(mpsgraph.Equal, less, b.like(x, -1)))
	return b.choose(b.compare(mpsgraph.Equal, less, b.like(x, 0)), x, b.choose(plain, less, mended))
}

// logOf1And is its counterpart.
func logOf1And(b *builder, in []tensor) tensor {
	x, one := in[0], b.like(in[0], 1)
	u := b.plus(x, one)
	off := b.over(x, b.minus(u, one))
	mended := b.times(b.unary(mpsgraph.Logarithm, u), off)
	plain := b.either(
		b.compare(mpsgraph.Equal, u, one), b.compare(mpsgraph.Equal, x, b.real(math.Inf(1))))
	return b.choose(plain, x, mended)
}

// silu is x * sigmoid(x); where the sigmoid would be subnormal and the product is not, it is exp(x), brought
// down at the end as in gelu.
func silu(b *builder, in []tensor) tensor {
	x := in[0]
	far := b.compare(mpsgraph.LessThan, x, b.real(-farOut))
	e := b.unary(mpsgraph.Exponent, b.plus(x, b.real(farOut)))
	tail := b.times(b.times(x, e), b.real(downFrom))
	return b.choose(far, tail, b.times(x, b.unary(mpsgraph.Sigmoid, x)))
}

// attr is an attribute of the call, as a number of its graph.
func (b *builder) attr(i int) tensor {
	return b.number(float64(float32(b.call.Attrs[i].Float64())), dtype.Float32)
}

// softplus is log(1 + exp(t)) / beta with t = beta * x, and x beyond the threshold.
func softplus(b *builder, in []tensor) tensor {
	x, beta := in[0], b.attr(0)
	t := b.times(x, beta)
	tail := b.unary(mpsgraph.Exponent, b.unary(mpsgraph.Negative, b.unary(mpsgraph.Absolute, t)))
	rest := logOf1And(b, []tensor{tail})
	sum := b.plus(b.binary(mpsgraph.MaximumWithNaNPropagation, t, b.like(t, 0)), rest)
	return b.choose(b.compare(mpsgraph.GreaterThan, t, b.attr(1)), x, b.over(sum, beta))
}

func leakyRelu(b *builder, in []tensor) tensor {
	positive := b.compare(mpsgraph.GreaterThan, in[0], b.like(in[0], 0))
	return b.choose(positive, in[0], b.times(in[0], b.attr(0)))
}
