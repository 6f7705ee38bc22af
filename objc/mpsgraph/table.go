package mpsgraph

// The operators, under Apple's names without the arguments. What each does is in Apple's documentation;
// the caller knows which dtypes, ranks and sizes it accepts.

// Functions of one tensor. NonZeroIndices came with macOS 14.
var (
	Absolute          = unary("absoluteWithTensor:name:")
	Acos              = unary("acosWithTensor:name:")
	Acosh             = unary("acoshWithTensor:name:")
	Asin              = unary("asinWithTensor:name:")
	Asinh             = unary("asinhWithTensor:name:")
	Atan              = unary("atanWithTensor:name:")
	Atanh             = unary("atanhWithTensor:name:")
	BitwiseNot        = unary("bitwiseNOTWithTensor:name:")
	Ceil              = unary("ceilWithTensor:name:")
	Cos               = unary("cosWithTensor:name:")
	Cosh              = unary("coshWithTensor:name:")
	Erf               = unary("erfWithTensor:name:")
	Exponent          = unary("exponentWithTensor:name:")
	ExponentBase2     = unary("exponentBase2WithTensor:name:")
	Floor             = unary("floorWithTensor:name:")
	Identity          = unary("identityWithTensor:name:")
	IsFinite          = unary("isFiniteWithTensor:name:")
	IsInfinite        = unary("isInfiniteWithTensor:name:")
	IsNaN             = unary("isNaNWithTensor:name:")
	Logarithm         = unary("logarithmWithTensor:name:")
	LogarithmBase2    = unary("logarithmBase2WithTensor:name:")
	Negative          = unary("negativeWithTensor:name:")
	Not               = unary("notWithTensor:name:")
	ReLU              = unary("reLUWithTensor:name:")
	Reciprocal        = unary("reciprocalWithTensor:name:")
	ReverseSquareRoot = unary("reverseSquareRootWithTensor:name:")
	Rint              = unary("rintWithTensor:name:")
	Round             = unary("roundWithTensor:name:")
	Sigmoid           = unary("sigmoidWithTensor:name:")
	Sign              = unary("signWithTensor:name:")
	Sin               = unary("sinWithTensor:name:")
	Sinh              = unary("sinhWithTensor:name:")
	Square            = unary("squareWithTensor:name:")
	SquareRoot        = unary("squareRootWithTensor:name:")
	Tan               = unary("tanWithTensor:name:")
	Tanh              = unary("tanhWithTensor:name:")
	Truncate          = unary("truncateWithTensor:name:")
	NonZeroIndices    = unary("nonZeroIndicesOfTensor:name:", "14.0")
)

// Functions of two tensors. Maximum and Minimum drop NaN; the forms that propagate it take floats only.
var (
	Addition                  = binary("additionWithPrimaryTensor:secondaryTensor:name:")
	Atan2                     = binary("atan2WithPrimaryTensor:secondaryTensor:name:")
	BitwiseAnd                = binary("bitwiseANDWithPrimaryTensor:secondaryTensor:name:")
	BitwiseLeftShift          = binary("bitwiseLeftShiftWithPrimaryTensor:secondaryTensor:name:")
	BitwiseOr                 = binary("bitwiseORWithPrimaryTensor:secondaryTensor:name:")
	BitwiseRightShift         = binary("bitwiseRightShiftWithPrimaryTensor:secondaryTensor:name:")
	BitwiseXor                = binary("bitwiseXORWithPrimaryTensor:secondaryTensor:name:")
	Division                  = binary("divisionWithPrimaryTensor:secondaryTensor:name:")
	DivisionNoNaN             = binary("divisionNoNaNWithPrimaryTensor:secondaryTensor:name:")
	Equal                     = binary("equalWithPrimaryTensor:secondaryTensor:name:")
	FloorModulo               = binary("floorModuloWithPrimaryTensor:secondaryTensor:name:")
	GreaterThan               = binary("greaterThanWithPrimaryTensor:secondaryTensor:name:")
	GreaterThanOrEqualTo      = binary("greaterThanOrEqualToWithPrimaryTensor:secondaryTensor:name:")
	LessThan                  = binary("lessThanWithPrimaryTensor:secondaryTensor:name:")
	LessThanOrEqualTo         = binary("lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name:")
	LogicalAnd                = binary("logicalANDWithPrimaryTensor:secondaryTensor:name:")
	LogicalOr                 = binary("logicalORWithPrimaryTensor:secondaryTensor:name:")
	LogicalXor                = binary("logicalXORWithPrimaryTensor:secondaryTensor:name:")
	MatrixMultiplication      = binary("matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:")
	Maximum                   = binary("maximumWithPrimaryTensor:secondaryTensor:name:")
	MaximumWithNaNPropagation = binary("maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:")
	Minimum                   = binary("minimumWithPrimaryTensor:secondaryTensor:name:")
	MinimumWithNaNPropagation = binary("minimumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:")
	Modulo                    = binary("moduloWithPrimaryTensor:secondaryTensor:name:")
	Multiplication            = binary("multiplicationWithPrimaryTensor:secondaryTensor:name:")
	NotEqual                  = binary("notEqualWithPrimaryTensor:secondaryTensor:name:")
	Power                     = binary("powerWithPrimaryTensor:secondaryTensor:name:")
	Subtraction               = binary("subtractionWithPrimaryTensor:secondaryTensor:name:")
)

