package mpsgraph

import "github.com/paddle-mps/paddle-mps/objc"

// TensorNamedDataLayout is MPSGraphTensorNamedDataLayout: the order of the axes of images or weights.
type TensorNamedDataLayout uint64

// The layouts in use: of images, and of weights.
const (
	TensorNamedDataLayoutNCHW TensorNamedDataLayout = 0
	TensorNamedDataLayoutOIHW TensorNamedDataLayout = 2
)

// PaddingStyle is MPSGraphPaddingStyle.
type PaddingStyle uint64

// PaddingStyleExplicit has the paddings that the descriptor gives.
const PaddingStyleExplicit PaddingStyle = 0

// Convolution2DOpDescriptor is MPSGraphConvolution2DOpDescriptor.
type Convolution2DOpDescriptor uintptr

var (
	classConvolution     = objc.Optional("MPSGraphConvolution2DOpDescriptor")
	setStrideInX         = objc.Declare1[Convolution2DOpDescriptor, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setStrideInX:")
	setStrideInY         = objc.Declare1[Convolution2DOpDescriptor, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setStrideInY:")
	setDilationRateInX   = objc.Declare1[Convolution2DOpDescriptor, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setDilationRateInX:")
	setDilationRateInY   = objc.Declare1[Convolution2DOpDescriptor, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setDilationRateInY:")
	setGroups            = objc.Declare1[Convolution2DOpDescriptor, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setGroups:")
	setExplicitPadding   = objc.Declare4[Convolution2DOpDescriptor, uint64, uint64, uint64, uint64, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setExplicitPaddingWithPaddingLeft:paddingRight:paddingTop:paddingBottom:")
	setPaddingStyle      = objc.Declare1[Convolution2DOpDescriptor, PaddingStyle, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setPaddingStyle:")
	setDataLayout        = objc.Declare1[Convolution2DOpDescriptor, TensorNamedDataLayout, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setDataLayout:")
	setWeightsLayout     = objc.Declare1[Convolution2DOpDescriptor, TensorNamedDataLayout, objc.Void]("MPSGraphConvolution2DOpDescriptor", "setWeightsLayout:")
	convolution          = objc.Declare4[Graph, Tensor, Tensor, Convolution2DOpDescriptor, objc.String, Tensor]("MPSGraph", "convolution2DWithSourceTensor:weightsTensor:descriptor:name:")
	convolutionOfData    = objc.Declare5[Graph, Tensor, Tensor, objc.Array, Convolution2DOpDescriptor, objc.String, Tensor]("MPSGraph", "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:")
	convolutionOfWeights = objc.Declare5[Graph, Tensor, Tensor, objc.Array, Convolution2DOpDescriptor, objc.String, Tensor]("MPSGraph", "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:name:")
)

// Convolution2D is what a descriptor of a convolution says, rows first.
type Convolution2D struct {
	Strides, Dilations, Before, Behind [2]uint64
	Groups                             uint64
}

// NewConvolution is +[MPSGraphConvolution2DOpDescriptor new] with its properties, +1: of NCHW by OIHW.
func NewConvolution(c *Convolution2D) Convolution2DOpDescriptor {
	d := Convolution2DOpDescriptor(classConvolution.New())
	setStrideInY.Send(d, c.Strides[0])
	setStrideInX.Send(d, c.Strides[1])
	setDilationRateInY.Send(d, c.Dilations[0])
	setDilationRateInX.Send(d, c.Dilations[1])
	setGroups.Send(d, c.Groups)
	setPaddingStyle.Send(d, PaddingStyleExplicit)
	setExplicitPadding.Send(d, c.Before[1], c.Behind[1], c.Before[0], c.Behind[0])
	setDataLayout.Send(d, TensorNamedDataLayoutNCHW)
	setWeightsLayout.Send(d, TensorNamedDataLayoutOIHW)
	return d
}

// Convolution is -[MPSGraph convolution2DWithSourceTensor:weightsTensor:descriptor:name:], +0.
func (g Graph) Convolution(x, weights Tensor, d Convolution2DOpDescriptor) Tensor {
	return convolution.Send(g, x, weights, d, 0)
}

// ConvolutionDataGradient is
// -[MPSGraph convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:], +0.
func (g Graph) ConvolutionDataGradient(dy, weights Tensor, shape objc.Array, d Convolution2DOpDescriptor) Tensor {
	return convolutionOfData.Send(g, dy, weights, shape, d, 0)
}

// ConvolutionWeightsGradient is
// -[MPSGraph convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:name:], +0.
func (g Graph) ConvolutionWeightsGradient(dy, x Tensor, shape objc.Array, d Convolution2DOpDescriptor) Tensor {
	return convolutionOfWeights.Send(g, dy, x, shape, d, 0)
}
