package ops

import (
	"math"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx/build"
	"github.com/paddle-mps/paddle-mps/onnx/file"
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
	{"Identity", 1, 0, func(c *build.Call) []*build.Value { return build.One(c.Passed(0)) }},
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
	{"Mean", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Div(joined(c, op.IDAdd), build.Num(float64(len(c.In)))))
	}},
	// Where: condition, x, y.
	{"Where", 9, 0, func(c *build.Call) []*build.Value { return build.One(c.Where(c.X(0), c.X(1), c.X(2))) }},
	// Clip: x, min, max; the bounds were attributes before opset 11.
	{"Clip", 1, 0, clipAttributes},
	{"Clip", 11, 0, clip},
	// Cast: to attribute to; saturate and round_mode are for 8-bit floats.
	{"Cast", 1, 0, cast},
	// CastLike: x, and a tensor whose dtype counts.
	{"CastLike", 15, 0, func(c *build.Call) []*build.Value {
		return build.One(convertedTo(c, c.X(0), c.X(1).DType, c.X(1).Elem))
	}},
	// LeakyRelu: alpha * x below 0.
	{"LeakyRelu", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Do(op.IDLeakyRelu, build.With(op.LeakyReluNegativeSlope, c.Float("alpha", 0.01)), c.X(0)))
	}},
	// PRelu: x, slope.
	{"PRelu", 1, 0, prelu},
	// Elu: alpha * (exp(x) - 1) below 0.
	{"Elu", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(elu(c, c.X(0), c.Float("alpha", 1)))
	}},
	// Selu: gamma * elu.
	{"Selu", 1, 0, func(c *build.Call) []*build.Value {
		at := build.With(op.SeluScale, c.Float("gamma", 1.05070102214813232421875), op.SeluAlpha, c.Float("alpha", 1.67326319217681884765625))
		return build.One(c.Do(op.IDSelu, at, c.X(0)))
	}},
	// Celu: max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).
	{"Celu", 12, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Do(op.IDCelu, build.With(op.CeluAlpha, c.Float("alpha", 1)), c.X(0)))
	}},
	// HardSigmoid: alpha * x + beta, from 0 to 1.
	{"HardSigmoid", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(hardSigmoid(c, c.X(0), c.Float("alpha", 0.2), c.Float("beta", 0.5)))
	}},
	// HardSwish: x * HardSigmoid(x) with 1/6 and 0.5.
	{"HardSwish", 14, op.IDHardswish, unary},
	// ThresholdedRelu: x above alpha, else 0.
	{"ThresholdedRelu", 1, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Do(op.IDThresholdedRelu, build.With(op.ThresholdedReluThreshold, c.Float("alpha", 1)), c.X(0)))
	}},
	// Shrink: towards 0 by bias, beyond lambd.
	{"Shrink", 9, 0, func(c *build.Call) []*build.Value {
		return build.One(c.Do(op.IDShrink, build.With(op.ShrinkThreshold, c.Float("lambd", 0.5), op.ShrinkBias, c.Float("bias", 0)), c.X(0)))
	}},
	// Gelu: x times the normal distribution at x.
	{"Gelu", 20, 0, func(c *build.Call) []*build.Value {
		return build.One(gelu(c, c.X(0), c.Text("approximate", "none") == "tanh"))
	}},
	// Mish: x * tanh(softplus(x)).
	{"Mish", 18, op.IDMish, unary},
	// Swish: x * sigmoid(alpha * x).
	{"Swish", 24, 0, func(c *build.Call) []*build.Value { return build.One(swish(c, c.X(0), c.Float("alpha", 1))) }},
	{"com.microsoft:Gelu", 1, 0, func(c *build.Call) []*build.Value { return build.One(gelu(c, c.X(0), false)) }},
	// FastGelu: x, bias; by tanh.
	{"com.microsoft:FastGelu", 1, 0, func(c *build.Call) []*build.Value { return build.One(gelu(c, biased(c), true)) }},
	// BiasGelu: x, bias; by erf.
	{"com.microsoft:BiasGelu", 1, 0, func(c *build.Call) []*build.Value { return build.One(gelu(c, biased(c), false)) }},
	// QuickGelu: x * sigmoid(1.702 * x).
	{"com.microsoft:QuickGelu", 1, 0, func(c *build.Call) []*build.Value { return build.One(swish(c, c.X(0), c.Float("alpha", 1.702))) }},
}

// unary is an operator that is a row. Its dtype is that of the operand, which ONNX does not promote.
func unary(c *build.Call) []*build.Value { return build.One(c.Do(c.Row, nil, c.X(0))) }

// broadcast is an operator of two operands that is a row.
func broadcast(c *build.Call) []*build.Value { return build.One(c.Do(c.Row, nil, c.X(0), legacy(c))) }

// variadic is an operator that joins any number of operands by a row.
func variadic(c *build.Call) []*build.Value { return build.One(joined(c, c.Row)) }

