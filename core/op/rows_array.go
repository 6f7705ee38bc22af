package op

import "github.com/paddle-mps/paddle-mps/core/dtype"

// Operators on whole arrays: reductions, products, views, indexing and creation.

var (
	axisOrAxes = Attr{Name: "axis", Type: IntsAttr, Doc: "an axis, several, or none for all"}
	oneAxis    = Attr{Name: "axis", Type: IntAttr, Doc: "the axis; none for the flattened tensor"}
	keepDim    = Attr{Name: "keepdim", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "keep reduced axes with one element"}
	sumDType   = Attr{Name: "dtype", Type: DTypeAttr, Doc: "x is cast to it first; none for the rule of the operator"}
	newShape   = Attr{Name: "shape", Type: IntsAttr, Needed: true, Doc: "dimensions of the result"}
	outDType   = Attr{Name: "dtype", Type: DTypeAttr, Needed: true, Doc: "dtype of the result"}
	byHand     = Python{Method: true, ByHand: true}
	internal   = Python{Internal: true}
)

var reduceRows = []Row{
	{
		ID: 100, Name: "sum", Kind: Reduce, In: x, Accepts: bitExact, Types: summed, Shape: reduced, ULP: rounded, Python: byHand, ONNX: "ReduceSum-13",
		Attrs: []Attr{axisOrAxes, sumDType, keepDim}, NumPy: "np.sum(x, axis=axis, keepdims=keepdim)", Doc: "Sum; bool and int32 as int64; 0 of nothing.",
	},
	{
		ID: 101, Name: "mean", Kind: Reduce, In: x, Accepts: bitExact, Types: same, Shape: reduced, ULP: rounded, Python: byHand, ONNX: "ReduceMean-18",
		Attrs: []Attr{axisOrAxes, keepDim}, NumPy: "mean(x, axis, keepdim)", Doc: "Arithmetic mean in x's dtype; nan of nothing.",
	},
	{
		ID: 102, Name: "max", Kind: Reduce, In: x, Accepts: bitExact, Types: same, Shape: reducedSome, Python: method, ONNX: "ReduceMax-18",
		Attrs: []Attr{axisOrAxes, keepDim}, NumPy: "np.max(x, axis=axis, keepdims=keepdim)", Doc: "Largest element; nan if any is.",
	},
	{
		ID: 103, Name: "min", Kind: Reduce, In: x, Accepts: bitExact, Types: same, Shape: reducedSome, Python: method, ONNX: "ReduceMin-18",
		Attrs: []Attr{axisOrAxes, keepDim}, NumPy: "np.min(x, axis=axis, keepdims=keepdim)", Doc: "Smallest element; nan if any is.",
	},
	{
		ID: 104, Name: "prod", Kind: Reduce, In: x, Accepts: bitExact, Types: multiplied, Shape: reduced, ULP: rounded, Python: method, ONNX: "ReduceProd-18",
		Attrs: []Attr{axisOrAxes, keepDim, sumDType}, NumPy: "np.prod(x, axis=axis, keepdims=keepdim)", Doc: "Product; bool as int64; 1 of nothing.",
	},
	{
		ID: 105, Name: "any", Kind: Reduce, In: x, Accepts: bitExact, Types: toBool, Shape: reduced, Python: method,
		Attrs: []Attr{axisOrAxes, keepDim}, NumPy: "np.any(x, axis=axis, keepdims=keepdim)", Doc: "Whether any element is not zero.",
	},
	{
		ID: 106, Name: "all", Kind: Reduce, In: x, Accepts: bitExact, Types: toBool, Shape: reduced, Python: method,
		Attrs: []Attr{axisOrAxes, keepDim}, NumPy: "np.all(x, axis=axis, keepdims=keepdim)", Doc: "Whether no element is zero.",
	},
	{
		ID: 107, Name: "argmax", Kind: Reduce, In: x, Accepts: anyNumber, Types: toIndex, Shape: reducedOne, Python: method, ONNX: "ArgMax-13",
		Attrs: []Attr{oneAxis, keepDim, {Name: "dtype", Type: DTypeAttr, Default: Value{Kind: DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
		NumPy: "argmax(x, axis, keepdim)", Doc: "Index of the first largest element; nan never wins unless all are.",
	},
	{
		ID: 108, Name: "argmin", Kind: Reduce, In: x, Accepts: anyNumber, Types: toIndex, Shape: reducedOne, Python: method, ONNX: "ArgMin-13",
		Attrs: []Attr{oneAxis, keepDim, {Name: "dtype", Type: DTypeAttr, Default: Value{Kind: DType, I: int64(dtype.Int64)}, Doc: "int64 or int32"}},
		NumPy: "argmax(-x.astype(float), axis, keepdim)", Doc: "Index of the first smallest element; nan never wins unless all are.",
	},
	{
		ID: 120, Name: "matmul", Kind: Product, In: xy, Accepts: anyNumber, Types: same, Shape: multipliedShape, ULP: rounded, Python: method, ONNX: "MatMul-13",
		Attrs: []Attr{
			{Name: "transpose_x", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of x"},
			{Name: "transpose_y", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "swap the last two axes of y"},
		},
		NumPy: "np.matmul(swap(x, transpose_x), swap(y, transpose_y))", Doc: "Matrix product over the last two axes, in x's dtype; leading axes broadcast, a vector is a row or a column.",
	},
}

var viewRows = []Row{
	{
		ID: 140, Name: "reshape", Kind: View, In: x, Accepts: bitExact, View: viewReshape, Python: byHand, ONNX: "Reshape-14",
		Attrs: []Attr{{Name: "shape", Type: IntsAttr, Needed: true, Doc: "new dimensions; 0 copies one, -1 is inferred"}}, NumPy: "reshape(x, shape)", Doc: "The same elements under another shape.",
	},
	{
		ID: 141, Name: "transpose", Kind: View, In: x, Accepts: bitExact, View: viewTranspose, Python: byHand, ONNX: "Transpose-13",
		Attrs: []Attr{{Name: "perm", Type: IntsAttr, Needed: true, Doc: "axis i of the result is axis perm[i] of x"}}, NumPy: "np.transpose(x, perm)", Doc: "The axes in another order.",
	},
	{
		ID: 142, Name: "squeeze", Kind: View, In: x, Accepts: bitExact, View: viewSqueeze, Python: byHand, ONNX: "Squeeze-13",
		Attrs: []Attr{axisOrAxes}, NumPy: "np.squeeze(x, axis)", Doc: "Without axes of one element.",
	},
	{
		ID: 143, Name: "unsqueeze", Kind: View, In: x, Accepts: bitExact, View: viewUnsqueeze, Python: byHand, ONNX: "Unsqueeze-13",
		Attrs: []Attr{{Name: "axis", Type: IntsAttr, Needed: true, Doc: "where axes of one element appear in the result"}}, NumPy: "unsqueeze(x, axis)", Doc: "With further axes of one element.",
	},
	{
		ID: 144, Name: "expand", Kind: View, Fresh: true, In: x, Accepts: bitExact, View: viewExpand, Python: byHand, ONNX: "Expand-13",
		Attrs: []Attr{{Name: "shape", Type: IntsAttr, Needed: true, Doc: "dimensions to broadcast to; -1 keeps one"}}, NumPy: "expand(x, shape)", Doc: "Broadcast to a shape.",
	},
	{
		ID: 145, Name: "slice", Kind: View, In: []Input{{Name: "input"}}, Accepts: bitExact, View: viewSlice, Python: byHand, ONNX: "Slice-13",
		Attrs: []Attr{
			{Name: "axes", Type: IntsAttr, Needed: true, Doc: "the axes that are cut"},
			{Name: "starts", Type: IntsAttr, Needed: true, Doc: "first index on each, from the end if negative"},
			{Name: "ends", Type: IntsAttr, Needed: true, Doc: "index after the last on each, from the end if negative"},
			{Name: "steps", Type: IntsAttr, Doc: "step on each, not zero; none for 1"},
		}, NumPy: "input[slices(input, axes, starts, ends, steps)]", Doc: "A range of indices on some axes.",
	},
	{
		ID: 146, Name: "split", Kind: View, Fresh: true, Many: true, In: x, Accepts: bitExact, View: viewSplit, Python: byHand, ONNX: "Split-13",
		Attrs: []Attr{
			{Name: "sections", Type: IntsAttr, Needed: true, Doc: "lengths of the parts, one of them -1; a single number is the number of equal parts"},
			{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis that is cut"},
		}, NumPy: "split(x, sections, axis)", Doc: "Parts of a tensor along an axis.",
	},
}

var assembleRows = []Row{
	{
		ID: 160, Name: "concat", Kind: Assemble, In: []Input{{Name: "x", Variadic: true}}, Accepts: bitExact, Types: joined, Shape: concatenated, Python: Python{ByHand: true}, ONNX: "Concat-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis along which the tensors are joined"}}, NumPy: "np.concatenate(x, axis)", Doc: "Tensors end to end along an axis.",
	},
	{
		ID: 161, Name: "stack", Kind: Assemble, In: []Input{{Name: "x", Variadic: true}}, Accepts: bitExact, Types: joined, Shape: stacked, Python: Python{ByHand: true},
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "where the new axis appears"}}, NumPy: "np.stack(x, axis)", Doc: "Tensors of one shape side by side along a new axis.",
	},
	{
		ID: 162, Name: "tile", Kind: Assemble, In: x, Accepts: bitExact, Types: same, Shape: tiled, Python: byHand, ONNX: "Tile-13",
		Attrs: []Attr{{Name: "repeat_times", Type: IntsAttr, Needed: true, Doc: "how often on each axis, aligned at the last"}}, NumPy: "np.tile(x, repeat_times)", Doc: "x repeated along its axes.",
	},
	{
		ID: 163, Name: "flip", Kind: View, Fresh: true, In: x, Accepts: bitExact, View: viewFlip, Python: byHand,
		Attrs: []Attr{{Name: "axis", Type: IntsAttr, Needed: true, Doc: "the axes that are reversed"}}, NumPy: "np.flip(x, axis)", Doc: "x with some axes in reverse order.",
	},
}

var indexRows = []Row{
	{
		ID: 180, Name: "gather", Kind: Index, In: []Input{{Name: "x"}, {Name: "index"}}, Accepts: bitExact, Types: gathered, Shape: gatheredShape, Python: byHand, ONNX: "Gather-13",
		Attrs: []Attr{{Name: "axis", Type: IntAttr, Default: Value{Kind: Int}, Doc: "the axis that index counts along"}}, NumPy: "np.take(x, index, axis)", Doc: "The slices x[index[i]] along an axis; index is 0-d or 1-d, int32 or int64.",
	},
	{
		ID: 181, Name: "index", Kind: Index, In: []Input{{Name: "x"}, {Name: "indices", Variadic: true}}, Accepts: bitExact, Types: gathered, Shape: indexed, Python: internal,
		Doc: "out[b..., r...] = x[i0[b], i1[b], ..., r...]: the k index tensors, broadcast to b, count along the first k axes of x.",
	},
	{
		ID: 182, Name: "index_put", Kind: Index, In: []Input{{Name: "value"}, {Name: "indices", Variadic: true}}, Accepts: bitExact, Types: gathered, Shape: indexedInto, Python: internal,
		Doc: "x[i0[b], i1[b], ..., r...] = value[b..., r...], where x is the given output; of equal indices the last wins.",
	},
	{
		ID: 183, Name: "nonzero", Kind: Index, In: x, Accepts: bitExact, Types: toInt64, Shape: nonzeroBound, Python: byHand, ONNX: "NonZero-13",
		NumPy: "np.argwhere(x)", Doc: "Indices of the elements that are not zero, one row each in row-major order: shape [count, rank].",
	},
}

var createRows = []Row{
	{
		ID: 200, Name: "full", Kind: Create, Accepts: bitExact, Types: toAttr, Shape: fromAttr, Python: Python{ByHand: true},
		Attrs: []Attr{newShape, {Name: "fill_value", Type: ScalarAttr, Needed: true, Doc: "the value of every element"}, outDType}, NumPy: "np.full(shape, fill_value)", Doc: "A tensor of one value.",
	},
	{
		ID: 201, Name: "range", Kind: Create, Accepts: anyNumber, Types: toAttr, Shape: fromCount, Python: internal,
		Attrs: []Attr{
			{Name: "start", Type: ScalarAttr, Needed: true, Doc: "first value"},
			{Name: "step", Type: ScalarAttr, Needed: true, Doc: "distance of neighbours"},
			{Name: "count", Type: IntAttr, Needed: true, Doc: "number of values"},
			outDType,
		}, Doc: "start + i * step, computed in int64 or float64.",
	},
	{
		ID: 202, Name: "linspace", Kind: Create, Accepts: anyNumber, Types: toAttr, Shape: fromCount, Python: Python{ByHand: true},
		Attrs: []Attr{
			{Name: "start", Type: FloatAttr, Needed: true, Doc: "first value"},
			{Name: "stop", Type: FloatAttr, Needed: true, Doc: "last value"},
			{Name: "count", Type: IntAttr, Needed: true, Doc: "number of values, at least 1"},
			outDType,
		}, NumPy: "np.linspace(start, stop, count)", Doc: "count values at equal distances, both ends included.",
	},
	{
		ID: 203, Name: "uniform", Kind: Create, Random: true, Accepts: dtype.Floats, Types: toAttr, Shape: fromAttr, Python: Python{ByHand: true}, ONNX: "RandomUniform-1",
		Attrs: []Attr{newShape, {Name: "min", Type: FloatAttr, Default: Value{Kind: Float, F: -1}, Doc: "lower bound, included"}, {Name: "max", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "upper bound, excluded"}, outDType},
		Doc:   "Uniformly distributed values in [min, max), from Philox4x32-10.",
	},
	{
		ID: 204, Name: "normal", Kind: Create, Random: true, Accepts: dtype.Floats, Types: toAttr, Shape: fromAttr, Python: Python{ByHand: true}, ONNX: "RandomNormal-1",
		Attrs: []Attr{newShape, {Name: "mean", Type: FloatAttr, Default: Value{Kind: Float}, Doc: "mean"}, {Name: "std", Type: FloatAttr, Default: Value{Kind: Float, F: 1}, Doc: "standard deviation"}, outDType},
		Doc:   "Normally distributed values, from Philox4x32-10 by Box and Muller's transform.",
	},
	{
		ID: 205, Name: "randint", Kind: Create, Random: true, Accepts: dtype.Integers, Types: toAttr, Shape: fromAttr, Python: Python{ByHand: true},
		Attrs: []Attr{newShape, {Name: "low", Type: IntAttr, Needed: true, Doc: "lower bound, included"}, {Name: "high", Type: IntAttr, Needed: true, Doc: "upper bound, excluded"}, outDType},
		Doc:   "Uniformly distributed integers in [low, high), from Philox4x32-10.",
	},
	{
		ID: 206, Name: "randperm", Kind: Create, Random: true, Accepts: anyNumber, Types: toAttr, Shape: fromCount, Python: Python{ByHand: true},
		Attrs: []Attr{{Name: "count", Type: IntAttr, Needed: true, Doc: "number of values"}, outDType}, Doc: "The integers 0 to count - 1 in random order.",
	},
}
