package op

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Gradients of operators whose every output element depends on one element of each input. Where a derivative does not
// exist the rules answer as Paddle's do: 0 for |x| at 0, a half each for the larger of equals, 1 at the bounds of clip.
//
// gradAdd hands dy to both operands. Set sums it over the axes along which an operand was broadcast, and casts it to the
// operand's dtype; that holds for all rules of this file.
func gradAdd(g *Gradient) {
	g.Set(0, g.Dy[0])
	g.Set(1, g.Dy[0])
}

// gradSubtract is gradAdd with the other sign for y. A rule computes nothing for an operand whose gradient is not asked for.
func gradSubtract(g *Gradient) {
	g.Set(0, g.Dy[0])
	if g.Wants[1] {
		g.Set(1, g.neg(g.Dy[0]))
	}
}

// gradMultiply is the product rule: each operand gets dy times the other one.
func gradMultiply(g *Gradient) {
	if g.Wants[0] {
		g.Set(0, g.multiply(g.Dy[0], g.In[1]))
	}
	if g.Wants[1] {
		g.Set(1, g.multiply(g.Dy[0], g.In[0]))
	}
}

// gradDivide: d(x/y) = dx/y - (x/y) dy/y.
//
// The result is read instead of x: it is the quotient that would have to be computed again.
func gradDivide(g *Gradient) {
	dx := g.divide(g.Dy[0], g.In[1])
	g.Set(0, dx)
	if g.Wants[1] {
		g.Set(1, g.neg(g.multiply(dx, g.Out[0])))
	}
}

// gradRemainder: x - y floor(x/y).
func gradRemainder(g *Gradient) {
	g.Set(0, g.Dy[0])
	if g.Wants[1] {
		g.Set(1, g.neg(g.multiply(g.Dy[0], g.Do(IDFloorDivide, nil, g.In[0], g.In[1]))))
	}
}

// gradPow: y x**(y-1) for x, which is 0 where y is, and log(x) x**y for y, which is 0 where x is and y is not negative.
//
// A scalar operand has no gradient, and is made a tensor only where a row wants one.
func gradPow(g *Gradient) {
	x, y := g.In[0], g.In[1]
	if g.Wants[0] {
		slope := g.multiply(y, g.Do(IDPow, nil, x, g.plus(y, -1)))
		flat := g.Do(IDEqual, nil, g.tensor(y, x), g.zero())
		g.Set(0, g.multiply(g.Dy[0], g.where(flat, g.zero(), slope)))
	}
	if g.Wants[1] {
		slope := g.multiply(g.Out[0], g.Do(IDLog, nil, g.tensor(x, y)))
		nothing := g.Do(IDLogicalAnd, nil, g.Do(IDEqual, nil, g.tensor(x, y), g.zero()), g.Do(IDGreaterEqual, nil, y, g.zero()))
		g.Set(1, g.multiply(g.Dy[0], g.where(nothing, g.zero(), slope)))
	}
}

// tensor is v; where it is a number, a 0-d tensor of the dtype of another value.
func (g *Gradient) tensor(v, like Var) Var {
	if g.Err != nil || !g.IsNumber(v) {
		return v
	}
	t := g.TypeOf(like)
	return g.add(g.zeros(&shape.Shape{}, t.DType), v)
}

// share gives an operand dy where it alone wins, and a half where both are equal.
func (g *Gradient) share(i int, alone ID) {
	if !g.Wants[i] {
		return
	}
	x, y := g.In[0], g.In[1]
	half := g.where(g.Do(IDEqual, nil, x, y), g.scale(g.Dy[0], 0.5), g.zero())
	g.Set(i, g.where(g.Do(alone, nil, x, y), g.Dy[0], half))
}

// gradMaximum gives dy to the larger operand.
// A nan compares as neither larger nor equal, so that both operands get 0, as in Paddle.
func gradMaximum(g *Gradient) {
	g.share(0, IDGreaterThan)
	g.share(1, IDLessThan)
}

// gradMinimum gives dy to the smaller operand, likewise.
func gradMinimum(g *Gradient) {
	g.share(0, IDLessThan)
	g.share(1, IDGreaterThan)
}

