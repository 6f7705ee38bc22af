package rows

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// Gradients of operators whose every output element depends on one element of each input. Where a derivative does not
// exist the rules answer as Paddle's do: 0 for |x| at 0, a half each for the larger of equals, 1 at the bounds of clip.
//
// gradAdd hands dy to both operands. Set sums it over the axes along which an operand was broadcast, and casts it to the
// operand's dtype; that holds for all rules of this file.
func gradAdd(g *op.Gradient) {
	g.Set(0, g.Dy[0])
	g.Set(1, g.Dy[0])
}

// gradSubtract is gradAdd with the other sign for y. A rule computes nothing for an operand whose gradient is not asked for.
func gradSubtract(g *op.Gradient) {
	g.Set(0, g.Dy[0])
	if g.Wants[1] {
		g.Set(1, g.Neg(g.Dy[0]))
	}
}

// gradMultiply is the product rule: each operand gets dy times the other one.
func gradMultiply(g *op.Gradient) {
	if g.Wants[0] {
		g.Set(0, g.Multiply(g.Dy[0], g.In[1]))
	}
	if g.Wants[1] {
		g.Set(1, g.Multiply(g.Dy[0], g.In[0]))
	}
}

// gradDivide: d(x/y) = dx/y - (x/y) dy/y.
//
// The result is read instead of x: it is the quotient that would have to be computed again.
func gradDivide(g *op.Gradient) {
	dx := g.Divide(g.Dy[0], g.In[1])
	g.Set(0, dx)
	if g.Wants[1] {
		g.Set(1, g.Neg(g.Multiply(dx, g.Out[0])))
	}
}

// gradRemainder: x - y floor(x/y).
func gradRemainder(g *op.Gradient) {
	g.Set(0, g.Dy[0])
	if g.Wants[1] {
		g.Set(1, g.Neg(g.Multiply(g.Dy[0], g.Do(op.IDFloorDivide, nil, g.In[0], g.In[1]))))
	}
}

// gradPow: y x**(y-1) for x, which is 0 where y is, and log(x) x**y for y, which is 0 where x is and y is not negative.
//
// A scalar operand has no gradient, and is made a tensor only where a row wants one.
func gradPow(g *op.Gradient) {
	x, y := g.In[0], g.In[1]
	if g.Wants[0] {
		slope := g.Multiply(y, g.Do(op.IDPow, nil, x, g.Plus(y, -1)))
		flat := g.Do(op.IDEqual, nil, tensor(g, y, x), g.Zero())
		g.Set(0, g.Multiply(g.Dy[0], g.Where(flat, g.Zero(), slope)))
	}
	if g.Wants[1] {
		slope := g.Multiply(g.Out[0], g.Do(op.IDLog, nil, tensor(g, x, y)))
		nothing := g.Do(op.IDLogicalAnd, nil, g.Do(op.IDEqual, nil, tensor(g, x, y), g.Zero()), g.Do(op.IDGreaterEqual, nil, y, g.Zero()))
		g.Set(1, g.Multiply(g.Dy[0], g.Where(nothing, g.Zero(), slope)))
	}
}

// tensor is v; where it is a number, a 0-d tensor of the dtype of another value.
func tensor(g *op.Gradient, v, like op.Var) op.Var {
	if g.Err != nil || !g.IsNumber(v) {
		return v
	}
	t := g.TypeOf(like)
	return g.Add(zeros(g, &shape.Shape{}, t.DType), v)
}

// share gives an operand dy where it alone wins, and a half where both are equal.
func share(g *op.Gradient, i int, alone op.ID) {
	if !g.Wants[i] {
		return
	}
	x, y := g.In[0], g.In[1]
	half := g.Where(g.Do(op.IDEqual, nil, x, y), g.Scale(g.Dy[0], 0.5), g.Zero())
	g.Set(i, g.Where(g.Do(alone, nil, x, y), g.Dy[0], half))
}

// gradMaximum gives dy to the larger operand.
// A nan compares as neither larger nor equal, so that both operands get 0, as in Paddle.
func gradMaximum(g *op.Gradient) {
	share(g, 0, op.IDGreaterThan)
	share(g, 1, op.IDLessThan)
}

