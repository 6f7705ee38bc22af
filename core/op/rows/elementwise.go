package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators whose every output element depends on one element of each input.

var (
	// The usual operands. Where Scalar is set, a Python number may stand for the operand, which is weak in promotion.
	x   = []op.Input{{Name: "x"}}
	xy  = []op.Input{{Name: "x"}, {Name: "y"}}
	xys = []op.Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true}}

	// Operands that some integers have no answer for: tests give them others.
	divided = []op.Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true, Domain: op.Divisor}}
	raised  = []op.Input{{Name: "x", Scalar: true}, {Name: "y", Scalar: true, Domain: op.Exponent}}

	// How Paddle offers an operator: as a function and a method; also in place; in place as a method only; for
	// tensors only; or written by hand, because the signature is not operands and then attributes.
	method         = &op.Python{Method: true}
	inPlace        = &op.Python{Method: true, InPlace: true}
	inPlaceTensors = &op.Python{Method: true, InPlace: true, TensorsOnly: true}
	methodTensors  = &op.Python{Method: true, TensorsOnly: true}
	ByHandInPlace  = &op.Python{Method: true, InPlace: true, ByHand: true} // also of formulas
	Function       = &op.Python{Module: "nn.functional"}                   // likewise

	// What kernels compute in. bitExact is for operators whose answer is one for bool too.
	bitExact  = dtype.All
	anyNumber = dtype.Numbers
	moved     = dtype.Movable // of operators that move elements
)

