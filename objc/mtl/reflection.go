package mtl

import "github.com/paddle-mps/paddle-mps/objc"

// Reflection of pipelines, and what a library says of itself.
type (
	// ComputePipelineReflection is MTLComputePipelineReflection.
	ComputePipelineReflection uintptr
	// Binding is id<MTLBinding>.
	Binding uintptr
)

// PipelineOption is MTLPipelineOption.
type PipelineOption uint64

// PipelineOptionBindingInfo asks for the arguments of the function.
const PipelineOptionBindingInfo PipelineOption = 1

// BindingType is MTLBindingType.
type BindingType int64

// The kinds of arguments that are memory.
const (
	BindingTypeBuffer            BindingType = 0
	BindingTypeThreadgroupMemory BindingType = 1
)

// BindingAccess is MTLBindingAccess.
type BindingAccess uint64

// BindingAccessReadOnly is an argument that the function does not write.
const BindingAccessReadOnly BindingAccess = 0

// FunctionType is MTLFunctionType.
type FunctionType uint64

// FunctionTypeKernel is a function that computes.
const FunctionTypeKernel FunctionType = 3

// LibraryError is a code of MTLLibraryErrorDomain.
type LibraryError int64

// LibraryErrorCompileFailure says that source is wrong.
const LibraryErrorCompileFailure LibraryError = 3

var (
	functionType         = objc.Declare0[Function, FunctionType]("MTLFunction", "functionType")
	newLibraryAt         = objc.Declare2[Device, objc.URL, objc.Pointer, Library]("MTLDevice", "newLibraryWithURL:error:")
	newReflectedPipeline = objc.Declare4[Device, Function, PipelineOption, objc.Pointer, objc.Pointer, ComputePipelineState]("MTLDevice", "newComputePipelineStateWithFunction:options:reflection:error:")
	staticThreadgroup    = objc.Declare0[ComputePipelineState, uint64]("MTLComputePipelineState", "staticThreadgroupMemoryLength")
	functionNames        = objc.Declare0[Library, objc.Array]("MTLLibrary", "functionNames")
	bindings             = objc.Declare0[ComputePipelineReflection, objc.Array]("MTLComputePipelineReflection", "bindings")
	bindingName          = objc.Declare0[Binding, objc.String]("MTLBinding", "name")
	bindingType          = objc.Declare0[Binding, BindingType]("MTLBinding", "type")
	bindingAccess        = objc.Declare0[Binding, BindingAccess]("MTLBinding", "access")
	bindingIndex         = objc.Declare0[Binding, uint64]("MTLBinding", "index")
	bindingUsed          = objc.Declare0[Binding, objc.Bool]("MTLBinding", "isUsed")
)

// NewLibraryAt is -[MTLDevice newLibraryWithURL:error:], +1; nil where the file is no library, with a +0
// error.
func (d Device) NewLibraryAt(url objc.URL) (Library, objc.Error) {
	var e objc.Out[objc.Error]
	l := newLibraryAt.Send(d, url, e.At())
	return l, e.Get()
}

// NewReflectedPipeline is -[MTLDevice newComputePipelineStateWithFunction:options:reflection:error:] with
// MTLPipelineOptionBindingInfo, +1; nil where it fails, with a +0 error. The reflection is +0.
func (d Device) NewReflectedPipeline(f Function) (ComputePipelineState, ComputePipelineReflection, objc.Error) {
	var e objc.Out[objc.Error]
	var r objc.Out[ComputePipelineReflection]
	p := newReflectedPipeline.Send(d, f, PipelineOptionBindingInfo, r.At(), e.At())
	return p, r.Get(), e.Get()
}

// StaticThreadgroupMemoryLength is -[MTLComputePipelineState staticThreadgroupMemoryLength], in bytes.
func (p ComputePipelineState) StaticThreadgroupMemoryLength() uint64 {
	return staticThreadgroup.Send(p)
}

// FunctionNames is -[MTLLibrary functionNames], +0: an array of String.
func (l Library) FunctionNames() objc.Array { return functionNames.Send(l) }

// IsKernel reports whether -[MTLFunction functionType] is MTLFunctionTypeKernel.
func (f Function) IsKernel() bool { return functionType.Send(f) == FunctionTypeKernel }

// Bindings is -[MTLComputePipelineReflection bindings], +0: an array of Binding.
func (r ComputePipelineReflection) Bindings() objc.Array { return bindings.Send(r) }

// Name is -[MTLBinding name].
func (b Binding) Name() string { return bindingName.Send(b).String() }

// IsBuffer reports whether -[MTLBinding type] is MTLBindingTypeBuffer.
func (b Binding) IsBuffer() bool { return bindingType.Send(b) == BindingTypeBuffer }

// IsThreadgroup reports whether -[MTLBinding type] is MTLBindingTypeThreadgroupMemory.
func (b Binding) IsThreadgroup() bool { return bindingType.Send(b) == BindingTypeThreadgroupMemory }

// IsReadOnly reports whether -[MTLBinding access] is MTLBindingAccessReadOnly.
func (b Binding) IsReadOnly() bool { return bindingAccess.Send(b) == BindingAccessReadOnly }

// Index is -[MTLBinding index].
func (b Binding) Index() uint64 { return bindingIndex.Send(b) }

// IsUsed is -[MTLBinding isUsed].
func (b Binding) IsUsed() bool { return bindingUsed.Send(b) == objc.Yes }
