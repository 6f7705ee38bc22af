package graphs

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// one is MPSGraph's own function of a tensor, where it computes what Paddle does.
func one(o mpsgraph.Unary) formula {
	return func(b *builder, in []tensor) tensor { return b.unary(o, in[0]) }
}

// asks is MPSGraph's own question about floats, which answers bools.
func asks(o mpsgraph.Unary) formula {
	return func(b *builder, in []tensor) tensor { return b.test(o, in[0]) }
}

// identity is for what integers are already.
func identity(b *builder, in []tensor) tensor { return b.unary(mpsgraph.Identity, in[0]) }

// alwaysFalse and alwaysTrue answer questions that integers leave no doubt about.
func alwaysFalse(b *builder, in []tensor) tensor { return b.compare(mpsgraph.NotEqual, in[0], in[0]) }

// alwaysTrue is the question that every integer answers with yes.
func alwaysTrue(b *builder, in []tensor) tensor { return b.compare(mpsgraph.Equal, in[0], in[0]) }

// Operators of one tensor. Where MPSGraph's function rounds or treats NaN otherwise than Paddle's, there is a formula
// below; of integers, those that floats need to be rounded for are what they are already.
func init() {
	for id, f := range map[op.ID]function{
		op.IDAbs:        {one(mpsgraph.Absolute), magnitude, identity},
		op.IDNeg:        {one(mpsgraph.Negative), negative, identity},
		op.IDSign:       {sign, signOfIntegers, nil},
		op.IDSquare:     {square, square, nil},
		op.IDRelu:       {relu, relu, nil},
		op.IDFloor:      {one(mpsgraph.Floor), identity, nil},
		op.IDCeil:       {one(mpsgraph.Ceil), identity, nil},
		op.IDRound:      {one(mpsgraph.Rint), identity, nil},
		op.IDTrunc:      {one(mpsgraph.Truncate), identity, nil},
		op.IDIsnan:      {asks(mpsgraph.IsNaN), alwaysFalse, nil},
		op.IDIsinf:      {asks(mpsgraph.IsInfinite), alwaysFalse, nil},
		op.IDIsfinite:   {asks(mpsgraph.IsFinite), alwaysTrue, nil},
		op.IDExp:        {one(mpsgraph.Exponent), nil, nil},
		op.IDExpm1:      {expLess1, nil, nil},
		op.IDLog:        {one(mpsgraph.Logarithm), nil, nil},
		op.IDLog1p:      {logOf1And, nil, nil},
		op.IDLog2:       {one(mpsgraph.LogarithmBase2), nil, nil},
		op.IDSqrt:       {one(mpsgraph.SquareRoot), nil, nil},
		op.IDRsqrt:      {one(mpsgraph.ReverseSquareRoot), nil, nil},
		op.IDReciprocal: {reciprocal, nil, nil},
		op.IDSinh:       {one(mpsgraph.Sinh), nil, nil},
		op.IDCosh:       {one(mpsgraph.Cosh), nil, nil},
		op.IDTanh:       {tanh, nil, nil},
		op.IDErf:        {one(mpsgraph.Erf), nil, nil},
		op.IDSigmoid:    {one(mpsgraph.Sigmoid), nil, nil},
		op.IDSilu:       {silu, nil, nil},
		op.IDSoftplus:   {softplus, nil, nil},
		op.IDLeakyRelu:  {leakyRelu, nil, nil},
	} {
		f.lower(id)
	}
}

// negative wraps around, also without a sign: MPSGraph's negation takes no unsigned integers.
func negative(b *builder, in []tensor) tensor {
	return b.minus(b.like(in[0], 0), in[0])
}

// magnitude of integers wraps around: the least has none, and stays.
func magnitude(b *builder, in []tensor) tensor {
	if in[0].dtype == dtype.Uint8 {
		return identity(b, in)
	}
	return b.choose(b.compare(mpsgraph.LessThan, in[0], b.like(in[0], 0)), negative(b, in), in[0])
}

// sign keeps NaN, of which MPSGraph's is 0.
func sign(b *builder, in []tensor) tensor {
	return b.choose(b.test(mpsgraph.IsNaN, in[0]), in[0], b.unary(mpsgraph.Sign, in[0]))
}

