package op

import "github.com/paddle-mps/paddle-mps/core/dtype"

// Operators on whole arrays: reductions, products, views, indexing and creation.

var (
	// Attributes that several operators have, under the name and with the meaning of Paddle.
	axisOrAxes = Attr{Name: "axis", Type: IntsAttr, Doc: "an axis, several, or none for all"}
	oneAxis    = Attr{Name: "axis", Type: IntAttr, Doc: "the axis; none for the flattened tensor"}
	keepDim    = Attr{Name: "keepdim", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "keep reduced axes with one element"}
	sumDType   = Attr{Name: "dtype", Type: DTypeAttr, Doc: "x is cast to it first; none for the rule of the operator"}
	newShape   = Attr{Name: "shape", Type: IntsAttr, Needed: true, Sizes: AsDims, Doc: "dimensions of the result"}
	outDType   = Attr{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result"}
	// byHand has a wrapper in _array.py or its like; internal ones are called by others only.
	byHand   = Python{Method: true, ByHand: true}
	internal = Python{Internal: true}

	// The results of an operator that cuts: as many as its attributes say.
	parts = []Output{{Name: "out", Variadic: true}}

	// Operands by what tests may give: sums of extremes overflow, and of nothing there is no largest.
	summands = []Input{{Name: "x", Domain: Ordinary}}
	factors  = []Input{{Name: "x", Domain: Ordinary}, {Name: "y", Domain: Ordinary}}
	some     = []Input{{Name: "x", Domain: NonEmpty}}

	// What sorts and running extremes answer: elements, and where they were along the axis.
	valuesAndIndices = []Output{{Name: "values"}, {Name: "indices"}}
	lastAxis         = Attr{Name: "axis", Type: IntAttr, Default: Value{Kind: Int, I: -1}, Doc: "the axis"}
	indexDType       = Attr{Name: "dtype", Type: DTypeAttr, Default: Value{Kind: DType, I: int64(dtype.Int64)}, Doc: "of the indices: int64 or int32"}

	pairwise = Roundings{Once: 2, Level: 1} // of sums that are added in pairs, and their scaling
)

// Reductions, scans and products. A reduction without axes is over all of them. Sums of bool and int32 are
// int64 and those of the small integers wrap around in their own dtype, as Paddle's; max, min and the indices
// of both refuse an axis without elements, for which the others have an answer. The indices are always those
// of the first of equals.
var reduceRows = []Row{
	{
		ID: 100, Name: "sum", Kind: Reduce, Tail: true, In: summands, Grad: Grad{Rule: gradSum}, Parts: partsReduced, Accepts: bitExact, Infer: rules{summed, reduced}, Tolerance: rounded.plus(pairwise), Python: byHand, ONNX: "ReduceSum-13",
		Attrs:  []Attr{axisOrAxes, sumDType, keepDim},
		Uncast: IDWholeSum,
	},
	{
		ID: 101, Name: "mean", Kind: Reduce, Tail: true, In: summands, Grad: Grad{Rule: gradMean}, Accepts: bitExact, Infer: rules{same, reduced}, Tolerance: rounded.plus(pairwise), Python: byHand, ONNX: "ReduceMean-18",
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 102, Name: "max", Kind: Reduce, Tail: true, In: some, Grad: Grad{Rule: gradExtreme, Reads: ReadsX | ReadsOut}, Accepts: bitExact, Infer: rules{same, reducedSome}, Python: method, ONNX: "ReduceMax-18",
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 103, Name: "min", Kind: Reduce, Tail: true, In: some, Grad: Grad{Rule: gradExtreme, Reads: ReadsX | ReadsOut}, Accepts: bitExact, Infer: rules{same, reducedSome}, Python: method, ONNX: "ReduceMin-18",
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 104, Name: "prod", Kind: Reduce, Tail: true, In: summands, Grad: Grad{Rule: gradProd, Reads: ReadsX | ReadsOut}, Accepts: bitExact, Infer: rules{multiplied, reduced}, Tolerance: rounded.plus(Roundings{Term: 1}), Python: Python{Method: true, OutByPlace: true}, ONNX: "ReduceProd-18",
		Attrs:  []Attr{axisOrAxes, keepDim, sumDType},
		Uncast: IDWholeProd,
	},
	{
		ID: 105, Name: "any", Kind: Reduce, Tail: true, In: x, Accepts: bitExact, Infer: rules{toBool, reduced}, Python: method,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 106, Name: "all", Kind: Reduce, Tail: true, In: x, Accepts: bitExact, Infer: rules{toBool, reduced}, Python: method,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 107, Name: "argmax", Kind: Reduce, In: some, Accepts: anyNumber, Infer: rules{toIndex, reducedOne}, Python: method, ONNX: "ArgMax-13",
		Attrs: []Attr{oneAxis, keepDim, {Name: "dtype", Type: DTypeAttr, Default: Value{Kind: DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
	},
	{
		ID: 108, Name: "argmin", Kind: Reduce, In: some, Accepts: anyNumber, Infer: rules{toIndex, reducedOne}, Python: method, ONNX: "ArgMin-13",
		Attrs: []Attr{oneAxis, keepDim, {Name: "dtype", Type: DTypeAttr, Default: Value{Kind: DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
	},
	// Four that read x once where a device has a kernel for them, and are a cast or a square and a sum or product elsewhere. The square
	// of an element is rounded where it is an element of its own, which halves would overflow in.
	{
		ID: 109, Name: "count_nonzero", Kind: Reduce, Tail: true, In: x, Accepts: bitExact, Infer: rules{toInt64, reduced}, Lower: lowerCountNonzero, Python: internal,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 117, Name: "square_sum", Kind: Reduce, Tail: true, In: summands, Grad: Grad{Rule: gradSquareSum, Reads: ReadsX}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: rules{floatOnly, reduced}, Lower: lowerSquareSum,
		// Squares do not cancel, and MPSGraph may add them one after the other: a rounding of the sum for each, and one of the
		// square.
		Tolerance: rounded.plus(Roundings{Once: 2, Term: 1}), Python: internal,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 118, Name: "whole_sum", Kind: Reduce, Tail: true, In: summands, Accepts: dtype.Integers | dtype.Bools, Infer: rules{toInt64, reduced}, Lower: lowerWholeSum, Python: internal,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 119, Name: "whole_prod", Kind: Reduce, Tail: true, In: summands, Accepts: dtype.Integers | dtype.Bools, Infer: rules{toInt64, reduced}, Lower: lowerWholeProd, Python: internal,
		Attrs: []Attr{axisOrAxes, keepDim},
	},
	{
		ID: 110, Name: "cumsum", Kind: Scan, In: summands, Grad: Grad{Rule: gradCumsum}, Accepts: anyNumber, Infer: rules{accumulated, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		Tolerance: rounded.plus(Roundings{Term: 1}), Python: method, ONNX: "CumSum-14",
		Attrs: []Attr{oneAxis, sumDType},
	},
	{
		ID: 111, Name: "cumprod", Kind: Scan, In: summands, Grad: Grad{Rule: gradCumprod, Reads: ReadsX | ReadsOut}, Accepts: anyNumber, Infer: rules{multiplied, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		// A product that is subnormal on the way has an absolute error, which further factors multiply.
		Tolerance: rounded.plus(Roundings{Term: 1}).inFloat64("underflow(x, given['axis']) * 2.0**-1074 / ulp(out)"), Python: byHand,
		Attrs: []Attr{oneAxis, sumDType},
	},
	{
		ID: 112, Name: "cummax", Kind: Scan, In: x, Out: valuesAndIndices, Grad: Grad{Rule: gradCumExtreme, Reads: ReadsNext}, Accepts: bitExact, Infer: rules{same, alongAxisOrAll, withPlaces}, Lower: lowerToLine, Own: true,
		Python: byHand, Attrs: []Attr{oneAxis, indexDType},
	},
	{
		ID: 113, Name: "cummin", Kind: Scan, In: x, Out: valuesAndIndices, Grad: Grad{Rule: gradCumExtreme, Reads: ReadsNext}, Accepts: bitExact, Infer: rules{same, alongAxisOrAll, withPlaces}, Lower: lowerToLine, Own: true,
		Python: byHand, Attrs: []Attr{oneAxis, indexDType},
	},
	{
		ID: 114, Name: "logcumsumexp", Kind: Scan, In: summands, Grad: Grad{Rule: gradLogcumsumexp, Once: true, Reads: ReadsX | ReadsOut}, Accepts: dtype.Floats, Infer: rules{toFloat, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		// Each term adds an exp of 1 ulp, which is 2 eps, its argument's and the sum's rounding to a sum whose log is at
		// most as wrong, absolutely; for more than one term the result for magnitudes is at least log(2): 4 / log(2). A
		// log, 1 ulp of log(n), and the last sum come on top. On Metal exp and log have 4 ulp: 8 for the smaller of two
		// terms, which is at most half of the sum, and 8 log(2) for the log: (4 + 1 + 8 log(2) + 1) / log(2), less 12.
		Tolerance: rounded.plus(Roundings{Once: 4, Term: 6, Metal: 5}), Python: byHand,
		Attrs: []Attr{oneAxis},
	},
	{
		ID: 115, Name: "sort", Kind: Scan, In: x, Grad: Grad{Rule: gradSort, Reads: ReadsX}, Accepts: bitExact, Infer: rules{same, alongAxis}, Python: byHand,
		Attrs: []Attr{lastAxis, {Name: "descending", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "the largest first"}},
	},
	{
		ID: 116, Name: "topk", Kind: Scan, In: some, Out: valuesAndIndices, Grad: Grad{Rule: gradTopk, Reads: ReadsNext}, Accepts: bitExact, Infer: rules{same, alongAxis, firstOf, withPlaces}, Python: byHand, ONNX: "TopK-11",
		Attrs: []Attr{
			{Name: "k", Type: IntAttr, Doc: "how many; none for all"},
			lastAxis,
			{Name: "largest", Type: BoolAttr, Default: Value{Kind: Bool, I: 1}, Doc: "the largest, in descending order; else the smallest, in ascending order"},
		},
	},
	{
		ID: 120, Name: "matmul", Kind: Product, Channels: channelsOfMatmul, In: factors, Grad: Grad{Rule: gradMatmul, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: anyNumber, Infer: rules{same, multipliedShape}, Frame: frameMatrices, Tolerance: rounded.plus(Roundings{Term: 1}), Python: method, ONNX: "MatMul-13",
		Attrs: []Attr{
			{Name: "transpose_x", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of x"},
			{Name: "transpose_y", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of y"},
		},
	},
	// Its attributes are those of matmul, which it is lowered to where a device has no kernel of it.
	{
		ID: 121, Name: "matmul_integer", Kind: Product, In: []Input{{Name: "x"}, {Name: "y"}, {Name: "zero", Optional: true}}, Accepts: dtype.SetOf(dtype.Uint8, dtype.Int8), Infer: rules{bytesToInt32, multipliedShape}, Frame: frameMatrices, Lower: lowerIntegers, Python: internal,
		Attrs: []Attr{
			{Name: "transpose_x", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of x"},
			{Name: "transpose_y", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of y"},
		},
	},
}

// Views, which devices never see: their rule answers with layouts of the memory of the operand, and asks for a
// copy where strides cannot say it. Fresh ones are copied always, because Paddle's results do not share memory
// with the operand. split has any number of results, all others one.
var viewRows = []Row{
	{
		ID: 140, Name: "reshape", Kind: View, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, View: viewReshape, Alias: Alias{Write: writeReshaped}, Python: byHand, ONNX: "Reshape-14",
		Attrs: []Attr{{Name: "shape", Type: IntsAttr, Needed: true, Sizes: AsReshaped, Doc: "new dimensions; 0 copies one, -1 is inferred"}},
	},
	{
		ID: 141, Name: "transpose", Kind: View, In: x, Grad: Grad{Rule: gradTranspose}, Accepts: moved, View: viewTranspose, Alias: Alias{Write: writeTransposed}, Python: byHand, ONNX: "Transpose-13",
		Attrs: []Attr{{Name: "perm", Type: IntsAttr, Needed: true, Doc: "axis i of the result is axis perm[i] of x"}},
	},
	{
		ID: 142, Name: "squeeze", Kind: View, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, View: viewSqueeze, Alias: Alias{Write: writeReshaped}, Python: byHand, ONNX: "Squeeze-13",
		Attrs: []Attr{axisOrAxes},
	},
	{
		ID: 143, Name: "unsqueeze", Kind: View, In: x, Grad: Grad{Rule: gradSame}, Accepts: moved, View: viewUnsqueeze, Alias: Alias{Write: writeReshaped}, Python: byHand, ONNX: "Unsqueeze-13",
		Attrs: []Attr{{Name: "axis", Type: IntsAttr, Needed: true, Doc: "where axes of one element appear in the result"}},
	},
	{
		ID: 144, Name: "expand", Kind: View, Fresh: true, In: x, Grad: Grad{Rule: gradExpand}, Accepts: moved, View: viewExpand, Python: byHand, ONNX: "Expand-13",
		Attrs: []Attr{{Name: "shape", Type: IntsAttr, Needed: true, Sizes: AsExpanded, Doc: "dimensions to broadcast to; -1 keeps one"}},
	},
	{
		ID: 145, Name: "slice", Kind: View, In: []Input{{Name: "input"}}, Grad: Grad{Rule: gradSlice}, Accepts: moved, View: viewSlice, Alias: Alias{Write: writeSliced}, Python: byHand, ONNX: "Slice-13",
		Attrs: []Attr{
			{Name: "axes", Type: IntsAttr, Needed: true, Doc: "the axes that are cut"},
			{Name: "starts", Type: IntsAttr, Needed: true, Sizes: AsStart, Doc: "first index on each, from the end if negative"},
			{Name: "ends", Type: IntsAttr, Needed: true, Sizes: AsEnd, Doc: "index after the last on each, from the end if negative"},
			{Name: "steps", Type: IntsAttr, Doc: "step on each, not zero; none for 1"},
		},
	},
	{
		ID: 147, Name: "as_strided", Kind: View, In: x, Grad: Grad{Rule: gradStrided, Compact: true}, Accepts: moved, View: viewStrided, Python: byHand,
		Alias: Alias{Read: readByPosition(IDAsStrided), Write: writeByPosition(IDAsStrided), From: stridedFrom},
		Attrs: []Attr{
			{Name: "shape", Type: IntsAttr, Needed: true, Doc: "dimensions of the view"},
			{Name: "stride", Type: IntsAttr, Needed: true, Doc: "for each axis the distance of neighbours in memory, in elements"},
			{Name: "offset", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the distance of its first element from that of x, in elements"},
		},
	},
	{
		ID: 146, Name: "split", Kind: View, Fresh: true, Out: parts, In: x, Grad: Grad{Rule: gradSplit}, Accepts: moved, View: viewSplit, Python: byHand, ONNX: "Split-13",
		Attrs: []Attr{
			{Name: "sections", Type: IntsAttr, Needed: true, Doc: "lengths of the parts, one of them -1; a single number is the number of equal parts"},
			{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis that is cut"},
		},
	},
}

// Assembly, lowered to copies into parts of the result, unless a device has a kernel of its own for the whole;
// see device.Composer.
var assembleRows = []Row{
	{
		ID: 160, Name: "concat", Kind: Assemble, In: []Input{{Name: "x", Variadic: true}}, Grad: Grad{Rule: gradConcat}, Accepts: moved, Infer: rules{joined, concatenated}, Lower: lowerConcat, Python: Python{ByHand: true}, ONNX: "Concat-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis along which the tensors are joined"}},
	},
	{
		ID: 161, Name: "stack", Kind: Assemble, In: []Input{{Name: "x", Variadic: true}}, Grad: Grad{Rule: gradStack}, Accepts: moved, Infer: rules{joined, stacked}, Lower: lowerStack, Python: Python{ByHand: true},
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "where the new axis appears"}},
	},
	{
		ID: 162, Name: "tile", Kind: Assemble, In: x, Grad: Grad{Rule: gradTile}, Accepts: moved, Infer: rules{same, tiled}, Lower: lowerTile, Python: byHand, ONNX: "Tile-13",
		Attrs: []Attr{{Name: "repeat_times", Type: IntsAttr, Needed: true, Sizes: AsDims, Doc: "how often on each axis, aligned at the last"}},
	},
	{
		ID: 164, Name: "spread", Kind: Assemble, In: x, Grad: Grad{Rule: gradSpread}, Parts: partsSpread, Accepts: moved, Infer: rules{same, spread}, Lower: lowerSpread, Python: internal,
		Attrs: []Attr{
			{Name: "shape", Type: IntsAttr, Needed: true, Sizes: AsDims, Doc: "dimensions of the result"},
			{Name: "axes", Type: IntsAttr, Needed: true, Doc: "as of slice"},
			{Name: "starts", Type: IntsAttr, Needed: true, Sizes: AsStart, Doc: "as of slice"},
			{Name: "ends", Type: IntsAttr, Needed: true, Sizes: AsEnd, Doc: "as of slice"},
			{Name: "steps", Type: IntsAttr, Doc: "as of slice"},
		},
	},
	{
		ID: 163, Name: "flip", Kind: View, Fresh: true, In: x, Grad: Grad{Rule: gradFlip}, Accepts: moved, View: viewFlip, Python: byHand,
		Attrs: []Attr{{Name: "axis", Type: IntsAttr, Needed: true, Doc: "the axes that are reversed"}},
	},
}

// Reading and writing through index tensors. index and index_put have kernels; gather is index with its axis in
// front. Indices below 0 count from the end, and those out of range fail when the call runs. nonzero alone has
// a result whose size only the elements say.
var indexRows = []Row{
	{
		ID: 180, Name: "gather", Kind: Index, In: []Input{{Name: "x"}, {Name: "index", Domain: Position}}, Grad: Grad{Rule: gradGather, Reads: ReadsY}, Accepts: moved, Infer: rules{gathered, gatheredShape}, Lower: lowerGather, Python: byHand, ONNX: "Gather-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis that index counts along"}},
	},
	{
		ID: 181, Name: "index", Kind: Index, In: []Input{{Name: "x"}, {Name: "indices", Variadic: true, Domain: Position}}, Grad: Grad{Rule: gradIndex, Reads: ReadsY | ReadsZ}, Accepts: moved, Infer: rules{gathered, indexed}, Frame: frameIndex, Python: internal,
	},
	{
		ID: 182, Name: "index_put", Kind: Index, In: []Input{{Name: "x"}, {Name: "value"}, {Name: "indices", Variadic: true, Domain: Position}}, Grad: Grad{Rule: gradIndexPut, Reads: ReadsZ}, Accepts: moved, Infer: rules{scattered, likeInput, replaced}, Updates: true, Frame: frameIndexPut, Python: internal,
	},
	{
		ID: 190, Name: "index_reduce", Kind: Index, In: []Input{{Name: "x"}, {Name: "value"}, {Name: "indices", Variadic: true, Domain: Position}}, Grad: Grad{Rule: gradIndexReduce, ReadsOf: readsOfIndexReduce}, Parts: partsAdded, Accepts: bitExact, Infer: rules{scattered, likeInput, replaced, folding}, Updates: true, Frame: frameIndexPut, Python: internal,
		Attrs: []Attr{{Name: "reduce", Type: StringAttr, Needed: true, Doc: "add, multiply, minimum or maximum"}},
	},
	{
		ID: 183, Name: "nonzero", Kind: Index, In: x, Accepts: bitExact, Infer: rules{toInt64, nonzeroBound}, Counted: true, Counter: IDCountNonzero, Python: byHand, ONNX: "NonZero-13",
	},
	// The choice of a box depends on all choices before it, and few boxes are chosen: a GPU would run one thread a class.
	{
		ID: 191, Name: "nms", Kind: Index, In: []Input{{Name: "boxes"}, {Name: "scores"}}, Accepts: dtype.SetOf(dtype.Float32), Infer: rules{boxIndices}, Python: internal,
		Attrs: []Attr{
			{Name: "max_output_size", Type: IntAttr, Needed: true, Doc: "the most boxes of a class"},
			{Name: "iou_threshold", Type: FloatAttr, Needed: true, Doc: "a box is dropped if its intersection over union with a chosen one is larger"},
			{Name: "score_threshold", Type: FloatAttr, Needed: true, Doc: "boxes without a larger score are dropped; -inf drops only those whose score is nan"},
			{Name: "center", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "boxes are center and size, not two opposite corners"},
		},
		Lacks: []Lack{{Device: "metal", DTypes: dtype.SetOf(dtype.Float32), Why: "each choice depends on all before it"}},
	},
}

// Creation from attributes alone. The dtype is one of them, and so is everything that a wrapper works out from
// Python numbers first: a range has a count and no end. Random operators take one counter of the device's
// generator an element, so that numbers do not depend on how a call is divided among threads.
var createRows = []Row{
	{
		ID: 200, Name: "full", Kind: Create, Accepts: bitExact, Infer: rules{toAttr, fromAttr}, Python: Python{ByHand: true},
		Attrs: []Attr{newShape, {Name: "fill_value", Type: ScalarAttr, Needed: true, Sizes: AsAdded, Doc: "the value of every element"}, outDType},
	},
	{
		ID: 201, Name: "range", Kind: Create, Accepts: anyNumber, Infer: rules{toAttr, fromCount}, Python: internal,
		Attrs: []Attr{
			{Name: "start", Type: ScalarAttr, Needed: true, Sizes: AsAdded, Doc: "first value"},
			{Name: "step", Type: ScalarAttr, Needed: true, Doc: "distance of neighbours"},
			{Name: "count", Type: IntAttr, Needed: true, Sizes: AsDims, Doc: "number of values"},
			outDType,
		},
	},
	{
		// What follows from sizes in ways that other rows do not say: indices and weights of resized images.
		ID: 460, Name: "number_line", Kind: Create, Accepts: bitExact, Infer: rules{toAttr, fromValues}, Python: internal,
		Attrs: []Attr{{Name: "values", Type: FloatsAttr, Needed: true, Doc: "the elements"}, outDType},
	},
	{
		ID: 202, Name: "linspace", Kind: Create, Accepts: anyNumber, Infer: rules{toAttr, fromCount}, Python: Python{ByHand: true},
		Attrs: []Attr{
			{Name: "start", Type: FloatAttr, Needed: true, Doc: "first value"},
			{Name: "stop", Type: FloatAttr, Needed: true, Doc: "last value"},
			{Name: "count", Type: IntAttr, Needed: true, Sizes: AsDims, Doc: "number of values, at least 1"},
			outDType,
		},
	},
	{
		ID: 203, Name: "uniform", Kind: Create, Random: true, Accepts: dtype.Floats, Infer: rules{toAttr, fromAttr}, Python: Python{ByHand: true}, ONNX: "RandomUniform-1",
		Attrs: []Attr{newShape, {Name: "min", Type: FloatAttr, Default: Value{Kind: Float, F: -1}, Doc: "lower bound, included"}, {Name: "max", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "upper bound, excluded"}, outDType},
	},
	{
		ID: 204, Name: "normal", Kind: Create, Random: true, Accepts: dtype.Floats, Infer: rules{toAttr, fromAttr}, Python: Python{ByHand: true}, ONNX: "RandomNormal-1",
		Attrs: []Attr{newShape, {Name: "mean", Type: FloatAttr, Default: Value{Kind: Float}, Doc: "mean"}, {Name: "std", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "standard deviation"}, outDType},
	},
	{
		ID: 205, Name: "randint", Kind: Create, Random: true, Accepts: dtype.Integers, Infer: rules{toAttr, fromAttr}, Python: Python{ByHand: true},
		Attrs: []Attr{newShape, {Name: "low", Type: IntAttr, Needed: true, Doc: "lower bound, included"}, {Name: "high", Type: IntAttr, Needed: true, Doc: "upper bound, excluded"}, outDType},
	},
	{
		ID: 206, Name: "randperm", Kind: Create, Random: true, Accepts: anyNumber, Infer: rules{toAttr, fromCount}, Python: Python{ByHand: true},
		Attrs: []Attr{{Name: "count", Type: IntAttr, Needed: true, Sizes: AsDims, Doc: "number of values"}, outDType},
	},
}
