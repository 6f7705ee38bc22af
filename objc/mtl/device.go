package mtl

import "github.com/paddle-mps/paddle-mps/objc"

var (
	name               = objc.Declare0[Device, objc.String]("MTLDevice", "name")
	registryID         = objc.Declare0[Device, uint64]("MTLDevice", "registryID")
	architecture       = objc.Declare0[Device, Architecture]("MTLDevice", "architecture", "14.0")
	architectureName   = objc.Declare0[Architecture, objc.String]("MTLArchitecture", "name", "14.0")
	supportsFamily     = objc.Declare1[Device, GPUFamily, objc.Bool]("MTLDevice", "supportsFamily:")
	hasUnifiedMemory   = objc.Declare0[Device, objc.Bool]("MTLDevice", "hasUnifiedMemory")
	recommendedSize    = objc.Declare0[Device, uint64]("MTLDevice", "recommendedMaxWorkingSetSize")
	maxBufferLength    = objc.Declare0[Device, uint64]("MTLDevice", "maxBufferLength")
	newCommandQueue    = objc.Declare0[Device, CommandQueue]("MTLDevice", "newCommandQueue")
	newHeap            = objc.Declare1[Device, HeapDescriptor, Heap]("MTLDevice", "newHeapWithDescriptor:")
	bufferSizeAndAlign = objc.DeclareMixed[func(Device, objc.Sel, uint64, ResourceOptions) SizeAndAlign]("MTLDevice", "heapBufferSizeAndAlignWithLength:options:")
	newBuffer          = objc.Declare2[Device, uint64, ResourceOptions, Buffer]("MTLDevice", "newBufferWithLength:options:")
	newBufferNoCopy    = objc.Declare4[Device, objc.Pointer, uint64, ResourceOptions, objc.NoBlock, Buffer]("MTLDevice", "newBufferWithBytesNoCopy:length:options:deallocator:")
	newFence           = objc.Declare0[Device, Fence]("MTLDevice", "newFence")
	newSharedEvent     = objc.Declare0[Device, SharedEvent]("MTLDevice", "newSharedEvent")
	newLibrary         = objc.Declare3[Device, objc.String, CompileOptions, objc.Pointer, Library]("MTLDevice", "newLibraryWithSource:options:error:")
	newComputePipeline = objc.Declare2[Device, Function, objc.Pointer, ComputePipelineState]("MTLDevice", "newComputePipelineStateWithFunction:error:")
)

// Name is -[MTLDevice name].
func (d Device) Name() string { return name.Send(d).String() }

// RegistryID is -[MTLDevice registryID].
func (d Device) RegistryID() uint64 { return registryID.Send(d) }

// ArchitectureName is -[MTLArchitecture name] of -[MTLDevice architecture], such as "applegpu_g13s"; ""
// before macOS 14.
func (d Device) ArchitectureName() string {
	if a := d.Architecture(); a != 0 {
		return architectureName.Send(a).String()
	}
	return ""
}

// Architecture is -[MTLDevice architecture], +0; nil before macOS 14.
func (d Device) Architecture() Architecture {
	if !objc.Available(architecture.Method, d) {
		return 0
	}
	return architecture.Send(d)
}

// SupportsFamily is -[MTLDevice supportsFamily:].
func (d Device) SupportsFamily(f GPUFamily) bool { return supportsFamily.Send(d, f) == objc.Yes }

// HasUnifiedMemory is -[MTLDevice hasUnifiedMemory].
func (d Device) HasUnifiedMemory() bool { return hasUnifiedMemory.Send(d) == objc.Yes }

// RecommendedMaxWorkingSetSize is -[MTLDevice recommendedMaxWorkingSetSize], in bytes.
func (d Device) RecommendedMaxWorkingSetSize() uint64 { return recommendedSize.Send(d) }

// MaxBufferLength is -[MTLDevice maxBufferLength], in bytes.
func (d Device) MaxBufferLength() uint64 { return maxBufferLength.Send(d) }

// NewCommandQueue is -[MTLDevice newCommandQueue], +1; nil when there is none to be had.
func (d Device) NewCommandQueue() CommandQueue { return newCommandQueue.Send(d) }

// NewHeap is -[MTLDevice newHeapWithDescriptor:], +1; nil when there is no memory.
func (d Device) NewHeap(h HeapDescriptor) Heap { return newHeap.Send(d, h) }

// HeapBufferSizeAndAlign is -[MTLDevice heapBufferSizeAndAlignWithLength:options:].
func (d Device) HeapBufferSizeAndAlign(length uint64, o ResourceOptions) SizeAndAlign {
	return bufferSizeAndAlign.Send(d, bufferSizeAndAlign.Sel(), length, o)
}

// NewBuffer is -[MTLDevice newBufferWithLength:options:], +1; nil when there is no memory.
func (d Device) NewBuffer(length uint64, o ResourceOptions) Buffer {
	return newBuffer.Send(d, length, o)
}

// NewBufferNoCopy is -[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:] without a
// deallocator, +1; nil unless address and length are whole pages. The memory, which is no Go memory, stays
// the caller's and has to outlive the buffer.
func (d Device) NewBufferNoCopy(at objc.Pointer, length uint64, o ResourceOptions) Buffer {
	return newBufferNoCopy.Send(d, at, length, o, 0)
}

// NewFence is -[MTLDevice newFence], +1; nil when there is none to be had.
func (d Device) NewFence() Fence { return newFence.Send(d) }

// NewSharedEvent is -[MTLDevice newSharedEvent], +1; nil when there is none to be had.
func (d Device) NewSharedEvent() SharedEvent { return newSharedEvent.Send(d) }

// NewLibrary is -[MTLDevice newLibraryWithSource:options:error:], +1; nil where the source does not
// compile, with a +0 error. Warnings are an error beside a library.
func (d Device) NewLibrary(source objc.String, o CompileOptions) (Library, objc.Error) {
	var e objc.Out[objc.Error]
	l := newLibrary.Send(d, source, o, e.At())
	return l, e.Get()
}

// NewComputePipelineState is -[MTLDevice newComputePipelineStateWithFunction:error:], +1; nil where it
// fails, with a +0 error.
func (d Device) NewComputePipelineState(f Function) (ComputePipelineState, objc.Error) {
	var e objc.Out[objc.Error]
	p := newComputePipeline.Send(d, f, e.At())
	return p, e.Get()
}