// Arithmetic of two operands. Integers wrap around in every dtype; a quotient of integers by zero fails when
// the call runs. maximum and minimum promote more strictly than the others, and
// floor_divide more freely, as Paddle's do. The numbers of bitwise operators lie between those of these.
var binaryRows = []op.Row{
	{
		ID: 1, Name: "add", Kind: op.Binary, Factor: op.Plus, In: xys, Grad: op.Grad{Rule: gradAdd}, Parts: partsSame, Accepts: bitExact, Infer: op.Rules{promoted, Broadcast},
		Python: ByHandInPlace, ONNX: "Add-14",
	},
	{
		ID: 2, Name: "subtract", Kind: op.Binary, In: xys, Grad: op.Grad{Rule: gradSubtract}, Accepts: anyNumber, Infer: op.Rules{promoted, Broadcast},
		Python: ByHandInPlace, ONNX: "Sub-14",
	},
	{
		ID: 3, Name: "multiply", Kind: op.Binary, Factor: op.Times, In: xys, Grad: op.Grad{Rule: gradMultiply, Reads: op.ReadsX | op.ReadsY, Crossed: true}, Accepts: bitExact, Infer: op.Rules{promoted, Broadcast},
		Python: inPlaceTensors, ONNX: "Mul-14",
	},
	{
		ID: 4, Name: "divide", Kind: op.Binary, Factor: op.Over, In: xys, Grad: op.Grad{Rule: gradDivide, Reads: op.ReadsY | op.ReadsOut}, Accepts: dtype.Floats | dtype.Bools, Infer: op.Rules{promotedFloat, Broadcast},
		Python: ByHandInPlace, ONNX: "Div-14",
	},
	{
		ID: 5, Name: "floor_divide", Kind: op.Binary, In: divided, Grad: op.Grad{Constant: true}, Accepts: anyNumber, Infer: op.Rules{meeting, Broadcast}, Jumps: true,
		Python: inPlace,
	},
	{
		ID: 6, Name: "remainder", Kind: op.Binary, In: divided, Grad: op.Grad{Rule: gradRemainder, Reads: op.ReadsX | op.ReadsY}, Accepts: anyNumber, Infer: op.Rules{promoted, Broadcast}, Jumps: true,
		Python: &op.Python{Method: true, InPlace: true, Alias: []string{"mod", "floor_mod"}}, ONNX: "Mod-13",
	},
	{
		ID: 7, Name: "pow", Kind: op.Binary, In: raised, Grad: op.Grad{Rule: gradPow, Reads: op.ReadsX | op.ReadsY | op.ReadsOut}, Accepts: anyNumber, Infer: op.Rules{promoted, Broadcast},
		Python: ByHandInPlace, ONNX: "Pow-15",
	},
	{
		ID: 8, Name: "maximum", Kind: op.Binary, In: xys, Grad: op.Grad{Rule: gradMaximum, Reads: op.ReadsX | op.ReadsY}, Accepts: bitExact, Infer: op.Rules{strictly, Broadcast},
		Python: methodTensors, ONNX: "Max-13",
	},
	{
		ID: 9, Name: "minimum", Kind: op.Binary, In: xys, Grad: op.Grad{Rule: gradMinimum, Reads: op.ReadsX | op.ReadsY}, Accepts: bitExact, Infer: op.Rules{strictly, Broadcast},
		Python: methodTensors, ONNX: "Min-13",
	},
	{
		ID: 15, Name: "logaddexp", Kind: op.Binary, In: xys, Grad: op.Grad{Rule: gradLogaddexp, Reads: op.ReadsX | op.ReadsY}, Accepts: dtype.Floats, Infer: op.Rules{promotedFloat, Broadcast},
		Python: methodTensors,
	},
	// Functions of C's math library. Those without a tolerance move bits or choose an operand, and are exact on every
	// device; atan2 has the 6 ulp of table 8.1 of Metal's specification, and zeros and infinities have the exact angles.
	// gcd is of the two integer types that Paddle has it for, and lcm is made of it in Python.
	//
	// Python computes fmax, fmin and copysign of integers by operators above. Of the halves nextafter has no neighbours:
	// they would be those of float32, rounded back.
	{
		ID: 16, Name: "atan2", Kind: op.Binary, In: xy, Grad: op.Grad{Rule: gradAtan2, Reads: op.ReadsX | op.ReadsY}, Accepts: dtype.Floats, Infer: op.Rules{strictlyWide, Broadcast},
		Python: methodTensors,
	},
	{
		ID: 17, Name: "copysign", Kind: op.Binary, In: xys, Grad: op.Grad{Rule: gradCopysign, Reads: op.ReadsX | op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{promoted, Broadcast},
		Python: ByHandInPlace,
	},
	{
		ID: 18, Name: "nextafter", Kind: op.Binary, In: xy, Grad: op.Grad{Constant: true}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: op.Rules{strictly, Broadcast},
		Python: methodTensors,
	},
	{
		ID: 19, Name: "fmax", Kind: op.Binary, In: xy, Grad: op.Grad{Rule: gradFmax, Reads: op.ReadsX | op.ReadsY}, Accepts: dtype.Floats, Infer: op.Rules{strictly, Broadcast},
		Python: &op.Python{Method: true, ByHand: true},
	},
	{
		ID: 29, Name: "fmin", Kind: op.Binary, In: xy, Grad: op.Grad{Rule: gradFmin, Reads: op.ReadsX | op.ReadsY}, Accepts: dtype.Floats, Infer: op.Rules{strictly, Broadcast},
		Python: &op.Python{Method: true, ByHand: true},
	},
	{
		ID: 30, Name: "gcd", Kind: op.Binary, In: xy, Accepts: dtype.SetOf(dtype.Int32, dtype.Int64), Infer: op.Rules{strictly, Broadcast},
		Python: inPlaceTensors,
	},
	{
		// A row for the sake of its gradient: that of its parts is infinity times 0 at 0 and 1. Halves are computed in float32 by the
		// caller. Errors of a logarithm, of y - 1, of a product and of the difference, relative to terms that cancel where y is not
		// between 0 and 1: 2 * 4 + 3 with log1p's 4 units in float64; on Metal 2 * 10 + 3.
		ID: 31, Name: "binary_cross_entropy", Kind: op.Binary, In: xy, Grad: op.Grad{Rule: gradBinaryCrossEntropy, Reads: op.ReadsX | op.ReadsY},
		Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: op.Rules{strictly, Broadcast}, Lower: op.LowerToCalls, Calls: binaryCrossEntropyCalls,
		Python: internal,
		Attrs:  []op.Attr{{Name: "least", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1e-12}}},
	},
}

// bitwise is a method with an in-place form, which takes out in front of name.
func bitwise(aliases ...string) *op.Python {
	return &op.Python{Method: true, InPlace: true, OutByPlace: true, Alias: aliases}
}

