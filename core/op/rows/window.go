package rows

import (
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/op"
)

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
	strides     = op.Attr{Name: "stride", Type: op.IntsAttr, Doc: "distance of neighbouring windows on each axis; none for 1"}
	poolStrides = op.Attr{Name: "stride", Type: op.IntsAttr, Doc: "distance of neighbouring windows on each axis; none for kernel_size"}
	paddings    = op.Attr{Name: "padding", Type: op.IntsAttr, Doc: "elements added before and behind each axis, two numbers an axis; none for 0"}
	dilations   = op.Attr{Name: "dilation", Type: op.IntsAttr, Doc: "distance of neighbours in a window on each axis; none for 1"}
	convGroups  = op.Attr{Name: "groups", Type: op.IntAttr, Default: op.Value{Kind: op.Int, I: 1}, Doc: "parts of the channels that are convolved by themselves"}
	lastChannel = op.Attr{Name: "channels_last", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "channels are the last axis of images, not axis 1"}
	kernelSize  = op.Attr{Name: "kernel_size", Type: op.IntsAttr, Needed: true, Doc: "size of the window on each axis"}
	ceilMode    = op.Attr{Name: "ceil_mode", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "the number of windows is rounded up, so that the last may reach beyond the padding"}
	adaptive    = op.Attr{Name: "adaptive", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "kernel_size is the size of the result; window i of n is from floor(i * size / n) to ceil((i + 1) * size / n)"}
	exclusive   = op.Attr{Name: "exclusive", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool, I: 1}, Doc: "divide by the elements of the window that are in x, not by the size of the window"}
	planeSize   = op.Attr{Name: "size", Type: op.IntsAttr, Needed: true, Doc: "spatial size of the result"}

	images  = []op.Input{{Name: "x", Domain: op.Ordinary}}
	filters = []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "weight", Domain: op.Ordinary}}
)

