package mpsgraph

import (
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var (
	classTensorData        = objc.Optional("MPSGraphTensorData")
	classCommandBuffer     = objc.Optional("MPSCommandBuffer")
	classNDArray           = objc.Optional("MPSNDArray")
	classNDArrayDescriptor = objc.Optional("MPSNDArrayDescriptor")
	classExecution         = objc.Optional("MPSGraphExecutableExecutionDescriptor")
	feedTensors            = objc.Declare0[Executable, objc.Array]("MPSGraphExecutable", "feedTensors")
	targetTensors          = objc.Declare0[Executable, objc.Array]("MPSGraphExecutable", "targetTensors")
	encodeExecutable       = objc.Declare4[Executable, CommandBuffer, objc.Array, objc.Array, ExecutableExecutionDescriptor, objc.Array]("MPSGraphExecutable", "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:")
	initWithMTLBuffer      = objc.Declare3[TensorData, mtl.Buffer, objc.Array, DataType, TensorData]("MPSGraphTensorData", "initWithMTLBuffer:shape:dataType:")
	initWithNDArray        = objc.Declare1[TensorData, NDArray, TensorData]("MPSGraphTensorData", "initWithMPSNDArray:")
	withCommandBuffer      = objc.Declare1[objc.Class, mtl.CommandBuffer, CommandBuffer]("MPSCommandBuffer", "commandBufferWithCommandBuffer:")
	currentCommandBuffer   = objc.Declare0[CommandBuffer, mtl.CommandBuffer]("MPSCommandBuffer", "commandBuffer")
	descriptorWithShape    = objc.Declare2[objc.Class, DataType, objc.Array, NDArrayDescriptor]("MPSNDArrayDescriptor", "descriptorWithDataType:shape:")
	setPreferPackedRows    = objc.Declare1[NDArrayDescriptor, objc.Bool, objc.Void]("MPSNDArrayDescriptor", "setPreferPackedRows:", "15.0")
	initWithBufferOffset   = objc.Declare3[NDArray, mtl.Buffer, uint64, NDArrayDescriptor, NDArray]("MPSNDArray", "initWithBuffer:offset:descriptor:", "15.0")
	arrayViewWithStrides   = objc.Declare2[NDArray, objc.Array, objc.Array, NDArray]("MPSNDArray", "arrayViewWithShape:strides:", "15.0")
)

// FeedTensors is -[MPSGraphExecutable feedTensors]: placeholders in the order of the inputs, +0.
func (x Executable) FeedTensors() objc.Array { return feedTensors.Send(x) }

// TargetTensors is -[MPSGraphExecutable targetTensors]: tensors in the order of the results, +0.
func (x Executable) TargetTensors() objc.Array { return targetTensors.Send(x) }

// Encode is -[MPSGraphExecutable encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:]: the
// results, +0. It may commit the Metal command buffer and go on with another: ask [CommandBuffer.Current] afterwards.
func (x Executable) Encode(b CommandBuffer, inputs, results objc.Array, d ExecutableExecutionDescriptor) objc.Array {
	return encodeExecutable.Send(x, b, inputs, results, d)
}

// NewExecutionDescriptor is +[MPSGraphExecutableExecutionDescriptor new], +1.
func NewExecutionDescriptor() ExecutableExecutionDescriptor {
	return ExecutableExecutionDescriptor(classExecution.New())
}

// NewTensorData is -[MPSGraphTensorData initWithMTLBuffer:shape:dataType:], +1: the elements from the
// start of the buffer on, without gaps.
func NewTensorData(b mtl.Buffer, shape objc.Array, t DataType) TensorData {
	return initWithMTLBuffer.Send(TensorData(classTensorData.Alloc()), b, shape, t)
}

// NewTensorDataOf is -[MPSGraphTensorData initWithMPSNDArray:], +1.
func NewTensorDataOf(a NDArray) TensorData {
	return initWithNDArray.Send(TensorData(classTensorData.Alloc()), a)
}

// NewCommandBuffer is +[MPSCommandBuffer commandBufferWithCommandBuffer:], +0.
func NewCommandBuffer(b mtl.CommandBuffer) CommandBuffer {
	return withCommandBuffer.Send(classCommandBuffer.Class(), b)
}

// Current is -[MPSCommandBuffer commandBuffer]: the Metal command buffer that work goes into now, +0.
func (b CommandBuffer) Current() mtl.CommandBuffer { return currentCommandBuffer.Send(b) }

// HasOffsets reports whether the system has [NewNDArray] and its kin, which came with macOS 15.
func HasOffsets() bool { return objc.MacOS().AtLeast("15.0") }

// NewNDArray is -[MPSNDArray initWithBuffer:offset:descriptor:] (macOS 15), +1: elements in a buffer
// from an offset in bytes on, without gaps.
func NewNDArray(b mtl.Buffer, offset uint64, shape objc.Array, t DataType) NDArray {
	d := descriptorWithShape.Send(classNDArrayDescriptor.Class(), t, shape)
	setPreferPackedRows.Send(d, objc.Yes)
	return initWithBufferOffset.Send(NDArray(classNDArray.Alloc()), b, offset, d)
}

// View is -[MPSNDArray arrayViewWithShape:strides:] (macOS 15), +0; nil where there is no such view.
// Strides count elements, fall, and end with 1.
func (a NDArray) View(shape, strides objc.Array) NDArray {
	return arrayViewWithStrides.Send(a, shape, strides)
}