// Functions of three tensors: a choice, and limits.
var (
	Select = ternary("selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:")
	Clamp  = ternary("clampWithTensor:minValueTensor:maxValueTensor:name:")
)

// Reductions over a list of axes, which stay with extent 1.
var (
	ReductionSum                 = listed("reductionSumWithTensor:axes:name:")
	ReductionProduct             = listed("reductionProductWithTensor:axes:name:")
	ReductionMaximum             = listed("reductionMaximumWithTensor:axes:name:")
	ReductionMinimum             = listed("reductionMinimumWithTensor:axes:name:")
	ReductionMaximumPropagateNaN = listed("reductionMaximumPropagateNaNWithTensor:axes:name:")
	ReductionMinimumPropagateNaN = listed("reductionMinimumPropagateNaNWithTensor:axes:name:")
	ReductionAnd                 = listed("reductionAndWithTensor:axes:name:")
	ReductionOr                  = listed("reductionOrWithTensor:axes:name:")
	Mean                         = listed("meanOfTensor:axes:name:")
)

// Other shapes of the same elements; the list is a shape, axes, a permutation or how often to repeat.
var (
	Reshape    = listed("reshapeTensor:withShape:name:")
	Broadcast  = listed("broadcastTensor:toShape:name:")
	ExpandDims = listed("expandDimsOfTensor:axes:name:")
	Squeeze    = listed("squeezeTensor:axes:name:")
	Transpose  = listed("transposeTensor:permutation:name:")
	Tile       = listed("tileTensor:withMultiplier:name:")
	Reverse    = listed("reverseTensor:axes:name:")
)

// Along one axis. The indices of extrema are int32.
var (
	ReductionArgMaximum = axial("reductionArgMaximumWithTensor:axis:name:")
	ReductionArgMinimum = axial("reductionArgMinimumWithTensor:axis:name:")
	SoftMax             = axial("softMaxWithTensor:axis:name:")
)

// Orders and running results along one axis.
var (
	Sort              = ordering("sortWithTensor:axis:descending:name:")
	ArgSort           = ordering("argSortWithTensor:axis:descending:name:")
	CumulativeSum     = cumulative("cumulativeSumWithTensor:axis:exclusive:reverse:name:")
	CumulativeProduct = cumulative("cumulativeProductWithTensor:axis:exclusive:reverse:name:")
	CumulativeMaximum = cumulative("cumulativeMaximumWithTensor:axis:exclusive:reverse:name:")
	CumulativeMinimum = cumulative("cumulativeMinimumWithTensor:axis:exclusive:reverse:name:")
)

// Tensors joined along an axis that they have, or a new one.
var (
	Concat = joining("concatTensors:dimension:name:")
	Stack  = joining("stackTensors:axis:name:")
)

// The same values, or from macOS 13.2 on the same bits, in another type.
var (
	Cast            = casting("castTensor:toType:name:")
	ReinterpretCast = casting("reinterpretCastTensor:toType:name:", "13.2")
)
