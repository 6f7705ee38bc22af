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
	// far: a rounding a term. Where the CPU computes tiles (kernels/host/conv/winograd.go), a rounding is one of a product of sums, which
	// is beyond that where large elements of a window meet weights near 0.
	{
		ID: 220, Name: "conv", Kind: Window, Channels: channelsOfConv, In: filters, Grad: Grad{Rule: gradConv, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: dtype.Floats, Infer: rules{identical, convolved}, Frame: frameFirst,
		Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal, ONNX: "Conv-11",
		Attrs: []Attr{strides, paddings, dilations, convGroups, lastChannel},
	},
	// The padding is zero, so that it adds nothing. Where a device has no kernel of it, it is lowered to conv in floats that hold
	// every sum.
	{
		ID: 229, Name: "conv_integer", Kind: Window, In: []Input{{Name: "x"}, {Name: "weight"}, {Name: "zero", Optional: true}}, Accepts: dtype.SetOf(dtype.Uint8, dtype.Int8), Infer: rules{bytesToInt32, convolved}, Frame: frameFirst, Lower: lowerIntegers, Python: internal,
		Attrs: []Attr{strides, paddings, dilations, convGroups, lastChannel},
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
	},
	// A term is a window of an image, so that an element is a sum over the windows of all images. Which elements of x
	// were behind the last window follows from the shapes of both operands.
	{
		ID: 222, Name: "conv_weight", Kind: Window, In: []Input{{Name: "x", Domain: Ordinary}, {Name: "y", Domain: Ordinary}}, Grad: Grad{Rule: gradConvWeight, Reads: ReadsX | ReadsY, Crossed: true}, Accepts: dtype.Floats,
		Infer: rules{identical, convolvedWeight}, Frame: frameBoth, Tolerance: rounded.plus(Roundings{Term: 1}), Python: internal,
		Attrs: []Attr{kernelSize, strides, paddings, dilations, convGroups, lastChannel},
	},
	// The indices are the mask of Paddle's max_pool2d, and they number a plane in row-major order whatever the layout is.
	// They are computed in any case: the gradient needs them, and callers that want the values alone drop them.
	{
		ID: 223, Name: "max_pool", Kind: Window, In: x, Out: []Output{{Name: "values"}, {Name: "indices", Optional: true}}, Grad: Grad{Rule: gradMaxPool, Reads: ReadsNext}, Accepts: dtype.Floats, Infer: rules{floatOnly, pooled, withPlanePlaces}, Frame: frameAll,
		Python: internal,
		Attrs:  []Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, lastChannel, indexDType},
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
	},
	// The sum is rounded once a term at most, the quotient once.
	{
		ID: 225, Name: "avg_pool", Kind: Window, In: images, Grad: Grad{Rule: gradAvgPool}, Accepts: dtype.Floats, Infer: rules{floatOnly, pooled}, Frame: frameAll,
		Tolerance: rounded.plus(Roundings{Once: 1, Term: 1}), Python: internal,
		Attrs: []Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel},
	},
	// The size of the images has to be given, because several have the same number of windows.
	{
		ID: 226, Name: "avg_unpool", Kind: Window, In: images, Grad: Grad{Rule: gradAvgUnpool}, Accepts: dtype.Floats, Infer: rules{floatOnly, unpooledMean}, Frame: frameAll,
		Tolerance: rounded.plus(Roundings{Once: 1, Term: 2}), Python: internal, // each term is a quotient
		Attrs: []Attr{planeSize, kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel},
	},
}
