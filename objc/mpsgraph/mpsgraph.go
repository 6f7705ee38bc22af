// Package mpsgraph is MetalPerformanceShadersGraph, one to one, with the two classes of
// MetalPerformanceShaders that connect it with Metal. Objects, ownership and names are as in mtl.
//
// An operator of a graph is a variable of a type for its arguments (Unary, Binary, ...); the method Of of that type
// adds the operator to a graph. Tensors belong to their graph and need no retain while it lives.
//
// The package has no logic and no checks. MPSGraph ends the process on most misuse, which the caller has to
// prevent. One goroutine at a time builds a graph.
package mpsgraph

// Classes.
type (
	// Graph is MPSGraph.
	Graph uintptr
	// Tensor is MPSGraphTensor.
	Tensor uintptr
	// Device is MPSGraphDevice.
	Device uintptr
	// ShapedType is MPSGraphShapedType.
	ShapedType uintptr
	// TensorData is MPSGraphTensorData.
	TensorData uintptr
	// CompilationDescriptor is MPSGraphCompilationDescriptor.
	CompilationDescriptor uintptr
	// Executable is MPSGraphExecutable.
	Executable uintptr
	// ExecutableExecutionDescriptor is MPSGraphExecutableExecutionDescriptor.
	ExecutableExecutionDescriptor uintptr
	// RandomOpDescriptor is MPSGraphRandomOpDescriptor.
	RandomOpDescriptor uintptr
	// CommandBuffer is MPSCommandBuffer.
	CommandBuffer uintptr
	// NDArray is MPSNDArray.
	NDArray uintptr
	// NDArrayDescriptor is MPSNDArrayDescriptor.
	NDArrayDescriptor uintptr
)

// DataType is MPSDataType. There is no float64.
type DataType uint32

// The types of elements.
const (
	Float32  DataType = 0x10000020
	Float16  DataType = 0x10000010
	BFloat16 DataType = 0x90000010 // macOS 14
	Int8     DataType = 0x20000008
	Int16    DataType = 0x20000010
	Int32    DataType = 0x20000020
	Int64    DataType = 0x20000040
	UInt8    DataType = 8
	UInt32   DataType = 32
	Bool     DataType = 0x80000008
)

// Options is MPSGraphOptions.
type Options uint64

// OptionsNone leaves synchronisation to the caller.
const OptionsNone Options = 0

// Optimization is MPSGraphOptimization.
type Optimization uint64

// OptimizationLevel0 keeps all work on the GPU, as it was written.
const OptimizationLevel0 Optimization = 0

// PaddingMode is MPSGraphPaddingMode.
type PaddingMode int64

// PaddingModeConstant fills with a value.
const PaddingModeConstant PaddingMode = 0

// ScatterMode is MPSGraphScatterMode: what happens where two updates meet.
type ScatterMode int64

// The modes in use.
const (
	ScatterModeAdd ScatterMode = 0
	ScatterModeMax ScatterMode = 5
	ScatterModeSet ScatterMode = 6
)

// RandomDistribution is MPSGraphRandomDistribution.
type RandomDistribution uint64

// The distributions.
const (
	RandomDistributionUniform RandomDistribution = 0
	RandomDistributionNormal  RandomDistribution = 1
)