// legacy is the second operand as it broadcasts: before opset 7 attribute broadcast allowed it to, and axis said
// which axis of the first operand its first axis stands for. An exporter for opset 6 wrote axis=1 to add a vector to
// the channels of images. Without attribute broadcast the shapes are equal.
func legacy(c *build.Call) *build.Value {
	x, y := c.X(0), c.X(1)
	if !c.Given("axis") || !c.Yes("broadcast", 0) {
		return y
	}
	axis := c.Axis(c.Int("axis", 0), x.Rank())
	dims := append([]int64{}, y.Dims()...)
	for len(dims)+axis < x.Rank() {
		dims = append(dims, 1)
	}
	return c.Reshape(y, dims...)
}

// joined is all operands, joined by pairs.
func joined(c *build.Call, row op.ID) *build.Value {
	v := c.X(0)
	for i := 1; i < len(c.In); i++ {
		v = c.Do(row, nil, v, c.X(i))
	}
	return v
}

// larger is the larger of two elements, and NaN if either is.
func larger(c *build.Call, x, y *build.Value) *build.Value { return c.Binary(op.IDMaximum, x, y) }

// smaller is the smaller of two elements, and NaN if either is.
func smaller(c *build.Call, x, y *build.Value) *build.Value { return c.Binary(op.IDMinimum, x, y) }

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
		return build.One(unsignedRemainder(c, x, y))
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
	up, down := c.Yes("detect_positive", 1), c.Yes("detect_negative", 1)
	row := op.IDIsinf
	switch {
	case up && !down:
		row = op.IDIsposinf
	case down && !up:
		row = op.IDIsneginf
	case !up:
		return build.One(c.Full(dtype.Bool, build.Integer(0), c.X(0).Dims()...))
	}
	return build.One(c.Unary(row, c.X(0)))
}

// clipAttributes is Clip before opset 11: the bounds are attributes. Either bound may be missing.
func clipAttributes(c *build.Call) []*build.Value {
	low, high := build.Absent(), build.Absent()
	if c.Given("min") {
		low = build.Num(c.Float("min", 0))
	}
	if c.Given("max") {
		high = build.Num(c.Float("max", 0))
	}
	return build.One(c.Do(op.IDClip, nil, c.X(0), low, high))
}

// clip has bounds that are operands of one element. Bounds that are constants become part of the graph as numbers,
// which lets devices fuse the call.
func clip(c *build.Call) []*build.Value {
	x := c.X(0)
	bound := func(i int) *build.Value {
		switch {
		case !c.Has(i):
			return build.Absent()
		case c.In[i].Data != nil && c.In[i].Shape.Numel() == 1 && x.DType.IsFloat():
			return build.Num(build.FloatsOf(c.In[i].Data)[0])
		}
		return c.Reshape(c.X(i))
	}
	low, high := bound(1), bound(2)
	if low.Number != nil && high.Number != nil {
		return build.One(c.Do(op.IDClip, nil, x, low, high))
	}
	if c.Has(1) {
		x = larger(c, x, low)
	}
	if c.Has(2) {
		x = smaller(c, x, high)
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
	return build.One(converted(c, c.X(0), castType(a)))
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

// elu is x above zero and alpha * (exp(x) - 1) below.
func elu(c *build.Call, x *build.Value, alpha float64) *build.Value {
	return c.Do(op.IDElu, build.With(op.EluAlpha, alpha), x)
}

// hardSigmoid is slope * x + offset between 0 and 1.
func hardSigmoid(c *build.Call, x *build.Value, slope, offset float64) *build.Value {
	return c.Do(op.IDHardsigmoid, build.With(op.HardsigmoidSlope, slope, op.HardsigmoidOffset, offset), x)
}

// gelu is x times the normal distribution at x: exact by erf, or approximated by tanh.
func gelu(c *build.Call, x *build.Value, approximate bool) *build.Value {
	return c.Do(op.IDGelu, build.With(op.GeluApproximate, approximate), x)
}

// swish is x * sigmoid(alpha * x).
func swish(c *build.Call, x *build.Value, alpha float64) *build.Value {
	return c.Do(op.IDSwish, build.With(op.SwishBeta, alpha), x)
}

// biased is the first operand and the second, a bias, if there is one.
func biased(c *build.Call) *build.Value {
	if c.Has(1) {
		return c.Add(c.X(0), c.X(1))
	}
	return c.X(0)
}

// prelu has a slope that broadcasts to x; before opset 7 it stands for the channels.
func prelu(c *build.Call) []*build.Value {
	x, slope := c.X(0), c.X(1)
	if c.Opset < 7 && slope.Rank() == 1 && x.Rank() > 2 && slope.Dims()[0] != 1 {
		dims := []int64{slope.Dims()[0]}
		for len(dims) < x.Rank()-1 {
			dims = append(dims, 1)
		}
		slope = c.Reshape(slope, dims...)
	}
	return build.One(c.Do(op.IDPrelu, nil, x, slope))
}

// lowest is what a maximum begins with.
func lowest(d dtype.DType) op.Value {
	if d.IsFloat() {
		return op.Value{Kind: op.Float, F: math.Inf(-1)}
	}
	low, _ := d.Range()
	return build.Integer(low)
}