// gradMinimum gives dy to the smaller operand, likewise.
func gradMinimum(g *op.Gradient) {
	share(g, 0, op.IDLessThan)
	share(g, 1, op.IDGreaterThan)
}

// choose gives dy to x where it wins over y or y is nan, and to y elsewhere.
func choose(g *op.Gradient, wins op.ID) {
	x, y := g.In[0], g.In[1]
	first := g.Do(op.IDLogicalOr, nil, g.Do(wins, nil, x, y), g.Do(op.IDIsnan, nil, y))
	g.Set(0, g.Where(first, g.Dy[0], g.Zero()))
	g.Set(1, g.Where(first, g.Zero(), g.Dy[0]))
}

// gradFmax is of maxima that pass over nan: of equals x has it all, unlike gradMaximum.
func gradFmax(g *op.Gradient) { choose(g, op.IDGreaterEqual) }

// gradFmin is of minima that pass over nan.
func gradFmin(g *op.Gradient) { choose(g, op.IDLessEqual) }

// gradLogaddexp: exp(x - out) and exp(y - out), which are sigmoids of the difference. Equal operands have a half each, infinities
// too: of sums of probabilities that are 0 a gradient of 0 stays 0.
func gradLogaddexp(g *op.Gradient) {
	equal := g.Do(op.IDEqual, nil, g.In[0], g.In[1])
	for i := range g.In {
		if g.Wants[i] {
			difference := g.Where(equal, g.Zero(), g.Subtract(g.In[i], g.In[1-i]))
			g.Set(i, g.Multiply(g.Dy[0], g.Do(op.IDSigmoid, nil, difference)))
		}
	}
}

// binaryCrossEntropyCalls: (y - 1) log(1 - x) - y log(x), with logarithms of at least -100.
func binaryCrossEntropyCalls(c *op.Calls, in []op.Var, _ op.Attrs) []op.Var {
	hit, miss := certainties(c, in[0])
	return []op.Var{c.Subtract(c.Multiply(c.Plus(in[1], -1), miss), c.Multiply(in[1], hit))}
}

// certainties are log(x) and log(1 - x), at least -100.
func certainties(c *op.Calls, x op.Var) (hit, miss op.Var) {
	above := func(v op.Var) op.Var { return c.Do(op.IDClip, nil, v, c.Float(-100), c.Number(op.Value{})) }
	return above(c.Do(op.IDLog, nil, x)), above(c.Do(op.IDLog1p, nil, c.Neg(x)))
}

// gradBinaryCrossEntropy: (x - y) / (x (1 - x)) for x, whose divisor is bounded: a probability of exactly 0 or 1 has a large
// gradient and not an infinite one, which the slope 0 of a saturated sigmoid would make nan. log(1 - x) - log(x) for y.
func gradBinaryCrossEntropy(g *op.Gradient) {
	x, y := g.In[0], g.In[1]
	if g.Wants[0] {
		spread := g.Do(op.IDClip, nil, g.Multiply(x, oneMinus(g, x)), g.Float(g.Attrs[op.BinaryCrossEntropyLeast].Float64()), g.Number(op.Value{}))
		g.Set(0, g.Multiply(g.Dy[0], g.Divide(g.Subtract(x, y), spread)))
	}
	if g.Wants[1] {
		hit, miss := certainties(&g.Calls, x)
		g.Set(1, g.Multiply(g.Dy[0], g.Subtract(miss, hit)))
	}
}

// gradAtan2: y / (x*x + y*y) for x, -x / (x*x + y*y) for y.
func gradAtan2(g *op.Gradient) {
	x, y := g.In[0], g.In[1]
	scaled := g.Divide(g.Dy[0], g.Add(g.Square(x), g.Square(y)))
	g.Set(0, g.Multiply(scaled, y))
	if g.Wants[1] {
		g.Set(1, g.Neg(g.Multiply(scaled, x)))
	}
}

// gradCopysign: the sign by which x was multiplied; 0 where x is 0.
func gradCopysign(g *op.Gradient) {
	if !g.Wants[0] {
		g.Set(1, g.Full(g.Out[0], 0))
		return
	}
	x := tensor(g, g.In[0], g.Out[0])
	sign := g.Where(g.Do(op.IDEqual, nil, x, g.Zero()), g.Zero(), g.Divide(g.Out[0], x))
	g.Set(0, g.Multiply(g.Dy[0], sign))
	if g.Wants[1] {
		g.Set(1, g.Full(g.Out[0], 0))
	}
}

