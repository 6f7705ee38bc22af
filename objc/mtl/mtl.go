// Package mtl is Metal, one to one: an object is an integer of a type named after its protocol or class,
// a wrapper is a method named after Apple's, and its comment says who owns the result: +1 is owned by the
// caller, who releases it; +0 lives until the autorelease pool is closed, unless it is retained. What the methods
// do and require is in Apple's documentation (https://developer.apple.com/documentation/metal), not here.
//
// The package has no logic and no checks. Metal ends the process on most misuse, which the caller has to prevent.
package mtl

import "github.com/paddle-mps/paddle-mps/objc"

// Protocols and classes of Metal.
type (
	// Device is id<MTLDevice>.
	Device uintptr
	// Architecture is MTLArchitecture.
	Architecture uintptr
	// HeapDescriptor is MTLHeapDescriptor.
	HeapDescriptor uintptr
	// Heap is id<MTLHeap>.
	Heap uintptr
	// Buffer is id<MTLBuffer>.
	Buffer uintptr
	// CommandQueue is id<MTLCommandQueue>.
	CommandQueue uintptr
	// CommandBuffer is id<MTLCommandBuffer>.
	CommandBuffer uintptr
	// ComputeCommandEncoder is id<MTLComputeCommandEncoder>.
	ComputeCommandEncoder uintptr
	// BlitCommandEncoder is id<MTLBlitCommandEncoder>.
	BlitCommandEncoder uintptr
	// SharedEvent is id<MTLSharedEvent>.
	SharedEvent uintptr
	// Fence is id<MTLFence>.
	Fence uintptr
	// CompileOptions is MTLCompileOptions.
	CompileOptions uintptr
	// Library is id<MTLLibrary>.
	Library uintptr
	// Function is id<MTLFunction>.
	Function uintptr
	// ComputePipelineState is id<MTLComputePipelineState>.
	ComputePipelineState uintptr
)

// ResourceOptions is MTLResourceOptions.
type ResourceOptions uint64

// The options in use: memory that CPU and GPU share, in which Metal tracks no hazards.
const (
	ResourceStorageModeShared           ResourceOptions = 0
	ResourceHazardTrackingModeUntracked ResourceOptions = 0x100
)

// HeapType is MTLHeapType.
type HeapType int64

// HeapTypePlacement lets the owner of the heap say where each resource lies.
const HeapTypePlacement HeapType = 1

// StorageMode is MTLStorageMode.
type StorageMode uint64

// StorageModeShared is memory of CPU and GPU.
const StorageModeShared StorageMode = 0

// HazardTrackingMode is MTLHazardTrackingMode. The default of a heap is untracked.
type HazardTrackingMode uint64

// HazardTrackingModeUntracked leaves the order of commands that touch a resource to the program.
const HazardTrackingModeUntracked HazardTrackingMode = 1

// DispatchType is MTLDispatchType.
type DispatchType uint64

// Dispatches of a serial encoder run as if one after the other, those of a concurrent one in any order between barriers.
const (
	DispatchTypeSerial     DispatchType = 0
	DispatchTypeConcurrent DispatchType = 1
)

// BarrierScope is MTLBarrierScope.
type BarrierScope = objc.BarrierScope

// BarrierScopeBuffers is all buffers.
const BarrierScopeBuffers BarrierScope = 1

// ResourceUsage is MTLResourceUsage.
type ResourceUsage uint64

// What kernels do with a resource that they follow addresses into.
const (
	ResourceUsageRead  ResourceUsage = 1
	ResourceUsageWrite ResourceUsage = 2
)

// GPUFamily is MTLGPUFamily.
type GPUFamily int64

// The families of Apple silicon in Macs: M1 is Apple7.
const (
	GPUFamilyApple7  GPUFamily = 1007
	GPUFamilyApple8  GPUFamily = 1008
	GPUFamilyApple9  GPUFamily = 1009
	GPUFamilyApple10 GPUFamily = 1010
)

// CommandBufferStatus is MTLCommandBufferStatus.
type CommandBufferStatus uint64

// The two ends of a command buffer.
const (
	CommandBufferStatusCompleted CommandBufferStatus = 4
	CommandBufferStatusError     CommandBufferStatus = 5
)

// Codes of MTLCommandBufferErrorDomain. AccessRevoked comes with "Ignored (for causing prior/excessive GPU errors)".
const (
	CommandBufferErrorAccessRevoked = 4
	CommandBufferErrorOutOfMemory   = 8
)

// LanguageVersion is MTLLanguageVersion.
type LanguageVersion uint64

// The versions in use; 3.0 came with macOS 13.
const (
	LanguageVersion3_0 LanguageVersion = 0x30000
	LanguageVersion3_1 LanguageVersion = 0x30001
)

// MathMode is MTLMathMode (macOS 15).
type MathMode int64

// MathModeSafe keeps to IEEE 754 where it matters: NaN, infinity, signed zero, order of operations.
const MathModeSafe MathMode = 0

// MathFloatingPointFunctions is MTLMathFloatingPointFunctions (macOS 15).
type MathFloatingPointFunctions int64

// MathFloatingPointFunctionsPrecise makes unqualified functions those of the namespace precise. They are those of fast
// otherwise, whatever the MathMode: tanh is NaN above 44.
const MathFloatingPointFunctionsPrecise MathFloatingPointFunctions = 1

// SizeAndAlign is MTLSizeAndAlign.
type SizeAndAlign struct{ Size, Align uint64 }

// Devices is MTLCopyAllDevices: an array of Device, +1.
func Devices() (objc.Array, error) {
	f, err := objc.Symbol("MTLCopyAllDevices")
	if err != nil {
		return 0, err
	}
	return objc.Array(objc.Call(f)), nil
}
