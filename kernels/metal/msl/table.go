package msl

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
	_ "github.com/paddle-mps/paddle-mps/core/op/table" // the rows, which shaders are of
)

// row says how an operator is computed: an expression of x, y and z for each kind of dtype that its
// operands are computed in; "" where it has none. T is the type of x, W its unsigned form, a and b are
// attributes. How exact a float result is stands in the
// row of core/op.
type row struct {
	float, integer, boolean string

	// faults: integers divided by zero have to be reported.
	faults bool
	attrs  []int // the attributes that are a and b
}

// table has the operators of which every output element depends on one element of each input. The functions that are not
// Metal's own are in prelude.metal.
var table = map[op.ID]row{
	op.IDAdd:         {"x + y", "T(W(x) + W(y))", "x || y", false, nil},
	op.IDSubtract:    {"x - y", "T(W(x) - W(y))", "", false, nil},
	op.IDMultiply:    {"x * y", "T(W(x) * W(y))", "x && y", false, nil},
	op.IDDivide:      {"x / y", "", "x && y", false, nil},
	op.IDFloorDivide: {"floor_divide(x, y)", "floor_divide(x, y)", "", true, nil},
	op.IDRemainder:   {"remainder(x, y)", "remainder(x, y)", "", true, nil},
	op.IDLogaddexp:   float("largest(x, y) + log_of_1_and(exp(x == y ? 0 : -fabs(x - y)))"),
	op.IDPow:         {"power(x, y)", "power<T, W>(x, y)", "", false, nil},
	op.IDMaximum:     {"largest(x, y)", "max(x, y)", "x || y", false, nil},
	op.IDMinimum:     {"least(x, y)", "min(x, y)", "x && y", false, nil},
	// Metal's own fmax and fmin leave open which zero they give: here it is the second operand, as on the CPU. The bits
	// of nextafter and atan2 at zeros and infinities are given by functions of the prelude for the same reason.
	op.IDAtan2:     float("angle(x, y)"),
	op.IDCopysign:  float("copysign(x, y)"),
	op.IDNextafter: float("neighbour(x, y)"),
	op.IDFmax:      float("isnan(y) || x > y ? x : y"),
	op.IDFmin:      float("isnan(y) || x < y ? x : y"),
	op.IDGcd:       {"", "divisor<T, W>(x, y)", "", false, nil},

	op.IDBitwiseAnd:        {"", "x & y", "x && y", false, nil},
	op.IDBitwiseOr:         {"", "x | y", "x || y", false, nil},
	op.IDBitwiseXor:        {"", "x ^ y", "x != y", false, nil},
	op.IDBitwiseLeftShift:  {"", "y < 0 || y >= T(8 * sizeof(T)) ? T(0) : T(W(x) << W(y))", "", false, nil},
	op.IDBitwiseRightShift: {"", "T(x >> (y < 0 || y >= T(8 * sizeof(T)) ? T(8 * sizeof(T) - 1) : y))", "", false, nil},
	op.IDBitwiseNot:        {"", "T(~x)", "!x", false, nil},

	op.IDEqual:        same("x == y"),
	op.IDNotEqual:     same("x != y"),
	op.IDLessThan:     same("x < y"),
	op.IDLessEqual:    same("x <= y"),
	op.IDGreaterThan:  same("x > y"),
	op.IDGreaterEqual: same("x >= y"),
	op.IDLogicalAnd:   same("x != 0 && y != 0"),
	op.IDLogicalOr:    same("x != 0 || y != 0"),
	op.IDLogicalXor:   same("(x != 0) != (y != 0)"),
	op.IDLogicalNot:   same("x == 0"),

	op.IDAbs:        {"fabs(x)", "x < 0 ? T(W(0) - W(x)) : x", "x", false, nil},
	op.IDNeg:        {"-x", "T(W(0) - W(x))", "x", false, nil},
	op.IDSign:       {"isnan(x) ? x : x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f", "T(x > 0 ? 1 : x < 0 ? -1 : 0)", "", false, nil},
	op.IDExp:        float("exp(x)"),
	op.IDExpm1:      float("exp_less_1(x)"),
	op.IDLog:        float("log(x)"),
	op.IDLog1p:      float("log_of_1_and(x)"),
	op.IDLog2:       float("log2(x)"),
	op.IDSqrt:       float("sqrt(x)"),
	op.IDRsqrt:      float("rsqrt(x)"),
	op.IDSquare:     {"x * x", "T(W(x) * W(x))", "", false, nil},
	op.IDReciprocal: float("1 / x"),
	op.IDSin:        float("sin(x)"),
	op.IDCos:        float("cos(x)"),
	op.IDTan:        float("tan(x)"),
	op.IDTanh:       float("tanh(x)"),
	op.IDSinh:       float("sinh(x)"),
	op.IDCosh:       float("cosh(x)"),
	op.IDAcos:       float("acos(x)"),
	op.IDAsin:       float("asin(x)"),
	op.IDAtan:       float("atan(x)"),
	op.IDAcosh:      float("acosh(x)"),
	op.IDAsinh:      float("asinh(x)"),
	op.IDAtanh:      float("atanh(x)"),
	op.IDLog10:      float("log10(x)"),
	op.IDErfinv:     float("inverse_error_function(x)"),
	op.IDI0:         float("unscaled(bessel_0_scaled(x), x)"),
	op.IDI0e:        float("bessel_0_scaled(x)"),
	op.IDI1:         float("unscaled(bessel_1_scaled(x), x)"),
	op.IDI1e:        float("bessel_1_scaled(x)"),
	op.IDFloor:      {"floor(x)", "x", "", false, nil},
	op.IDCeil:       {"ceil(x)", "x", "", false, nil},
	op.IDRound:      {"rint(x)", "x", "", false, nil},
	op.IDTrunc:      {"trunc(x)", "x", "", false, nil},
	op.IDErf:        float("error_function(x)"),
	op.IDIsnan:      {"isnan(x)", "false", "", false, nil},
	op.IDIsinf:      {"isinf(x)", "false", "", false, nil},
	op.IDIsfinite:   {"isfinite(x)", "true", "", false, nil},
	op.IDRelu:       {"x > 0 ? x : 0.0f", "x > 0 ? x : T(0)", "", false, nil},
	op.IDSigmoid:    float("logistic(x)"),
	op.IDSilu:       float("silu(x)"),

	op.IDGelu:      {"a != 0 ? gelu_by_tanh(x) : gelu(x)", "", "", false, []int{op.GeluApproximate}},
	op.IDSoftplus:  {"softplus(x, a, b)", "", "", false, []int{op.SoftplusBeta, op.SoftplusThreshold}},
	op.IDLeakyRelu: {"x > 0 ? x : x * a", "", "", false, []int{op.LeakyReluNegativeSlope}},

	op.IDWhere: {"x ? y : z", "x ? y : z", "x ? y : z", false, nil},
	op.IDClip:  {"x < y ? min(y, z) : x > z ? z : x", "min(max(x, y), z)", "", false, nil},

	op.IDCast:   {"x", "x", "x", false, nil},
	op.IDAssign: {"x", "x", "x", false, nil},
}

// isSpecial is whether the functions of an operator are in special.metal, not in the prelude.
func isSpecial(id op.ID) bool { return id >= op.IDErfinv && id <= op.IDI1e }

// same is an expression for all dtypes.
func same(expression string) row { return row{expression, expression, expression, false, nil} }

// float is one for floats alone: rows of the operator table cast integers first.
func float(expression string) row { return row{expression, "", "", false, nil} }

// expression is what a row says for a dtype.
func (r *row) expression(d dtype.DType) string {
	switch {
	case d == dtype.Bool:
		return r.boolean
	case d.IsFloat():
		return r.float
	}
	return r.integer
}
