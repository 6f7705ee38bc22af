package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators whose results depend on one element of each operand. Operands broadcast as in NumPy from opset 7 on, and before
// as [call.legacy] says.

var elementwise = map[string][]version{
	"Abs": unary(op.IDAbs), "Neg": unary(op.IDNeg), "Sign": unary(op.IDSign), "Exp": unary(op.IDExp), "Log": unary(op.IDLog),
	"Sqrt": unary(op.IDSqrt), "Reciprocal": unary(op.IDReciprocal), "Sin": unary(op.IDSin), "Cos": unary(op.IDCos),
	"Tan": unary(op.IDTan), "Tanh": unary(op.IDTanh), "Sinh": unary(op.IDSinh), "Cosh": unary(op.IDCosh), "Floor": unary(op.IDFloor),
	"Ceil": unary(op.IDCeil), "Round": unary(op.IDRound), "Erf": unary(op.IDErf), "Not": unary(op.IDLogicalNot),
	"IsNaN": unary(op.IDIsnan), "Acos": unary(op.IDAcos), "Asin": unary(op.IDAsin), "Atan": unary(op.IDAtan),
	"Acosh": unary(op.IDAcosh), "Asinh": unary(op.IDAsinh), "Atanh": unary(op.IDAtanh), "BitwiseNot": unary(op.IDBitwiseNot),
	"Relu": unary(op.IDRelu), "Sigmoid": unary(op.IDSigmoid), "Softplus": from(1, softplus), "Softsign": from(1, softsign),
	"Identity": from(1, func(c *call) []*value { return one(c.in[0]) }),
	"IsInf":    from(10, isInf),

	"Add": broadcast(op.IDAdd), "Sub": broadcast(op.IDSubtract), "Mul": broadcast(op.IDMultiply), "Div": from(1, divide),
	"And": broadcast(op.IDLogicalAnd), "Or": broadcast(op.IDLogicalOr), "Xor": broadcast(op.IDLogicalXor),
	"BitwiseAnd": broadcast(op.IDBitwiseAnd), "BitwiseOr": broadcast(op.IDBitwiseOr), "BitwiseXor": broadcast(op.IDBitwiseXor),
	"Equal": broadcast(op.IDEqual), "Less": broadcast(op.IDLessThan), "LessOrEqual": broadcast(op.IDLessEqual),
	"Greater": broadcast(op.IDGreaterThan), "GreaterOrEqual": broadcast(op.IDGreaterEqual),
	"Mod": from(10, modulo), "Pow": from(1, power), "BitShift": from(11, bitShift),

	"Max": variadic((*call).larger), "Min": variadic((*call).smaller), "Sum": variadic((*call).add),
	"Mean": from(1, func(c *call) []*value {
		return one(c.div(c.joined((*call).add), num(float64(len(c.in)))))
	}),

	"Where": from(9, func(c *call) []*value { return one(c.where(c.x(0), c.x(1), c.x(2))) }),
	"Clip":  {{1, clipAttributes}, {11, clip}},
	"Cast":  from(1, cast), "CastLike": from(15, func(c *call) []*value { return one(c.cast(c.x(0), c.x(1).DType)) }),

	"LeakyRelu": from(1, func(c *call) []*value {
		return one(c.do(op.IDLeakyRelu, op.Attrs{op.LeakyReluNegativeSlope: {Kind: op.Float, F: c.float("alpha", 0.01)}}, c.x(0)))
	}),
	"PRelu": from(1, prelu),
	"Elu":   from(1, func(c *call) []*value { return one(c.elu(c.x(0), c.float("alpha", 1), 1)) }),
	"Selu": from(1, func(c *call) []*value {
		gamma := c.float("gamma", 1.05070102214813232421875)
		return one(c.mul(c.elu(c.x(0), c.float("alpha", 1.67326319217681884765625), 1), num(gamma)))
	}),
	"Celu": from(12, func(c *call) []*value {
		alpha := c.float("alpha", 1)
		return one(c.elu(c.x(0), alpha, alpha))
	}),
	"HardSigmoid": from(1, func(c *call) []*value {
		return one(c.hardSigmoid(c.x(0), c.float("alpha", 0.2), c.float("beta", 0.5)))
	}),
	"HardSwish": from(14, func(c *call) []*value { return one(c.mul(c.x(0), c.hardSigmoid(c.x(0), 1.0/6, 0.5))) }),
	"ThresholdedRelu": from(1, func(c *call) []*value {
		x := c.x(0)
		return one(c.where(c.do(op.IDGreaterThan, nil, x, num(c.float("alpha", 1))), x, num(0)))
	}),
	"Shrink": from(9, shrink),
	"Gelu": from(20, func(c *call) []*value {
		return one(c.gelu(c.x(0), c.text("approximate", "none") == "tanh"))
	}),
	"Mish": from(18, func(c *call) []*value {
		return one(c.mul(c.x(0), c.do(op.IDTanh, nil, c.do(op.IDSoftplus, nil, c.x(0)))))
	}),
	"Swish": from(24, func(c *call) []*value { return one(c.swish(c.x(0), c.float("alpha", 1))) }),

	"com.microsoft:Gelu":      from(1, func(c *call) []*value { return one(c.gelu(c.x(0), false)) }),
	"com.microsoft:FastGelu":  from(1, func(c *call) []*value { return one(c.gelu(c.biased(), true)) }),
	"com.microsoft:BiasGelu":  from(1, func(c *call) []*value { return one(c.gelu(c.biased(), false)) }),
	"com.microsoft:QuickGelu": from(1, func(c *call) []*value { return one(c.swish(c.x(0), c.float("alpha", 1.702))) }),
}

