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
		Python: byHandInPlace, ONNX: "Add-14",
	},
	{
		ID: 2, Name: "subtract", Kind: Binary, In: xys, Grad: Grad{Rule: gradSubtract}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: rounded,
		Python: byHandInPlace, ONNX: "Sub-14",
	},
	{
		ID: 3, Name: "multiply", Kind: Binary, Factor: Times, In: xys, Grad: Grad{Rule: gradMultiply, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: bitExact, Infer: rules{promoted, broadcast}, Tolerance: rounded,
		Python: inPlaceTensors, ONNX: "Mul-14",
	},
	{
		ID: 4, Name: "divide", Kind: Binary, Factor: Over, In: xys, Grad: Grad{Rule: gradDivide, Reads: ReadsY | ReadsOut}, Accepts: dtype.Floats | dtype.Bools, Infer: rules{promotedFloat, broadcast}, Tolerance: rounded,
		Python: byHandInPlace, ONNX: "Div-14",
	},
	{
		ID: 5, Name: "floor_divide", Kind: Binary, In: divided, Grad: Grad{Constant: true}, Accepts: anyNumber, Infer: rules{meeting, broadcast}, Tolerance: rounded.onMetal(2), Jumps: true,
		Python: inPlace,
	},
	{
		ID: 6, Name: "remainder", Kind: Binary, In: divided, Grad: Grad{Rule: gradRemainder, Reads: ReadsX | ReadsY}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: rounded.onMetal(1), Jumps: true,
		Python: Python{Method: true, InPlace: true, Alias: []string{"mod", "floor_mod"}}, ONNX: "Mod-13",
	},
	{
		ID: 7, Name: "pow", Kind: Binary, In: raised, Grad: Grad{Rule: gradPow, Reads: ReadsX | ReadsY | ReadsOut}, Accepts: anyNumber, Infer: rules{promoted, broadcast}, Tolerance: Tolerance{Float32: 2, Float64: 8, Half: 1, Metal: 16},
		Python: byHandInPlace, ONNX: "Pow-15",
	},
	{
		ID: 8, Name: "maximum", Kind: Binary, In: xys, Grad: Grad{Rule: gradMaximum, Reads: ReadsX | ReadsY}, Accepts: bitExact, Infer: rules{strictly, broadcast},
		Python: methodTensors, ONNX: "Max-13",
	},
	{
		ID: 9, Name: "minimum", Kind: Binary, In: xys, Grad: Grad{Rule: gradMinimum, Reads: ReadsX | ReadsY}, Accepts: bitExact, Infer: rules{strictly, broadcast},
		Python: methodTensors, ONNX: "Min-13",
	},
	{
		ID: 15, Name: "logaddexp", Kind: Binary, In: xys, Grad: Grad{Rule: gradLogaddexp, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{promotedFloat, broadcast},
		// Near 0 the two terms cancel, so that the errors of both count beside log(exp|x| + exp|y|), which is log(2) or
		// more. An ulp is up to 2 eps: 1 of exp gives log1p 1 eps at most, its argument 0.3, 1 of log1p is 2 log(2) eps.
		// On Metal exp has 4 ulp and log1p 10: (4 + 0.3 + 20 log(2)) / log(2).
		Tolerance: rounded.plus(Roundings{Once: 4, Metal: 27}), Python: methodTensors,
	},
	// Functions of C's math library. Those without a tolerance move bits or choose an operand, and are exact on every
	// device; atan2 has the 6 ulp of table 8.1 of Metal's specification, and zeros and infinities have the exact angles.
	// gcd is of the two integer types that Paddle has it for, and lcm is made of it in Python.
	//
	// Python computes fmax, fmin and copysign of integers by operators above. Of the halves nextafter has no neighbours:
	// they would be those of float32, rounded back.
	{
		ID: 16, Name: "atan2", Kind: Binary, In: xy, Grad: Grad{Rule: gradAtan2, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictlyWide, broadcast}, Tolerance: accurate.onMetal(6),
		Python: methodTensors,
	},
	{
		ID: 17, Name: "copysign", Kind: Binary, In: xys, Grad: Grad{Rule: gradCopysign, Reads: ReadsX | ReadsOut}, Accepts: dtype.Floats, Infer: rules{promoted, broadcast},
		Python: byHandInPlace,
	},
	{
		ID: 18, Name: "nextafter", Kind: Binary, In: xy, Grad: Grad{Constant: true}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: rules{strictly, broadcast},
		Python: methodTensors,
	},
	{
		ID: 19, Name: "fmax", Kind: Binary, In: xy, Grad: Grad{Rule: gradFmax, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictly, broadcast},
		Python: Python{Method: true, ByHand: true},
	},
	{
		ID: 29, Name: "fmin", Kind: Binary, In: xy, Grad: Grad{Rule: gradFmin, Reads: ReadsX | ReadsY}, Accepts: dtype.Floats, Infer: rules{strictly, broadcast},
		Python: Python{Method: true, ByHand: true},
	},
	{
		ID: 30, Name: "gcd", Kind: Binary, In: xy, Accepts: dtype.SetOf(dtype.Int32, dtype.Int64), Infer: rules{strictly, broadcast},
		Python: inPlaceTensors,
	},
	{
		// A row for the sake of its gradient: that of its parts is infinity times 0 at 0 and 1. Halves are computed in float32 by the
		// caller. Errors of a logarithm, of y - 1, of a product and of the difference, relative to terms that cancel where y is not
		// between 0 and 1: 2 * 4 + 3 with log1p's 4 units in float64; on Metal 2 * 10 + 3.
		ID: 31, Name: "binary_cross_entropy", Kind: Binary, In: xy, Grad: Grad{Rule: gradBinaryCrossEntropy, Reads: ReadsX | ReadsY},
		Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: rules{strictly, broadcast}, Lower: lowerToCalls, Calls: binaryCrossEntropyCalls,
		Tolerance: rounded.plus(Roundings{Once: 11, Metal: 23}), Python: internal,
		Attrs: []Attr{{Name: "least", Type: FloatAttr, Default: Value{Kind: Float, F: 1e-12}, Doc: "the least x (1 - x) that the gradient divides by"}},
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
		Python: bitwise(), ONNX: "BitwiseAnd-18",
	},
	{
		ID: 11, Name: "bitwise_or", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: rules{identical, broadcast},
		Python: bitwise(), ONNX: "BitwiseOr-18",
	},
	{
		ID: 12, Name: "bitwise_xor", Kind: Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: rules{identical, broadcast},
		Python: bitwise(), ONNX: "BitwiseXor-18",
	},
	{
		ID: 13, Name: "bitwise_left_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Infer: rules{promoted, broadcast},
		Python: Python{Method: true, InPlace: true, ByHand: true},
	},
	{
		ID: 14, Name: "bitwise_right_shift", Kind: Binary, In: xys, Accepts: dtype.Integers, Infer: rules{promoted, broadcast},
		Python: Python{Method: true, InPlace: true, ByHand: true},
	},
	{
		ID: 67, Name: "bitwise_not", Kind: Unary, In: x, Accepts: dtype.Integers | dtype.Bools, Infer: rules{same, likeInput},
		Python: bitwise("bitwise_invert"), ONNX: "BitwiseNot-18",
	},
}

// Comparisons, whose result is bool. Operands are promoted as for arithmetic, and those of the logical ones as
// for maximum. Nothing equals nan, itself among that, and every order of it is false.
var compareRows = []Row{
	{ID: 20, Name: "equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlace, ONNX: "Equal-13"},
	{ID: 21, Name: "not_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors},
	{ID: 22, Name: "less_than", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: Python{Method: true, InPlace: true, TensorsOnly: true, Alias: []string{"less"}}, ONNX: "Less-13"},
	{ID: 23, Name: "less_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "LessOrEqual-16"},
	{ID: 24, Name: "greater_than", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "Greater-13"},
	{ID: 25, Name: "greater_equal", Kind: Compare, In: xys, Accepts: bitExact, Infer: rules{compared, broadcast}, Python: inPlaceTensors, ONNX: "GreaterOrEqual-16"},
	{ID: 26, Name: "logical_and", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "And-7"},
	{ID: 27, Name: "logical_or", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "Or-7"},
	{ID: 28, Name: "logical_xor", Kind: Compare, In: xy, Accepts: bitExact, Infer: rules{comparedStrictly, broadcast}, Python: inPlace, ONNX: "Xor-7"},
}

// Functions of one operand. Those with fractional results compute integers in float32 and refuse bool; those
// that only move, compare or count keep the dtype. Where Metal's functions are less exact than the host's, the
// limit is that of the shader language's specification; see Tolerance.
var unaryRows = []Row{
	{ID: 40, Name: "abs", Kind: Unary, In: x, Grad: Grad{Rule: gradAbs, Reads: ReadsX}, Accepts: bitExact, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Abs-13"},
	{ID: 41, Name: "neg", Kind: Unary, In: x, Grad: Grad{Rule: gradNeg}, Accepts: bitExact, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Neg-13"},
	{ID: 42, Name: "sign", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: method, ONNX: "Sign-13"},
	{ID: 43, Name: "exp", Kind: Unary, In: x, Grad: Grad{Rule: gradExp, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Exp-13"},
	{ID: 44, Name: "expm1", Kind: Unary, In: x, Grad: Grad{Rule: gradExpm1, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(15), Python: inPlace},
	{ID: 45, Name: "log", Kind: Unary, In: x, Grad: Grad{Rule: gradLog, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Log-13"},
	{ID: 46, Name: "log1p", Kind: Unary, In: x, Grad: Grad{Rule: gradLog1p, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(10), Python: inPlace},
	{ID: 47, Name: "log2", Kind: Unary, In: x, Grad: Grad{Rule: gradLog2, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace},
	{ID: 48, Name: "sqrt", Kind: Unary, In: x, Grad: Grad{Rule: gradSqrt, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: rounded, Python: inPlace, ONNX: "Sqrt-13"},
	{ID: 49, Name: "rsqrt", Kind: Unary, In: x, Grad: Grad{Rule: gradRsqrt, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(1), Python: inPlace},
	{ID: 50, Name: "square", Kind: Unary, In: x, Grad: Grad{Rule: gradSquare, Reads: ReadsX}, Accepts: anyNumber, Infer: rules{same, likeInput}, Tolerance: rounded, Python: inPlace},
	{ID: 51, Name: "reciprocal", Kind: Unary, In: x, Grad: Grad{Rule: gradReciprocal, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: rounded, Python: inPlace, ONNX: "Reciprocal-13"},
	{ID: 52, Name: "sin", Kind: Unary, In: x, Grad: Grad{Rule: gradSin, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4).inFloat64(farArguments), Python: inPlace, ONNX: "Sin-7"},
	{ID: 53, Name: "cos", Kind: Unary, In: x, Grad: Grad{Rule: gradCos, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4).inFloat64(farArguments), Python: inPlace, ONNX: "Cos-7"},
	{ID: 54, Name: "tan", Kind: Unary, In: x, Grad: Grad{Rule: gradTan, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(6).inFloat64(farArguments), Python: inPlace, ONNX: "Tan-7"},
	{ID: 55, Name: "tanh", Kind: Unary, In: x, Grad: Grad{Rule: gradTanh, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Tanh-13"},
	{ID: 56, Name: "sinh", Kind: Unary, In: x, Grad: Grad{Rule: gradSinh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Sinh-9"},
	{ID: 57, Name: "cosh", Kind: Unary, In: x, Grad: Grad{Rule: gradCosh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Cosh-9"},
	{ID: 58, Name: "floor", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Floor-13"},
	{ID: 59, Name: "ceil", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: inPlace, ONNX: "Ceil-13"},
	{ID: 60, Name: "round", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: byHandInPlace, ONNX: "Round-11"},
	{ID: 61, Name: "trunc", Kind: Unary, In: x, Grad: Grad{Rule: gradZero}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: Python{Method: true, InPlace: true, ByHand: true}},
	{ID: 62, Name: "erf", Kind: Unary, In: x, Grad: Grad{Rule: gradErf, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Erf-13"},
	{ID: 63, Name: "logical_not", Kind: Unary, In: x, Accepts: bitExact, Infer: rules{toBool, likeInput}, Python: inPlace, ONNX: "Not-1"},
	{ID: 64, Name: "isnan", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method, ONNX: "IsNaN-13"},
	{ID: 65, Name: "isinf", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method, ONNX: "IsInf-10"},
	{ID: 66, Name: "isfinite", Kind: Unary, In: x, Accepts: anyNumber, Infer: rules{toBool, likeInput}, Python: method},
	// Inverse functions and log10. Outside of its domain each is nan, as in C. Metal's limits are those of table 8.1 of its
	// specification: 4 ulp, and 5 for atan and atanh. The host's acos and asin are of two square roots and one arc
	// tangent: no more than 3 roundings, as the roots halve the errors of what is below them.
	{ID: 70, Name: "acos", Kind: Unary, In: x, Grad: Grad{Rule: gradAcos, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Acos-7"},
	{ID: 71, Name: "asin", Kind: Unary, In: x, Grad: Grad{Rule: gradAsin, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Asin-7"},
	{ID: 72, Name: "atan", Kind: Unary, In: x, Grad: Grad{Rule: gradAtan, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Atan-7"},
	{ID: 73, Name: "acosh", Kind: Unary, In: x, Grad: Grad{Rule: gradAcosh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Acosh-9"},
	{ID: 74, Name: "asinh", Kind: Unary, In: x, Grad: Grad{Rule: gradAsinh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace, ONNX: "Asinh-9"},
	{ID: 75, Name: "atanh", Kind: Unary, In: x, Grad: Grad{Rule: gradAtanh, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(5), Python: inPlace, ONNX: "Atanh-9"},
	{ID: 76, Name: "log10", Kind: Unary, In: x, Grad: Grad{Rule: gradLog10, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(4), Python: inPlace},
}

// Activations, which Paddle has in nn.functional. relu keeps integers as they are, sigmoid and silu
// compute them in float32, and the others refuse them. Those made of several functions are allowed on Metal what
// the parts are allowed together.
var activationRows = []Row{
	{ID: 80, Name: "relu", Kind: Unary, In: x, Grad: Grad{Rule: gradRelu, Reads: ReadsOut}, Accepts: anyNumber, Infer: rules{same, likeInput}, Python: Python{Module: "nn.functional", InPlace: true}, ONNX: "Relu-14"},
	{
		ID: 81, Name: "sigmoid", Kind: Unary, In: x, Grad: Grad{Rule: gradSigmoid, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(10),
		Python: Python{Module: "nn.functional", Method: true, InPlace: true}, ONNX: "Sigmoid-13",
	},
	{ID: 82, Name: "silu", Kind: Unary, In: x, Grad: Grad{Rule: gradSilu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{toFloat, likeInput}, Tolerance: accurate.onMetal(11), Python: Python{Module: "nn.functional", ByHand: true}},
	{
		ID: 83, Name: "gelu", Kind: Unary, In: x, Grad: Grad{Rule: gradGelu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(16).inFloat64(squaredArgument), Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Gelu-20",
		Attrs: []Attr{{Name: "approximate", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "use 0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"}},
	},
	{
		ID: 84, Name: "softplus", Kind: Unary, In: x, Grad: Grad{Rule: gradSoftplus, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(14), Python: function, ONNX: "Softplus-1",
		Attrs: []Attr{
			{Name: "beta", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "steepness"},
			{Name: "threshold", Type: FloatAttr, Default: Value{Kind: Float, F: 20}, Doc: "above beta * x the result is x"},
		},
	},
	{
		ID: 85, Name: "leaky_relu", Kind: Unary, In: x, Grad: Grad{Rule: gradLeakyRelu, Reads: ReadsX}, Accepts: dtype.Floats, Infer: rules{floatOnly, likeInput}, Tolerance: accurate.onMetal(1), Python: function, ONNX: "LeakyRelu-16",
		Attrs: []Attr{{Name: "negative_slope", Type: FloatAttr, Default: Value{Kind: Float, F: 0.01}, Doc: "factor below zero"}},
	},
	{
		ID: 86, Name: "softmax", Kind: Scan, In: x, Grad: Grad{Rule: gradSoftmax, Reads: ReadsOut}, Accepts: dtype.Floats, Infer: rules{floatOnly, alongAxis}, Tolerance: accurate.onMetal(20).inFloat64(belowLargest),
		Python: Python{Module: "nn.functional", ByHand: true}, ONNX: "Softmax-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis along which the results add up to 1"}},
	},
	{
		// Halves are computed in float32 by the caller. Composed, a result that is nearly 0 has an absolute error, which the tolerance
		// cannot say: 1 + sum is rounded before the logarithm.
		ID: 87, Name: "log_softmax", Kind: Scan, In: x, Grad: Grad{Rule: gradLogSoftmax, Reads: ReadsOut}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64),
		Infer: rules{floatOnly, alongAxis}, Lower: lowerLogSoftmax, Tolerance: accurate, Python: internal,
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis along which the exponentials of the results add up to 1"}},
	},
}

// Operators that choose or move elements and compute none, but for the rounding of a cast. where and clip take
// operands that broadcast; cast and assign take one of any layout and are the copies that everything else is
// made contiguous, cast or moved by.
var selectRows = []Row{
	{
		ID: 90, Name: "where", Kind: Select, In: []Input{{Name: "condition", Domain: Condition}, {Name: "x", Scalar: true}, {Name: "y", Scalar: true}},
		Grad: Grad{Rule: gradWhere, Reads: ReadsX}, Accepts: bitExact, Infer: rules{selected, broadcast}, Python: Python{Method: true, ByHand: true}, ONNX: "Where-16",
	},
	{
		ID: 91, Name: "clip", Kind: Select, In: []Input{
			{Name: "x"},
			{Name: "min", Scalar: true, Optional: true, Fixed: Value{Kind: Int, I: 0}},
			{Name: "max", Scalar: true, Optional: true, Fixed: Value{Kind: Int, I: 2}},
		},
		Grad: Grad{Rule: gradClip, Reads: ReadsX | ReadsY | ReadsZ}, Accepts: anyNumber, Infer: rules{clipped, bounded}, Frame: frameClip, ByValue: true, Python: Python{Method: true, InPlace: true, ByHand: true}, ONNX: "Clip-13",
	},
	{
		ID: 92, Name: "cast", Kind: Convert, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, Infer: rules{toAttr, likeInput}, Tolerance: rounded, Python: Python{Method: true, ByHand: true}, ONNX: "Cast-13",
		Attrs: []Attr{{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result"}},
	},
	{
		ID: 93, Name: "assign", Kind: Convert, In: x, Grad: Grad{Rule: gradAssign}, Accepts: moved, Infer: rules{same, likeInput}, Python: Python{ByHand: true}, ONNX: "Identity-16",
	},
	{
		ID: 94, Name: "bitcast", Kind: Convert, In: x, Accepts: moved, Infer: rules{toAttr, likeInput, asWide}, Lower: lowerBitcast, Python: internal,
		Attrs: []Attr{{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result, with elements of as many bytes"}},
	},
}
