package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

// Operators on whole arrays: reductions, products, views, indexing and creation.

var (
	// Attributes that several operators have, under the name and with the meaning of Paddle.
	axisOrAxes = op.Attr{Name: "axis", Type: op.IntsAttr, Doc: "an axis, several, or none for all"}
	oneAxis    = op.Attr{Name: "axis", Type: op.IntAttr, Doc: "the axis; none for the flattened tensor"}
	keepDim    = op.Attr{Name: "keepdim", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "keep reduced axes with one element"}
	sumDType   = op.Attr{Name: "dtype", Type: op.DTypeAttr, Doc: "x is cast to it first; none for the rule of the operator"}
	newShape   = op.Attr{Name: "shape", Type: op.IntsAttr, Needed: true, Sizes: op.AsDims, Doc: "dimensions of the result"}
	aboveMain  = op.Attr{Name: "offset", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "how far the diagonal is above the main one; below it if negative"}
	outDType   = op.Attr{Name: "dtype", Type: op.DTypeAttr, Needed: true, Doc: "dtype of the result"}
	// byHand has a wrapper in _array.py or its like; internal ones are called by others only.
	byHand   = &op.Python{Method: true, ByHand: true}
	internal = &op.Python{Internal: true}

	// The results of an operator that cuts: as many as its attributes say.
	parts = []op.Output{{Name: "out", Variadic: true}}

	// Operands by what tests may give: sums of extremes overflow, and of nothing there is no largest.
	summands = []op.Input{{Name: "x", Domain: op.Ordinary}}
	factors  = []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "y", Domain: op.Ordinary}}
	some     = []op.Input{{Name: "x", Domain: op.NonEmpty}}

	// What sorts and running extremes answer: elements, and where they were along the axis.
	valuesAndIndices = []op.Output{{Name: "values"}, {Name: "indices"}}
	lastAxis         = op.Attr{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -1}, Doc: "the axis"}
	indexDType       = op.Attr{Name: "dtype", Type: op.DTypeAttr, Default: op.Value{Kind: op.DType, I: int64(dtype.Int64)}, Doc: "of the indices: int64 or int32"}

	termwise = Rounded.Plus(op.Roundings{Term: 1})           // of sums and products of which each term is rounded
	pairwise = Rounded.Plus(op.Roundings{Once: 2, Level: 1}) // of sums that are added in pairs, and their scaling
)

