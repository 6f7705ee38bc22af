package op

// Activations that are formulas of other rows. Paddle has them in nn.functional, for floats alone.
//
// At edges the formulas are Paddle's, with its gradients there: elu has that of its left side at 0, and what is clipped has
// none at either bound.
//
// Tolerances follow from those of the calls. k units in the last place are a relative error of up to k * 2**-23, and a relative
// error of k * 2**-23 is up to 2 k units: errors of factors add up as relative errors. Halves are rounded once, from float32.
var activationComposites = composites([]composite{
	{
		// expm1 and a product: 2 (2 + 0.5); on Metal 2 (15 + 0.5).
		id: 300, name: "elu", infer: likeX, calls: eluCalls, python: functionInPlace, onnx: "Elu-6",
		attrs:     []Attr{factor("alpha", 1, "what the result approaches far below zero, negated")},
		tolerance: Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 31},
	},
	{
		// As elu. The rounding of x / alpha changes expm1 of what is below zero by as much at most.
		id: 301, name: "celu", infer: likeX, calls: celuCalls, python: functionByHand, onnx: "Celu-12",
		attrs:     []Attr{factor("alpha", 1, "what the result approaches far below zero, negated; not 0")},
		tolerance: Tolerance{Float32: 6, Float64: 10, Half: 1, Metal: 32},
	},
	{
		// expm1 and two products.
		id: 302, name: "selu", infer: likeX, calls: seluCalls, python: functionByHand, onnx: "Selu-6",
		attrs: []Attr{
			factor("scale", 1.0507009873554805, "factor of the result, rounded to float32"),
			factor("alpha", 1.6732632423543772, "factor below zero, rounded to float32"),
		},
		tolerance: Tolerance{Float32: 6, Float64: 10, Half: 1, Metal: 32},
	},
	{
		id: 303, name: "hardtanh", infer: likeX, calls: hardtanhCalls, grad: gradHardtanh, python: functionInPlace,
		attrs: []Attr{factor("min", -1, "the least result"), factor("max", 1, "the largest result")},
	},
	{
		id: 304, name: "relu6", infer: likeX, python: function,
		calls: func(c *Calls, in []Var, _ Attrs) Var { return c.inside(in[0], 0, 6) },
	},
	{
		// A product and a sum, in which terms may cancel.
		id: 305, name: "hardsigmoid", infer: likeX, calls: hardsigmoidCalls, python: function, onnx: "HardSigmoid-6",
		attrs: []Attr{
			factor("slope", 0.1666667, "factor of x, rounded to float32"), factor("offset", 0.5, "what is added, rounded to float32"),
		},
		tolerance: rounded.plus(Roundings{Once: 2}),
	},
	{
		// A sum, which is exact where it cancels, a quotient and a product: 2 (0.5 + 0.5 + 0.5).
		id: 306, name: "hardswish", infer: likeX, python: function, onnx: "HardSwish-14",
		calls: func(c *Calls, in []Var, _ Attrs) Var {
			return c.multiply(in[0], c.divide(c.inside(c.plus(in[0], 3), 0, 6), c.Float(6)))
		},
		tolerance: Tolerance{Float32: 3, Float64: 3, Half: 1},
	},
	{
		id: 307, name: "hardshrink", infer: likeX, calls: hardshrinkCalls, python: function,
		attrs: []Attr{factor("threshold", 0.5, "elements nearer to zero become zero")},
	},
	{
		id: 308, name: "softshrink", infer: likeX, calls: softshrinkCalls, python: functionByHand,
		attrs:     []Attr{factor("threshold", 0.5, "how far elements move; not below 0")},
		tolerance: rounded,
	},
	{
		// A sum and a quotient: 2 (0.5 + 0.5).
		id: 309, name: "softsign", infer: likeX, grad: gradSoftsign, python: function, onnx: "Softsign-1",
		calls: func(c *Calls, in []Var, _ Attrs) Var {
			return c.divide(in[0], c.plus(c.Do(IDAbs, nil, in[0]), 1))
		},
		tolerance: Tolerance{Float32: 2, Float64: 2, Half: 1},
	},
	{
		// An error of tanh, which has 4 units in float64 and 5 on Metal, relative to terms that cancel near 0. Metal may take a tanh
		// for 0 that is hardly normal, which the domain leaves out.
		id: 310, name: "tanhshrink", in: []Input{{Name: "x", Domain: Ordinary}}, infer: likeX, python: function,
		calls:     func(c *Calls, in []Var, _ Attrs) Var { return c.subtract(in[0], c.tanh(in[0])) },
		tolerance: rounded.plus(Roundings{Once: 8, Metal: 10}),
	},
	{
		id: 311, name: "thresholded_relu", infer: likeX, calls: thresholdedReluCalls, python: functionInPlace, onnx: "ThresholdedRelu-10",
		attrs: []Attr{factor("threshold", 1, "what elements have to exceed"), factor("value", 0, "the result for all others")},
	},
	{
		id: 312, name: "log_sigmoid", infer: likeX, calls: logSigmoidCalls, python: Python{Module: "nn.functional", Alias: []string{"logsigmoid"}},
		tolerance: accurate.onMetal(14),
	},
	{
		// An error of exp, and those of a sum, a product, a sum, a quotient and a product, none of which cancels: 2 (2 + 2.5). Where exp
		// is subnormal its error is absolute, which the domain leaves out.
		id: 313, name: "mish", in: []Input{{Name: "x", Domain: Ordinary}}, infer: likeX, calls: mishCalls, grad: gradMish, python: function, onnx: "Mish-18",
		tolerance: Tolerance{Float32: 9, Float64: 13, Half: 1, Metal: 13},
	},
	{
		id: 314, name: "prelu", kind: Binary, in: []Input{{Name: "x"}, {Name: "weight"}}, infer: rules{identical, broadcast}, python: functionByHand, onnx: "PRelu-16",
		calls:     func(c *Calls, in []Var, _ Attrs) Var { return c.above(in[0], c.multiply(in[0], in[1])) },
		tolerance: rounded,
	},
	{
		// sigmoid and a product: 2 (2 + 0.5); on Metal 2 (10 + 0.5). Where one of them is subnormal its error is absolute, which the
		// domain leaves out.
		id: 315, name: "glu", in: []Input{{Name: "x", Domain: Ordinary}}, calls: gluCalls, python: functionByHand,
		attrs:     []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis of the two halves"}},
		tolerance: Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 21},
	},
	{
		// As glu, with silu.
		id: 316, name: "swiglu", kind: Binary, in: []Input{{Name: "x", Domain: Ordinary}, {Name: "y", Optional: true, Domain: Ordinary}}, calls: swigluCalls, python: functionByHand,
		tolerance: Tolerance{Float32: 5, Float64: 9, Half: 1, Metal: 23},
	},
})

