package metal

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/objc/mpsgraph"
)

// x times the normal distribution up to x is tiny where x is negative, and there exp turns each rounding of its
// argument into a factor: so the argument is kept in two parts, of which the second is what the first has
// lost. Where exp would be subnormal it is computed 60 further up, and brought down at the end.

func init() {
	function{gelu, nil, nil}.lower("gelu")
}

func gelu(b *builder, in []tensor) tensor {
	if b.call.Attrs[0].I != 0 {
		return geluByTanh(b, in[0])
	}
	return geluByErf(b, in[0])
}

const (
	farOut   = 60
	downFrom = 8.75651076e-27 // exp(-farOut)
)

// fall is exp(-(t + rest)) for t >= 0; times what it answers beside it.
func (b *builder) fall(t, rest tensor) (e, times tensor) {
	far := b.compare(mpsgraph.GreaterThan, t, b.real(farOut))
	e = b.unary(mpsgraph.Exponent, b.minus(b.choose(far, b.real(farOut), b.real(0)), t))
	kept := b.choose(b.test(mpsgraph.IsFinite, t), b.times(e, rest), b.real(0))
	return b.minus(e, kept), b.choose(far, b.real(downFrom), b.real(1))
}

// geluByErf is x/2 * erfc(-x/sqrt(2)).
func geluByErf(b *builder, x tensor) tensor {
	size := b.unary(mpsgraph.Absolute, x)
	z, rest := b.product2(size, b.real(0.707106769)) // sqrt(1/2), and what float32 has lost of it
	rest = b.plus(rest, b.times(size, b.real(1.21016175e-08)))
	y, times := b.complement(z, rest)
	half := b.times(y, b.real(0.5))
	negative := b.times(b.times(half, x), times)
	positive := b.times(x, b.minus(b.real(1), b.times(half, times)))
	beyond := b.compare(mpsgraph.GreaterThan, z, b.real(10.4))
	negative = b.choose(beyond, b.times(x, b.real(0)), negative)
	positive = b.choose(beyond, x, positive)
	return b.choose(b.compare(mpsgraph.LessThan, x, b.real(0)), negative, positive)
}

// complement is erfc of z + rest for 0 <= z <= 10.4, with its power apart. The coefficients are those of
// exp(z*z)*erfc(z)*(1 + 2*z) in (z-2)/(z+2), interpolated by Chebyshev's points.
func (b *builder) complement(z, rest tensor) (y, times tensor) {
	twice := b.plus(z, z)
	u := b.over(b.minus(z, b.real(2)), b.plus(z, b.real(2)))
	square, low := b.product2(z, z)
	p := b.real(-0.00042006231)
	for _, c := range []float64{
		-0.00125541387, 0.00133004459, 0.00865846965, -0.00806387421, -0.05421322212,
		0.16405561566, -0.16603046656, -0.09276398271, 1.27697837353,
	} {
		p = b.plus(b.times(p, u), b.real(c))
	}
	e, times := b.fall(square, b.plus(low, b.times(twice, rest)))
	return b.over(b.times(e, p), b.plus(twice, b.real(1))), times
}

// geluByTanh is x / (1 + exp(-t)) with t = 2 * sqrt(2/pi) * (x + 0.044715 * x**3).
func geluByTanh(b *builder, x tensor) tensor {
	linear, cubic := b.real(1.59576917), b.real(0.0713548139)
	size := b.unary(mpsgraph.Absolute, x)
	square, lost := b.product2(x, x)
	part, rest := b.product2(cubic, square)
	rest = b.plus(rest, b.plus(b.times(cubic, lost), b.times(square, b.real(2.39883247e-09))))
	sum := b.plus(linear, part)
	back := b.minus(sum, linear)
	rest = b.plus(rest, b.plus(b.minus(linear, b.minus(sum, back)), b.minus(part, back)))
	rest = b.minus(rest, b.real(4.53406805e-08))
	t, low := b.product2(size, sum)
	e, times := b.fall(t, b.plus(low, b.times(size, rest)))
	below := b.over(b.times(b.times(x, e), times), b.plus(b.times(e, times), b.real(1)))
	above := b.over(x, b.plus(b.times(e, times), b.real(1)))
	return b.choose(b.compare(mpsgraph.LessThan, x, b.real(0)), below, above)
}

// product2 is a product of float32 and what its rounding has lost, after T. J. Dekker.
func (b *builder) product2(x, y tensor) (product, lost tensor) {
	b.expect(x, dtype.Float32)
	product = b.times(x, y)
	xHigh, xLow := b.halves(x)
	yHigh, yLow := b.halves(y)
	lost = b.minus(b.times(xHigh, yHigh), product)
	lost = b.plus(lost, b.times(xHigh, yLow))
	lost = b.plus(lost, b.times(xLow, yHigh))
	return product, b.plus(lost, b.times(xLow, yLow))
}

// halves are two numbers of 12 bits that make up x.
func (b *builder) halves(x tensor) (high, low tensor) {
	t := b.times(x, b.real(1<<12+1))
	high = b.minus(t, b.minus(t, x))
	return high, b.minus(x, high)
}
