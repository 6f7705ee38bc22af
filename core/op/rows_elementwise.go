package op

import "github.com/paddle-mps/paddle-mps/core/dtype"

// Operators whose every output element depends on one element of each input.

var (
	x   = []Input{{Name: "x"}}
	xy  = []Input{{Name: "x"}, {Name: "y"}}
	xys = []Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true}}

	rounded  = ULP{Float32: 0.5, Float64: 0.5, Half: 0.5}
	accurate = ULP{Float32: 2, Float64: 4, Half: 1} // float64 has nothing wider to be computed in

	method        = Python{Method: true}
	inPlace       = Python{Method: true, InPlace: true}
	byHandInPlace = Python{Method: true, InPlace: true, ByHand: true}
	function      = Python{Module: "nn.functional"}
	bitExact      = dtype.All
	anyNumber     = dtype.Numbers
)

var binaryRows = []Row{
	{
		ID: 1, Name: "add", Kind: Binary, In: xys, Accepts: bitExact, Types: promoted, Shape: broadcast, ULP: rounded,
		Python: byHandInPlace, ONNX: "Add-14", NumPy: "x + y", Doc: "Sum x + y; bool is logical or, integers wrap around.",
	},
	{
		ID: 2, Name: "subtract", Kind: Binary, In: xys, Accepts: anyNumber, Types: promoted, Shape: broadcast, ULP: rounded,
		Python: byHandInPlace, ONNX: "Sub-14", NumPy: "x - y", Doc: "Difference x - y; integers wrap around.",
	},
	{
		ID: 3, Name: "multiply", Kind: Binary, In: xys, Accepts: bitExact, Types: promoted, Shape: broadcast, ULP: rounded,
		Python: inPlace, ONNX: "Mul-14", NumPy: "x * y", Doc: "Product x * y; bool is logical and, integers wrap around.",
	},
	{
		ID: 4, Name: "divide", Kind: Binary, In: xys, Accepts: dtype.Floats | dtype.Bools, Types: promotedFloat, Shape: broadcast, ULP: rounded,
		Python: byHandInPlace, ONNX: "Div-14", NumPy: "divide(x, y)", Doc: "Quotient x / y; integers are divided as float32, bool is logical and.",
	},
	{
		ID: 5, Name: "floor_divide", Kind: Binary, In: xys, Accepts: anyNumber, Types: meeting, Shape: broadcast, ULP: rounded.onMetal(2),
		Python: inPlace, NumPy: "floor_divide(x, y)", Doc: "Quotient rounded down, floor(x / y); an integer zero divisor is an error.",
	},
	{
		ID: 6, Name: "remainder", Kind: Binary, In: xys, Accepts: anyNumber, Types: promoted, Shape: broadcast, ULP: rounded.onMetal(1),
		Python: Python{Method: true, InPlace: true, Alias: []string{"mod", "floor_mod"}}, ONNX: "Mod-13",
		NumPy: "remainder(x, y)", Doc: "Remainder x - floor(x / y) * y, with the sign of the divisor; an integer zero divisor is an error.",
	},
	{
		ID: 7, Name: "pow", Kind: Binary, In: xys, Accepts: anyNumber, Types: promoted, Shape: broadcast, ULP: ULP{Float32: 2, Float64: 8, Half: 1, Metal: 16},
		Python: byHandInPlace, ONNX: "Pow-15", NumPy: "power(x, y)", Doc: "Power x ** y; integers wrap around, and a negative power truncates to 0 unless x is 1 or -1.",
	},
	{
		ID: 8, Name: "maximum", Kind: Binary, In: xys, Accepts: bitExact, Types: strictly, Shape: broadcast,
		Python: method, ONNX: "Max-13", NumPy: "np.maximum(x, y)", Doc: "The larger of x and y; nan if either is.",
	},
	{
		ID: 9, Name: "minimum", Kind: Binary, In: xys, Accepts: bitExact, Types: strictly, Shape: broadcast,
		Python: method, ONNX: "Min-13", NumPy: "np.minimum(x, y)", Doc: "The smaller of x and y; nan if either is.",
	},
}

