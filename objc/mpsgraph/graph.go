package mpsgraph

import (
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var (
	classGraph            = objc.Optional("MPSGraph")
	classDevice           = objc.Optional("MPSGraphDevice")
	classShapedType       = objc.Optional("MPSGraphShapedType")
	classCompilation      = objc.Optional("MPSGraphCompilationDescriptor")
	setOptions            = objc.Declare1[Graph, Options, objc.Void]("MPSGraph", "setOptions:")
	placeholder           = objc.Declare3[Graph, objc.Array, DataType, objc.String, Tensor]("MPSGraph", "placeholderWithShape:dataType:name:")
	constantWithData      = objc.Declare3[Graph, objc.Data, objc.Array, DataType, Tensor]("MPSGraph", "constantWithData:shape:dataType:")
	constantWithScalar    = objc.DeclareMixed[func(Graph, objc.Sel, float64, DataType) Tensor]("MPSGraph", "constantWithScalar:dataType:")
	constantOfShape       = objc.DeclareMixed[func(Graph, objc.Sel, float64, objc.Array, DataType) Tensor]("MPSGraph", "constantWithScalar:shape:dataType:")
	compile               = objc.Declare5[Graph, Device, objc.Dictionary, objc.Array, objc.Array, CompilationDescriptor, Executable]("MPSGraph", "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:")
	deviceWithMTLDevice   = objc.Declare1[objc.Class, mtl.Device, Device]("MPSGraphDevice", "deviceWithMTLDevice:")
	initWithShapeDataType = objc.Declare2[ShapedType, objc.Array, DataType, ShapedType]("MPSGraphShapedType", "initWithShape:dataType:")
	setOptimizationLevel  = objc.Declare1[CompilationDescriptor, Optimization, objc.Void]("MPSGraphCompilationDescriptor", "setOptimizationLevel:")
	setWaitForCompilation = objc.Declare1[CompilationDescriptor, objc.Bool, objc.Void]("MPSGraphCompilationDescriptor", "setWaitForCompilationCompletion:")
)

// NewGraph is +[MPSGraph new], +1.
func NewGraph() Graph { return Graph(classGraph.New()) }

// SetOptions is -[MPSGraph setOptions:].
func (g Graph) SetOptions(o Options) { setOptions.Send(g, o) }

// Placeholder is -[MPSGraph placeholderWithShape:dataType:name:], +0.
func (g Graph) Placeholder(shape objc.Array, t DataType) Tensor {
	return placeholder.Send(g, shape, t, 0)
}

// ConstantWithData is -[MPSGraph constantWithData:shape:dataType:], +0.
func (g Graph) ConstantWithData(d objc.Data, shape objc.Array, t DataType) Tensor {
	return constantWithData.Send(g, d, shape, t)
}

// Constant is -[MPSGraph constantWithScalar:dataType:], +0. Integers beyond 2**53 are not exact.
func (g Graph) Constant(v float64, t DataType) Tensor {
	return constantWithScalar.Send(g, constantWithScalar.Sel(), v, t)
}

// ConstantOfShape is -[MPSGraph constantWithScalar:shape:dataType:], +0.
func (g Graph) ConstantOfShape(v float64, shape objc.Array, t DataType) Tensor {
	return constantOfShape.Send(g, constantOfShape.Sel(), v, shape, t)
}

// Compile is -[MPSGraph compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:]
// without operations, +0; nil where it fails. feeds has a ShapedType for each placeholder.
func (g Graph) Compile(d Device, feeds objc.Dictionary, targets objc.Array, c CompilationDescriptor) Executable {
	return compile.Send(g, d, feeds, targets, 0, c)
}

// NewDevice is +[MPSGraphDevice deviceWithMTLDevice:], +0.
//
// It is nil where there is no MPSGraph; then nothing else of this package may be used.
func NewDevice(d mtl.Device) Device { return deviceWithMTLDevice.Send(classDevice.Class(), d) }

// NewShapedType is -[MPSGraphShapedType initWithShape:dataType:], +1.
func NewShapedType(shape objc.Array, t DataType) ShapedType {
	return initWithShapeDataType.Send(ShapedType(classShapedType.Alloc()), shape, t)
}

// NewCompilationDescriptor is +[MPSGraphCompilationDescriptor new], +1.
func NewCompilationDescriptor() CompilationDescriptor {
	return CompilationDescriptor(classCompilation.New())
}

// SetOptimizationLevel is -[MPSGraphCompilationDescriptor setOptimizationLevel:].
func (c CompilationDescriptor) SetOptimizationLevel(o Optimization) { setOptimizationLevel.Send(c, o) }

// SetWaitForCompilationCompletion is -[MPSGraphCompilationDescriptor setWaitForCompilationCompletion:].
func (c CompilationDescriptor) SetWaitForCompilationCompletion(wait bool) {
	setWaitForCompilation.Send(c, objc.Of(wait))
}