// unary is an operator that is a row.
func unary(id op.ID) []version {
	return from(1, func(c *call) []*value { return one(c.do(id, nil, c.x(0))) })
}

// broadcast is an operator of two operands that is a row.
func broadcast(id op.ID) []version {
	return from(1, func(c *call) []*value { return one(c.do(id, nil, c.x(0), c.legacy())) })
}

// legacy is the second operand as it broadcasts: before opset 7 attribute broadcast allowed it to, and axis said which axis
// of the first operand its first axis stands for.
func (c *call) legacy() *value {
	x, y := c.x(0), c.x(1)
	if !c.given("axis") || !c.yes("broadcast", 0) {
		return y
	}
	axis := c.axis(c.int("axis", 0), x.rank())
	dims := append([]int64{}, y.dims()...)
	for len(dims)+axis < x.rank() {
		dims = append(dims, 1)
	}
	return c.reshape(y, dims...)
}

// variadic is an operator that joins any number of operands by pairs.
func variadic(pair func(c *call, x, y *value) *value) []version {
	return from(1, func(c *call) []*value { return one(c.joined(pair)) })
}

// joined is all operands, joined by pairs.
func (c *call) joined(pair func(c *call, x, y *value) *value) *value {
	v := c.x(0)
	for i := 1; i < len(c.in); i++ {
		v = pair(c, v, c.x(i))
	}
	return v
}

func (c *call) larger(x, y *value) *value  { return c.do(op.IDMaximum, nil, x, y) }
func (c *call) smaller(x, y *value) *value { return c.do(op.IDMinimum, nil, x, y) }

// divide is exact for floats; of integers it drops the fraction, towards zero.
func divide(c *call) []*value {
	x, y := c.x(0), c.legacy()
	if !x.DType.IsInt() {
		return one(c.div(x, y))
	}
	if x.DType == dtype.Uint8 {
		return one(c.do(op.IDFloorDivide, nil, x, y))
	}
	quotient := c.do(op.IDFloorDivide, nil, c.do(op.IDAbs, nil, x), c.do(op.IDAbs, nil, y))
	return one(c.mul(quotient, c.mul(c.do(op.IDSign, nil, x), c.do(op.IDSign, nil, y))))
}

// modulo has the sign of the divisor, or with fmod that of the dividend.
func modulo(c *call) []*value {
	x, y := c.x(0), c.x(1)
	if !c.yes("fmod", 0) {
		return one(c.do(op.IDRemainder, nil, x, y))
	}
	rest := c.do(op.IDRemainder, nil, c.do(op.IDAbs, nil, x), c.do(op.IDAbs, nil, y))
	return one(c.where(c.do(op.IDLessThan, nil, x, whole(0)), c.neg(rest), rest))
}

// power has the dtype of the base. An integer to a power that is none is computed as a float.
func power(c *call) []*value {
	x, y := c.x(0), c.legacy()
	d := x.DType
	if d.IsInt() && y.DType.IsFloat() {
		x = c.cast(x, y.DType)
	}
	if y.data != nil && y.Shape.Numel() == 1 && y.rank() <= x.rank() && x.DType.IsFloat() { // so that it may be fused
		if f := floatsOf(y.data)[0]; f == 2 {
			return one(c.do(op.IDSquare, nil, x))
		}
	}
	return one(c.cast(c.do(op.IDPow, nil, x, c.cast(y, x.DType)), d))
}

func bitShift(c *call) []*value {
	switch c.text("direction", "") {
	case "LEFT":
		return one(c.do(op.IDBitwiseLeftShift, nil, c.x(0), c.x(1)))
	case "RIGHT":
		return one(c.do(op.IDBitwiseRightShift, nil, c.x(0), c.x(1)))
	}
	c.wrong("direction is %q; want LEFT or RIGHT", c.text("direction", ""))
	return nil
}

