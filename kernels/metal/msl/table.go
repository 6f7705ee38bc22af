package msl

import "github.com/paddle-mps/paddle-mps/core/dtype"

// row says how an operator is computed: an expression of x, y and z for each kind of dtype that its
// operands are computed in; "" where it has none. T is the type of x, W its unsigned form, a and b are
// attributes. How exact a float result is stands in the
// row of core/op.
type row struct {
	float, integer, boolean string

	// faults: integers divided by zero have to be reported.
	faults bool
	attrs  []string // names of attributes that are a and b
}

var table = map[string]row{
	"add":          {"x + y", "T(W(x) + W(y))", "x || y", false, nil},
	"subtract":     {"x - y", "T(W(x) - W(y))", "", false, nil},
	"multiply":     {"x * y", "T(W(x) * W(y))", "x && y", false, nil},
	"divide":       {"x / y", "", "x && y", false, nil},
	"floor_divide": {"floor_divide(x, y)", "floor_divide(x, y)", "", true, nil},
	"remainder":    {"remainder(x, y)", "remainder(x, y)", "", true, nil},
	"pow":          {"power(x, y)", "power<T, W>(x, y)", "", false, nil},
	"maximum":      {"largest(x, y)", "max(x, y)", "x || y", false, nil},
	"minimum":      {"least(x, y)", "min(x, y)", "x && y", false, nil},

	"bitwise_and":         {"", "x & y", "x && y", false, nil},
	"bitwise_or":          {"", "x | y", "x || y", false, nil},
	"bitwise_xor":         {"", "x ^ y", "x != y", false, nil},
	"bitwise_left_shift":  {"", "y < 0 || y >= T(8 * sizeof(T)) ? T(0) : T(W(x) << W(y))", "", false, nil},
	"bitwise_right_shift": {"", "T(x >> (y < 0 || y >= T(8 * sizeof(T)) ? T(8 * sizeof(T) - 1) : y))", "", false, nil},
	"bitwise_not":         {"", "T(~x)", "!x", false, nil},

	"equal":         same("x == y"),
	"not_equal":     same("x != y"),
	"less_than":     same("x < y"),
	"less_equal":    same("x <= y"),
	"greater_than":  same("x > y"),
	"greater_equal": same("x >= y"),
	"logical_and":   same("x != 0 && y != 0"),
	"logical_or":    same("x != 0 || y != 0"),
	"logical_xor":   same("(x != 0) != (y != 0)"),
	"logical_not":   same("x == 0"),

	"abs":        {"fabs(x)", "x < 0 ? T(W(0) - W(x)) : x", "x", false, nil},
	"neg":        {"-x", "T(W(0) - W(x))", "x", false, nil},
	"sign":       {"isnan(x) ? x : x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f", "T(x > 0 ? 1 : x < 0 ? -1 : 0)", "", false, nil},
	"exp":        float("exp(x)"),
	"expm1":      float("exp_less_1(x)"),
	"log":        float("log(x)"),
	"log1p":      float("log_of_1_and(x)"),
	"log2":       float("log2(x)"),
	"sqrt":       float("sqrt(x)"),
	"rsqrt":      float("rsqrt(x)"),
	"square":     {"x * x", "T(W(x) * W(x))", "", false, nil},
	"reciprocal": float("1 / x"),
	"sin":        float("sin(x)"),
	"cos":        float("cos(x)"),
	"tan":        float("tan(x)"),
	"tanh":       float("tanh(x)"),
	"sinh":       float("sinh(x)"),
	"cosh":       float("cosh(x)"),
	"floor":      {"floor(x)", "x", "", false, nil},
	"ceil":       {"ceil(x)", "x", "", false, nil},
	"round":      {"rint(x)", "x", "", false, nil},
	"trunc":      {"trunc(x)", "x", "", false, nil},
	"erf":        float("error_function(x)"),
	"isnan":      {"isnan(x)", "false", "", false, nil},
	"isinf":      {"isinf(x)", "false", "", false, nil},
	"isfinite":   {"isfinite(x)", "true", "", false, nil},
	"relu":       {"x > 0 ? x : 0.0f", "x > 0 ? x : T(0)", "", false, nil},
	"sigmoid":    float("logistic(x)"),
	"silu":       float("silu(x)"),

	"gelu":       {"a != 0 ? gelu_by_tanh(x) : gelu(x)", "", "", false, []string{"approximate"}},
	"softplus":   {"softplus(x, a, b)", "", "", false, []string{"beta", "threshold"}},
	"leaky_relu": {"x > 0 ? x : x * a", "", "", false, []string{"negative_slope"}},

	"where": {"x ? y : z", "x ? y : z", "x ? y : z", false, nil},
	"clip":  {"isnan(x) ? x : min(max(x, y), z)", "min(max(x, y), z)", "", false, nil},

	"cast":   {"x", "x", "x", false, nil},
	"assign": {"x", "x", "x", false, nil},
}

func same(expression string) row  { return row{expression, expression, expression, false, nil} }
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
