package mpsgraph

import "github.com/paddle-mps/paddle-mps/objc"

var (
	slice             = objc.Declare5[Graph, Tensor, objc.Array, objc.Array, objc.Array, objc.String, Tensor]("MPSGraph", "sliceTensor:starts:ends:strides:name:")
	pad               = objc.DeclareMixed[func(Graph, objc.Sel, Tensor, PaddingMode, objc.Array, objc.Array, float64, objc.String) Tensor]("MPSGraph", "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:")
	gather            = objc.Declare5[Graph, Tensor, Tensor, uint64, uint64, objc.String, Tensor]("MPSGraph", "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:")
	gatherND          = objc.Declare4[Graph, Tensor, Tensor, uint64, objc.String, Tensor]("MPSGraph", "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:")
	gatherAlongAxis   = objc.Declare4[Graph, int64, Tensor, Tensor, objc.String, Tensor]("MPSGraph", "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:")
	scatterND         = objc.Declare6[Graph, Tensor, Tensor, Tensor, uint64, ScatterMode, objc.String, Tensor]("MPSGraph", "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:")
	scatterAlongAxis  = objc.Declare6[Graph, int64, Tensor, Tensor, Tensor, ScatterMode, objc.String, Tensor]("MPSGraph", "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:")
	coordinate        = objc.Declare3[Graph, int64, objc.Array, objc.String, Tensor]("MPSGraph", "coordinateAlongAxis:withShape:name:")
	topK              = objc.Declare3[Graph, Tensor, uint64, objc.String, objc.Array]("MPSGraph", "topKWithSourceTensor:k:name:")
	classRandom       = objc.Optional("MPSGraphRandomOpDescriptor")
	randomDescriptor  = objc.Declare2[objc.Class, RandomDistribution, DataType, RandomOpDescriptor]("MPSGraphRandomOpDescriptor", "descriptorWithDistribution:dataType:")
	randomPhiloxState = objc.Declare2[Graph, uint64, objc.String, Tensor]("MPSGraph", "randomPhiloxStateTensorWithSeed:name:")
	random            = objc.Declare4[Graph, objc.Array, RandomOpDescriptor, Tensor, objc.String, objc.Array]("MPSGraph", "randomTensorWithShape:descriptor:stateTensor:name:")
)

// Slice is -[MPSGraph sliceTensor:starts:ends:strides:name:], +0.
func (g Graph) Slice(x Tensor, starts, ends, strides objc.Array) Tensor {
	return slice.Send(g, x, starts, ends, strides, 0)
}

// Pad is -[MPSGraph padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:], +0.
func (g Graph) Pad(x Tensor, m PaddingMode, left, right objc.Array, value float64) Tensor {
	return pad.Send(g, pad.Sel(), x, m, left, right, value, 0)
}

// Gather is -[MPSGraph gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:], +0.
func (g Graph) Gather(x, indices Tensor, axis, batch uint64) Tensor {
	return gather.Send(g, x, indices, axis, batch, 0)
}

// GatherND is -[MPSGraph gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:], +0.
func (g Graph) GatherND(x, indices Tensor, batch uint64) Tensor {
	return gatherND.Send(g, x, indices, batch, 0)
}

// GatherAlongAxis is -[MPSGraph gatherAlongAxis:withUpdatesTensor:indicesTensor:name:], +0.
func (g Graph) GatherAlongAxis(axis int64, x, indices Tensor) Tensor {
	return gatherAlongAxis.Send(g, axis, x, indices, 0)
}

// ScatterND is -[MPSGraph scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:], +0.
func (g Graph) ScatterND(x, updates, indices Tensor, batch uint64, m ScatterMode) Tensor {
	return scatterND.Send(g, x, updates, indices, batch, m, 0)
}

// ScatterAlongAxis is -[MPSGraph scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:], +0.
func (g Graph) ScatterAlongAxis(axis int64, x, updates, indices Tensor, m ScatterMode) Tensor {
	return scatterAlongAxis.Send(g, axis, x, updates, indices, m, 0)
}

// CoordinateAlongAxis is -[MPSGraph coordinateAlongAxis:withShape:name:], +0: int32.
func (g Graph) CoordinateAlongAxis(axis int64, shape objc.Array) Tensor {
	return coordinate.Send(g, axis, shape, 0)
}

// TopK is -[MPSGraph topKWithSourceTensor:k:name:] along the last axis: values and int32 indices, +0.
func (g Graph) TopK(x Tensor, k uint64) (values, indices Tensor) {
	both := topK.Send(g, x, k, 0)
	return Tensor(both.At(0)), Tensor(both.At(1))
}

// NewRandom is +[MPSGraphRandomOpDescriptor descriptorWithDistribution:dataType:], +0.
func NewRandom(d RandomDistribution, t DataType) RandomOpDescriptor {
	return randomDescriptor.Send(classRandom.Class(), d, t)
}

// RandomPhiloxState is -[MPSGraph randomPhiloxStateTensorWithSeed:name:], +0.
func (g Graph) RandomPhiloxState(seed uint64) Tensor { return randomPhiloxState.Send(g, seed, 0) }

// Random is -[MPSGraph randomTensorWithShape:descriptor:stateTensor:name:]: values and the next state, +0.
func (g Graph) Random(shape objc.Array, d RandomOpDescriptor, state Tensor) (values, next Tensor) {
	both := random.Send(g, shape, d, state, 0)
	return Tensor(both.At(0)), Tensor(both.At(1))
}
