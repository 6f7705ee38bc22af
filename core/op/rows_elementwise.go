package op

import "github.com/paddle-mps/paddle-mps/core/dtype"

// Operators whose every output element depends on one element of each input.

var (
	// The usual operands. Where Scalar is set, a Python number may stand for the operand, which is weak in promotion.
	x   = []Input{{Name: "x"}}
	xy  = []Input{{Name: "x"}, {Name: "y"}}
	xys = []Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true}}

	// Operands that some integers have no answer for: tests give them others.
	divided = []Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true, Domain: Divisor}}
	raised  = []Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true, Domain: Exponent}}

	// How exact most operators are on the host: the exact result rounded once, or an approximation of it.
	rounded  = Tolerance{Float32: 0.5, Float64: 0.5, Half: 0.5}
	accurate = Tolerance{Float32: 2, Float64: 4, Half: 1} // float64 has nothing wider to be computed in

	// How Paddle offers an operator: as a function and a method; also in place; in place as a method only; for
	// tensors only; or written by hand, because the signature is not operands and then attributes.
	method         = Python{Method: true}
	inPlace        = Python{Method: true, InPlace: true}
	inPlaceTensors = Python{Method: true, InPlace: true, TensorsOnly: true}
	methodTensors  = Python{Method: true, TensorsOnly: true}
	byHandInPlace  = Python{Method: true, InPlace: true, ByHand: true}
	function       = Python{Module: "nn.functional"}

	// What kernels compute in. bitExact is for operators whose answer is one for bool too.
	bitExact  = dtype.All
	anyNumber = dtype.Numbers
	moved     = dtype.Movable // of operators that move elements
)

// What rounding an argument does in float64, in units in the last place of the result.
const (
	// Go reduces arguments from 2**20 on with 64 bits of the fraction: an absolute error, times the slope.
	farArguments = "np.where(np.abs(x) >= 2**20, 2.0**-54 * (1 + np.square(out)) / ulp(out), 0)"
	// 1/sqrt(2) and the product with x are rounded, which exp(-x*x/2) multiplies by x*x; the approximation
	// rounds the argument of exp four times.
	squaredArgument = "np.minimum(8 * np.sqrt(2 / pi) * (magnitude(x) + 0.044715 * magnitude(x)**3) if approximate else 1.5 * np.square(magnitude(x)), 2.0**52)"
	// x - max(x) is rounded, which exp turns into a factor.
	belowLargest = "np.abs(x - np.max(x, axis=axis, keepdims=True))"
)