// gradZero is the gradient of steps, such as floor: zero wherever there is one.
//
// It is a tensor of zeros and not NoVar: the leaf gets a gradient, as in Paddle.
func gradZero(g *op.Gradient) {
	if g.Wants[0] {
		g.Set(0, g.Full(g.Out[0], 0))
	}
}

// slope makes the rule of a function of one operand from its derivative.
//
// Most functions of the table are written this way, as one line of a list: the derivative in terms of the operand or of the
// result, whichever costs less. What it reads has to stand in the Reads of the row, or a backward pass says so.
func slope(derivative func(g *op.Gradient, x, out op.Var) op.Var) func(*op.Gradient) {
	return func(g *op.Gradient) { g.Set(0, g.Multiply(g.Dy[0], derivative(g, g.In[0], g.Out[0]))) }
}

// over makes the rule of a function whose derivative is 1 over something.
//
// A quotient is one rounding, where the product with a reciprocal would be two.
func over(divisor func(g *op.Gradient, x, out op.Var) op.Var) func(*op.Gradient) {
	return func(g *op.Gradient) { g.Set(0, g.Divide(g.Dy[0], divisor(g, g.In[0], g.Out[0]))) }
}

// unlessUnread is x, and 1 where both x and dy are 0: nothing reads the logarithm of such an element, so that its gradient is 0 and
// not 0/0. Losses of probabilities that are masked as -inf are of this kind.
func unlessUnread(g *op.Gradient, x, _ op.Var) op.Var {
	unread := g.Do(op.IDLogicalAnd, nil, g.Do(op.IDEqual, nil, x, g.Zero()), g.Do(op.IDEqual, nil, g.Dy[0], g.Zero()))
	return g.Where(unread, g.Float(1), x)
}

func oneMinus(g *op.Gradient, x op.Var) op.Var { return g.Subtract(g.Float(1), x) }

var (
	gradNeg        = func(g *op.Gradient) { g.Set(0, g.Neg(g.Dy[0])) }
	gradAbs        = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDSign, nil, x) })
	gradExp        = slope(func(_ *op.Gradient, _, out op.Var) op.Var { return out })
	gradExpm1      = slope(func(g *op.Gradient, _, out op.Var) op.Var { return g.Plus(out, 1) })
	gradLog        = over(unlessUnread)
	gradLog1p      = over(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Plus(x, 1) })
	gradLog2       = over(func(g *op.Gradient, x, out op.Var) op.Var { return g.Scale(unlessUnread(g, x, out), math.Ln2) })
	gradLog10      = over(func(g *op.Gradient, x, out op.Var) op.Var { return g.Scale(unlessUnread(g, x, out), math.Ln10) })
	gradSqrt       = over(func(g *op.Gradient, _, out op.Var) op.Var { return g.Scale(out, 2) })
	gradRsqrt      = slope(func(g *op.Gradient, _, out op.Var) op.Var { return g.Scale(g.Multiply(g.Square(out), out), -0.5) })
	gradSquare     = func(g *op.Gradient) { g.Set(0, g.Multiply(g.In[0], g.Scale(g.Dy[0], 2))) } // 2 x may overflow beside a dy of 0
	gradReciprocal = slope(func(g *op.Gradient, _, out op.Var) op.Var { return g.Neg(g.Square(out)) })
	gradSin        = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDCos, nil, x) })
	gradCos        = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Neg(g.Do(op.IDSin, nil, x)) })
	gradTan        = slope(func(g *op.Gradient, _, out op.Var) op.Var { return g.Plus(g.Square(out), 1) })
	gradTanh       = slope(func(g *op.Gradient, _, out op.Var) op.Var { return oneMinus(g, g.Square(out)) })
	gradSinh       = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDCosh, nil, x) })
	gradCosh       = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDSinh, nil, x) })
	gradErf        = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Scale(bell(g, x, -1), 2/math.SqrtPi) })
	gradAsin       = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDRsqrt, nil, oneMinus(g, g.Square(x))) })
	gradAcos       = slope(func(g *op.Gradient, x, _ op.Var) op.Var {
		return g.Neg(g.Do(op.IDRsqrt, nil, oneMinus(g, g.Square(x))))
	})
	gradAtan    = over(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Plus(g.Square(x), 1) })
	gradAsinh   = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDRsqrt, nil, g.Plus(g.Square(x), 1)) })
	gradAcosh   = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDRsqrt, nil, g.Plus(g.Square(x), -1)) })
	gradAtanh   = over(func(g *op.Gradient, x, _ op.Var) op.Var { return oneMinus(g, g.Square(x)) })
	gradSigmoid = slope(func(g *op.Gradient, _, out op.Var) op.Var { return g.Multiply(out, oneMinus(g, out)) })
	gradErfinv  = slope(func(g *op.Gradient, _, out op.Var) op.Var {
		return g.Scale(g.Do(op.IDExp, nil, g.Square(out)), math.SqrtPi/2)
	})
	gradLgamma  = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDDigamma, nil, x) })
	gradDigamma = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return trigamma(g, x) })
	gradI0      = slope(func(g *op.Gradient, x, _ op.Var) op.Var { return g.Do(op.IDI1, nil, x) })
)