var bitwiseRows = []Row{
	{
		ID: 10, Name: "bitwise_and", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Types: identical, Shape: broadcast,
		Python: inPlace, ONNX: "BitwiseAnd-18", NumPy: "x & y", Doc: "The bits that are set in both.",
	},
	{
		ID: 11, Name: "bitwise_or", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Types: identical, Shape: broadcast,
		Python: inPlace, ONNX: "BitwiseOr-18", NumPy: "x | y", Doc: "The bits that are set in either.",
	},
	{
		ID: 12, Name: "bitwise_xor", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Types: identical, Shape: broadcast,
		Python: inPlace, ONNX: "BitwiseXor-18", NumPy: "x ^ y", Doc: "The bits that are set in exactly one.",
	},
	{
		ID: 13, Name: "bitwise_left_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Types: promoted, Shape: broadcast,
		Python: inPlace, NumPy: "shift_left(x, y)", Doc: "x * 2 ** y, wrapped around; 0 when y is negative or not below the number of bits.",
	},
	{
		ID: 14, Name: "bitwise_right_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Types: promoted, Shape: broadcast,
		Python: inPlace, NumPy: "shift_right(x, y)", Doc: "floor(x / 2 ** y), so that the sign is kept; any y that is negative or too large counts as the largest.",
	},
	{
		ID: 67, Name: "bitwise_not", Kind: Unary, In: x, Accepts: dtype.Integers | dtype.Bools, Types: same, Shape: likeInput,
		Python: inPlace, ONNX: "BitwiseNot-18", NumPy: "~x", Doc: "Every bit the other way round; of bool the opposite.",
	},
}

var compareRows = []Row{
	{ID: 20, Name: "equal", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: inPlace, ONNX: "Equal-13", NumPy: "x == y", Doc: "Whether x == y."},
	{ID: 21, Name: "not_equal", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: inPlace, NumPy: "x != y", Doc: "Whether x != y."},
	{ID: 22, Name: "less_than", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: Python{Method: true, InPlace: true, Alias: []string{"less"}}, ONNX: "Less-13", NumPy: "x < y", Doc: "Whether x < y."},
	{ID: 23, Name: "less_equal", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: inPlace, ONNX: "LessOrEqual-16", NumPy: "x <= y", Doc: "Whether x <= y."},
	{ID: 24, Name: "greater_than", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: inPlace, ONNX: "Greater-13", NumPy: "x > y", Doc: "Whether x > y."},
	{ID: 25, Name: "greater_equal", Kind: Compare, In: xys, Accepts: bitExact, Types: compared, Shape: broadcast, Python: inPlace, ONNX: "GreaterOrEqual-16", NumPy: "x >= y", Doc: "Whether x >= y."},
	{ID: 26, Name: "logical_and", Kind: Compare, In: xy, Accepts: bitExact, Types: comparedStrictly, Shape: broadcast, Python: inPlace, ONNX: "And-7", NumPy: "np.logical_and(x, y)", Doc: "Whether both are not zero."},
	{ID: 27, Name: "logical_or", Kind: Compare, In: xy, Accepts: bitExact, Types: comparedStrictly, Shape: broadcast, Python: inPlace, ONNX: "Or-7", NumPy: "np.logical_or(x, y)", Doc: "Whether either is not zero."},
	{ID: 28, Name: "logical_xor", Kind: Compare, In: xy, Accepts: bitExact, Types: comparedStrictly, Shape: broadcast, Python: inPlace, ONNX: "Xor-7", NumPy: "np.logical_xor(x, y)", Doc: "Whether exactly one is not zero."},
}

