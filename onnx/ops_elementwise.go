package onnx

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators whose results depend on one element of each operand. Operands broadcast as in NumPy from opset 7 on, and before
// as [call.legacy] says.
//
// Most are one call of a row. The others are short formulas of rows, which devices fuse where they can: a HardSwish
// is a product, a sum, a clip and another product, and one pass over memory. Numbers of attributes are operands
// without a dtype, so that halves stay halves. Dtypes are not promoted: ONNX wants operands of one dtype, and a file
// that breaks this rule gets the error of the row, which names both.

var elementwise = []entry{
	// Abs: |x|.
	{"Abs", 1, op.IDAbs, unary},
	// Neg: -x.
	{"Neg", 1, op.IDNeg, unary},
	// Sign: -1, 0 or 1.
	{"Sign", 1, op.IDSign, unary},
	// Exp: e ** x.
	{"Exp", 1, op.IDExp, unary},
	// Log: natural logarithm.
	{"Log", 1, op.IDLog, unary},
	// Sqrt: square root; NaN below 0.
	{"Sqrt", 1, op.IDSqrt, unary},
	// Reciprocal: 1 / x.
	{"Reciprocal", 1, op.IDReciprocal, unary},
	// Sin: of x radians, as the functions below.
	{"Sin", 1, op.IDSin, unary},
	{"Cos", 1, op.IDCos, unary},
	{"Tan", 1, op.IDTan, unary},
	{"Tanh", 1, op.IDTanh, unary},
	{"Sinh", 1, op.IDSinh, unary},
	{"Cosh", 1, op.IDCosh, unary},
	// Floor: largest integer that is not above x.
	{"Floor", 1, op.IDFloor, unary},
	{"Ceil", 1, op.IDCeil, unary},
	// Round: halves go to the even integer.
	{"Round", 1, op.IDRound, unary},
	// Erf: error function.
	{"Erf", 1, op.IDErf, unary},
	// Not: of bool.
	{"Not", 1, op.IDLogicalNot, unary},
	// IsNaN: of floats.
	{"IsNaN", 1, op.IDIsnan, unary},
	// Acos: from 0 to pi.
	{"Acos", 1, op.IDAcos, unary},
	{"Asin", 1, op.IDAsin, unary},
	{"Atan", 1, op.IDAtan, unary},
	{"Acosh", 1, op.IDAcosh, unary},
	{"Asinh", 1, op.IDAsinh, unary},
	{"Atanh", 1, op.IDAtanh, unary},
	{"BitwiseNot", 1, op.IDBitwiseNot, unary},
	// Relu: max(x, 0).
	{"Relu", 1, op.IDRelu, unary},
	// Sigmoid: 1 / (1 + exp(-x)).
	{"Sigmoid", 1, op.IDSigmoid, unary},
	{"Softplus", 1, op.IDSoftplus, unary},
	{"Softsign", 1, op.IDSoftsign, unary},
	// Identity: of sequences and optionals too.
	{"Identity", 1, 0, func(c *call) []*value { return one(c.passed(0)) }},
	{"IsInf", 10, 0, isInf},
	// Add: as all below with broadcast, in the dtype of the operands.
	{"Add", 1, op.IDAdd, broadcast},
	{"Sub", 1, op.IDSubtract, broadcast},
	{"Mul", 1, op.IDMultiply, broadcast},
	// Div: of integers towards zero.
	{"Div", 1, 0, divide},
	// And: of bool.
	{"And", 1, op.IDLogicalAnd, broadcast},
	{"Or", 1, op.IDLogicalOr, broadcast},
	{"Xor", 1, op.IDLogicalXor, broadcast},
	// BitwiseAnd: of integers.
	{"BitwiseAnd", 1, op.IDBitwiseAnd, broadcast},
	{"BitwiseOr", 1, op.IDBitwiseOr, broadcast},
	{"BitwiseXor", 1, op.IDBitwiseXor, broadcast},
	// Equal: as all comparisons, to bool.
	{"Equal", 1, op.IDEqual, broadcast},
	{"Less", 1, op.IDLessThan, broadcast},
	{"LessOrEqual", 1, op.IDLessEqual, broadcast},
	{"Greater", 1, op.IDGreaterThan, broadcast},
	{"GreaterOrEqual", 1, op.IDGreaterEqual, broadcast},
	// Mod: with the sign of the divisor, or with fmod that of the dividend.
	{"Mod", 10, 0, modulo},
	// Pow: in the dtype of the base.
	{"Pow", 1, 0, power},
	// BitShift: of unsigned integers.
	{"BitShift", 11, 0, bitShift},
	// Max: of one operand or more.
	{"Max", 1, op.IDMaximum, variadic},
	{"Min", 1, op.IDMinimum, variadic},
	{"Sum", 1, op.IDAdd, variadic},
	// Mean: of one operand or more.
	{"Mean", 1, 0, func(c *call) []*value {
		return one(c.div(c.joined(op.IDAdd), num(float64(len(c.in)))))
	}},
	// Where: condition, x, y.
	{"Where", 9, 0, func(c *call) []*value { return one(c.where(c.x(0), c.x(1), c.x(2))) }},
	// Clip: x, min, max; the bounds were attributes before opset 11.
	{"Clip", 1, 0, clipAttributes},
	{"Clip", 11, 0, clip},
	// Cast: to attribute to; saturate and round_mode are for 8-bit floats.
	{"Cast", 1, 0, cast},
	// CastLike: x, and a tensor whose dtype counts.
	{"CastLike", 15, 0, func(c *call) []*value { return one(c.convertedTo(c.x(0), c.x(1).DType, c.x(1).elem)) }},
	// LeakyRelu: alpha * x below 0.
	{"LeakyRelu", 1, 0, func(c *call) []*value {
		return one(c.do(op.IDLeakyRelu, with(op.LeakyReluNegativeSlope, c.float("alpha", 0.01)), c.x(0)))
	}},
	// PRelu: x, slope.
	{"PRelu", 1, 0, prelu},
	// Elu: alpha * (exp(x) - 1) below 0.
	{"Elu", 1, 0, func(c *call) []*value {
		return one(c.elu(c.x(0), c.float("alpha", 1)))
	}},
	// Selu: gamma * elu.
	{"Selu", 1, 0, func(c *call) []*value {
		at := with(op.SeluScale, c.float("gamma", 1.05070102214813232421875), op.SeluAlpha, c.float("alpha", 1.67326319217681884765625))
		return one(c.do(op.IDSelu, at, c.x(0)))
	}},
	// Celu: max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).
	{"Celu", 12, 0, func(c *call) []*value {
		return one(c.do(op.IDCelu, with(op.CeluAlpha, c.float("alpha", 1)), c.x(0)))
	}},
	// HardSigmoid: alpha * x + beta, from 0 to 1.
	{"HardSigmoid", 1, 0, func(c *call) []*value {
		return one(c.hardSigmoid(c.x(0), c.float("alpha", 0.2), c.float("beta", 0.5)))
	}},
	// HardSwish: x * HardSigmoid(x) with 1/6 and 0.5.
	{"HardSwish", 14, op.IDHardswish, unary},
	// ThresholdedRelu: x above alpha, else 0.
	{"ThresholdedRelu", 1, 0, func(c *call) []*value {
		return one(c.do(op.IDThresholdedRelu, with(op.ThresholdedReluThreshold, c.float("alpha", 1)), c.x(0)))
	}},
	// Shrink: towards 0 by bias, beyond lambd.
	{"Shrink", 9, 0, shrink},
	// Gelu: x times the normal distribution at x.
	{"Gelu", 20, 0, func(c *call) []*value {
		return one(c.gelu(c.x(0), c.text("approximate", "none") == "tanh"))
	}},
	// Mish: x * tanh(softplus(x)).
	{"Mish", 18, op.IDMish, unary},
	// Swish: x * sigmoid(alpha * x).
	{"Swish", 24, 0, func(c *call) []*value { return one(c.swish(c.x(0), c.float("alpha", 1))) }},
	{"com.microsoft:Gelu", 1, 0, func(c *call) []*value { return one(c.gelu(c.x(0), false)) }},
	// FastGelu: x, bias; by tanh.
	{"com.microsoft:FastGelu", 1, 0, func(c *call) []*value { return one(c.gelu(c.biased(), true)) }},
	// BiasGelu: x, bias; by erf.
	{"com.microsoft:BiasGelu", 1, 0, func(c *call) []*value { return one(c.gelu(c.biased(), false)) }},
	// QuickGelu: x * sigmoid(1.702 * x).
	{"com.microsoft:QuickGelu", 1, 0, func(c *call) []*value { return one(c.swish(c.x(0), c.float("alpha", 1.702))) }},
}

