package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// formula is an elementwise operator in a graph.
type formula func(b *builder, in []tensor) tensor

// function is the formulas of an operator: of floats, which are computed in float32, of integers and of
// bools. nil: it has none.
type function struct{ float, integer, boolean formula }

var graphFloats = dtype.SetOf(dtype.Float16, dtype.BFloat16, dtype.Float32)

func (f function) lower(name string) {
	for set, formula := range map[dtype.Set]formula{graphFloats: f.float, dtype.Integers: f.integer, dtype.Bools: f.boolean} {
		if formula != nil {
			lower(name, set, formula.apply)
		}
	}
}

// apply is the formula of a call's inputs.
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

var and, or = pair(mpsgraph.LogicalAnd), pair(mpsgraph.LogicalOr)

func init() {
	for name, f := range map[string]function{
		"add":          {pair(mpsgraph.Addition), pair(mpsgraph.Addition), or},
		"subtract":     {pair(mpsgraph.Subtraction), pair(mpsgraph.Subtraction), nil},
		"multiply":     {pair(mpsgraph.Multiplication), pair(mpsgraph.Multiplication), and},
		"divide":       {pair(mpsgraph.Division), nil, and},
		"floor_divide": {floorDivide, floorDivideIntegers, nil},
		"remainder":    {remainder, remainderOfIntegers, nil},
		"pow":          {power, powerOfIntegers, nil},
		"maximum":      {pair(mpsgraph.MaximumWithNaNPropagation), pair(mpsgraph.Maximum), or},
		"minimum":      {pair(mpsgraph.MinimumWithNaNPropagation), pair(mpsgraph.Minimum), and},
	} {
		f.lower(name)
	}
}

// nonZero is whether x is not zero, as NaN is not.
func (b *builder) nonZero(x tensor) tensor {
	if x.dtype == dtype.Bool {
		return x
	}
	return b.compare(mpsgraph.NotEqual, x, b.like(x, 0))
}

// strays reports where a remainder with the sign of the dividend is not that of the rounded-down quotient.
func (b *builder) strays(rest, y tensor) tensor {
	zero := b.like(rest, 0)
	signs := b.binary(mpsgraph.LogicalXor, b.compare(mpsgraph.LessThan, rest, zero), b.compare(mpsgraph.LessThan, y, zero))
	return b.both(b.nonZero(rest), signs)
}

// floorDivide is the quotient that belongs to remainder: 1 // 0.1 is 9. x - rest is a multiple of y but for
// its own rounding.
func floorDivide(b *builder, in []tensor) tensor {
	x, y := in[0], in[1]
	plain := b.over(x, y)
	rest := b.binary(mpsgraph.Modulo, x, y)
	q := b.over(b.minus(x, rest), y)
	q = b.choose(b.strays(rest, y), b.minus(q, b.like(q, 1)), q)
	q = b.unary(mpsgraph.Rint, q)
	q = b.choose(b.nonZero(q), q, b.times(b.unary(mpsgraph.Sign, plain), b.like(q, 0)))
	return b.choose(b.nonZero(y), q, plain)
}

// remainder has the sign of the divisor: -1 % inf is inf.
func remainder(b *builder, in []tensor) tensor {
	rest := b.binary(mpsgraph.Modulo, in[0], in[1])
	return b.choose(b.strays(rest, in[1]), b.plus(rest, in[1]), rest)
}

// parted is the quotient of integers towards zero and what remains. The divisors that stop processors do
// not get to the division: zero, which ends the call with an error, and -1.
func (b *builder) parted(x, y tensor) (quotient, rest tensor) {
	one, minus := b.like(y, 1), tensor{}
	zero := b.compare(mpsgraph.Equal, y, b.like(y, 0))
	odd := zero
	if y.dtype != dtype.Uint8 {
		minus = b.compare(mpsgraph.Equal, y, b.like(y, -1))
		odd = b.either(zero, minus)
	}
	safe := b.choose(odd, one, y)
	quotient, rest = b.over(x, safe), b.binary(mpsgraph.Modulo, x, safe)
	if minus.id != 0 {
		quotient = b.choose(minus, b.minus(b.like(x, 0), x), quotient)
	}
	b.tell(b.anywhere(zero), func(_ *device.Call, told int32) error {
		if told != 0 {
			return status.Errorf(status.Math, "an integer is divided by zero; want a divisor other than 0")
		}
		return nil
	})
	return quotient, rest
}

// anywhere is 1, in one element, if any of x, bools, holds.
func (b *builder) anywhere(x tensor) tensor {
	flat := b.reshape(b.cast(x, dtype.Int32), volume(x.dims))
	return b.reduce(mpsgraph.ReductionMaximum, flat, 0)
}

func floorDivideIntegers(b *builder, in []tensor) tensor {
	q, rest := b.parted(in[0], in[1])
	return b.choose(b.strays(rest, in[1]), b.minus(q, b.like(q, 1)), q)
}

func remainderOfIntegers(b *builder, in []tensor) tensor {
	_, rest := b.parted(in[0], in[1])
	return b.choose(b.strays(rest, in[1]), b.plus(rest, in[1]), rest)
}

// power settles what IEEE 754 does: 1 to any power and any number to the power 0 are 1, even of NaN.
func power(b *builder, in []tensor) tensor {
	x, y := in[0], in[1]
	one := b.like(x, 1)
	always := b.either(b.compare(mpsgraph.Equal, x, one), b.compare(mpsgraph.Equal, y, b.like(y, 0)))
	undefined := b.either(b.test(mpsgraph.IsNaN, x), b.test(mpsgraph.IsNaN, y))
	result := b.choose(undefined, b.plus(x, y), b.binary(mpsgraph.Power, x, y))
	return b.choose(always, one, result)
}

// powerOfIntegers squares repeatedly and wraps around: one step a bit of the exponent. A negative power is
// 0 but of 1 and -1.
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
