package graphs

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// formula is an elementwise operator in a graph: from the inputs, with floats widened to float32, to the result.
// The two of a pair broadcast.
type formula func(b *builder, in []tensor) tensor

// function is the formulas of an operator: of floats, which are computed in float32, of integers and of
// bools. nil: it has none.
type function struct{ float, integer, boolean formula }

// graphFloats are the floats of MPSGraph, which has no float64.
var graphFloats = dtype.SetOf(dtype.Float16, dtype.BFloat16, dtype.Float32)

// lower registers the formulas of an operator, each for the dtypes that it is of.
func (f function) lower(id op.ID) {
	for set, formula := range map[dtype.Set]formula{graphFloats: f.float, dtype.Integers: f.integer, dtype.Bools: f.boolean} {
		if formula != nil {
			lower(id, set, formula.apply)
		}
	}
}

// apply is the lowering: the formula of the inputs. What it answers is cast to the dtype of the output.
func (f formula) apply(b *builder) tensor {
	in := make([]tensor, len(b.in))
	for i, x := range b.in {
		in[i] = b.wide(x)
	}
	return f(b, in)
}

// pair is MPSGraph's own operator of two tensors.
func pair(o mpsgraph.Binary) formula {
	return func(b *builder, in []tensor) tensor { return b.binary(o, in[0], in[1]) }
}

// and and or are what multiplication and addition of bools are in Paddle.
var and, or = pair(mpsgraph.LogicalAnd), pair(mpsgraph.LogicalOr)

// Operators of two tensors. Floats are computed in float32, integers wrap around in their own dtype. Quotients and
// remainders of floats are left to the shaders: nothing says that MPSGraph's Modulo is exact.
func init() {
	for id, f := range map[op.ID]function{
		op.IDAdd:         {pair(mpsgraph.Addition), pair(mpsgraph.Addition), or},
		op.IDSubtract:    {pair(mpsgraph.Subtraction), pair(mpsgraph.Subtraction), nil},
		op.IDMultiply:    {pair(mpsgraph.Multiplication), pair(mpsgraph.Multiplication), and},
		op.IDDivide:      {pair(mpsgraph.Division), nil, and},
		op.IDFloorDivide: {nil, floorDivideIntegers, nil},
		op.IDRemainder:   {nil, remainderOfIntegers, nil},
		op.IDPow:         {power, powerOfIntegers, nil},
		op.IDMaximum:     {pair(mpsgraph.MaximumWithNaNPropagation), pair(mpsgraph.Maximum), or},
		op.IDMinimum:     {pair(mpsgraph.MinimumWithNaNPropagation), pair(mpsgraph.Minimum), and},
	} {
		f.lower(id)
	}
}

// nonZero is the bools of whether x is not zero. NaN is not.
func (b *builder) nonZero(x tensor) tensor {
	if x.dtype == dtype.Bool {
		return x
	}
	return b.compare(mpsgraph.NotEqual, x, b.like(x, 0))
}

// signsDiffer reports where a remainder with the sign of the dividend is not that of the rounded-down quotient.
func (b *builder) signsDiffer(rest, y tensor) tensor {
	zero := b.like(rest, 0)
	signs := b.binary(mpsgraph.LogicalXor, b.compare(mpsgraph.LessThan, rest, zero), b.compare(mpsgraph.LessThan, y, zero))
	return b.both(b.nonZero(rest), signs)
}

// quotientAndRest is the quotient of integers towards zero and what remains. The divisors that are undefined in
// hardware do not get to the division: zero, which ends the call with an error, and -1, of which the quotient of
// the least integer overflows and is negated instead.
func (b *builder) quotientAndRest(x, y tensor) (quotient, rest tensor) {
	one, minus := b.like(y, 1), tensor{}
	zero := b.compare(mpsgraph.Equal, y, b.like(y, 0))
	odd := zero
	if y.dtype != dtype.Uint8 {
		minus = b.compare(mpsgraph.Equal, y, b.like(y, -1))
		odd = b.either(zero, minus)
	}
	// Both results are computed with a harmless divisor, then corrected where it was not the real one.
	safe := b.choose(odd, one, y)
	quotient, rest = b.over(x, safe), b.binary(mpsgraph.Modulo, x, safe)
	if minus.id != 0 {
		quotient = b.choose(minus, b.minus(b.like(x, 0), x), quotient)
	}
	b.report(b.anyTrue(zero), func(_ *device.Call, value int32) error {
		if value != 0 {
			return status.Errorf(status.Math, "an integer is divided by zero; want a divisor other than 0")
		}
		return nil
	})
	return quotient, rest
}

// anyTrue is an int32 of one element, 1 if any of x, bools, holds and else 0.
func (b *builder) anyTrue(x tensor) tensor {
	flat := b.reshape(b.cast(x, dtype.Int32), volume(x.dims))
	return b.reduce(mpsgraph.ReductionMaximum, flat, 0)
}

// floorDivideIntegers rounds the quotient down: it is one less where the remainder's sign is not the divisor's.
func floorDivideIntegers(b *builder, in []tensor) tensor {
	q, rest := b.quotientAndRest(in[0], in[1])
	return b.choose(b.signsDiffer(rest, in[1]), b.minus(q, b.like(q, 1)), q)
}

// remainderOfIntegers has the sign of the divisor.
func remainderOfIntegers(b *builder, in []tensor) tensor {
	_, rest := b.quotientAndRest(in[0], in[1])
	return b.choose(b.signsDiffer(rest, in[1]), b.plus(rest, in[1]), rest)
}

// power adds to MPSGraph's what IEEE 754 says of it: 1 to any power and any number to the power 0 are 1, even
// where the other operand is NaN; all else of NaN is NaN.
func power(b *builder, in []tensor) tensor {
	x, y := in[0], in[1]
	one := b.like(x, 1)
	always := b.either(b.compare(mpsgraph.Equal, x, one), b.compare(mpsgraph.Equal, y, b.like(y, 0)))
	// A sum of two numbers of which one is NaN is NaN.
	undefined := b.either(b.test(mpsgraph.IsNaN, x), b.test(mpsgraph.IsNaN, y))
	result := b.choose(undefined, b.plus(x, y), b.binary(mpsgraph.Power, x, y))
	result = b.choose(b.compare(mpsgraph.Equal, y, b.like(y, 2)), b.times(x, x), result) // as the shader
	return b.choose(always, one, result)
}

// powerOfIntegers squares repeatedly and wraps around: one step for each bit of the exponent. A negative power
// is 0, except that of 1, and that of -1, whose sign follows the lowest bit of the exponent.
func powerOfIntegers(b *builder, in []tensor) tensor {
	x, y := in[0], in[1]
	low, high := y.dtype.Range()
	zero, one := b.like(x, 0), b.like(x, 1)
	result, base := one, x
	for bit := int64(1); bit > 0 && bit <= high; bit <<= 1 {
		set := b.nonZero(b.binary(mpsgraph.BitwiseAnd, y, b.like(y, bit)))
		result = b.choose(set, b.times(result, base), result)
		base = b.times(base, base)
	}
	if low == 0 {
		return result
	}
	odd := b.nonZero(b.binary(mpsgraph.BitwiseAnd, y, one))
	minus := b.compare(mpsgraph.Equal, x, b.like(x, -1))
	fraction := b.choose(minus, b.choose(odd, x, one), zero)
	fraction = b.choose(b.compare(mpsgraph.Equal, x, one), one, fraction)
	return b.choose(b.compare(mpsgraph.LessThan, y, zero), fraction, result)
}