// unary is an operator that is a row. Its dtype is that of the operand, which ONNX does not promote.
func unary(c *call) []*value { return one(c.do(c.row, nil, c.x(0))) }

// broadcast is an operator of two operands that is a row.
func broadcast(c *call) []*value { return one(c.do(c.row, nil, c.x(0), c.legacy())) }

// variadic is an operator that joins any number of operands by a row.
func variadic(c *call) []*value { return one(c.joined(c.row)) }

// legacy is the second operand as it broadcasts: before opset 7 attribute broadcast allowed it to, and axis said
// which axis of the first operand its first axis stands for. An exporter for opset 6 wrote axis=1 to add a vector to
// the channels of images. Without attribute broadcast the shapes are equal.
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

// joined is all operands, joined by pairs.
func (c *call) joined(row op.ID) *value {
	v := c.x(0)
	for i := 1; i < len(c.in); i++ {
		v = c.do(row, nil, v, c.x(i))
	}
	return v
}

// larger is the larger of two elements, and NaN if either is.
func (c *call) larger(x, y *value) *value { return c.binary(op.IDMaximum, x, y) }

// smaller is the smaller of two elements, and NaN if either is.
func (c *call) smaller(x, y *value) *value { return c.binary(op.IDMinimum, x, y) }

// divide is exact for floats; of integers it drops the fraction, towards zero. ONNX says so of integers, like C and
// unlike Python; a divisor of 0 is an error when the model runs.
func divide(c *call) []*value {
	x, y := c.x(0), c.legacy()
	if x.elem.unsigned() {
		return one(c.unsignedQuotient(x, y))
	}
	if !x.DType.IsInt() {
		return one(c.div(x, y))
	}
	if x.DType == dtype.Uint8 {
		return one(c.binary(op.IDFloorDivide, x, y))
	}
	quotient := c.binary(op.IDFloorDivide, c.unary(op.IDAbs, x), c.unary(op.IDAbs, y))
	return one(c.mul(quotient, c.mul(c.unary(op.IDSign, x), c.unary(op.IDSign, y))))
}