var unaryRows = []Row{
	{ID: 40, Name: "abs", Kind: Unary, In: x, Accepts: bitExact, Types: same, Shape: likeInput, Python: inPlace, ONNX: "Abs-13", NumPy: "np.abs(x)", Doc: "Absolute value; the most negative integer stays itself."},
	{ID: 41, Name: "neg", Kind: Unary, In: x, Accepts: bitExact, Types: same, Shape: likeInput, Python: inPlace, ONNX: "Neg-13", NumPy: "x if x.dtype == bool else -x", Doc: "Negation -x; unsigned integers wrap around, bool is unchanged."},
	{ID: 42, Name: "sign", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: method, ONNX: "Sign-13", NumPy: "np.sign(x)", Doc: "-1, 0 or 1 by the sign of x; nan stays."},
	{ID: 43, Name: "exp", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Exp-13", NumPy: "np.exp(x)", Doc: "e ** x."},
	{ID: 44, Name: "expm1", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(15), Python: inPlace, NumPy: "np.expm1(x)", Doc: "e ** x - 1, exact near zero."},
	{ID: 45, Name: "log", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Log-13", NumPy: "np.log(x)", Doc: "Natural logarithm; nan below zero, -inf at zero."},
	{ID: 46, Name: "log1p", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(10), Python: inPlace, NumPy: "np.log1p(x)", Doc: "log(1 + x), exact near zero."},
	{ID: 47, Name: "log2", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, NumPy: "np.log2(x)", Doc: "Logarithm to base 2."},
	{ID: 48, Name: "sqrt", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: rounded, Python: inPlace, ONNX: "Sqrt-13", NumPy: "np.sqrt(x)", Doc: "Square root; nan below zero."},
	{ID: 49, Name: "rsqrt", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(1), Python: inPlace, NumPy: "1 / np.sqrt(x)", Doc: "1 / sqrt(x)."},
	{ID: 50, Name: "square", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, ULP: rounded, Python: inPlace, NumPy: "x * x", Doc: "x * x; integers wrap around."},
	{ID: 51, Name: "reciprocal", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: rounded, Python: inPlace, ONNX: "Reciprocal-13", NumPy: "1 / x", Doc: "1 / x."},
	{ID: 52, Name: "sin", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Sin-7", NumPy: "np.sin(x)", Doc: "Sine of x radians."},
	{ID: 53, Name: "cos", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Cos-7", NumPy: "np.cos(x)", Doc: "Cosine of x radians."},
	{ID: 54, Name: "tan", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(6), Python: inPlace, ONNX: "Tan-7", NumPy: "np.tan(x)", Doc: "Tangent of x radians."},
	{ID: 55, Name: "tanh", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(5), Python: inPlace, ONNX: "Tanh-13", NumPy: "np.tanh(x)", Doc: "Hyperbolic tangent."},
	{ID: 56, Name: "sinh", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Sinh-9", NumPy: "np.sinh(x)", Doc: "Hyperbolic sine."},
	{ID: 57, Name: "cosh", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Cosh-9", NumPy: "np.cosh(x)", Doc: "Hyperbolic cosine."},
	{ID: 58, Name: "floor", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: inPlace, ONNX: "Floor-13", NumPy: "np.floor(x)", Doc: "Largest integer not above x."},
	{ID: 59, Name: "ceil", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: inPlace, ONNX: "Ceil-13", NumPy: "np.ceil(x)", Doc: "Smallest integer not below x."},
	{ID: 60, Name: "round", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: byHandInPlace, ONNX: "Round-11", NumPy: "np.round(x)", Doc: "Nearest integer, halves to the even one."},
	{ID: 61, Name: "trunc", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: inPlace, NumPy: "np.trunc(x)", Doc: "x without its fraction."},
	{ID: 62, Name: "erf", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(4), Python: inPlace, ONNX: "Erf-13", NumPy: "erf(x)", Doc: "Error function, 2/sqrt(pi) * integral of exp(-t*t) from 0 to x."},
	{ID: 63, Name: "logical_not", Kind: Unary, In: x, Accepts: bitExact, Types: toBool, Shape: likeInput, Python: inPlace, ONNX: "Not-1", NumPy: "np.logical_not(x)", Doc: "Whether x is zero."},
	{ID: 64, Name: "isnan", Kind: Unary, In: x, Accepts: anyNumber, Types: toBool, Shape: likeInput, Python: method, ONNX: "IsNaN-13", NumPy: "np.isnan(x)", Doc: "Whether x is nan."},
	{ID: 65, Name: "isinf", Kind: Unary, In: x, Accepts: anyNumber, Types: toBool, Shape: likeInput, Python: method, ONNX: "IsInf-10", NumPy: "np.isinf(x)", Doc: "Whether x is positive or negative infinity."},
	{ID: 66, Name: "isfinite", Kind: Unary, In: x, Accepts: anyNumber, Types: toBool, Shape: likeInput, Python: method, NumPy: "np.isfinite(x)", Doc: "Whether x is neither nan nor infinite."},
}

var activationRows = []Row{
	{ID: 80, Name: "relu", Kind: Unary, In: x, Accepts: anyNumber, Types: same, Shape: likeInput, Python: Python{Module: "nn.functional", InPlace: true}, ONNX: "Relu-14", NumPy: "np.where(x > 0, x, 0 * np.nan_to_num(x, posinf=0, neginf=0))", Doc: "max(x, 0); 0 for nan."},
	{
		ID: 81, Name: "sigmoid", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(10),
		Python: Python{Module: "nn.functional", Method: true, InPlace: true}, ONNX: "Sigmoid-13", NumPy: "1 / (1 + np.exp(-x))", Doc: "1 / (1 + exp(-x)).",
	},
	{ID: 82, Name: "silu", Kind: Unary, In: x, Accepts: dtype.Floats, Types: toFloat, Shape: likeInput, ULP: accurate.onMetal(11), Python: function, NumPy: "x / (1 + np.exp(-x))", Doc: "x * sigmoid(x)."},
	{
		ID: 83, Name: "gelu", Kind: Unary, In: x, Accepts: dtype.Floats, Types: floatOnly, Shape: likeInput, ULP: accurate.onMetal(16), Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Gelu-20",
		Attrs: []Attr{{Name: "approximate", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "use 0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"}},
		NumPy: "gauss(x) if not approximate else x / (1 + np.exp(-2 * np.sqrt(2 / pi) * (x + 0.044715 * x**3)))", Doc: "0.5 * x * (1 + erf(x / sqrt(2))).",
	},
	{
		ID: 84, Name: "softplus", Kind: Unary, In: x, Accepts: dtype.Floats, Types: floatOnly, Shape: likeInput, ULP: accurate.onMetal(14), Python: function, ONNX: "Softplus-1",
		Attrs: []Attr{
			{Name: "beta", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "steepness"},
			{Name: "threshold", Type: FloatAttr, Default: Value{Kind: Float, F: 20}, Doc: "above beta * x the result is x"},
		},
		NumPy: "np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)", Doc: "log(1 + exp(beta * x)) / beta.",
	},
	{
		ID: 85, Name: "leaky_relu", Kind: Unary, In: x, Accepts: dtype.Floats, Types: floatOnly, Shape: likeInput, ULP: accurate.onMetal(1), Python: function, ONNX: "LeakyRelu-16",
		Attrs: []Attr{{Name: "negative_slope", Type: FloatAttr, Default: Value{Kind: Float, F: 0.01}, Doc: "factor below zero"}},
		NumPy: "np.where(x > 0, x, negative_slope * x)", Doc: "x above zero, negative_slope * x elsewhere.",
	},
	{
		ID: 86, Name: "softmax", Kind: Scan, In: x, Accepts: dtype.Floats, Types: floatOnly, Shape: alongAxis, ULP: accurate.onMetal(20),
		Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Softmax-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis along which the results add up to 1"}},
		NumPy: "softmax(x, axis)", Doc: "exp(x - max(x)) / sum(exp(x - max(x))) along an axis.",
	},
}

var selectRows = []Row{
	{
		ID: 90, Name: "where", Kind: Select, In: []Input{{Name: "condition"}, {Name: "x", Scalar: true}, {Name: "y", Scalar: true}},
		Accepts: bitExact, Types: selected, Shape: broadcast, Python: Python{Method: true, ByHand: true}, ONNX: "Where-16",
		NumPy: "np.where(condition, x, y)", Doc: "x where condition holds, y elsewhere.",
	},
	{
		ID: 91, Name: "clip", Kind: Select, In: []Input{{Name: "x"}, {Name: "min", Scalar: true, Optional: true}, {Name: "max", Scalar: true, Optional: true}},
		Accepts: anyNumber, Types: clipped, Shape: bounded, Python: Python{Method: true, InPlace: true, ByHand: true}, ONNX: "Clip-13",
		NumPy: "np.clip(x, min, max)", Doc: "min(max(x, min), max); nan stays.",
	},
	{
		ID: 92, Name: "cast", Kind: Convert, In: x, Accepts: bitExact, Types: toAttr, Shape: likeInput, ULP: rounded, Python: Python{Method: true, ByHand: true}, ONNX: "Cast-13",
		Attrs: []Attr{{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result"}},
		NumPy: "cast(x, dtype)", Doc: "x in another dtype; float to integer truncates and saturates, nan becomes 0.",
	},
	{
		ID: 93, Name: "assign", Kind: Convert, In: x, Accepts: bitExact, Types: same, Shape: likeInput, Python: Python{ByHand: true}, ONNX: "Identity-16",
		NumPy: "x", Doc: "A contiguous copy of x.",
	},
}
