package ops

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// Operators whose results depend on one element of each operand. Operands broadcast as in NumPy from opset 7 on, and before
// as [legacy] says.
//
// Most are one call of a row. Where others are of several, devices fuse these where they can. Numbers of attributes are operands
// without a dtype, so that halves stay halves. Dtypes are not promoted: ONNX wants operands of one dtype, and a file
// that breaks this rule gets the error of the row, which names both.

var elementwise = []entry{
	{"Abs", 1, op.IDAbs, direct},               // |x|
	{"Neg", 1, op.IDNeg, direct},               // -x
	{"Sign", 1, op.IDSign, direct},             // -1, 0 or 1
	{"Exp", 1, op.IDExp, direct},               // e ** x
	{"Log", 1, op.IDLog, direct},               // natural logarithm
	{"Sqrt", 1, op.IDSqrt, direct},             // square root; NaN below 0
	{"Reciprocal", 1, op.IDReciprocal, direct}, // 1 / x
	{"Sin", 1, op.IDSin, direct},               // of x radians, as the functions below
	{"Cos", 1, op.IDCos, direct},
	{"Tan", 1, op.IDTan, direct},
	{"Tanh", 1, op.IDTanh, direct},
	{"Sinh", 1, op.IDSinh, direct},
	{"Cosh", 1, op.IDCosh, direct},
	{"Floor", 1, op.IDFloor, direct}, // largest integer that is not above x
	{"Ceil", 1, op.IDCeil, direct},
	{"Round", 1, op.IDRound, direct},    // halves go to the even integer
	{"Erf", 1, op.IDErf, direct},        // error function
	{"Not", 1, op.IDLogicalNot, direct}, // of bool
	{"IsNaN", 1, op.IDIsnan, direct},    // of floats
	{"Acos", 1, op.IDAcos, direct},      // from 0 to pi
	{"Asin", 1, op.IDAsin, direct},
	{"Atan", 1, op.IDAtan, direct},
	{"Acosh", 1, op.IDAcosh, direct},
	{"Asinh", 1, op.IDAsinh, direct},
	{"Atanh", 1, op.IDAtanh, direct},
	{"BitwiseNot", 1, op.IDBitwiseNot, direct},
	{"Relu", 1, op.IDRelu, direct},       // max(x, 0)
	{"Sigmoid", 1, op.IDSigmoid, direct}, // 1 / (1 + exp(-x))
	{"Softplus", 1, op.IDSoftplus, direct},
	{"Softsign", 1, op.IDSoftsign, direct},
	{"Identity", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Passed(0)) }}, // of sequences and optionals too
	{"IsInf", 10, 0, isInf},
	{"Add", 1, op.IDAdd, direct}, // as all below with broadcast, in the dtype of the operands
	{"Sub", 1, op.IDSubtract, direct},
	{"Mul", 1, op.IDMultiply, direct},
	{"Div", 1, 0, divide},               // of integers towards zero
	{"And", 1, op.IDLogicalAnd, direct}, // of bool
	{"Or", 1, op.IDLogicalOr, direct},
	{"Xor", 1, op.IDLogicalXor, direct},
	{"BitwiseAnd", 1, op.IDBitwiseAnd, direct}, // of integers
	{"BitwiseOr", 1, op.IDBitwiseOr, direct},
	{"BitwiseXor", 1, op.IDBitwiseXor, direct},
	{"Equal", 1, op.IDEqual, direct}, // as all comparisons, to bool
	{"Less", 1, op.IDLessThan, direct},
	{"LessOrEqual", 1, op.IDLessEqual, direct},
	{"Greater", 1, op.IDGreaterThan, direct},
	{"GreaterOrEqual", 1, op.IDGreaterEqual, direct},
	{"Mod", 10, 0, modulo},             // with the sign of the divisor, or with fmod that of the dividend
	{"Pow", 1, 0, power},               // in the dtype of the base
	{"BitShift", 11, 0, bitShift},      // of unsigned integers
	{"Max", 1, op.IDMaximum, variadic}, // of one operand or more
	{"Min", 1, op.IDMinimum, variadic},
	{"Sum", 1, op.IDAdd, variadic},
	// Mean: of one operand or more.
	{"Mean", 1, op.IDAdd, func(c *build.Call) []*build.Value { return build.One(c.Div(joined(c), build.Num(float64(len(c.In))))) }},
	{"Where", 9, op.IDWhere, direct}, // condition, x, y
	{"Clip", 1, 0, clip},             // x, min, max; the bounds were attributes before opset 11
	{"Cast", 1, 0, cast},             // to attribute to; saturate and round_mode are for 8-bit floats
	// CastLike: x, and a tensor whose dtype counts.
	{"CastLike", 15, 0, func(c *build.Call) []*build.Value {
		return build.One(convertedTo(c, c.X(0), c.X(1).DType, c.X(1).Elem))
	}},
	{"LeakyRelu", 1, op.IDLeakyRelu, renamed{{op.LeakyReluNegativeSlope, "alpha", 0.01}}.call}, // alpha * x below 0
	{"PRelu", 1, 0, prelu}, // x, slope
	{"Elu", 1, op.IDElu, renamed{{op.EluAlpha, "alpha", 1.0}}.call}, // alpha * (exp(x) - 1) below 0
	// Selu: gamma * elu.
	{"Selu", 1, op.IDSelu, renamed{{op.SeluScale, "gamma", 1.05070102214813232421875}, {op.SeluAlpha, "alpha", 1.67326319217681884765625}}.call},
	{"Celu", 12, op.IDCelu, renamed{{op.CeluAlpha, "alpha", 1.0}}.call}, // max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)
	// HardSigmoid: alpha * x + beta, from 0 to 1.
	{"HardSigmoid", 1, op.IDHardsigmoid, renamed{{op.HardsigmoidSlope, "alpha", 0.2}, {op.HardsigmoidOffset, "beta", 0.5}}.call},
	{"HardSwish", 14, op.IDHardswish, direct}, // x * HardSigmoid(x) with 1/6 and 0.5
	// ThresholdedRelu: x above alpha, else 0.
	{"ThresholdedRelu", 1, op.IDThresholdedRelu, renamed{{op.ThresholdedReluThreshold, "alpha", 1.0}}.call},
	// Shrink: towards 0 by bias, beyond lambd.
	{"Shrink", 9, op.IDShrink, renamed{{op.ShrinkThreshold, "lambd", 0.5}, {op.ShrinkBias, "bias", 0.0}}.call},
	{"Mish", 18, op.IDMish, direct}, // x * tanh(softplus(x))
	// Gelu: x times the normal distribution at x.
	{"Gelu", 20, 0, func(c *build.Call) []*build.Value { return gelu(c, c.X(0), c.Text("approximate", "none") == "tanh") }},
	{"com.microsoft:Gelu", 1, op.IDGelu, direct},
	// FastGelu: x, bias; by tanh.
	{"com.microsoft:FastGelu", 1, 0, func(c *build.Call) []*build.Value { return gelu(c, biased(c, c.X(0), 1), true) }},
	// BiasGelu: x, bias; by erf.
	{"com.microsoft:BiasGelu", 1, 0, func(c *build.Call) []*build.Value { return gelu(c, biased(c, c.X(0), 1), false) }},
	// Swish: x * sigmoid(alpha * x); QuickGelu with another factor.
	{"Swish", 24, op.IDSwish, renamed{{op.SwishBeta, "alpha", 1.0}}.call},
	{"com.microsoft:QuickGelu", 1, op.IDSwish, renamed{{op.SwishBeta, "alpha", 1.702}}.call},
}

