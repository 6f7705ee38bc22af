package op

// Spelling is an expression of other rows that computes what row Of does: as functions are written by hand, and as exporters to
// ONNX write those that an opset has no operator for. graph.Patterns looks for them.
//
// An expression has calls of rows, numbers, the names of operands of the row, the names of Definitions, and epsilon, which is any
// constant and becomes the attribute of this name; without one the attribute is 0. add and multiply have two terms or more, in any order and with any
// parentheses; the first should have the operands that the others read, because it is looked for first. A product with
// divide(1, t) may divide by t. Reductions are along one axis, which they keep: attribute axis, or the last one where the row
// has none. t | u is one of both.
type Spelling struct {
	Of    ID
	Expr  string
	Attrs Attrs // of the row; what is left out has its default, or is found
}

// Definitions are names for parts of expressions. One may use those above it. paddle2onnx drops an epsilon below 1e-5, and multiplies
// by 1 instead.
var Definitions = []struct{ Name, Expr string }{
	{"d", "subtract(x, mean(x))"},
	{"mean of d", "mean(square(d) | pow(d, 2) | multiply(d, d))"},
	{"variance", "add(mean of d, epsilon) | multiply(mean of d, 1) | mean of d"},
	{"deviation", "sqrt(variance) | pow(variance, 0.5)"},
	{"of d", "rsqrt(variance) | pow(variance, -0.5) | reciprocal(deviation) | divide(1, deviation)"},
	{"mean of x", "mean(square(x) | pow(x, 2) | multiply(x, x))"},
	{"squares", "add(mean of x, epsilon) | multiply(mean of x, 1) | mean of x"},
	{"length", "sqrt(squares) | pow(squares, 0.5)"},
	{"of x", "rsqrt(squares) | pow(squares, -0.5) | reciprocal(length) | divide(1, length)"},
	{"cubes", "multiply(0.044715, pow(x, 3)) | multiply(0.044715, square(x), x) | multiply(0.044715, x, x, x)"},
	{"parabola", "add(multiply(0.044715, square(x) | pow(x, 2)) | multiply(0.044715, x, x), 1)"},
	{"cubic", "multiply(0.7978845608028654, add(cubes, x)) | multiply(parabola, 0.7978845608028654, x)"}, // sqrt(2/pi)
	{"e", "exp(subtract(x, max(x)))"},
	{"total", "sum(e)"},
}

// Spellings are tried in this order, so that the longer ones come first.
var Spellings = []Spelling{
	{Of: IDLayerNorm, Expr: "add(multiply(of d, d, weight), bias)"},
	{Of: IDLayerNorm, Expr: "multiply(of d, d, weight)"},
	{Of: IDLayerNorm, Expr: "multiply(of d, d)"},
	{Of: IDLayerNorm, Expr: "add(multiply(of x, x, weight), bias)", Attrs: notCentered},
	{Of: IDLayerNorm, Expr: "multiply(of x, x, weight)", Attrs: notCentered},
	{Of: IDLayerNorm, Expr: "multiply(of x, x)", Attrs: notCentered},
	{Of: IDGelu, Expr: "multiply(add(erf(multiply(0.7071067811865476, x)), 1), 0.5, x)"}, // sqrt(1/2)
	{Of: IDGelu, Expr: "multiply(add(tanh(cubic), 1), 0.5, x)", Attrs: Attrs{GeluApproximate: {Kind: Bool, I: 1}}},
	{Of: IDSoftmax, Expr: "multiply(reciprocal(total) | divide(1, total), e)"},
}

var notCentered = Attrs{LayerNormCentered: {Kind: Bool}}