// choose gives dy to x where it wins over y or y is nan, and to y elsewhere.
func (g *Gradient) choose(wins ID) {
	x, y := g.In[0], g.In[1]
	first := g.Do(IDLogicalOr, nil, g.Do(wins, nil, x, y), g.Do(IDIsnan, nil, y))
	g.Set(0, g.where(first, g.Dy[0], g.zero()))
	g.Set(1, g.where(first, g.zero(), g.Dy[0]))
}

// gradFmax is of maxima that pass over nan: of equals x has it all, unlike gradMaximum.
func gradFmax(g *Gradient) { g.choose(IDGreaterEqual) }

// gradFmin is of minima that pass over nan.
func gradFmin(g *Gradient) { g.choose(IDLessEqual) }

// gradLogaddexp: exp(x - out) and exp(y - out), which are sigmoids of the difference. Equal operands have a half each, infinities
// too: of sums of probabilities that are 0 a gradient of 0 stays 0.
func gradLogaddexp(g *Gradient) {
	equal := g.Do(IDEqual, nil, g.In[0], g.In[1])
	for i := range g.In {
		if g.Wants[i] {
			difference := g.where(equal, g.zero(), g.subtract(g.In[i], g.In[1-i]))
			g.Set(i, g.multiply(g.Dy[0], g.Do(IDSigmoid, nil, difference)))
		}
	}
}

// binaryCrossEntropyCalls: (y - 1) log(1 - x) - y log(x), with logarithms of at least -100.
func binaryCrossEntropyCalls(c *Calls, in []Var, _ Attrs) []Var {
	hit, miss := c.certainties(in[0])
	return []Var{c.subtract(c.multiply(c.plus(in[1], -1), miss), c.multiply(in[1], hit))}
}

// certainties are log(x) and log(1 - x), at least -100.
func (c *Calls) certainties(x Var) (hit, miss Var) {
	above := func(v Var) Var { return c.Do(IDClip, nil, v, c.Float(-100), c.Number(Value{})) }
	return above(c.Do(IDLog, nil, x)), above(c.Do(IDLog1p, nil, c.neg(x)))
}

// gradBinaryCrossEntropy: (x - y) / (x (1 - x)) for x, whose divisor is bounded: a probability of exactly 0 or 1 has a large
// gradient and not an infinite one, which the slope 0 of a saturated sigmoid would make nan. log(1 - x) - log(x) for y.
func gradBinaryCrossEntropy(g *Gradient) {
	x, y := g.In[0], g.In[1]
	if g.Wants[0] {
		spread := g.Do(IDClip, nil, g.multiply(x, g.oneMinus(x)), g.Float(g.Attrs[BinaryCrossEntropyLeast].Float64()), g.Number(Value{}))
		g.Set(0, g.multiply(g.Dy[0], g.divide(g.subtract(x, y), spread)))
	}
	if g.Wants[1] {
		hit, miss := g.certainties(x)
		g.Set(1, g.multiply(g.Dy[0], g.subtract(miss, hit)))
	}
}

// gradAtan2: y / (x*x + y*y) for x, -x / (x*x + y*y) for y.
func gradAtan2(g *Gradient) {
	x, y := g.In[0], g.In[1]
	scaled := g.divide(g.Dy[0], g.add(g.square(x), g.square(y)))
	g.Set(0, g.multiply(scaled, y))
	if g.Wants[1] {
		g.Set(1, g.neg(g.multiply(scaled, x)))
	}
}

// gradCopysign: the sign by which x was multiplied; 0 where x is 0.
func gradCopysign(g *Gradient) {
	if !g.Wants[0] {
		g.Set(1, g.Full(g.Out[0], 0))
		return
	}
	x := g.tensor(g.In[0], g.Out[0])
	sign := g.where(g.Do(IDEqual, nil, x, g.zero()), g.zero(), g.divide(g.Out[0], x))
	g.Set(0, g.multiply(g.Dy[0], sign))
	if g.Wants[1] {
		g.Set(1, g.Full(g.Out[0], 0))
	}
}