// variadic is an operator that joins any number of operands by a row.
func variadic(c *build.Call) []*build.Value { return build.One(joined(c)) }

// joined is all operands, joined by pairs.
func joined(c *build.Call) *build.Value {
	v := c.X(0)
	for i := 1; i < len(c.In); i++ {
		v = c.Binary(c.Row, v, c.X(i))
	}
	return v
}

// divide is exact for floats; of integers it drops the fraction, towards zero. ONNX says so of integers, like C and
// unlike Python; a divisor of 0 is an error when the model runs.
func divide(c *build.Call) []*build.Value {
	x, y := c.X(0), legacy(c)
	if x.Elem.Unsigned() {
		return build.One(unsignedQuotient(c, x, y))
	}
	if !x.DType.IsInt() {
		return build.One(c.Div(x, y))
	}
	if x.DType == dtype.Uint8 {
		return build.One(c.Binary(op.IDFloorDivide, x, y))
	}
	quotient := c.Binary(op.IDFloorDivide, c.Unary(op.IDAbs, x), c.Unary(op.IDAbs, y))
	return build.One(c.Mul(quotient, c.Mul(c.Unary(op.IDSign, x), c.Unary(op.IDSign, y))))
}

// modulo has the sign of the divisor, or with fmod that of the dividend. With fmod the magnitude is that of the
// remainder of the magnitudes, which is exact for floats too.
func modulo(c *build.Call) []*build.Value {
	x, y := c.X(0), c.X(1)
	if x.Elem.Unsigned() {
		return build.One(c.Sub(x, c.Mul(unsignedQuotient(c, x, y), y)))
	}
	if !c.Yes("fmod", 0) {
		return build.One(c.Binary(op.IDRemainder, x, y))
	}
	rest := c.Binary(op.IDRemainder, c.Unary(op.IDAbs, x), c.Unary(op.IDAbs, y))
	return build.One(c.Where(c.Binary(op.IDLessThan, x, build.Whole(0)), c.Neg(rest), rest))
}