// bell is exp(f * x * x).
func bell(g *op.Gradient, x op.Var, f float64) op.Var {
	return g.Do(op.IDExp, nil, g.Scale(g.Square(x), f))
}

// gradRelu looks at the result and not at the operand: a relu in place has no other. At 0 the gradient is 0.
func gradRelu(g *op.Gradient) {
	g.Set(0, g.Where(g.Do(op.IDGreaterThan, nil, g.Out[0], g.Zero()), g.Dy[0], g.Zero()))
}

// gradLeakyRelu takes 0 for positive, as Paddle does; relu takes it for negative.
func gradLeakyRelu(g *op.Gradient) {
	low := g.Scale(g.Dy[0], g.Attrs[op.LeakyReluNegativeSlope].Float64())
	g.Set(0, g.Where(g.Do(op.IDGreaterEqual, nil, g.In[0], g.Zero()), g.Dy[0], low))
}

// gradSilu: s (1 + x (1 - s)) with s = sigmoid(x).
//
// The sigmoid is computed once more: keeping it would cost memory from the forward pass to the backward one.
func gradSilu(g *op.Gradient) {
	s := g.Do(op.IDSigmoid, nil, g.In[0])
	inner := g.Plus(g.Multiply(g.In[0], oneMinus(g, s)), 1)
	g.Set(0, g.Multiply(g.Dy[0], g.Multiply(s, inner)))
}

// gradSoftplus: sigmoid(beta x), and 1 where the function is x.
//
// The threshold is on beta x, as in the function itself.
func gradSoftplus(g *op.Gradient) {
	scaled := g.Scale(g.In[0], g.Attrs[op.SoftplusBeta].Float64())
	linear := g.Do(op.IDGreaterThan, nil, scaled, g.Float(g.Attrs[op.SoftplusThreshold].Float64()))
	g.Set(0, g.Where(linear, g.Dy[0], g.Multiply(g.Dy[0], g.Do(op.IDSigmoid, nil, scaled))))
}

// gradGelu: P + x p of the normal distribution, or the derivative of the approximation by tanh.
func gradGelu(g *op.Gradient) {
	x := g.In[0]
	if g.Attrs[op.GeluApproximate].I == 0 {
		below := g.Plus(g.Scale(g.Do(op.IDErf, nil, g.Scale(x, 1/math.Sqrt2)), 0.5), 0.5)
		density := g.Scale(g.Multiply(x, bell(g, x, -0.5)), 1/math.Sqrt(2*math.Pi))
		g.Set(0, g.Multiply(g.Dy[0], g.Add(below, density)))
		return
	}
	const cubic, c = 0.044715, 0.7978845608028654          // sqrt(2/pi)
	x = g.Do(op.IDClip, nil, x, g.Float(-20), g.Float(20)) // beyond it nothing changes any more, and the powers overflow
	x2 := g.Square(x)
	t := g.Do(op.IDTanh, nil, g.Scale(g.Multiply(x, g.Plus(g.Scale(x2, cubic), 1)), c))
	inner := g.Scale(g.Plus(g.Scale(x2, 3*cubic), 1), c/2)
	rise := g.Multiply(g.Multiply(x, oneMinus(g, g.Square(t))), inner)
	g.Set(0, g.Multiply(g.Dy[0], g.Add(g.Plus(g.Scale(t, 0.5), 0.5), rise)))
}