// Operators on bits. Those of two operands take one dtype only, not even a Python number; shifts are arithmetic
// and promote as arithmetic does. A shift has an answer for every distance, where C and the GPU have none.
var bitwiseRows = []op.Row{
	{
		ID: 10, Name: "bitwise_and", Kind: op.Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{Identical, Broadcast},
		Python: bitwise(), ONNX: "BitwiseAnd-18",
	},
	{
		ID: 11, Name: "bitwise_or", Kind: op.Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{Identical, Broadcast},
		Python: bitwise(), ONNX: "BitwiseOr-18",
	},
	{
		ID: 12, Name: "bitwise_xor", Kind: op.Binary, In: xy, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{Identical, Broadcast},
		Python: bitwise(), ONNX: "BitwiseXor-18",
	},
	{
		ID: 13, Name: "bitwise_left_shift", Kind: op.Binary, In: xys, Accepts: dtype.Integers, Infer: op.Rules{promoted, Broadcast},
		Python: &op.Python{Method: true, InPlace: true, ByHand: true},
	},
	{
		ID: 14, Name: "bitwise_right_shift", Kind: op.Binary, In: xys, Accepts: dtype.Integers, Infer: op.Rules{promoted, Broadcast},
		Python: &op.Python{Method: true, InPlace: true, ByHand: true},
	},
	{
		ID: 67, Name: "bitwise_not", Kind: op.Unary, In: x, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{Same, LikeInput},
		Python: bitwise("bitwise_invert"), ONNX: "BitwiseNot-18",
	},
}

// Comparisons, whose result is bool. Operands are promoted as for arithmetic, and those of the logical ones as
// for maximum. Nothing equals nan, itself among that, and every order of it is false.
var compareRows = []op.Row{
	{ID: 20, Name: "equal", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: inPlace, ONNX: "Equal-13"},
	{ID: 21, Name: "not_equal", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: inPlaceTensors},
	{ID: 22, Name: "less_than", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: &op.Python{Method: true, InPlace: true, TensorsOnly: true, Alias: []string{"less"}}, ONNX: "Less-13"},
	{ID: 23, Name: "less_equal", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: inPlaceTensors, ONNX: "LessOrEqual-16"},
	{ID: 24, Name: "greater_than", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: inPlaceTensors, ONNX: "Greater-13"},
	{ID: 25, Name: "greater_equal", Kind: op.Compare, In: xys, Accepts: bitExact, Infer: op.Rules{compared, Broadcast}, Python: inPlaceTensors, ONNX: "GreaterOrEqual-16"},
	{ID: 26, Name: "logical_and", Kind: op.Compare, In: xy, Accepts: bitExact, Infer: op.Rules{comparedStrictly, Broadcast}, Python: inPlace, ONNX: "And-7"},
	{ID: 27, Name: "logical_or", Kind: op.Compare, In: xy, Accepts: bitExact, Infer: op.Rules{comparedStrictly, Broadcast}, Python: inPlace, ONNX: "Or-7"},
	{ID: 28, Name: "logical_xor", Kind: op.Compare, In: xy, Accepts: bitExact, Infer: op.Rules{comparedStrictly, Broadcast}, Python: inPlace, ONNX: "Xor-7"},
}