var (
	functionByHand  = Python{Module: "nn.functional", ByHand: true}
	functionInPlace = Python{Module: "nn.functional", InPlace: true}

	// likeX is the rule of composites of one operand, whose result is like it.
	likeX = rules{floatOnly, likeInput}
)

// factor is an attribute that is a number.
func factor(name string, otherwise float64, doc string) Attr {
	return Attr{Name: name, Type: FloatAttr, Default: Value{Kind: Float, F: otherwise}, Doc: doc}
}

// single is a number as float32 has it: Paddle rounds some factors, whatever the dtype of the tensor.
func single(v *Value) float64 { return float64(float32(v.Float64())) }

// above is x where it is above zero and y elsewhere.
func (c *Calls) above(x, y Var) Var { return c.where(c.Do(IDGreaterThan, nil, x, c.zero()), x, y) }

// bent is alpha * expm1(x / scale) below zero. Above it the exponential would overflow.
func (c *Calls) bent(x Var, alpha, scale float64) Var {
	x = c.Do(IDClip, nil, x, c.Number(Value{}), c.zero())
	if scale != 1 {
		x = c.divide(x, c.Float(scale))
	}
	if x = c.Do(IDExpm1, nil, x); alpha != 1 {
		x = c.scale(x, alpha)
	}
	return x
}

// inside is x clipped to two numbers, without a gradient at both of them.
func (c *Calls) inside(x Var, low, high float64) Var {
	return c.Do(IDHardtanh, Attrs{{Kind: Float, F: low}, {Kind: Float, F: high}}, x)
}

func eluCalls(c *Calls, in []Var, at Attrs) Var {
	return c.above(in[0], c.bent(in[0], at[EluAlpha].Float64(), 1))
}

func celuCalls(c *Calls, in []Var, at Attrs) Var {
	alpha := at[CeluAlpha].Float64()
	return c.above(in[0], c.bent(in[0], alpha, alpha))
}

func seluCalls(c *Calls, in []Var, at Attrs) Var {
	return c.scale(c.above(in[0], c.bent(in[0], single(&at[SeluAlpha]), 1)), single(&at[SeluScale]))
}

// hardtanhCalls: bounds that have changed places leave the upper one.
func hardtanhCalls(c *Calls, in []Var, at Attrs) Var {
	low, high := c.Float(at[HardtanhMin].Float64()), c.Float(at[HardtanhMax].Float64())
	return c.Do(IDClip, nil, in[0], low, high)
}

// gradHardtanh: dy between the bounds, and 0 at both.
func gradHardtanh(g *Gradient) {
	x := g.In[0]
	low := g.Do(IDGreaterThan, nil, x, g.Float(g.Attrs[HardtanhMin].Float64()))
	high := g.Do(IDLessThan, nil, x, g.Float(g.Attrs[HardtanhMax].Float64()))
	g.Set(0, g.where(g.Do(IDLogicalAnd, nil, low, high), g.Dy[0], g.zero()))
}