// gradI0e: i1e(x) - sign(x) i0e(x).
func gradI0e(g *op.Gradient) {
	x := g.In[0]
	d := g.Subtract(g.Do(op.IDI1e, nil, x), g.Multiply(g.Do(op.IDSign, nil, x), g.Out[0]))
	g.Set(0, g.Multiply(g.Dy[0], d))
}

// gradI1: i0(x) - i1(x)/x, which is 1/2 at 0.
func gradI1(g *op.Gradient) {
	x := g.In[0]
	d := g.Subtract(g.Do(op.IDI0, nil, x), g.Divide(g.Out[0], x))
	g.Set(0, g.Multiply(g.Dy[0], g.Where(g.Do(op.IDEqual, nil, x, g.Zero()), g.Float(0.5), d)))
}

// gradI1e: i0e(x) - i1e(x) (sign(x) + 1/x), which is 1/2 at 0.
func gradI1e(g *op.Gradient) {
	x := g.In[0]
	steep := g.Add(g.Do(op.IDSign, nil, x), g.Do(op.IDReciprocal, nil, x))
	d := g.Subtract(g.Do(op.IDI0e, nil, x), g.Multiply(g.Out[0], steep))
	g.Set(0, g.Multiply(g.Dy[0], g.Where(g.Do(op.IDEqual, nil, x, g.Zero()), g.Float(0.5), d)))
}

// trigamma is the derivative of digamma: from its recurrence up to x + 10, and its asymptotic series there
// (Abramowitz and Stegun 6.4.11 and 6.4.6). Below 1/2 it is reflected: pi**2 / sin(pi x)**2 less that of 1 - x (6.4.7).
func trigamma(g *op.Gradient, x op.Var) op.Var {
	low := g.Do(op.IDLessThan, nil, x, g.Float(0.5))
	z := g.Where(low, oneMinus(g, x), x)
	sum := g.Do(op.IDReciprocal, nil, g.Square(z))
	for k := 1; k < 10; k++ {
		sum = g.Add(sum, g.Do(op.IDReciprocal, nil, g.Square(g.Plus(z, float64(k)))))
	}
	inverse := g.Do(op.IDReciprocal, nil, g.Plus(z, 10))
	square := g.Square(inverse)
	series := g.Float(-691.0 / 2730)
	for _, b := range [...]float64{5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6} {
		series = g.Plus(g.Multiply(square, series), b)
	}
	tail := g.Multiply(inverse, g.Plus(g.Multiply(inverse, g.Plus(g.Multiply(inverse, series), 0.5)), 1))
	sum = g.Add(sum, tail)
	sine := g.Do(op.IDSin, nil, g.Scale(g.Subtract(x, g.Do(op.IDRound, nil, x)), math.Pi))
	mirrored := g.Subtract(g.Divide(g.Float(math.Pi*math.Pi), g.Square(sine)), sum)
	return g.Where(low, mirrored, sum)
}

// gradWhere gives dy to the operand that was chosen, and 0 to the other one. A nan or an infinity in what was not chosen
// stays out of it here, but not in the calls that computed it: those are the business of who composes functions.
func gradWhere(g *op.Gradient) {
	if g.Wants[1] {
		g.Set(1, g.Where(g.In[0], g.Dy[0], g.Zero()))
	}
	if g.Wants[2] {
		g.Set(2, g.Where(g.In[0], g.Zero(), g.Dy[0]))
	}
}

// gradClip: 1 between the bounds and at them; bounds have no gradients.
func gradClip(g *op.Gradient) {
	dx := g.Dy[0]
	for i, inside := range [...]op.ID{op.IDGreaterEqual, op.IDLessEqual} {
		if bound := g.In[i+1]; !g.Absent(bound) {
			dx = g.Where(g.Do(inside, nil, g.In[0], bound), dx, g.Zero())
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
func gradAssign(g *op.Gradient) { g.Set(0, g.Dy[0]) }

// gradSame is the gradient of what only moves or casts elements: dy in the shape of the operand.
func gradSame(g *op.Gradient) {
	s := g.Shape(g.In[0])
	g.Set(0, g.Reshape(g.Dy[0], &s))
}