// Functions of one operand. Those with fractional results compute integers in float32 and refuse bool; those
// that only move, compare or count keep the dtype. Where Metal's functions are less exact than the host's, the
// limit is that of the shader language's specification; see describe.Tolerance.
var unaryRows = []op.Row{
	{ID: 40, Name: "abs", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAbs, Reads: op.ReadsX}, Accepts: bitExact, Infer: op.Rules{Same, LikeInput}, Python: inPlace, ONNX: "Abs-13"},
	{ID: 41, Name: "neg", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradNeg}, Accepts: bitExact, Infer: op.Rules{Same, LikeInput}, Python: inPlace, ONNX: "Neg-13"},
	{ID: 42, Name: "sign", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradZero}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: method, ONNX: "Sign-13"},
	{ID: 43, Name: "exp", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradExp, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Exp-13"},
	{ID: 44, Name: "expm1", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradExpm1, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace},
	{ID: 45, Name: "log", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradLog, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Log-13"},
	{ID: 46, Name: "log1p", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradLog1p, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace},
	{ID: 47, Name: "log2", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradLog2, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace},
	{ID: 48, Name: "sqrt", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSqrt, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Sqrt-13"},
	{ID: 49, Name: "rsqrt", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradRsqrt, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace},
	{ID: 50, Name: "square", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSquare, Reads: op.ReadsX}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: inPlace},
	{ID: 51, Name: "reciprocal", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradReciprocal, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Reciprocal-13"},
	{ID: 52, Name: "sin", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSin, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Sin-7"},
	{ID: 53, Name: "cos", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradCos, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Cos-7"},
	{ID: 54, Name: "tan", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradTan, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Tan-7"},
	{ID: 55, Name: "tanh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradTanh, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Tanh-13"},
	{ID: 56, Name: "sinh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSinh, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Sinh-9"},
	{ID: 57, Name: "cosh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradCosh, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Cosh-9"},
	{ID: 58, Name: "floor", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradZero}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: inPlace, ONNX: "Floor-13"},
	{ID: 59, Name: "ceil", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradZero}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: inPlace, ONNX: "Ceil-13"},
	{ID: 60, Name: "round", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradZero}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: ByHandInPlace, ONNX: "Round-11"},
	{ID: 61, Name: "trunc", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradZero}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: &op.Python{Method: true, InPlace: true, ByHand: true}},
	{ID: 62, Name: "erf", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradErf, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Erf-13"},
	{ID: 63, Name: "logical_not", Kind: op.Unary, In: x, Accepts: bitExact, Infer: op.Rules{toBool, LikeInput}, Python: inPlace, ONNX: "Not-1"},
	{ID: 64, Name: "isnan", Kind: op.Unary, In: x, Accepts: anyNumber, Infer: op.Rules{toBool, LikeInput}, Python: method, ONNX: "IsNaN-13"},
	{ID: 65, Name: "isinf", Kind: op.Unary, In: x, Accepts: anyNumber, Infer: op.Rules{toBool, LikeInput}, Python: method, ONNX: "IsInf-10"},
	{ID: 66, Name: "isfinite", Kind: op.Unary, In: x, Accepts: anyNumber, Infer: op.Rules{toBool, LikeInput}, Python: method},
	// Inverse functions and log10. Outside of its domain each is nan, as in C. Metal's limits are those of table 8.1 of its
	// specification: 4 ulp, and 5 for atan and atanh. The host's acos and asin are of two square roots and one arc
	// tangent: no more than 3 roundings, as the roots halve the errors of what is below them.
	{ID: 70, Name: "acos", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAcos, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Acos-7"},
	{ID: 71, Name: "asin", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAsin, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Asin-7"},
	{ID: 72, Name: "atan", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAtan, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Atan-7"},
	{ID: 73, Name: "acosh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAcosh, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Acosh-9"},
	{ID: 74, Name: "asinh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAsinh, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Asinh-9"},
	{ID: 75, Name: "atanh", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradAtanh, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace, ONNX: "Atanh-9"},
	{ID: 76, Name: "log10", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradLog10, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: inPlace},
}

// Activations, which Paddle has in nn.functional. relu keeps integers as they are, sigmoid and silu
// compute them in float32, and the others refuse them. Those made of several functions are allowed on Metal what
// the parts are allowed together.
var activationRows = []op.Row{
	{ID: 80, Name: "relu", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradRelu, Reads: op.ReadsOut}, Accepts: anyNumber, Infer: op.Rules{Same, LikeInput}, Python: &op.Python{Module: "nn.functional", InPlace: true}, ONNX: "Relu-14"},
	{
		ID: 81, Name: "sigmoid", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSigmoid, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput},
		Python: &op.Python{Module: "nn.functional", Method: true, InPlace: true}, ONNX: "Sigmoid-13",
	},
	{ID: 82, Name: "silu", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSilu, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, LikeInput}, Python: &op.Python{Module: "nn.functional", ByHand: true}},
	{
		ID: 83, Name: "gelu", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradGelu, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, LikeInput}, Python: &op.Python{Module: "nn.functional", ByHand: true}, ONNX: "Gelu-20",
		Attrs: []op.Attr{{Name: "approximate", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}}},
	},
	{
		ID: 84, Name: "softplus", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradSoftplus, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, LikeInput}, Python: Function, ONNX: "Softplus-1",
		Attrs: []op.Attr{
			{Name: "beta", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1}},
			{Name: "threshold", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 20}},
		},
	},
	{
		ID: 85, Name: "leaky_relu", Kind: op.Unary, In: x, Grad: op.Grad{Rule: gradLeakyRelu, Reads: op.ReadsX}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, LikeInput}, Python: Function, ONNX: "LeakyRelu-16",
		Attrs: []op.Attr{{Name: "negative_slope", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 0.01}}},
	},
	{
		ID: 86, Name: "softmax", Kind: op.Scan, In: x, Grad: op.Grad{Rule: gradSoftmax, Reads: op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, alongAxis},
		Python: &op.Python{Module: "nn.functional", ByHand: true}, ONNX: "Softmax-13",
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -1}}},
	},
	{
		// Halves are computed in float32 by the caller. Composed, a result that is nearly 0 has an absolute error, which the tolerance
		// cannot say: 1 + sum is rounded before the logarithm.
		ID: 87, Name: "log_softmax", Kind: op.Scan, In: x, Grad: op.Grad{Rule: gradLogSoftmax, Reads: op.ReadsOut}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64),
		Infer: op.Rules{FloatOnly, alongAxis}, Lower: lowerLogSoftmax, Python: internal,
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -1}}},
	},
}