// gradZero is the gradient of steps, such as floor: zero wherever there is one.
//
// It is a tensor of zeros and not NoVar: the leaf gets a gradient, as in Paddle.
func gradZero(g *Gradient) {
	if g.Wants[0] {
		g.Set(0, g.Full(g.Out[0], 0))
	}
}

// slope makes the rule of a function of one operand from its derivative.
//
// Most functions of the table are written this way, as one line of a list: the derivative in terms of the operand or of the
// result, whichever costs less. What it reads has to stand in the Reads of the row, or a backward pass says so.
func slope(derivative func(g *Gradient, x, out Var) Var) func(*Gradient) {
	return func(g *Gradient) { g.Set(0, g.multiply(g.Dy[0], derivative(g, g.In[0], g.Out[0]))) }
}

// over makes the rule of a function whose derivative is 1 over something.
//
// A quotient is one rounding, where the product with a reciprocal would be two.
func over(divisor func(g *Gradient, x, out Var) Var) func(*Gradient) {
	return func(g *Gradient) { g.Set(0, g.divide(g.Dy[0], divisor(g, g.In[0], g.Out[0]))) }
}

// unlessUnread is x, and 1 where both x and dy are 0: nothing reads the logarithm of such an element, so that its gradient is 0 and
// not 0/0. Losses of probabilities that are masked as -inf are of this kind.
func unlessUnread(g *Gradient, x, _ Var) Var {
	unread := g.Do(IDLogicalAnd, nil, g.Do(IDEqual, nil, x, g.zero()), g.Do(IDEqual, nil, g.Dy[0], g.zero()))
	return g.where(unread, g.Float(1), x)
}

func (g *Gradient) oneMinus(x Var) Var { return g.subtract(g.Float(1), x) }

var (
	gradNeg        = func(g *Gradient) { g.Set(0, g.neg(g.Dy[0])) }
	gradAbs        = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDSign, nil, x) })
	gradExp        = slope(func(_ *Gradient, _, out Var) Var { return out })
	gradExpm1      = slope(func(g *Gradient, _, out Var) Var { return g.plus(out, 1) })
	gradLog        = over(unlessUnread)
	gradLog1p      = over(func(g *Gradient, x, _ Var) Var { return g.plus(x, 1) })
	gradLog2       = over(func(g *Gradient, x, out Var) Var { return g.scale(unlessUnread(g, x, out), math.Ln2) })
	gradLog10      = over(func(g *Gradient, x, out Var) Var { return g.scale(unlessUnread(g, x, out), math.Ln10) })
	gradSqrt       = over(func(g *Gradient, _, out Var) Var { return g.scale(out, 2) })
	gradRsqrt      = slope(func(g *Gradient, _, out Var) Var { return g.scale(g.multiply(g.square(out), out), -0.5) })
	gradSquare     = func(g *Gradient) { g.Set(0, g.multiply(g.In[0], g.scale(g.Dy[0], 2))) } // 2 x may overflow beside a dy of 0
	gradReciprocal = slope(func(g *Gradient, _, out Var) Var { return g.neg(g.square(out)) })
	gradSin        = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDCos, nil, x) })
	gradCos        = slope(func(g *Gradient, x, _ Var) Var { return g.neg(g.Do(IDSin, nil, x)) })
	gradTan        = slope(func(g *Gradient, _, out Var) Var { return g.plus(g.square(out), 1) })
	gradTanh       = slope(func(g *Gradient, _, out Var) Var { return g.oneMinus(g.square(out)) })
	gradSinh       = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDCosh, nil, x) })
	gradCosh       = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDSinh, nil, x) })
	gradErf        = slope(func(g *Gradient, x, _ Var) Var { return g.scale(g.bell(x, -1), 2/math.SqrtPi) })
	gradAsin       = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDRsqrt, nil, g.oneMinus(g.square(x))) })
	gradAcos       = slope(func(g *Gradient, x, _ Var) Var { return g.neg(g.Do(IDRsqrt, nil, g.oneMinus(g.square(x)))) })
	gradAtan       = over(func(g *Gradient, x, _ Var) Var { return g.plus(g.square(x), 1) })
	gradAsinh      = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDRsqrt, nil, g.plus(g.square(x), 1)) })
	gradAcosh      = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDRsqrt, nil, g.plus(g.square(x), -1)) })
	gradAtanh      = over(func(g *Gradient, x, _ Var) Var { return g.oneMinus(g.square(x)) })
	gradSigmoid    = slope(func(g *Gradient, _, out Var) Var { return g.multiply(out, g.oneMinus(out)) })
	gradErfinv     = slope(func(g *Gradient, _, out Var) Var { return g.scale(g.Do(IDExp, nil, g.square(out)), math.SqrtPi/2) })
	gradLgamma     = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDDigamma, nil, x) })
	gradDigamma    = slope(func(g *Gradient, x, _ Var) Var { return g.trigamma(x) })
	gradI0         = slope(func(g *Gradient, x, _ Var) Var { return g.Do(IDI1, nil, x) })
)