// Reductions, scans and products. A reduction without axes is over all of them. Sums of bool and int32 are
// int64 and those of the small integers wrap around in their own dtype, as Paddle's; max, min and the indices
// of both refuse an axis without elements, for which the others have an answer. The indices are always those
// of the first of equals.
var reduceRows = []op.Row{
	{
		ID: 100, Name: "sum", Kind: op.Reduce, Tail: true, In: summands, Grad: op.Grad{Rule: gradSum}, Parts: partsReduced, Accepts: bitExact, Infer: op.Rules{summed, reduced}, Tolerance: pairwise, Python: byHand, ONNX: "ReduceSum-13",
		Attrs:  []op.Attr{axisOrAxes, sumDType, keepDim},
		Uncast: op.IDWholeSum,
	},
	{
		ID: 101, Name: "mean", Kind: op.Reduce, Tail: true, In: summands, Grad: op.Grad{Rule: gradMean}, Accepts: bitExact, Infer: op.Rules{Same, reduced}, Tolerance: pairwise, Python: byHand, ONNX: "ReduceMean-18",
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 102, Name: "max", Kind: op.Reduce, Tail: true, In: some, Grad: op.Grad{Rule: gradExtreme, Reads: op.ReadsX | op.ReadsOut}, Accepts: bitExact, Infer: op.Rules{Same, reducedSome}, Python: method, ONNX: "ReduceMax-18",
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 103, Name: "min", Kind: op.Reduce, Tail: true, In: some, Grad: op.Grad{Rule: gradExtreme, Reads: op.ReadsX | op.ReadsOut}, Accepts: bitExact, Infer: op.Rules{Same, reducedSome}, Python: method, ONNX: "ReduceMin-18",
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 104, Name: "prod", Kind: op.Reduce, Tail: true, In: summands, Grad: op.Grad{Rule: gradProd, Reads: op.ReadsX | op.ReadsOut}, Accepts: bitExact, Infer: op.Rules{multiplied, reduced}, Tolerance: termwise, Python: &op.Python{Method: true, OutByPlace: true}, ONNX: "ReduceProd-18",
		Attrs:  []op.Attr{axisOrAxes, keepDim, sumDType},
		Uncast: op.IDWholeProd,
	},
	{
		ID: 105, Name: "any", Kind: op.Reduce, Tail: true, In: x, Accepts: bitExact, Infer: op.Rules{toBool, reduced}, Python: method,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 106, Name: "all", Kind: op.Reduce, Tail: true, In: x, Accepts: bitExact, Infer: op.Rules{toBool, reduced}, Python: method,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 107, Name: "argmax", Kind: op.Reduce, In: some, Accepts: anyNumber, Infer: op.Rules{toIndex, reducedOne}, Python: method, ONNX: "ArgMax-13",
		Attrs: []op.Attr{oneAxis, keepDim, {Name: "dtype", Type: op.DTypeAttr, Default: op.Value{Kind: op.DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
	},
	{
		ID: 108, Name: "argmin", Kind: op.Reduce, In: some, Accepts: anyNumber, Infer: op.Rules{toIndex, reducedOne}, Python: method, ONNX: "ArgMin-13",
		Attrs: []op.Attr{oneAxis, keepDim, {Name: "dtype", Type: op.DTypeAttr, Default: op.Value{Kind: op.DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
	},
	// Four that read x once where a device has a kernel for them, and are a cast or a square and a sum or product elsewhere. The square
	// of an element is rounded where it is an element of its own, which halves would overflow in.
	{
		ID: 109, Name: "count_nonzero", Kind: op.Reduce, Tail: true, In: x, Accepts: bitExact, Infer: op.Rules{toInt64, reduced}, Lower: lowerCountNonzero, Python: internal,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 117, Name: "square_sum", Kind: op.Reduce, Tail: true, In: summands, Grad: op.Grad{Rule: gradSquareSum, Reads: op.ReadsX}, Accepts: dtype.SetOf(dtype.Float32, dtype.Float64), Infer: op.Rules{FloatOnly, reduced}, Lower: lowerSquareSum,
		// Squares do not cancel, and MPSGraph may add them one after the other: a rounding of the sum for each, and one of the
		// square.
		Tolerance: Rounded.Plus(op.Roundings{Once: 2, Term: 1}), Python: internal,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 118, Name: "whole_sum", Kind: op.Reduce, Tail: true, In: summands, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{toInt64, reduced}, Lower: lowerWholeSum, Python: internal,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 119, Name: "whole_prod", Kind: op.Reduce, Tail: true, In: summands, Accepts: dtype.Integers | dtype.Bools, Infer: op.Rules{toInt64, reduced}, Lower: lowerWholeProd, Python: internal,
		Attrs: []op.Attr{axisOrAxes, keepDim},
	},
	{
		ID: 110, Name: "cumsum", Kind: op.Scan, In: summands, Grad: op.Grad{Rule: gradCumsum}, Accepts: anyNumber, Infer: op.Rules{accumulated, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		Tolerance: termwise, Python: method, ONNX: "CumSum-14",
		Attrs: []op.Attr{oneAxis, sumDType},
	},
	{
		ID: 111, Name: "cumprod", Kind: op.Scan, In: summands, Grad: op.Grad{Rule: gradCumprod, Reads: op.ReadsX | op.ReadsOut}, Accepts: anyNumber, Infer: op.Rules{multiplied, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		// A product that is subnormal on the way has an absolute error, which further factors multiply.
		Tolerance: termwise.InFloat64("underflow(x, given['axis']) * 2.0**-1074 / ulp(out)"), Python: byHand,
		Attrs: []op.Attr{oneAxis, sumDType},
	},
	{
		ID: 112, Name: "cummax", Kind: op.Scan, In: x, Out: valuesAndIndices, Grad: op.Grad{Rule: gradCumExtreme, Reads: op.ReadsNext}, Accepts: bitExact, Infer: op.Rules{Same, alongAxisOrAll, withPlaces}, Lower: lowerToLine, Own: true,
		Python: byHand, Attrs: []op.Attr{oneAxis, indexDType},
	},
	{
		ID: 113, Name: "cummin", Kind: op.Scan, In: x, Out: valuesAndIndices, Grad: op.Grad{Rule: gradCumExtreme, Reads: op.ReadsNext}, Accepts: bitExact, Infer: op.Rules{Same, alongAxisOrAll, withPlaces}, Lower: lowerToLine, Own: true,
		Python: byHand, Attrs: []op.Attr{oneAxis, indexDType},
	},
	{
		ID: 114, Name: "logcumsumexp", Kind: op.Scan, In: summands, Grad: op.Grad{Rule: gradLogcumsumexp, Once: true, Reads: op.ReadsX | op.ReadsOut}, Accepts: dtype.Floats, Infer: op.Rules{toFloat, alongAxisOrAll}, Lower: lowerToLine, Own: true,
		// Each term adds an exp of 1 ulp, which is 2 eps, its argument's and the sum's rounding to a sum whose log is at
		// most as wrong, absolutely; for more than one term the result for magnitudes is at least log(2): 4 / log(2). A
		// log, 1 ulp of log(n), and the last sum come on top. On Metal exp and log have 4 ulp: 8 for the smaller of two
		// terms, which is at most half of the sum, and 8 log(2) for the log: (4 + 1 + 8 log(2) + 1) / log(2), less 12.
		Tolerance: Rounded.Plus(op.Roundings{Once: 4, Term: 6, Metal: 5}), Python: byHand,
		Attrs: []op.Attr{oneAxis},
	},
	{
		ID: 115, Name: "sort", Kind: op.Scan, In: x, Grad: op.Grad{Rule: gradSort, Reads: op.ReadsX}, Accepts: bitExact, Infer: op.Rules{Same, alongAxis}, Python: byHand,
		Attrs: []op.Attr{lastAxis, {Name: "descending", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "the largest first"}},
	},
	{
		ID: 116, Name: "topk", Kind: op.Scan, In: some, Out: valuesAndIndices, Grad: op.Grad{Rule: gradTopk, Reads: op.ReadsNext}, Accepts: bitExact, Infer: op.Rules{Same, alongAxis, firstOf, withPlaces}, Python: byHand, ONNX: "TopK-11",
		Attrs: []op.Attr{
			{Name: "k", Type: op.IntAttr, Doc: "how many; none for all"},
			lastAxis,
			{Name: "largest", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool, I: 1}, Doc: "the largest, in descending order; else the smallest, in ascending order"},
		},
	},
	{
		ID: 120, Name: "matmul", Kind: op.Product, Channels: channelsOfMatmul, In: factors, Grad: op.Grad{Rule: gradMatmul, Reads: op.ReadsX | op.ReadsY, Crossed: true}, Accepts: anyNumber, Infer: op.Rules{Same, multipliedShape}, Frame: frameMatrices, Tolerance: termwise, Python: method, ONNX: "MatMul-13",
		Attrs: []op.Attr{
			{Name: "transpose_x", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "swap the last two axes of x"},
			{Name: "transpose_y", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "swap the last two axes of y"},
		},
	},
	// Its attributes are those of matmul, which it is lowered to where a device has no kernel of it.
	{
		ID: 121, Name: "matmul_integer", Kind: op.Product, In: []op.Input{{Name: "x"}, {Name: "y"}, {Name: "zero", Optional: true}}, Accepts: dtype.SetOf(dtype.Uint8, dtype.Int8), Infer: op.Rules{bytesToInt32, multipliedShape}, Frame: frameMatrices, Lower: lowerIntegers, Python: internal,
		Attrs: []op.Attr{
			{Name: "transpose_x", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "swap the last two axes of x"},
			{Name: "transpose_y", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "swap the last two axes of y"},
		},
	},
}

// Views, which devices never see: their rule answers with layouts of the memory of the operand, and asks for a
// copy where strides cannot say it. Fresh ones are copied always, because Paddle's results do not share memory
// with the operand. split has any number of results, all others one.
var viewRows = []op.Row{
	{
		ID: 140, Name: "reshape", Kind: op.View, In: x, Grad: op.Grad{Rule: gradSame}, Accepts: moved, View: viewReshape, Alias: op.Alias{Write: writeReshaped}, Python: byHand, ONNX: "Reshape-14",
		Attrs: []op.Attr{{Name: "shape", Type: op.IntsAttr, Needed: true, Sizes: op.AsReshaped, Doc: "new dimensions; 0 copies one, -1 is inferred"}},
	},
	{
		ID: 141, Name: "transpose", Kind: op.View, In: x, Grad: op.Grad{Rule: gradTranspose}, Accepts: moved, View: viewTranspose, Alias: op.Alias{Write: writeTransposed}, Python: byHand, ONNX: "Transpose-13",
		Attrs: []op.Attr{{Name: "perm", Type: op.IntsAttr, Needed: true, Doc: "axis i of the result is axis perm[i] of x"}},
	},
	{
		ID: 142, Name: "squeeze", Kind: op.View, In: x, Grad: op.Grad{Rule: gradSame}, Accepts: moved, View: viewSqueeze, Alias: op.Alias{Write: writeReshaped}, Python: byHand, ONNX: "Squeeze-13",
		Attrs: []op.Attr{axisOrAxes},
	},
	{
		ID: 143, Name: "unsqueeze", Kind: op.View, In: x, Grad: op.Grad{Rule: gradSame}, Accepts: moved, View: viewUnsqueeze, Alias: op.Alias{Write: writeReshaped}, Python: byHand, ONNX: "Unsqueeze-13",
		Attrs: []op.Attr{{Name: "axis", Type: op.IntsAttr, Needed: true, Doc: "where axes of one element appear in the result"}},
	},
	{
		ID: 144, Name: "expand", Kind: op.View, Fresh: true, In: x, Grad: op.Grad{Rule: gradExpand}, Accepts: moved, View: viewExpand, Python: byHand, ONNX: "Expand-13",
		Attrs: []op.Attr{{Name: "shape", Type: op.IntsAttr, Needed: true, Sizes: op.AsExpanded, Doc: "dimensions to broadcast to; -1 keeps one"}},
	},
	{
		ID: 145, Name: "slice", Kind: op.View, In: []op.Input{{Name: "input"}}, Grad: op.Grad{Rule: gradSlice}, Accepts: moved, View: viewSlice, Alias: op.Alias{Write: writeSliced}, Python: byHand, ONNX: "Slice-13",
		Attrs: []op.Attr{
			{Name: "axes", Type: op.IntsAttr, Needed: true, Doc: "the axes that are cut"},
			{Name: "starts", Type: op.IntsAttr, Needed: true, Sizes: op.AsStart, Doc: "first index on each, from the end if negative"},
			{Name: "ends", Type: op.IntsAttr, Needed: true, Sizes: op.AsEnd, Doc: "index after the last on each, from the end if negative"},
			{Name: "steps", Type: op.IntsAttr, Doc: "step on each, not zero; none for 1"},
		},
	},
	{
		ID: 147, Name: "as_strided", Kind: op.View, In: x, Grad: op.Grad{Rule: gradStrided, Compact: true}, Accepts: moved, View: viewStrided, Python: byHand,
		Alias: op.Alias{Read: readByPosition(op.IDAsStrided), Write: writeByPosition(op.IDAsStrided), From: stridedFrom},
		Attrs: []op.Attr{
			{Name: "shape", Type: op.IntsAttr, Needed: true, Doc: "dimensions of the view"},
			{Name: "stride", Type: op.IntsAttr, Needed: true, Doc: "for each axis the distance of neighbours in memory, in elements"},
			{Name: "offset", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the distance of its first element from that of x, in elements"},
		},
	},
	{
		ID: 146, Name: "split", Kind: op.View, Fresh: true, Out: parts, In: x, Grad: op.Grad{Rule: gradSplit}, Accepts: moved, View: viewSplit, Python: byHand, ONNX: "Split-13",
		Attrs: []op.Attr{
			{Name: "sections", Type: op.IntsAttr, Needed: true, Doc: "lengths of the parts, one of them -1; a single number is the number of equal parts"},
			{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that is cut"},
		},
	},
}

// Assembly, lowered to copies into parts of the result, unless a device has a kernel of its own for the whole;
// see device.Composer.
var assembleRows = []op.Row{
	{
		ID: 160, Name: "concat", Kind: op.Assemble, In: []op.Input{{Name: "x", Variadic: true}}, Grad: op.Grad{Rule: gradConcat}, Accepts: moved, Infer: op.Rules{joined, concatenated}, Lower: lowerConcat, Python: &op.Python{ByHand: true}, ONNX: "Concat-13",
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis along which the tensors are joined"}},
	},
	{
		ID: 161, Name: "stack", Kind: op.Assemble, In: []op.Input{{Name: "x", Variadic: true}}, Grad: op.Grad{Rule: gradStack}, Accepts: moved, Infer: op.Rules{joined, stacked}, Lower: lowerStack, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "where the new axis appears"}},
	},
	{
		ID: 162, Name: "tile", Kind: op.Assemble, In: x, Grad: op.Grad{Rule: gradTile}, Accepts: moved, Infer: op.Rules{Same, tiled}, Lower: lowerTile, Python: byHand, ONNX: "Tile-13",
		Attrs: []op.Attr{{Name: "repeat_times", Type: op.IntsAttr, Needed: true, Sizes: op.AsDims, Doc: "how often on each axis, aligned at the last"}},
	},
	{
		ID: 164, Name: "spread", Kind: op.Assemble, In: x, Grad: op.Grad{Rule: gradSpread}, Parts: partsSpread, Accepts: moved, Infer: op.Rules{Same, spread}, Lower: lowerSpread, Python: internal,
		Attrs: []op.Attr{
			{Name: "shape", Type: op.IntsAttr, Needed: true, Sizes: op.AsDims, Doc: "dimensions of the result"},
			{Name: "axes", Type: op.IntsAttr, Needed: true, Doc: "as of slice"},
			{Name: "starts", Type: op.IntsAttr, Needed: true, Sizes: op.AsStart, Doc: "as of slice"},
			{Name: "ends", Type: op.IntsAttr, Needed: true, Sizes: op.AsEnd, Doc: "as of slice"},
			{Name: "steps", Type: op.IntsAttr, Doc: "as of slice"},
		},
	},
	{
		ID: 426, Name: "pad", Kind: op.Assemble, In: x, Grad: op.Grad{Rule: gradPad}, Accepts: moved, Infer: op.Rules{Same, padded}, Lower: lowerPad, Python: &op.Python{Module: "nn.functional", ByHand: true},
		Attrs: []op.Attr{
			{Name: "pads", Type: op.IntsAttr, Needed: true, Sizes: op.AsDims, Doc: "how many elements are added before and behind each axis, two numbers an axis; numbers below 0 drop elements"},
			{Name: "mode", Type: op.StringAttr, Default: op.Value{Kind: op.String, Ref: "constant"}, Doc: "what is added: 'constant', a value; 'reflect', what lies on the other side of the element at the end; 'replicate', that element; 'circular', what lies at the other end"},
			{Name: "value", Type: op.ScalarAttr, Default: op.Value{Kind: op.Float}, Doc: "for mode 'constant'"},
		},
	},
	{
		ID: 427, Name: "unfold", Kind: op.Assemble, In: x, Grad: op.Grad{Rule: gradUnfold}, Accepts: moved, Infer: op.Rules{Same, unfolded}, Lower: lowerUnfold, Python: &op.Python{Module: "nn.functional", ByHand: true},
		Attrs: []op.Attr{kernelSize, strides, paddings, dilations},
	},
	{
		ID: 431, Name: "diag_embed", Kind: op.Assemble, In: x, Grad: op.Grad{Rule: gradDiagEmbed}, Accepts: moved, Infer: op.Rules{Same, embedded}, Lower: lowerDiagEmbed, Python: &op.Python{Method: true, ByHand: true},
		Attrs: []op.Attr{
			aboveMain,
			{Name: "axis1", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -2}, Doc: "the axis of the result that counts rows"},
			{Name: "axis2", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: -1}, Doc: "the axis of the result that counts columns"},
			{Name: "padding_value", Type: op.ScalarAttr, Default: op.Value{Kind: op.Int}, Doc: "what stands beside the diagonals"},
		},
	},
	{
		ID: 432, Name: "diagonal_scatter", Kind: op.Assemble, In: []op.Input{{Name: "x"}, {Name: "y"}}, Grad: op.Grad{Rule: gradDiagonalScatter}, Accepts: moved, Infer: op.Rules{Same, onDiagonal}, Lower: lowerDiagonalScatter, Python: byHand,
		Attrs: []op.Attr{
			aboveMain,
			{Name: "axis1", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that counts rows"},
			{Name: "axis2", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: 1}, Doc: "the axis that counts columns"},
		},
	},
	{
		ID: 433, Name: "slice_scatter", Kind: op.Assemble, In: []op.Input{{Name: "x"}, {Name: "value"}}, Grad: op.Grad{Rule: gradSliceScatter}, Accepts: moved, Infer: op.Rules{Same, inSlice}, Lower: lowerSliceScatter, Python: byHand,
		Attrs: []op.Attr{
			{Name: "axes", Type: op.IntsAttr, Needed: true, Doc: "as of slice"},
			{Name: "starts", Type: op.IntsAttr, Needed: true, Sizes: op.AsStart, Doc: "as of slice"},
			{Name: "ends", Type: op.IntsAttr, Needed: true, Sizes: op.AsEnd, Doc: "as of slice"},
			{Name: "steps", Type: op.IntsAttr, Doc: "as of slice"},
		},
	},
	{
		ID: 434, Name: "select_scatter", Kind: op.Assemble, In: []op.Input{{Name: "x"}, {Name: "values"}}, Grad: op.Grad{Rule: gradSelectScatter}, Accepts: moved, Infer: op.Rules{Same, atIndex}, Lower: lowerSelectScatter, Python: byHand,
		Attrs: []op.Attr{
			{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that index counts along"},
			{Name: "index", Type: op.IntAttr, Needed: true, Doc: "which slice is replaced; below 0 from the end"},
		},
	},
	{
		ID: 436, Name: "block_diag", Kind: op.Assemble, In: []op.Input{{Name: "x", Variadic: true}}, Grad: op.Grad{Rule: gradBlockDiag}, Accepts: moved, Infer: op.Rules{joined, blocks}, Lower: lowerBlockDiag, Python: &op.Python{ByHand: true},
	},
	{
		ID: 163, Name: "flip", Kind: op.View, Fresh: true, In: x, Grad: op.Grad{Rule: gradFlip}, Accepts: moved, View: viewFlip, Python: byHand,
		Attrs: []op.Attr{{Name: "axis", Type: op.IntsAttr, Needed: true, Doc: "the axes that are reversed"}},
	},
}

// Reading and writing through index tensors. index, index_put and index_reduce have kernels; gather is index with its axis in front, and
// index_add and index_fill are index_reduce and index_put likewise. Indices below 0 count from the end, and those out of range fail when
// the call runs. nonzero alone has a result whose size only the elements say.
var indexRows = []op.Row{
	{
		ID: 180, Name: "gather", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "index", Domain: op.Position}}, Grad: op.Grad{Rule: gradGather, Reads: op.ReadsY}, Accepts: moved, Infer: op.Rules{gathered, gatheredShape}, Lower: lowerGather, Python: byHand, ONNX: "Gather-13",
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that index counts along"}},
	},
	{
		ID: 181, Name: "index", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "indices", Variadic: true, Domain: op.Position}}, Grad: op.Grad{Rule: gradIndex, Reads: op.ReadsY | op.ReadsZ}, Accepts: moved, Infer: op.Rules{gathered, indexed}, Frame: frameIndex, Python: internal,
	},
	{
		ID: 182, Name: "index_put", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "value"}, {Name: "indices", Variadic: true, Domain: op.Position}}, Grad: op.Grad{Rule: gradIndexPut, Reads: op.ReadsZ}, Accepts: moved, Infer: op.Rules{scattered, LikeInput, replaced}, Updates: true, Frame: frameIndexPut, Python: internal,
	},
	{
		ID: 190, Name: "index_reduce", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "value"}, {Name: "indices", Variadic: true, Domain: op.Position}}, Grad: op.Grad{Rule: gradIndexReduce, ReadsOf: readsOfIndexReduce}, Parts: partsAdded, Accepts: bitExact, Infer: op.Rules{scattered, LikeInput, replaced, folding}, Updates: true, Frame: frameIndexPut, Python: internal,
		Attrs: []op.Attr{{Name: "reduce", Type: op.StringAttr, Needed: true, Doc: "add, multiply, minimum or maximum"}},
	},
	{
		ID: 483, Name: "index_add", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "index", Domain: op.Position}, {Name: "value"}}, Grad: op.Grad{Rule: gradIndexAdd, Reads: op.ReadsY}, Accepts: bitExact, Infer: op.Rules{writtenAlong, LikeInput, addedAlong}, Updates: true, Lower: lowerIndexAdd, Python: byHand,
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that index counts along"}},
	},
	{
		ID: 484, Name: "index_fill", Kind: op.Index, In: []op.Input{{Name: "x"}, {Name: "index", Domain: op.Position}, {Name: "value"}}, Grad: op.Grad{Rule: gradIndexFill, Reads: op.ReadsY}, Accepts: moved, Infer: op.Rules{writtenAlong, LikeInput, filledAlong}, Updates: true, Lower: lowerIndexFill, Python: byHand,
		Attrs: []op.Attr{{Name: "axis", Type: op.IntAttr, Default: op.Value{Kind: op.Int}, Doc: "the axis that index counts along"}},
	},
	{
		ID: 183, Name: "nonzero", Kind: op.Index, In: x, Accepts: bitExact, Infer: op.Rules{toInt64, nonzeroBound}, Counted: true, Counter: op.IDCountNonzero, Python: byHand, ONNX: "NonZero-13",
	},
	// The choice of a box depends on all choices before it, and few boxes are chosen: a GPU would run one thread a class.
	{
		ID: 191, Name: "nms", Kind: op.Index, In: []op.Input{{Name: "boxes"}, {Name: "scores"}}, Accepts: dtype.SetOf(dtype.Float32), Infer: op.Rules{boxIndices}, Python: internal,
		Attrs: []op.Attr{
			{Name: "max_output_size", Type: op.IntAttr, Needed: true, Doc: "the most boxes of a class"},
			{Name: "iou_threshold", Type: op.FloatAttr, Needed: true, Doc: "a box is dropped if its intersection over union with a chosen one is larger"},
			{Name: "score_threshold", Type: op.FloatAttr, Needed: true, Doc: "boxes without a larger score are dropped; -inf drops only those whose score is nan"},
			{Name: "center", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "boxes are center and size, not two opposite corners"},
		},
		Lacks: []op.Lack{{Device: "metal", DTypes: dtype.SetOf(dtype.Float32), Why: "each choice depends on all before it"}},
	},
}