// signOfIntegers is -1, 0 or 1; MPSGraph's sign is of floats.
func signOfIntegers(b *builder, in []tensor) tensor {
	x, zero, one := in[0], b.like(in[0], 0), b.like(in[0], 1)
	positive := b.choose(b.compare(mpsgraph.GreaterThan, x, zero), one, zero)
	if x.dtype == dtype.Uint8 {
		return positive
	}
	return b.choose(b.compare(mpsgraph.LessThan, x, zero), b.like(x, -1), positive)
}

// square wraps around for integers, as the product does.
func square(b *builder, in []tensor) tensor {
	return b.times(in[0], in[0])
}

// relu is 0 of NaN: the maximum that does not propagate NaN prefers the number.
func relu(b *builder, in []tensor) tensor {
	return b.binary(mpsgraph.Maximum, in[0], b.like(in[0], 0))
}

// reciprocal is rounded once, as a division is; MPSGraph's own need not be.
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

// logOf1And is the counterpart of expLess1: log(1 + x), mended by what the sum has lost of x. Where 1 + x is 1, the
// result is x, and infinity stays.
func logOf1And(b *builder, in []tensor) tensor {
	x, one := in[0], b.like(in[0], 1)
	u := b.plus(x, one)
	off := b.over(x, b.minus(u, one))
	mended := b.times(b.unary(mpsgraph.Logarithm, u), off)
	plain := b.either(
		b.compare(mpsgraph.Equal, u, one), b.compare(mpsgraph.Equal, x, b.real(math.Inf(1))))
	return b.choose(plain, x, mended)
}

// gelu has no formula here. Far below zero it needs the square of its operand in two floats, and MPSGraph may fuse the
// product that makes one with the sum that makes the other; the shaders, where fusing can be forbidden, compute it.

// Sine, cosine and tangent have none either: compile options say nothing to MPSGraph, and with fast math the operand is
// reduced to one turn in float32, which leaves nothing of a large one.

// tanh is 1 from 10 on. Fast math makes it a quotient of exponentials, which overflow above 44 and leave NaN:
// https://github.com/pytorch/pytorch/pull/172406.
func tanh(b *builder, in []tensor) tensor {
	const one = 10 // or more, whose tanh is rounded to 1
	return b.unary(mpsgraph.Tanh, b.binary(mpsgraph.MinimumWithNaNPropagation, in[0], b.real(one)))
}

// Where the exponential of a negative number is computed further up, so that it is not subnormal too early.
const (
	farOut   = 60
	downFrom = 8.75651076e-27 // exp(-farOut)
)

// silu is x * sigmoid(x); where the sigmoid would be subnormal and the product is not, it is exp(x + 60), brought
// down at the end.
func silu(b *builder, in []tensor) tensor {
	x := in[0]
	far := b.compare(mpsgraph.LessThan, x, b.real(-farOut))
	e := b.unary(mpsgraph.Exponent, b.plus(x, b.real(farOut)))
	tail := b.times(b.times(x, e), b.real(downFrom))
	return b.choose(far, tail, b.times(x, b.unary(mpsgraph.Sigmoid, x)))
}

// attrNumber is an attribute of the call, by its position in the row, as a number of the graph. The call's key holds
// the attribute, so it may be built in; it is rounded to float32 as the shaders round it.
func (b *builder) attrNumber(at int) tensor {
	return b.number(float64(float32(b.call.Attrs[at].Float64())), dtype.Float32)
}

// softplus is log(1 + exp(t)) / beta with t = beta * x, and x beyond the threshold. It is computed from the side on
// which exp does not overflow.
func softplus(b *builder, in []tensor) tensor {
	x, beta := in[0], b.attrNumber(op.SoftplusBeta)
	t := b.times(x, beta)
	tail := b.unary(mpsgraph.Exponent, b.unary(mpsgraph.Negative, b.unary(mpsgraph.Absolute, t)))
	rest := logOf1And(b, []tensor{tail})
	sum := b.plus(b.binary(mpsgraph.MaximumWithNaNPropagation, t, b.like(t, 0)), rest)
	return b.choose(b.compare(mpsgraph.GreaterThan, t, b.attrNumber(op.SoftplusThreshold)), x, b.over(sum, beta))
}

// leakyRelu scales what is not above zero, NaN included.
func leakyRelu(b *builder, in []tensor) tensor {
	positive := b.compare(mpsgraph.GreaterThan, in[0], b.like(in[0], 0))
	return b.choose(positive, in[0], b.times(in[0], b.attrNumber(op.LeakyReluNegativeSlope)))
}