func isInf(c *call) []*value {
	x, either := c.x(0), c.do(op.IDIsinf, nil, c.x(0))
	up, down := c.yes("detect_positive", 1), c.yes("detect_negative", 1)
	switch {
	case up && down:
		return one(either)
	case up:
		return one(c.do(op.IDLogicalAnd, nil, either, c.do(op.IDGreaterThan, nil, x, num(0))))
	case down:
		return one(c.do(op.IDLogicalAnd, nil, either, c.do(op.IDLessThan, nil, x, num(0))))
	}
	return one(c.do(op.IDLogicalAnd, nil, either, c.truth(false)))
}

// softplus is log(1 + exp(x)). The row is x itself where that is less than an ulp away, for large x.
func softplus(c *call) []*value { return one(c.do(op.IDSoftplus, nil, c.x(0))) }

func softsign(c *call) []*value {
	x := c.x(0)
	return one(c.div(x, c.add(c.do(op.IDAbs, nil, x), num(1))))
}

// clipAttributes is Clip before opset 11: the bounds are attributes.
func clipAttributes(c *call) []*value {
	low, high := absent(), absent()
	if c.given("min") {
		low = num(c.float("min", 0))
	}
	if c.given("max") {
		high = num(c.float("max", 0))
	}
	return one(c.do(op.IDClip, nil, c.x(0), low, high))
}

// clip has bounds that are operands of one element.
func clip(c *call) []*value {
	x := c.x(0)
	bound := func(i int) *value {
		switch {
		case !c.has(i):
			return absent()
		case c.in[i].data != nil && c.in[i].Shape.Numel() == 1 && x.DType.IsFloat():
			return num(floatsOf(c.in[i].data)[0])
		}
		return c.reshape(c.x(i))
	}
	low, high := bound(1), bound(2)
	if low.number != nil && high.number != nil {
		return one(c.do(op.IDClip, nil, x, low, high))
	}
	if c.has(1) {
		x = c.larger(x, low)
	}
	if c.has(2) {
		x = c.smaller(x, high)
	}
	return one(x)
}

// cast converts floats to integers by dropping the fraction.
func cast(c *call) []*value {
	a := c.attr("to")
	if a == nil {
		c.wrong("attribute to is missing")
	}
	if c.x(0).DType.IsComplex() {
		c.refuse("a cast of complex numbers is not supported")
	}
	return one(c.cast(c.x(0), c.dtype(castType(a))))
}

// castType is the element type that a cast names; in the first opsets by its name.
func castType(a *Attribute) ElemType {
	if len(a.S) == 0 {
		return ElemType(a.I)
	}
	names := map[string]ElemType{"FLOAT": 1, "UINT8": 2, "INT8": 3, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11}
	return names[string(a.S)]
}

// elu is x above zero and alpha * (exp(x / scale) - 1) below.
func (c *call) elu(x *value, alpha, scale float64) *value {
	below := x
	if scale != 1 {
		below = c.div(x, num(scale))
	}
	below = c.mul(c.do(op.IDExpm1, nil, below), num(alpha))
	return c.where(c.do(op.IDLessThan, nil, x, num(0)), below, x)
}

func (c *call) hardSigmoid(x *value, alpha, beta float64) *value {
	return c.clamp(c.add(c.mul(x, num(alpha)), num(beta)), 0, 1)
}

func (c *call) gelu(x *value, approximate bool) *value {
	return c.do(op.IDGelu, op.Attrs{op.GeluApproximate: flag(approximate)}, x)
}

// swish is x * sigmoid(alpha * x).
func (c *call) swish(x *value, alpha float64) *value {
	if alpha == 1 {
		return c.do(op.IDSilu, nil, x)
	}
	return c.mul(x, c.do(op.IDSigmoid, nil, c.mul(x, num(alpha))))
}

// biased is the first operand and the second, a bias, if there is one.
func (c *call) biased() *value {
	if c.has(1) {
		return c.add(c.x(0), c.x(1))
	}
	return c.x(0)
}

// prelu has a slope that broadcasts to x; before opset 7 it stands for the channels.
func prelu(c *call) []*value {
	x, slope := c.x(0), c.x(1)
	if c.opset < 7 && slope.rank() == 1 && x.rank() > 2 && slope.dims()[0] != 1 {
		dims := []int64{slope.dims()[0]}
		for len(dims) < x.rank()-1 {
			dims = append(dims, 1)
		}
		slope = c.reshape(slope, dims...)
	}
	return one(c.where(c.do(op.IDLessThan, nil, x, num(0)), c.mul(x, slope), x))
}

func shrink(c *call) []*value {
	x, lambda, bias := c.x(0), c.float("lambd", 0.5), c.float("bias", 0)
	above := c.where(c.do(op.IDGreaterThan, nil, x, num(lambda)), c.sub(x, num(bias)), num(0))
	return one(c.cast(c.where(c.do(op.IDLessThan, nil, x, num(-lambda)), c.add(x, num(bias)), above), x.DType))
}

// lowest is what a maximum begins with.
func lowest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(-1)}
	}
	low, _ := d.Range()
	return integer(low)
}