// Arithmetic of two operands. Integers wrap around in every dtype; a quotient of integers by zero fails when
// the call runs. maximum and minimum promote more strictly than the others, and
// floor_divide more freely, as Paddle's do. The numbers of bitwise operators lie between those of these.
var binaryRows = []Row{
	{
		ID: 1, Name: "add", Kind: Binary, Factor: Plus, In: xys, Grad: Grad{Rule: gradAdd}, Parts: partsSame, Accepts: bitExact, Infer: rules{promoted, broadcast}, Tolerance: rounded,
		Python: byHandInPlace, ONNX: "Add-14", NumPy: "x + y", Doc: "Sum x + y; bool is logical or, integers wrap around.",
	},
	{
		ID: 2, Name: "subtract", Kind: Binary, In: xys, Grad: Grad{Rule: gradSubtract}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: rounded,
		Python: byHandInPlace, ONNX: "Sub-14", NumPy: "x - y", Doc: "Difference x - y; integers wrap around.",
	},
	{
		ID: 3, Name: "multiply", Kind: Binary, Factor: Times, In: xys, Grad: Grad{Rule: gradMultiply, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: bitExact, Infer: rules{promoted, broadcast}, Tolerance: rounded,
		Python: inPlaceTensors, ONNX: "Mul-14", NumPy: "x * y", Doc: "Product x * y; bool is logical and, integers wrap around.",
	},
	{
		ID: 4, Name: "divide", Kind: Binary, Factor: Over, In: xys, Grad: Grad{Rule: gradDivide, Reads: ReadsY | ReadsOut}, Accepts: dtype.Floats | dtype.Bools, Infer: rules{promotedFloat, broadcast}, Tolerance: rounded,
		Python: byHandInPlace, ONNX: "Div-14", NumPy: "divide(x, y)", Doc: "Quotient x / y; integers are divided as float32, bool is logical and.",
	},
	{
		ID: 5, Name: "floor_divide", Kind: Binary, In: divided, Grad: Grad{Constant: true}, Accepts: anyNumber, Infer: rules{meeting, broadcast}, Tolerance: rounded.onMetal(2), Jumps: true,
		Python: inPlace, NumPy: "floor_divide(x, y)", Doc: "Quotient rounded down, floor(x / y); an integer zero divisor is an error.",
	},
	{
		ID: 6, Name: "remainder", Kind: Binary, In: divided, Grad: Grad{Rule: gradRemainder, Reads: ReadsX | ReadsY}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: rounded.onMetal(1), Jumps: true,
		Python: Python{Method: true, InPlace: true, Alias: []string{"mod", "floor_mod"}}, ONNX: "Mod-13",
		NumPy: "remainder(x, y)", Doc: "Remainder x - floor(x / y) * y, with the sign of the divisor; an integer zero divisor is an error.",
	},
	{
		ID: 7, Name: "pow", Kind: Binary, In: raised, Grad: Grad{Rule: gradPow, Reads: ReadsX | ReadsY | ReadsOut}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: Tolerance{Float32: 2, Float64: 8, Half: 1, Metal: 16},
		Python: byHandInPlace, ONNX: "Pow-15", NumPy: "power(x, y)", Doc: "Power x ** y; integers wrap around, and a negative power truncates to 0 unless x is 1 or -1.",
	},
	{
		ID: 8, Name: "maximum", Kind: Binary, In: xys, Grad: Grad{Rule: gradMaximum, Reads: ReadsX | ReadsY}, Accepts: bitExact, Infer: rules{strictly, broadcast},
		Python: methodTensors, ONNX: "Max-13", NumPy: "np.maximum(x, y)", Doc: "The larger of x and y; nan if either is.",
	},
	{
		ID: 9, Name: "minimum", Kind: Binary, In: xys, Grad: Grad{Rule: gradMinimum, Reads: ReadsX | ReadsY}, Accepts: bitExact, Infer: rules{strictly, broadcast},
		Python: methodTensors, ONNX: "Min-13", NumPy: "np.minimum(x, y)", Doc: "The smaller of x and y; nan if either is.",
	},
	{
		ID: 15, Name: "logaddexp", Kind: Binary, In: xys, Grad: Grad{Rule: gradLogaddexp, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{promotedFloat, broadcast},
		// Near 0 the two terms cancel, so that the errors of both count beside log(exp|x| + exp|y|), which is log(2) or
		// more. An ulp is up to 2 eps: 1 of exp gives log1p 1 eps at most, its argument 0.3, 1 of log1p is 2 log(2) eps.
		// On Metal exp has 4 ulp and log1p 10: (4 + 0.3 + 20 log(2)) / log(2).
		Tolerance: rounded.plus(Roundings{Once: 4, Metal: 27}), Python: methodTensors,
		NumPy: "np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y)))", Doc: "log(exp(x) + exp(y)); nan for equal infinities.",
	},
	// Functions of C's math library. Those without a tolerance move bits or choose an operand, and are exact on every
	// device; atan2 has the 6 ulp of table 8.1 of Metal's specification, and zeros and infinities have the exact angles.
	// gcd is of the two integer types that Paddle has it for, and lcm is made of it in Python.
	//
	// Python computes fmax, fmin and copysign of integers by operators above. Of the halves nextafter has no neighbours:
	// they would be those of float32, rounded back.
	{
		ID: 16, Name: "atan2", Kind: Binary, In: xy, Grad: Grad{Rule: gradAtan2, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictlyWide, broadcast}, Tolerance: accurate.onMetal(6),
		Python: methodTensors, NumPy: "np.arctan2(x, y)", Doc: "Angle of the point (y, x), from -pi to pi: atan(x / y) in the right quadrant; integers are computed in float64.",
	},
	{
		ID: 17, Name: "copysign", Kind: Binary, In: xys, Grad: Grad{Rule: gradCopysign, Reads: ReadsX | ReadsOut}, Accepts: dtype.Floats, Infer: rules{promoted, broadcast},
		Python: byHandInPlace, NumPy: "np.copysign(x, y)", Doc: "|x| with the sign of y, that of a zero or nan too.",
	},
	{
		ID: 18, Name: "nextafter", Kind: Binary, In: xy, Grad: Grad{Constant: true}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: rules{strictly, broadcast},
		Python: methodTensors, NumPy: "neighbour(x, y, dtype)", Doc: "The number next to x in the direction of y, in the dtype of the result.",
	},
	{
		ID: 19, Name: "fmax", Kind: Binary, In: xy, Grad: Grad{Rule: gradFmax, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictly, broadcast},
		Python: Python{Method: true, ByHand: true}, NumPy: "np.fmax(x, y)", Doc: "The larger of x and y; of a number and nan the number.",
	},
	{
		ID: 29, Name: "fmin", Kind: Binary, In: xy, Grad: Grad{Rule: gradFmin, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictly, broadcast},
		Python: Python{Method: true, ByHand: true}, NumPy: "np.fmin(x, y)", Doc: "The smaller of x and y; of a number and nan the number.",
	},
	{
		ID: 30, Name: "gcd", Kind: Binary, In: xy, Accepts: dtype.SetOf(dtype.Int32, dtype.Int64), Infer: rules{strictly, broadcast},
		Python: inPlaceTensors, NumPy: "np.gcd(x, y)", Doc: "Greatest common divisor of |x| and |y|; 0 of two zeros.",
	},
}

// bitwise is a method with an in-place form, which takes out in front of name.
func bitwise(aliases ...string) Python {
	return Python{Method: true, InPlace: true, OutByPlace: true, Alias: aliases}
}

// Operators on bits. Those of two operands take one dtype only, not even a Python number; shifts are arithmetic
// and promote as arithmetic does. A shift has an answer for every distance, where C and the GPU have none.
var bitwiseRows = []Row{
	{
		ID: 10, Name: "bitwise_and", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: rules{identical, broadcast},
		Python: bitwise(), ONNX: "BitwiseAnd-18", NumPy: "x & y", Doc: "The bits that are set in both.",
	},
	{
		ID: 11, Name: "bitwise_or", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: rules{identical, broadcast},
		Python: bitwise(), ONNX: "BitwiseOr-18", NumPy: "x | y", Doc: "The bits that are set in either.",
	},
	{
		ID: 12, Name: "bitwise_xor", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: rules{identical, broadcast},
		Python: bitwise(), ONNX: "BitwiseXor-18", NumPy: "x ^ y", Doc: "The bits that are set in exactly one.",
	},
	{
		ID: 13, Name: "bitwise_left_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Infer: rules{promoted, broadcast},
		Python: Python{Method: true, InPlace: true, ByHand: true}, NumPy: "shift_left(x, y)", Doc: "x * 2 ** y, wrapped around; 0 when y is negative or not below the number of bits.",
	},
	{
		ID: 14, Name: "bitwise_right_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Infer: rules{promoted, broadcast},
		Python: Python{Method: true, InPlace: true, ByHand: true}, NumPy: "shift_right(x, y)", Doc: "floor(x / 2 ** y), so that the sign is kept; any y that is negative or too large counts as the largest.",
	},
	{
		ID: 67, Name: "bitwise_not", Kind: Unary, In: x, Accepts: dtype.Integers | dtype.Bools, Infer: rules{same, likeInput},
		Python: bitwise("bitwise_invert"), ONNX: "BitwiseNot-18", NumPy: "~x", Doc: "Every bit the other way round; of bool the opposite.",
	},
}

// Comparisons, whose result is bool. Operands are promoted as for arithmetic, and those of the logical ones as
// for maximum. Nothing equals nan, itself among that, and every order of it is false.
var compareRows = []Row{
	{ID: 20, Name: "equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlace, ONNX: "Equal-13", NumPy: "x == y", Doc: "Whether x == y."},
	{ID: 21, Name: "not_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, NumPy: "x != y", Doc: "Whether x != y."},
	{ID: 22, Name: "less_than", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: Python{Method: true, InPlace: true, TensorsOnly: true, Alias: []string{"less"}}, ONNX: "Less-13", NumPy: "x < y", Doc: "Whether x < y."},
	{ID: 23, Name: "less_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "LessOrEqual-16", NumPy: "x <= y", Doc: "Whether x <= y."},
	{ID: 24, Name: "greater_than", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "Greater-13", NumPy: "x > y", Doc: "Whether x > y."},
	{ID: 25, Name: "greater_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "GreaterOrEqual-16", NumPy: "x >= y", Doc: "Whether x >= y."},
	{ID: 26, Name: "logical_and", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "And-7", NumPy: "np.logical_and(x, y)", Doc: "Whether both are not zero."},
	{ID: 27, Name: "logical_or", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "Or-7", NumPy: "np.logical_or(x, y)", Doc: "Whether either is not zero."},
	{ID: 28, Name: "logical_xor", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "Xor-7", NumPy: "np.logical_xor(x, y)", Doc: "Whether exactly one is not zero."},
}

// Functions of one operand. Those with fractional results compute integers in float32 and refuse bool; those
// that only move, compare or count keep the dtype. Where Metal's functions are less exact than the host's, the
// limit is that of the shader language's specification; see Tolerance.
var unaryRows = []Row{
	{ID: 40, Name: "abs", Kind: Unary, In: x, Grad: Grad{Rule: gradAbs, Reads: ReadsX}, Accepts: bitExact, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Abs-13", NumPy: "np.abs(x)", Doc: "Absolute value; the most negative integer stays itself."},
	{ID: 41, Name: "neg", Kind: Unary, In: x, Grad: Grad{Rule: gradNeg}, Accepts: bitExact, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Neg-13", NumPy: "x if x.dtype == bool else -x", Doc: "Negation -x; unsigned integers wrap around, bool is unchanged."},
	{ID: 42, Name: "sign", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: method, ONNX: "Sign-13", NumPy: "np.sign(x)", Doc: "-1, 0 or 1 by the sign of x; nan stays."},
	{ID: 43, Name: "exp", Kind: Unary, In: x, Grad: Grad{Rule: gradExp, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Exp-13", NumPy: "np.exp(x)", Doc: "e ** x."},
	{ID: 44, Name: "expm1", Kind: Unary, In: x, Grad: Grad{Rule: gradExpm1, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(15), Python: inPlace, NumPy: "np.expm1(x)", Doc: "e ** x - 1, exact near zero."},
	{ID: 45, Name: "log", Kind: Unary, In: x, Grad: Grad{Rule: gradLog, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Log-13", NumPy: "np.log(x)", Doc: "Natural logarithm; nan below zero, -inf at zero."},
	{ID: 46, Name: "log1p", Kind: Unary, In: x, Grad: Grad{Rule: gradLog1p, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(10), Python: inPlace, NumPy: "np.log1p(x)", Doc: "log(1 + x), exact near zero."},
	{ID: 47, Name: "log2", Kind: Unary, In: x, Grad: Grad{Rule: gradLog2, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, NumPy: "np.log2(x)", Doc: "Logarithm to base 2."},
	{ID: 48, Name: "sqrt", Kind: Unary, In: x, Grad: Grad{Rule: gradSqrt, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: rounded, Python: inPlace, ONNX: "Sqrt-13", NumPy: "np.sqrt(x)", Doc: "Square root; nan below zero."},
	{ID: 49, Name: "rsqrt", Kind: Unary, In: x, Grad: Grad{Rule: gradRsqrt, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(1), Python: inPlace, NumPy: "1 / np.sqrt(x)", Doc: "1 / sqrt(x)."},
	{ID: 50, Name: "square", Kind: Unary, In: x, Grad: Grad{Rule: gradSquare, Reads: ReadsX}, Accepts: anyNumber, Infer: rules{same, likeInput}, Tolerance: rounded, Python: inPlace, NumPy: "x * x", Doc: "x * x; integers wrap around."},
	{ID: 51, Name: "reciprocal", Kind: Unary, In: x, Grad: Grad{Rule: gradReciprocal, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: rounded, Python: inPlace, ONNX: "Reciprocal-13", NumPy: "1 / x", Doc: "1 / x."},
	{ID: 52, Name: "sin", Kind: Unary, In: x, Grad: Grad{Rule: gradSin, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4).inFloat64(farArguments), Python: inPlace, ONNX: "Sin-7", NumPy: "np.sin(x)", Doc: "Sine of x radians."},
	{ID: 53, Name: "cos", Kind: Unary, In: x, Grad: Grad{Rule: gradCos, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4).inFloat64(farArguments), Python: inPlace, ONNX: "Cos-7", NumPy: "np.cos(x)", Doc: "Cosine of x radians."},
	{ID: 54, Name: "tan", Kind: Unary, In: x, Grad: Grad{Rule: gradTan, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(6).inFloat64(farArguments), Python: inPlace, ONNX: "Tan-7", NumPy: "np.tan(x)", Doc: "Tangent of x radians."},
	{ID: 55, Name: "tanh", Kind: Unary, In: x, Grad: Grad{Rule: gradTanh, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Tanh-13", NumPy: "np.tanh(x)", Doc: "Hyperbolic tangent."},
	{ID: 56, Name: "sinh", Kind: Unary, In: x, Grad: Grad{Rule: gradSinh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Sinh-9", NumPy: "np.sinh(x)", Doc: "Hyperbolic sine."},
	{ID: 57, Name: "cosh", Kind: Unary, In: x, Grad: Grad{Rule: gradCosh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Cosh-9", NumPy: "np.cosh(x)", Doc: "Hyperbolic cosine."},
	{ID: 58, Name: "floor", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Floor-13", NumPy: "np.floor(x)", Doc: "Largest integer not above x."},
	{ID: 59, Name: "ceil", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Ceil-13", NumPy: "np.ceil(x)", Doc: "Smallest integer not below x."},
	{ID: 60, Name: "round", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: byHandInPlace, ONNX: "Round-11", NumPy: "np.round(x)", Doc: "Nearest integer, halves to the even one."},
	{ID: 61, Name: "trunc", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: Python{Method: true, InPlace: true, ByHand: true}, NumPy: "np.trunc(x)", Doc: "x without its fraction."},
	{ID: 62, Name: "erf", Kind: Unary, In: x, Grad: Grad{Rule: gradErf, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Erf-13", NumPy: "erf(x)", Doc: "Error function, 2/sqrt(pi) * integral of exp(-t*t) from 0 to x."},
	{ID: 63, Name: "logical_not", Kind: Unary, In: x, Accepts: bitExact, Infer: rules{toBool, likeInput}, Python: inPlace, ONNX: "Not-1", NumPy: "np.logical_not(x)", Doc: "Whether x is zero."},
	{ID: 64, Name: "isnan", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method, ONNX: "IsNaN-13", NumPy: "np.isnan(x)", Doc: "Whether x is nan."},
	{ID: 65, Name: "isinf", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method, ONNX: "IsInf-10", NumPy: "np.isinf(x)", Doc: "Whether x is positive or negative infinity."},
	{ID: 66, Name: "isfinite", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method, NumPy: "np.isfinite(x)", Doc: "Whether x is neither nan nor infinite."},
	// Inverse functions and log10. Outside of its domain each is nan, as in C. Metal's limits are those of table 8.1 of its
	// specification: 4 ulp, and 5 for atan and atanh. The host's acos and asin are of two square roots and one arc
	// tangent: no more than 3 roundings, as the roots halve the errors of what is below them.
	{ID: 70, Name: "acos", Kind: Unary, In: x, Grad: Grad{Rule: gradAcos, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Acos-7", NumPy: "np.arccos(x)", Doc: "Inverse cosine, from 0 to pi; nan where |x| > 1."},
	{ID: 71, Name: "asin", Kind: Unary, In: x, Grad: Grad{Rule: gradAsin, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Asin-7", NumPy: "np.arcsin(x)", Doc: "Inverse sine, from -pi/2 to pi/2; nan where |x| > 1."},
	{ID: 72, Name: "atan", Kind: Unary, In: x, Grad: Grad{Rule: gradAtan, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Atan-7", NumPy: "np.arctan(x)", Doc: "Inverse tangent, from -pi/2 to pi/2."},
	{ID: 73, Name: "acosh", Kind: Unary, In: x, Grad: Grad{Rule: gradAcosh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Acosh-9", NumPy: "np.arccosh(x)", Doc: "Inverse hyperbolic cosine; nan below 1."},
	{ID: 74, Name: "asinh", Kind: Unary, In: x, Grad: Grad{Rule: gradAsinh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Asinh-9", NumPy: "np.arcsinh(x)", Doc: "Inverse hyperbolic sine."},
	{ID: 75, Name: "atanh", Kind: Unary, In: x, Grad: Grad{Rule: gradAtanh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Atanh-9", NumPy: "np.arctanh(x)", Doc: "Inverse hyperbolic tangent; nan where |x| > 1."},
	{ID: 76, Name: "log10", Kind: Unary, In: x, Grad: Grad{Rule: gradLog10, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, NumPy: "np.log10(x)", Doc: "Logarithm to base 10."},
}

// Activations, which Paddle has in nn.functional. relu keeps integers as they are, sigmoid and silu
// compute them in float32, and the others refuse them. Those made of several functions are allowed on Metal what
// the parts are allowed together.
var activationRows = []Row{
	{ID: 80, Name: "relu", Kind: Unary, In: x, Grad: Grad{Rule: gradRelu, Reads: ReadsOut}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: Python{Module: "nn.functional", InPlace: true}, ONNX: "Relu-14", NumPy: "np.where(x > 0, x, 0 * np.nan_to_num(x, posinf=0, neginf=0))", Doc: "max(x, 0); 0 for nan."},
	{
		ID: 81, Name: "sigmoid", Kind: Unary, In: x, Grad: Grad{Rule: gradSigmoid, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(10),
		Python: Python{Module: "nn.functional", Method: true, InPlace: true}, ONNX: "Sigmoid-13", NumPy: "1 / (1 + np.exp(-x))", Doc: "1 / (1 + exp(-x)).",
	},
	{ID: 82, Name: "silu", Kind: Unary, In: x, Grad: Grad{Rule: gradSilu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(11), Python: Python{Module: "nn.functional", ByHand: true}, NumPy: "x / (1 + np.exp(-x))", Doc: "x * sigmoid(x)."},
	{
		ID: 83, Name: "gelu", Kind: Unary, In: x, Grad: Grad{Rule: gradGelu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(16).inFloat64(squaredArgument), Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Gelu-20",
		Attrs: []Attr{{Name: "approximate", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "use 0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"}},
		NumPy: "gauss(x) if not approximate else x / (1 + np.exp(-2 * np.sqrt(2 / pi) * (x + 0.044715 * x**3)))", Doc: "0.5 * x * (1 + erf(x / sqrt(2))).",
		Settings: []Setting{{{"approximate", false}}, {{"approximate", true}}},
	},
	{
		ID: 84, Name: "softplus", Kind: Unary, In: x, Grad: Grad{Rule: gradSoftplus, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(14), Python: function, ONNX: "Softplus-1",
		Attrs: []Attr{
			{Name: "beta", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "steepness"},
			{Name: "threshold", Type: FloatAttr, Default: Value{Kind: Float, F: 20}, Doc: "above beta * x the result is x"},
		},
		NumPy: "np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)", Doc: "log(1 + exp(beta * x)) / beta.",
		Settings: []Setting{{}, {{"beta", 2.0}, {"threshold", 1.0}}},
	},
	{
		ID: 85, Name: "leaky_relu", Kind: Unary, In: x, Grad: Grad{Rule: gradLeakyRelu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(1), Python: function, ONNX: "LeakyRelu-16",
		Attrs: []Attr{{Name: "negative_slope", Type: FloatAttr, Default: Value{Kind: Float, F: 0.01}, Doc: "factor below zero"}},
		NumPy: "np.where(x > 0, x, negative_slope * x)", Doc: "x above zero, negative_slope * x elsewhere.",
		Settings: []Setting{{}, {{"negative_slope", 0.5}}},
	},
	{
		ID: 86, Name: "softmax", Kind: Scan, In: x, Grad: Grad{Rule: gradSoftmax, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{floatOnly, alongAxis}, Tolerance: accurate.onMetal(20).inFloat64(belowLargest),
		Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Softmax-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis along which the results add up to 1"}},
		NumPy: "softmax(x, axis)", Doc: "exp(x - max(x)) / sum(exp(x - max(x))) along an axis.",
		Settings: firstAndLast,
	},
	{
		// Halves are computed in float32 by the caller. Composed, a result that is nearly 0 has an absolute error, which the tolerance
		// cannot say: 1 + sum is rounded before the logarithm.
		ID: 87, Name: "log_softmax", Kind: Scan, In: x, Grad: Grad{Rule: gradLogSoftmax, Reads: ReadsOut}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64),
		Infer: rules{floatOnly, alongAxis}, Lower: lowerLogSoftmax, Tolerance: accurate, Python: internal,
		Attrs:     []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis along which the exponentials of the results add up to 1"}},
		Doc:       "x - max(x) - log(sum(exp(x - max(x)))) along an axis.",
		Elsewhere: "tests/python/test_log_softmax.py",
	},
}

// Operators that choose or move elements and compute none, but for the rounding of a cast. where and clip take
// operands that broadcast; cast and assign take one of any layout and are the copies that everything else is
// made contiguous, cast or moved by.
var selectRows = []Row{
	{
		ID: 90, Name: "where", Kind: Select, In: []Input{{Name: "condition", Domain: Condition}, {Name: "x", Scalar: true}, {Name: "y", Scalar: true}},
		Grad: Grad{Rule: gradWhere, Reads: ReadsX}, Accepts: bitExact, Infer: rules{selected, broadcast}, Python: Python{Method: true, ByHand: true}, ONNX: "Where-16",
		NumPy: "np.where(condition, x, y)", Doc: "x where condition holds, y elsewhere.",
	},
	{
		ID: 91, Name: "clip", Kind: Select, In: []Input{
			{Name: "x"},
			{Name: "min", Scalar: true, Optional: true, Fixed: Value{Kind: Int, I: 0}},
			{Name: "max", Scalar: true, Optional: true, Fixed: Value{Kind: Int, I: 2}},
		},
		Grad: Grad{Rule: gradClip, Reads: ReadsX | ReadsY | ReadsZ}, Accepts: anyNumber, Infer: rules{clipped, bounded}, Frame: frameClip, ByValue: true, Python: Python{Method: true, InPlace: true, ByHand: true}, ONNX: "Clip-13",
		NumPy: "np.clip(x, min, max)", Doc: "min(max(x, min), max); nan stays.",
	},
	{
		ID: 92, Name: "cast", Kind: Convert, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, Infer: rules{toAttr, likeInput}, Tolerance: rounded, Python: Python{Method: true, ByHand: true}, ONNX: "Cast-13",
		Attrs: []Attr{{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result"}},
		NumPy: "cast(x, dtype)", Doc: "x in another dtype; float to integer truncates and saturates, nan becomes 0.",
		Settings: everyDType,
	},
	{
		ID: 93, Name: "assign", Kind: Convert, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, Infer: rules{same, likeInput}, Python: Python{ByHand: true}, ONNX: "Identity-16",
		NumPy: "x", Doc: "A contiguous copy of x.",
	},
	{
		ID: 94, Name: "bitcast", Kind: Convert, In: x, Accepts: moved, Infer: rules{toAttr, likeInput, asWide}, Lower: lowerBitcast, Python: internal,
		Attrs:     []Attr{{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result, with elements of as many bytes"}},
		Doc:       "The bits of x as elements of another dtype.",
		Elsewhere: "tests/python/test_bitcast.py",
	},
}