// modulo has the sign of the divisor, or with fmod that of the dividend. With fmod the magnitude is that of the
// remainder of the magnitudes, which is exact for floats too.
func modulo(c *call) []*value {
	x, y := c.x(0), c.x(1)
	if x.elem.unsigned() {
		return one(c.unsignedRemainder(x, y))
	}
	if !c.yes("fmod", 0) {
		return one(c.binary(op.IDRemainder, x, y))
	}
	rest := c.binary(op.IDRemainder, c.unary(op.IDAbs, x), c.unary(op.IDAbs, y))
	return one(c.where(c.binary(op.IDLessThan, x, whole(0)), c.neg(rest), rest))
}

// power has the dtype of the base. An integer to a power that is none is computed as a float. A square is the most
// common power in exported models, and much cheaper than others. Exporters write x * x as Pow with a constant. An
// operand of another dtype is cast to that of the base.
func power(c *call) []*value {
	x, y := c.x(0), c.legacy()
	d := x.DType
	if d.IsInt() && y.DType.IsFloat() {
		x = c.cast(x, y.DType)
	}
	if y.data != nil && y.Shape.Numel() == 1 && y.rank() <= x.rank() && x.DType.IsFloat() { // so that it may be fused
		if f := floatsOf(y.data)[0]; f == 2 {
			return one(c.unary(op.IDSquare, x))
		}
	}
	return one(c.cast(c.binary(op.IDPow, x, c.cast(y, x.DType)), d))
}