// bell is exp(f * x * x).
func (g *Gradient) bell(x Var, f float64) Var { return g.Do(IDExp, nil, g.scale(g.square(x), f)) }

// gradRelu looks at the result and not at the operand: a relu in place has no other. At 0 the gradient is 0.
func gradRelu(g *Gradient) {
	g.Set(0, g.where(g.Do(IDGreaterThan, nil, g.Out[0], g.zero()), g.Dy[0], g.zero()))
}

// gradLeakyRelu takes 0 for positive, as Paddle does; relu takes it for negative.
func gradLeakyRelu(g *Gradient) {
	low := g.scale(g.Dy[0], g.Attrs[LeakyReluNegativeSlope].Float64())
	g.Set(0, g.where(g.Do(IDGreaterEqual, nil, g.In[0], g.zero()), g.Dy[0], low))
}

// gradSilu: s (1 + x (1 - s)) with s = sigmoid(x).
//
// The sigmoid is computed once more: keeping it would cost memory from the forward pass to the backward one.
func gradSilu(g *Gradient) {
	s := g.Do(IDSigmoid, nil, g.In[0])
	inner := g.plus(g.multiply(g.In[0], g.oneMinus(s)), 1)
	g.Set(0, g.multiply(g.Dy[0], g.multiply(s, inner)))
}

// gradSoftplus: sigmoid(beta x), and 1 where the function is x.
//
// The threshold is on beta x, as in the function itself.
func gradSoftplus(g *Gradient) {
	scaled := g.scale(g.In[0], g.Attrs[SoftplusBeta].Float64())
	linear := g.Do(IDGreaterThan, nil, scaled, g.Float(g.Attrs[SoftplusThreshold].Float64()))
	g.Set(0, g.where(linear, g.Dy[0], g.multiply(g.Dy[0], g.Do(IDSigmoid, nil, scaled))))
}

// gradGelu: P + x p of the normal distribution, or the derivative of the approximation by tanh.
func gradGelu(g *Gradient) {
	x := g.In[0]
	if g.Attrs[GeluApproximate].I == 0 {
		below := g.plus(g.scale(g.Do(IDErf, nil, g.scale(x, 1/math.Sqrt2)), 0.5), 0.5)
		density := g.scale(g.multiply(x, g.bell(x, -0.5)), 1/math.Sqrt(2*math.Pi))
		g.Set(0, g.multiply(g.Dy[0], g.add(below, density)))
		return
	}
	const cubic, c = 0.044715, 0.7978845608028654       // sqrt(2/pi)
	x = g.Do(IDClip, nil, x, g.Float(-20), g.Float(20)) // beyond it nothing changes any more, and the powers overflow
	x2 := g.square(x)
	t := g.Do(IDTanh, nil, g.scale(g.multiply(x, g.plus(g.scale(x2, cubic), 1)), c))
	inner := g.scale(g.plus(g.scale(x2, 3*cubic), 1), c/2)
	rise := g.multiply(g.multiply(x, g.oneMinus(g.square(t))), inner)
	g.Set(0, g.multiply(g.Dy[0], g.add(g.plus(g.scale(t, 0.5), 0.5), rise)))
}