// Creation from attributes alone. The dtype is one of them, and so is everything that a wrapper works out from
// Python numbers first: a range has a count and no end. Random operators take one counter of the device's
// generator an element, so that numbers do not depend on how a call is divided among threads.
var createRows = []op.Row{
	{
		ID: 200, Name: "full", Kind: op.Create, Accepts: bitExact, Infer: op.Rules{toAttr, fromAttr}, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{newShape, {Name: "fill_value", Type: op.ScalarAttr, Needed: true, Sizes: op.AsAdded, Doc: "the value of every element"}, outDType},
	},
	{
		ID: 201, Name: "range", Kind: op.Create, Accepts: anyNumber, Infer: op.Rules{toAttr, fromCount}, Python: internal,
		Attrs: []op.Attr{
			{Name: "start", Type: op.ScalarAttr, Needed: true, Sizes: op.AsAdded, Doc: "first value"},
			{Name: "step", Type: op.ScalarAttr, Needed: true, Doc: "distance of neighbours"},
			{Name: "count", Type: op.IntAttr, Needed: true, Sizes: op.AsDims, Doc: "number of values"},
			outDType,
		},
	},
	{
		// What follows from sizes in ways that other rows do not say: indices and weights of resized images.
		ID: 460, Name: "number_line", Kind: op.Create, Accepts: bitExact, Infer: op.Rules{toAttr, fromValues}, Python: internal,
		Attrs: []op.Attr{{Name: "values", Type: op.FloatsAttr, Needed: true, Doc: "the elements"}, outDType},
	},
	{
		ID: 435, Name: "eye", Kind: op.Create, Accepts: moved, Infer: op.Rules{toAttr, identity}, Lower: lowerEye, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{
			{Name: "num_rows", Type: op.IntAttr, Needed: true, Sizes: op.AsDims, Doc: "number of rows"},
			{Name: "num_columns", Type: op.IntAttr, Sizes: op.AsDims, Doc: "number of columns; none for num_rows"},
			aboveMain, outDType,
		},
	},
	{
		ID: 202, Name: "linspace", Kind: op.Create, Accepts: anyNumber, Infer: op.Rules{toAttr, fromCount}, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{
			{Name: "start", Type: op.FloatAttr, Needed: true, Doc: "first value"},
			{Name: "stop", Type: op.FloatAttr, Needed: true, Doc: "last value"},
			{Name: "count", Type: op.IntAttr, Needed: true, Sizes: op.AsDims, Doc: "number of values, at least 1"},
			outDType,
		},
	},
	{
		ID: 203, Name: "uniform", Kind: op.Create, Random: true, Accepts: dtype.Floats, Infer: op.Rules{toAttr, fromAttr}, Python: &op.Python{ByHand: true}, ONNX: "RandomUniform-1",
		Attrs: []op.Attr{newShape, {Name: "min", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: -1}, Doc: "lower bound, included"}, {Name: "max", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1}, Doc: "upper bound, excluded"}, outDType},
	},
	{
		ID: 204, Name: "normal", Kind: op.Create, Random: true, Accepts: dtype.Floats, Infer: op.Rules{toAttr, fromAttr}, Python: &op.Python{ByHand: true}, ONNX: "RandomNormal-1",
		Attrs: []op.Attr{newShape, {Name: "mean", Type: op.FloatAttr, Default: op.Value{Kind: op.Float}, Doc: "mean"}, {Name: "std", Type: op.FloatAttr, Default: op.Value{Kind: op.Float, F: 1}, Doc: "standard deviation"}, outDType},
	},
	{
		ID: 205, Name: "randint", Kind: op.Create, Random: true, Accepts: dtype.Integers, Infer: op.Rules{toAttr, fromAttr}, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{newShape, {Name: "low", Type: op.IntAttr, Needed: true, Doc: "lower bound, included"}, {Name: "high", Type: op.IntAttr, Needed: true, Doc: "upper bound, excluded"}, outDType},
	},
	{
		ID: 206, Name: "randperm", Kind: op.Create, Random: true, Accepts: anyNumber, Infer: op.Rules{toAttr, fromCount}, Python: &op.Python{ByHand: true},
		Attrs: []op.Attr{{Name: "count", Type: op.IntAttr, Needed: true, Sizes: op.AsDims, Doc: "number of values"}, outDType},
	},
}

// channelsOfMatmul are the columns.
func channelsOfMatmul(at op.Attrs, out, weight int) (ofResult, ofWeight int) {
	if at[op.MatmulTransposeY].I != 0 {
		return out - 1, weight - 2
	}
	return out - 1, weight - 1
}