// bitShift moves bits to the left or the right, as attribute direction says.
func bitShift(c *call) []*value {
	switch c.text("direction", "") {
	case "LEFT":
		return one(c.binary(op.IDBitwiseLeftShift, c.x(0), c.x(1)))
	case "RIGHT":
		if c.x(0).elem.unsigned() {
			return one(c.unsignedRight(c.x(0), c.x(1)))
		}
		return one(c.binary(op.IDBitwiseRightShift, c.x(0), c.x(1)))
	}
	c.wrong("direction is %q; want LEFT or RIGHT", c.text("direction", ""))
	return nil
}

// isInf can be told to ignore one of the two infinities.
func isInf(c *call) []*value {
	x, either := c.x(0), c.unary(op.IDIsinf, c.x(0))
	up, down := c.yes("detect_positive", 1), c.yes("detect_negative", 1)
	switch {
	case up && down:
		return one(either)
	case up:
		return one(c.binary(op.IDLogicalAnd, either, c.binary(op.IDGreaterThan, x, num(0))))
	case down:
		return one(c.binary(op.IDLogicalAnd, either, c.binary(op.IDLessThan, x, num(0))))
	}
	return one(c.binary(op.IDLogicalAnd, either, c.boolScalar(false)))
}

// clipAttributes is Clip before opset 11: the bounds are attributes. Either bound may be missing.
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

// clip has bounds that are operands of one element. Bounds that are constants become part of the graph as numbers,
// which lets devices fuse the call.
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
	return one(c.converted(c.x(0), castType(a)))
}

// castType is the element type that a cast names; in the first opsets by its name. It is 0, which no tensor has, for
// other names.
func castType(a *Attribute) ElemType {
	if len(a.S) == 0 {
		return ElemType(a.I)
	}
	names := map[string]ElemType{"FLOAT": 1, "UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11, "STRING": 8, "UINT32": 12, "UINT64": 13}
	return names[string(a.S)]
}

// elu is x above zero and alpha * (exp(x) - 1) below.
func (c *call) elu(x *value, alpha float64) *value {
	return c.do(op.IDElu, with(op.EluAlpha, alpha), x)
}

// hardSigmoid is slope * x + offset between 0 and 1.
func (c *call) hardSigmoid(x *value, slope, offset float64) *value {
	return c.do(op.IDHardsigmoid, with(op.HardsigmoidSlope, slope, op.HardsigmoidOffset, offset), x)
}

// gelu is x times the normal distribution at x: exact by erf, or approximated by tanh.
func (c *call) gelu(x *value, approximate bool) *value {
	return c.do(op.IDGelu, with(op.GeluApproximate, approximate), x)
}

// swish is x * sigmoid(alpha * x).
func (c *call) swish(x *value, alpha float64) *value {
	if alpha == 1 {
		return c.unary(op.IDSilu, x)
	}
	return c.mul(x, c.unary(op.IDSigmoid, c.mul(x, num(alpha))))
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
	return one(c.do(op.IDPrelu, nil, x, slope))
}

// shrink moves elements beyond lambd towards 0 by bias; the others are 0.
func shrink(c *call) []*value {
	x, lambda, bias := c.x(0), c.float("lambd", 0.5), c.float("bias", 0)
	above := c.where(c.binary(op.IDGreaterThan, x, num(lambda)), c.sub(x, num(bias)), num(0))
	return one(c.cast(c.where(c.binary(op.IDLessThan, x, num(-lambda)), c.add(x, num(bias)), above), x.DType))
}

// lowest is what a maximum begins with.
func lowest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(-1)}
	}
	low, _ := d.Range()
	return integer(low)
}