// gradI0e: i1e(x) - sign(x) i0e(x).
func gradI0e(g *Gradient) {
	x := g.In[0]
	d := g.subtract(g.Do(IDI1e, nil, x), g.multiply(g.Do(IDSign, nil, x), g.Out[0]))
	g.Set(0, g.multiply(g.Dy[0], d))
}

// gradI1: i0(x) - i1(x)/x, which is 1/2 at 0.
func gradI1(g *Gradient) {
	x := g.In[0]
	d := g.subtract(g.Do(IDI0, nil, x), g.divide(g.Out[0], x))
	g.Set(0, g.multiply(g.Dy[0], g.where(g.Do(IDEqual, nil, x, g.zero()), g.Float(0.5), d)))
}

// gradI1e: i0e(x) - i1e(x) (sign(x) + 1/x), which is 1/2 at 0.
func gradI1e(g *Gradient) {
	x := g.In[0]
	steep := g.add(g.Do(IDSign, nil, x), g.Do(IDReciprocal, nil, x))
	d := g.subtract(g.Do(IDI0e, nil, x), g.multiply(g.Out[0], steep))
	g.Set(0, g.multiply(g.Dy[0], g.where(g.Do(IDEqual, nil, x, g.zero()), g.Float(0.5), d)))
}

// trigamma is the derivative of digamma: from its recurrence up to x + 10, and its asymptotic series there
// (Abramowitz and Stegun 6.4.11 and 6.4.6). Below 1/2 it is reflected: pi**2 / sin(pi x)**2 less that of 1 - x (6.4.7).
func (g *Gradient) trigamma(x Var) Var {
	low := g.Do(IDLessThan, nil, x, g.Float(0.5))
	z := g.where(low, g.oneMinus(x), x)
	sum := g.Do(IDReciprocal, nil, g.square(z))
	for k := 1; k < 10; k++ {
		sum = g.add(sum, g.Do(IDReciprocal, nil, g.square(g.plus(z, float64(k)))))
	}
	inverse := g.Do(IDReciprocal, nil, g.plus(z, 10))
	square := g.square(inverse)
	series := g.Float(-691.0 / 2730)
	for _, b := range [...]float64{5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6} {
		series = g.plus(g.multiply(square, series), b)
	}
	tail := g.multiply(inverse, g.plus(g.multiply(inverse, g.plus(g.multiply(inverse, series), 0.5)), 1))
	sum = g.add(sum, tail)
	sine := g.Do(IDSin, nil, g.scale(g.subtract(x, g.Do(IDRound, nil, x)), math.Pi))
	mirrored := g.subtract(g.divide(g.Float(math.Pi*math.Pi), g.square(sine)), sum)
	return g.where(low, mirrored, sum)
}

// gradWhere gives dy to the operand that was chosen, and 0 to the other one. A nan or an infinity in what was not chosen
// stays out of it here, but not in the calls that computed it: those are the business of who composes functions.
func gradWhere(g *Gradient) {
	if g.Wants[1] {
		g.Set(1, g.where(g.In[0], g.Dy[0], g.zero()))
	}
	if g.Wants[2] {
		g.Set(2, g.where(g.In[0], g.zero(), g.Dy[0]))
	}
}

// gradClip: 1 between the bounds and at them; bounds have no gradients.
func gradClip(g *Gradient) {
	dx := g.Dy[0]
	for i, inside := range [...]ID{IDGreaterEqual, IDLessEqual} {
		if bound := g.In[i+1]; !g.Absent(bound) {
			dx = g.where(g.Do(inside, nil, g.In[0], bound), dx, g.zero())
		}
	}
	g.Set(0, dx)
	for i := 1; i < 3; i++ {
		if g.Wants[i] {
			g.Set(i, g.Full(g.In[i], 0))
		}
	}
}

// gradAssign: the operand may have been broadcast and cast to a tensor that it was written into.
func gradAssign(g *Gradient) { g.Set(0, g.Dy[0]) }

// gradSame is the gradient of what only moves or casts elements: dy in the shape of the operand.
func gradSame(g *Gradient) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Reshape(g.Dy[0], &s))
}
