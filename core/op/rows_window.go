package op

import "github.com/paddle-mps/paddle-mps/core/dtype"

// Convolution and pooling: operators that move a window over one to three spatial axes of images.
//
// The rows are closed under differentiation. A convolution is linear in either operand, and its gradients are the other
// two convolutions:
//
//	conv(x, w)            dx = conv_transpose(dy, w)   dw = conv_weight(x, dy)
//	conv_transpose(x, w)  dx = conv(dy, w)             dw = conv_weight(dy, x)
//	conv_weight(x, y)     dx = conv_transpose(y, dw)   dy = conv(x, dw)
//	avg_pool(x)           dx = avg_unpool(dy)
//	avg_unpool(x)         dx = avg_pool(dy)
//	max_pool(x)           dx = max_unpool(dy, indices, add=True)
//	max_unpool(x, at)     dx = the elements of dy at these indices: index
//
// The output_padding of a conv_transpose that is a gradient is what conv left over of x at its end, and the kernel_size of
// a conv_weight is that of w.

var (
	// Attributes that windows share. Lists have a number for each spatial axis.
	strides     = Attr{Name: "stride", Type: IntsAttr, Doc: "distance of neighbouring windows on each axis; none for 1"}
	poolStrides = Attr{Name: "stride", Type: IntsAttr, Doc: "distance of neighbouring windows on each axis; none for kernel_size"}
	paddings    = Attr{Name: "padding", Type: IntsAttr, Doc: "elements added before and behind each axis, two numbers an axis; none for 0"}
	dilations   = Attr{Name: "dilation", Type: IntsAttr, Doc: "distance of neighbours in a window on each axis; none for 1"}
	convGroups  = Attr{Name: "groups", Type: IntAttr, Default: Value{Kind: Int, I: 1}, Doc: "parts of the channels that are convolved by themselves"}
	lastChannel = Attr{Name: "channels_last", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "channels are the last axis of images, not axis 1"}
	kernelSize  = Attr{Name: "kernel_size", Type: IntsAttr, Needed: true, Doc: "size of the window on each axis"}
	ceilMode    = Attr{Name: "ceil_mode", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "the number of windows is rounded up, so that the last may reach beyond the padding"}
	adaptive    = Attr{Name: "adaptive", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "kernel_size is the size of the result; window i of n is from floor(i * size / n) to ceil((i + 1) * size / n)"}
	exclusive   = Attr{Name: "exclusive", Type: BoolAttr, Default: Value{Kind: Bool, I: 1}, Doc: "divide by the elements of the window that are in x, not by the size of the window"}
	planeSize   = Attr{Name: "size", Type: IntsAttr, Needed: true, Doc: "spatial size of the result"}

	images  = []Input{{Name: "x", Domain: Ordinary}}
	filters = []Input{{Name: "x", Domain: Ordinary}, {Name: "weight", Domain: Ordinary}}
)