func hardsigmoidCalls(c *Calls, in []Var, at Attrs) Var {
	return c.inside(c.plus(c.scale(in[0], single(&at[HardsigmoidSlope])), single(&at[HardsigmoidOffset])), 0, 1)
}

func hardshrinkCalls(c *Calls, in []Var, at Attrs) Var {
	x, t := in[0], at[HardshrinkThreshold].Float64()
	far := c.Do(IDLogicalOr, nil, c.Do(IDLessEqual, nil, x, c.Float(-t)), c.Do(IDGreaterEqual, nil, x, c.Float(t)))
	return c.where(far, x, c.scale(x, 0)) // nan times 0 is nan, with a gradient of 0
}

func softshrinkCalls(c *Calls, in []Var, at Attrs) Var {
	x, t := in[0], at[SoftshrinkThreshold].Float64()
	near := c.Do(IDLogicalAnd, nil, c.Do(IDGreaterEqual, nil, x, c.Float(-t)), c.Do(IDLessEqual, nil, x, c.Float(t)))
	lowered := c.where(c.Do(IDGreaterThan, nil, x, c.Float(t)), c.plus(x, -t), c.where(near, c.zero(), c.scale(x, 0))) // as in hardshrinkCalls
	return c.where(c.Do(IDLessThan, nil, x, c.Float(-t)), c.plus(x, t), lowered)
}

func thresholdedReluCalls(c *Calls, in []Var, at Attrs) Var {
	x, t := in[0], c.Float(at[ThresholdedReluThreshold].Float64())
	low := c.where(c.Do(IDLessEqual, nil, x, t), c.Float(at[ThresholdedReluValue].Float64()), c.scale(x, 0)) // as in hardshrinkCalls
	return c.where(c.Do(IDGreaterThan, nil, x, t), x, low)
}

// gradSoftsign: dy / (1 + |x|)^2, which is 0 at infinities, as in Paddle.
func gradSoftsign(g *Gradient) {
	g.Set(0, g.divide(g.Dy[0], g.square(g.plus(g.Do(IDAbs, nil, g.In[0]), 1))))
}

// logSigmoidCalls: -softplus(-x), which is x itself to the last digit below -40.
func logSigmoidCalls(c *Calls, in []Var, _ Attrs) Var {
	return c.neg(c.Do(IDSoftplus, Attrs{SoftplusThreshold: {Kind: Float, F: 40}}, c.neg(in[0])))
}

// mishCalls: with w = exp(x) (exp(x) + 2), tanh(log(1 + exp(x))) is w / (w + 2), which from 20 on is 1.
func mishCalls(c *Calls, in []Var, _ Attrs) Var {
	_, w, most := c.mishParts(in[0])
	return c.multiply(in[0], c.divide(w, most))
}

// mishParts are exp(x), w and w + 2, of x up to 20.
func (c *Calls) mishParts(x Var) (e, w, most Var) {
	e = c.Do(IDExp, nil, c.Do(IDClip, nil, x, c.Number(Value{}), c.Float(20)))
	w = c.multiply(e, c.plus(e, 2))
	return e, w, c.plus(w, 2)
}

// gradMish: w / (w + 2) + x * 4 exp(x) (exp(x) + 1) / (w + 2) ** 2, of which the second term is x * 0 above 20: nan at
// infinity, as in Paddle.
func gradMish(g *Gradient) {
	x := g.In[0]
	e, w, most := g.mishParts(x)
	bend := g.divide(g.multiply(g.scale(e, 4), g.plus(e, 1)), g.square(most))
	bend = g.where(g.Do(IDGreaterThan, nil, x, g.Float(20)), g.zero(), bend)
	g.Set(0, g.multiply(g.Dy[0], g.add(g.divide(w, most), g.multiply(x, bend))))
}

func gluCalls(c *Calls, in []Var, at Attrs) Var {
	half := c.halves(in[0], at[GluAxis].I)
	return c.multiply(half[0], c.sigmoid(half[1]))
}

func swigluCalls(c *Calls, in []Var, _ Attrs) Var {
	if c.Err == nil && c.Absent(in[1]) {
		in = c.halves(in[0], -1)
	}
	return c.multiply(c.Do(IDSilu, nil, in[0]), in[1])
}

// halves are the two halves of a value along an axis.
func (c *Calls) halves(v Var, axis int64) []Var {
	return append(c.DoMany(IDSplit, Attrs{SplitSections: {Kind: Ints, Ints: []int64{2}}, SplitAxis: {Kind: Int, I: axis}}, v), NoVar, NoVar)
}