// Settings have the shapes of the operands, which depend on each other and on the attributes.
var windowRows = []op.Row{
	// The weight is not turned around, as the word would have it: this is what all frameworks call a convolution. An
	// element is a sum of C / groups times the elements of the kernel, each product of which is rounded with the sum so
	// far: a rounding a term. Where the CPU computes tiles (kernels/host/conv/winograd.go), a rounding is one of a product of sums, which
	// is beyond that where large elements of a window meet weights near 0.
	{
		ID: 220, Name: "conv", Kind: op.Window, Channels: channelsOfConv, In: filters, Grad: op.Grad{Rule: gradConv, Reads: op.ReadsX | op.ReadsY, Crossed: true}, Accepts: dtype.Floats, Infer: op.Rules{Identical, convolved}, Frame: frameFirst,
		Tolerance: termwise, Python: internal, ONNX: "Conv-11",
		Attrs: []op.Attr{strides, paddings, dilations, convGroups, lastChannel},
	},
	// The padding is zero, so that it adds nothing. Where a device has no kernel of it, it is lowered to conv in floats that hold
	// every sum.
	{
		ID: 229, Name: "conv_integer", Kind: op.Window, In: []op.Input{{Name: "x"}, {Name: "weight"}, {Name: "zero", Optional: true}}, Accepts: dtype.SetOf(dtype.Uint8, dtype.Int8), Infer: op.Rules{bytesToInt32, convolved}, Frame: frameFirst, Lower: lowerIntegers, Python: internal,
		Attrs: []op.Attr{strides, paddings, dilations, convGroups, lastChannel},
	},
	// Its groups divide the channels of x, as those of conv divide the channels of the result. With strides some sizes
	// of images have one number of windows; output_padding says which of them the result has, counted from the least.
	{
		ID: 221, Name: "conv_transpose", Kind: op.Window, In: filters, Grad: op.Grad{Rule: gradConvTranspose, Reads: op.ReadsX | op.ReadsY, Crossed: true}, Accepts: dtype.Floats, Infer: op.Rules{Identical, convolvedBack}, Frame: frameFirst,
		Tolerance: termwise, Python: internal, ONNX: "ConvTranspose-11",
		Attrs: []op.Attr{
			strides, paddings,
			{Name: "output_padding", Type: op.IntsAttr, Doc: "elements that the result has more at the end of each axis; none for 0"},
			dilations, convGroups, lastChannel,
		},
	},
	// A term is a window of an image, so that an element is a sum over the windows of all images. Which elements of x
	// were behind the last window follows from the shapes of both operands.
	{
		ID: 222, Name: "conv_weight", Kind: op.Window, In: []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "y", Domain: op.Ordinary}}, Grad: op.Grad{Rule: gradConvWeight, Reads: op.ReadsX | op.ReadsY, Crossed: true}, Accepts: dtype.Floats,
		Infer: op.Rules{Identical, convolvedWeight}, Frame: frameBoth, Tolerance: termwise, Python: internal,
		Attrs: []op.Attr{kernelSize, strides, paddings, dilations, convGroups, lastChannel},
	},
	// The indices are the mask of Paddle's max_pool2d, and they number a plane in row-major order whatever the layout is.
	// They are computed in any case: the gradient needs them, and callers that want the values alone drop them.
	{
		ID: 223, Name: "max_pool", Kind: op.Window, In: x, Out: []op.Output{{Name: "values"}, {Name: "indices", Optional: true}}, Grad: op.Grad{Rule: gradMaxPool, Reads: op.ReadsNext}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, pooled, withPlanePlaces}, Frame: frameAll,
		Python: internal,
		Attrs:  []op.Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, lastChannel, indexDType},
	},
	// Without add it is Paddle's max_unpool2d; with it, the gradient of max_pool, for which windows that overlap may name
	// one element several times. Indices below 0 do not count from the end here: Paddle refuses them, and max_pool uses -1
	// for windows without elements.
	{
		ID: 224, Name: "max_unpool", Kind: op.Window, In: []op.Input{{Name: "x", Domain: op.Ordinary}, {Name: "indices", Domain: op.Position}}, Grad: op.Grad{Rule: gradMaxUnpool, Reads: op.ReadsY}, Accepts: anyNumber, Infer: op.Rules{gathered, unpooled}, Frame: frameAll,
		Tolerance: termwise, Python: internal, // of add
		Attrs: []op.Attr{
			planeSize,
			{Name: "add", Type: op.BoolAttr, Default: op.Value{Kind: op.Bool}, Doc: "elements for one place are added up; else the last of them stays"},
			lastChannel,
		},
	},
	// The sum is rounded once a term at most, the quotient once.
	{
		ID: 225, Name: "avg_pool", Kind: op.Window, In: images, Grad: op.Grad{Rule: gradAvgPool}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, pooled}, Frame: frameAll,
		Tolerance: Rounded.Plus(op.Roundings{Once: 1, Term: 1}), Python: internal,
		Attrs: []op.Attr{kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel},
	},
	// The size of the images has to be given, because several have the same number of windows.
	{
		ID: 226, Name: "avg_unpool", Kind: op.Window, In: images, Grad: op.Grad{Rule: gradAvgUnpool}, Accepts: dtype.Floats, Infer: op.Rules{FloatOnly, unpooledMean}, Frame: frameAll,
		Tolerance: Rounded.Plus(op.Roundings{Once: 1, Term: 2}), Python: internal, // each term is a quotient
		Attrs: []op.Attr{planeSize, kernelSize, poolStrides, paddings, ceilMode, adaptive, exclusive, lastChannel},
	},
}

// channelsOfConv are the second or the last axis of an image.
func channelsOfConv(at op.Attrs, out, _ int) (ofResult, ofWeight int) {
	if at[op.ConvChannelsLast].I != 0 {
		return out - 1, 0
	}
	return 1, 0
}