// Settings have the shapes of the operands, which depend on each other and on the attributes.
var windowRows = []Row{
	// The weight is not turned around, as the word would have it: this is what all frameworks call a convolution. An
	// element is a sum of C / groups times the elements of the kernel, each product of which is rounded with the sum so
	// far: a rounding a term. Where the CPU computes tiles (kernels/host/convwinograd.go), a rounding is one of a product of sums, which
	// is beyond that where large elements of a window meet weights near 0.
	{
		ID: 220, Name: "conv", Kind: Window, Channels: channelsOfConv, In: filters, Grad: Grad{Rule: gradConv, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: dtype.Floats, Infer: rules{identical, convolved}, Frame: frameFirst,
		Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal, ONNX: "Conv-11",
		Attrs: []Attr{strides, paddings, dilations, convGroups, lastChannel}, NumPy: "conv(x, weight, given)",
		Doc: "Cross-correlation of images [N, C, size...] with weight [O, C / groups, kernel...]: [N, O, windows...]. With AVX-512, kernels of 3 x 3 " +
			"elements over 32 channels or more are computed by Winograd's F(2x2): roundings are relative to products of sums of a window and of a kernel.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}, {4, 3, 3, 2}}}},
			{{OperandShapes, [][]int{{2, 4, 9}, {6, 2, 3}}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 7, 8, 4}, {4, 1, 3, 3}}}, {"stride", []int{2, 1}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}, {2, 3, 2, 3, 1}}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}},
			{{OperandShapes, [][]int{{2, 5, 4, 4}, {7, 5, 1, 1}}}},
			{{OperandShapes, [][]int{{1, 40, 20, 20}, {33, 40, 3, 3}}}, {"padding", []int{1, 1, 1, 1}}},
		},
	},
	// The padding is zero, so that it adds nothing. Where a device has no kernel of it, it is lowered to conv in floats that hold
	// every sum.
	{
		ID: 229, Name: "conv_integer", Kind: Window, In: []Input{{Name: "x"}, {Name: "weight"}, {Name: "zero", Optional: true}}, Accepts: dtype.SetOf(dtype.Uint8, dtype.Int8), Infer: rules{bytesToInt32, convolved}, Frame: frameFirst, Lower: lowerIntegers, Python: internal,
		Attrs:     []Attr{strides, paddings, dilations, convGroups, lastChannel},
		Doc:       "conv of x - zero and weight in int32; x and weight are int8 or uint8, and zero is one element of x's dtype, 0 if it is left out.",
		Elsewhere: "kernels/host/conv8_test.go",
		Settings:  []Setting{{{OperandShapes, [][]int{{2, 3, 6, 7}, {4, 3, 3, 2}, {}}}}},
	},
	// Its groups divide the channels of x, as those of conv divide the channels of the result. With strides some sizes
	// of images have one number of windows; output_padding says which of them the result has, counted from the least.
	{
		ID: 221, Name: "conv_transpose", Kind: Window, In: filters, Grad: Grad{Rule: gradConvTranspose, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: dtype.Floats, Infer: rules{identical, convolvedBack}, Frame: frameFirst,
		Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal, ONNX: "ConvTranspose-11",
		Attrs: []Attr{
			strides, paddings,
			{Name: "output_padding", Type: IntsAttr, Doc: "elements that the result has more at the end of each axis; none for 0"},
			dilations, convGroups, lastChannel,
		},
		NumPy: "conv_transpose(x, weight, given)",
		Doc:   "The transpose of conv as a linear map of its images: [N, O, size...] with weight [O, C / groups, kernel...] to [N, C, ...].",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 5, 4}, {3, 4, 3, 2}}}},
			{{OperandShapes, [][]int{{2, 4, 5}, {4, 3, 3}}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"output_padding", []int{1}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 4, 3, 4}, {4, 1, 3, 3}}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 2, 3, 3}, {3, 2, 2, 3, 1}}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}, {"output_padding", []int{0, 1, 2}}},
		},
	},
	// A term is a window of an image, so that an element is a sum over the windows of all images. Which elements of x
	// were behind the last window follows from the shapes of both operands.
	{
		ID: 222, Name: "conv_weight", Kind: Window, In: []Input{{Name: "x", Domain: Ordinary}, {Name: "y", Domain: Ordinary}}, Grad: Grad{Rule: gradConvWeight, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: dtype.Floats,
		Infer: rules{identical, convolvedWeight}, Frame: frameBoth, Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal,
		Attrs: []Attr{kernelSize, strides, paddings, dilations, convGroups, lastChannel},
		NumPy: "conv_weight(x, y, given)",
		Doc:   "The gradient of conv(x, weight) with respect to weight, where y is that of the result.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}, {2, 4, 4, 6}}}, {"kernel_size", []int{3, 2}}},
			{{OperandShapes, [][]int{{2, 4, 9}, {2, 6, 4}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 7, 8, 4}, {1, 4, 8, 4}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 1}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}, {2, 2, 4, 3, 2}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}},
		},
	},
	// The indices are the mask of Paddle's max_pool2d, and they number a plane in row-major order whatever the layout is.
	// They are computed in any case: the gradient needs them, and callers that want the values alone drop them.
	{
		ID: 223, Name: "max_pool", Kind: Window, In: x, Out: []Output{{Name: "values"}, {Name: "indices", Optional: true}}, Grad: Grad{Rule: gradMaxPool, Reads: ReadsNext}, Accepts: dtype.Floats, Infer: rules{floatOnly, pooled, withPlanePlaces}, Frame: frameAll,
		Python: internal,
		Attrs:  []Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, lastChannel, indexDType}, NumPy: "max_pool(x, given, lowest)",
		Doc: "The largest element of each window, and the index of the first of those in the flattened plane; nan is the largest. A window without elements has the smallest finite number and index -1.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 9}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dtype", "int32"}},
			{{OperandShapes, [][]int{{2, 7, 8, 3}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 2}}},
			{{OperandShapes, [][]int{{2, 3, 7, 5}}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		},
	},
	// Without add it is Paddle's max_unpool2d; with it, the gradient of max_pool, for which windows that overlap may name
	// one element several times. Indices below 0 do not count from the end here: Paddle refuses them, and max_pool uses -1
	// for windows without elements.
	{
		ID: 224, Name: "max_unpool", Kind: Window, In: []Input{{Name: "x", Domain: Ordinary}, {Name: "indices", Domain: Position}}, Grad: Grad{Rule: gradMaxUnpool, Reads: ReadsY}, Accepts: anyNumber, Infer: rules{gathered, unpooled}, Frame: frameAll,
		Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal, // of add
		Attrs: []Attr{
			planeSize,
			{Name: "add", Type: BoolAttr, Default: Value{Kind: Bool}, Doc: "elements for one place are added up; else the last of them stays"},
			lastChannel,
		},
		NumPy: "max_unpool(x, indices, given)", Doc: "Zeros, with the elements of x at the indices of max_pool.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 2, 3}, {2, 3, 2, 3}}}, {"size", []int{4, 5}}},
			{{OperandShapes, [][]int{{2, 3, 4, 3}, {2, 3, 4, 3}}}, {"size", []int{3, 3}}, {"add", true}, {"channels_last", true}},
		},
	},
	// The sum is rounded once a term at most, the quotient once.
	{
		ID: 225, Name: "avg_pool", Kind: Window, In: images, Grad: Grad{Rule: gradAvgPool}, Accepts: dtype.Floats, Infer: rules{floatOnly, pooled}, Frame: frameAll,
		Tolerance: rounded.plus(Roundings{Once: 1, Term: 1}), Python: internal,
		Attrs: []Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel}, NumPy: "avg_pool(x, given)",
		Doc: "The mean of each window. Of one without elements it is 0 divided by the product of the distances from its first to its last element in x on each axis, as in Paddle: nan, or a zero behind the end.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 9}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 7, 8, 3}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}, {"ceil_mode", true}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 3, 7, 5}}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		},
	},
	// The size of the images has to be given, because several have the same number of windows.
	{
		ID: 226, Name: "avg_unpool", Kind: Window, In: images, Grad: Grad{Rule: gradAvgUnpool}, Accepts: dtype.Floats, Infer: rules{floatOnly, unpooledMean}, Frame: frameAll,
		Tolerance: rounded.plus(Roundings{Once: 1, Term: 2}), Python: internal, // each term is a quotient
		Attrs: []Attr{planeSize, kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel}, NumPy: "avg_unpool(x, given)",
		Doc: "The transpose of avg_pool as a linear map: each element of x, divided as there, is added to all elements of its window.",
		Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 3, 2}}}, {"size", []int{6, 7}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 5}}}, {"size", []int{9}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 4, 4, 3}}}, {"size", []int{7, 8}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 3, 4}}}, {"size", []int{7, 5}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		},
	},
}