// power has the dtype of the base. An integer to a power that is none is computed as a float. A square is the most
// common power in exported models, and much cheaper than others. Exporters write x * x as Pow with a constant. An
// operand of another dtype is cast to that of the base.
func power(c *build.Call) []*build.Value {
	x, y := c.X(0), legacy(c)
	d := x.DType
	if d.IsInt() && y.DType.IsFloat() {
		x = c.Cast(x, y.DType)
	}
	if y.Data != nil && y.Shape.Numel() == 1 && y.Rank() <= x.Rank() && x.DType.IsFloat() { // so that it may be fused
		if f := build.FloatsOf(y.Data)[0]; f == 2 {
			return build.One(c.Unary(op.IDSquare, x))
		}
	}
	return build.One(c.Cast(c.Binary(op.IDPow, x, c.Cast(y, x.DType)), d))
}

// bitShift moves bits to the left or the right, as attribute direction says.
func bitShift(c *build.Call) []*build.Value {
	switch c.Text("direction", "") {
	case "LEFT":
		return build.One(c.Binary(op.IDBitwiseLeftShift, c.X(0), c.X(1)))
	case "RIGHT":
		if c.X(0).Elem.Unsigned() {
			return build.One(unsignedRight(c, c.X(0), c.X(1)))
		}
		return build.One(c.Binary(op.IDBitwiseRightShift, c.X(0), c.X(1)))
	}
	c.Wrong("direction is %q; want LEFT or RIGHT", c.Text("direction", ""))
	return nil
}

// isInf can be told to ignore one of the two infinities, or both.
func isInf(c *build.Call) []*build.Value {
	rows := map[[2]bool]op.ID{{true, true}: op.IDIsinf, {true, false}: op.IDIsposinf, {false, true}: op.IDIsneginf}
	row, ok := rows[[2]bool{c.Yes("detect_positive", 1), c.Yes("detect_negative", 1)}]
	if !ok {
		return build.One(c.Full(dtype.Bool, build.Integer(0), c.X(0).Dims()...))
	}
	return build.One(c.Unary(row, c.X(0)))
}

// clip has bounds that are operands of one element, and were attributes before opset 11; either may be missing. Bounds that are
// constants become part of the graph as numbers, which lets devices fuse the call.
func clip(c *build.Call) []*build.Value {
	x := c.X(0)
	bound := func(i int, name string) *build.Value {
		switch {
		case c.Given(name):
			return build.Num(c.Float(name, 0))
		case !c.Has(i):
			return build.Absent()
		case c.In[i].Data != nil && c.In[i].Shape.Numel() == 1 && x.DType.IsFloat():
			return build.Num(build.FloatsOf(c.In[i].Data)[0])
		}
		return c.Reshape(c.X(i))
	}
	low, high := bound(1, "min"), bound(2, "max")
	if low.Number != nil && high.Number != nil {
		return build.One(c.Do(op.IDClip, nil, x, low, high))
	}
	if c.Has(1) {
		x = c.Binary(op.IDMaximum, x, low)
	}
	if c.Has(2) {
		x = c.Binary(op.IDMinimum, x, high)
	}
	return build.One(x)
}

// cast converts floats to integers by dropping the fraction.
func cast(c *build.Call) []*build.Value {
	a := c.Attr("to")
	if a == nil {
		c.Wrong("attribute to is missing")
	}
	if c.X(0).DType.IsComplex() {
		c.Refuse("a cast of complex numbers is not supported")
	}
	to := castType(a)
	return build.One(convertedTo(c, c.X(0), c.Carrier(to), to.Lacking()))
}

// castType is the element type that a cast names; in the first opsets by its name. It is 0, which no tensor has, for
// other names.
func castType(a *file.Attribute) file.ElemType {
	if len(a.S) == 0 {
		return file.ElemType(a.I)
	}
	names := map[string]file.ElemType{"FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11, "STRING": 8, "UINT32": 12, "UINT64": 13}
	return names[string(a.S)]
}

// gelu is x times the normal distribution at x: exact by erf, or approximated by tanh.
func gelu(c *build.Call, x *build.Value, approximate bool) []*build.Value {
	return c.All(op.IDGelu, build.With(op.GeluApproximate, approximate), x)
}

// biased is x plus operand i, a bias, if there is one.
func biased(c *build.Call, x *build.Value, i int) *build.Value {
	if !c.Has(i) {
		return x
	}
	return c.Add(x, c.X(i))
}

// prelu has a slope that broadcasts to x; before opset 7 it stands for the channels.
func prelu(c *build.Call) []*build.Value {
	x, slope := c.X(0), c.X(1)
	if c.Opset < 7 && slope.Rank() == 1 && x.Rank() > 2 && slope.Dims()[0] != 1 {
		slope = alongChannels(c, slope, x.Rank())
	}
	return build.One(c.Do(op.IDPrelu, nil, x, slope))
}