// Operators that choose or move elements and compute none, but for the rounding of a cast. where and clip take
// operands that broadcast; cast and assign take one of any layout and are the copies that everything else is
// made contiguous, cast or moved by.
var selectRows = []op.Row{
	{
		ID: 90, Name: "where", Kind: op.Select, In: []op.Input{{Name: "condition", Domain: op.Condition}, {Name: "x", Scalar: true}, {Name: "y", Scalar: true}},
		Grad: op.Grad{Rule: gradWhere, Reads: op.ReadsX}, Accepts: bitExact, Infer: op.Rules{selected, Broadcast}, Python: &op.Python{Method: true, ByHand: true}, ONNX: "Where-16",
	},
	{
		ID: 91, Name: "clip", Kind: op.Select, In: []op.Input{
			{Name: "x"},
			{Name: "min", Scalar: true, Optional: true, Fixed: op.Value{Kind: op.Int, I: 0}},
			{Name: "max", Scalar: true, Optional: true, Fixed: op.Value{Kind: op.Int, I: 2}},
		},
		Grad: op.Grad{Rule: gradClip, Reads: op.ReadsX | op.ReadsY | op.ReadsZ}, Accepts: anyNumber, Infer: op.Rules{clipped, bounded}, Frame: frameClip, ByValue: true, Python: &op.Python{Method: true, InPlace: true, ByHand: true}, ONNX: "Clip-13",
	},
	{
		ID: 92, Name: "cast", Kind: op.Convert, In: x, Grad: op.Grad{Rule: gradSame}, Accepts: moved, Infer: op.Rules{toAttr, LikeInput}, Python: &op.Python{Method: true, ByHand: true}, ONNX: "Cast-13",
		Attrs: []op.Attr{{Name: "dtype", Type: op.DTypeAttr, Needed: true}},
	},
	{
		ID: 93, Name: "assign", Kind: op.Convert, In: x, Grad: op.Grad{Rule: gradAssign}, Accepts: moved, Infer: op.Rules{Same, LikeInput}, Python: &op.Python{ByHand: true}, ONNX: "Identity-16",
	},
	{
		ID: 94, Name: "bitcast", Kind: op.Convert, In: x, Accepts: moved, Infer: op.Rules{toAttr, LikeInput, asWide}, Lower: lowerBitcast, Python: internal,
		Attrs: []op.Attr{{Name: "dtype", Type: op.DTypeAttr, Needed: true}},
	},
}
