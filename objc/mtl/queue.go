package mtl

import "github.com/paddle-mps/paddle-mps/objc"

var (
	commandBuffer         = objc.Declare0[CommandQueue, CommandBuffer]("MTLCommandQueue", "commandBuffer")
	computeCommandEncoder = objc.Declare1[CommandBuffer, DispatchType, ComputeCommandEncoder]("MTLCommandBuffer", "computeCommandEncoderWithDispatchType:")
	blitCommandEncoder    = objc.Declare0[CommandBuffer, BlitCommandEncoder]("MTLCommandBuffer", "blitCommandEncoder")
	encodeSignalEvent     = objc.Declare2[CommandBuffer, SharedEvent, uint64, objc.Void]("MTLCommandBuffer", "encodeSignalEvent:value:")
	encodeWaitForEvent    = objc.Declare2[CommandBuffer, SharedEvent, uint64, objc.Void]("MTLCommandBuffer", "encodeWaitForEvent:value:")
	commit                = objc.Declare0[CommandBuffer, objc.Void]("MTLCommandBuffer", "commit")
	waitUntilScheduled    = objc.Declare0[CommandBuffer, objc.Void]("MTLCommandBuffer", "waitUntilScheduled")
	waitUntilCompleted    = objc.Declare0[CommandBuffer, objc.Void]("MTLCommandBuffer", "waitUntilCompleted")
	bufferStatus          = objc.Declare0[CommandBuffer, CommandBufferStatus]("MTLCommandBuffer", "status")
	bufferError           = objc.Declare0[CommandBuffer, objc.Error]("MTLCommandBuffer", "error")
	gpuStartTime          = objc.DeclareMixed[func(CommandBuffer, objc.Sel) float64]("MTLCommandBuffer", "GPUStartTime")
	gpuEndTime            = objc.DeclareMixed[func(CommandBuffer, objc.Sel) float64]("MTLCommandBuffer", "GPUEndTime")
	kernelEndTime         = objc.DeclareMixed[func(CommandBuffer, objc.Sel) float64]("MTLCommandBuffer", "kernelEndTime")
	endEncoding           = objc.Declare0[objc.ID, objc.Void]("MTLCommandEncoder", "endEncoding")
	updateFence           = objc.Declare1[ComputeCommandEncoder, Fence, objc.Void]("MTLComputeCommandEncoder", "updateFence:")
	waitForFence          = objc.Declare1[ComputeCommandEncoder, Fence, objc.Void]("MTLComputeCommandEncoder", "waitForFence:")
	useResource           = objc.Declare2[ComputeCommandEncoder, objc.ID, ResourceUsage, objc.Void]("MTLComputeCommandEncoder", "useResource:usage:")
	updateBlitFence       = objc.Declare1[BlitCommandEncoder, Fence, objc.Void]("MTLBlitCommandEncoder", "updateFence:")
	waitForBlitFence      = objc.Declare1[BlitCommandEncoder, Fence, objc.Void]("MTLBlitCommandEncoder", "waitForFence:")
	copyFromBuffer        = objc.Declare5[BlitCommandEncoder, Buffer, uint64, Buffer, uint64, uint64, objc.Void]("MTLBlitCommandEncoder", "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:")
	signaledValue         = objc.Declare0[SharedEvent, uint64]("MTLSharedEvent", "signaledValue")
	setSignaledValue      = objc.Declare1[SharedEvent, uint64, objc.Void]("MTLSharedEvent", "setSignaledValue:")
)

// CommandBuffer is -[MTLCommandQueue commandBuffer], +0; nil when there is none to be had.
func (q CommandQueue) CommandBuffer() CommandBuffer { return commandBuffer.Send(q) }

// ComputeCommandEncoder is -[MTLCommandBuffer computeCommandEncoderWithDispatchType:], +0; nil where it fails.
func (b CommandBuffer) ComputeCommandEncoder(t DispatchType) ComputeCommandEncoder {
	return computeCommandEncoder.Send(b, t)
}

// BlitCommandEncoder is -[MTLCommandBuffer blitCommandEncoder], +0; nil where it fails.
func (b CommandBuffer) BlitCommandEncoder() BlitCommandEncoder { return blitCommandEncoder.Send(b) }

// EncodeSignalEvent is -[MTLCommandBuffer encodeSignalEvent:value:]; no encoder is open.
func (b CommandBuffer) EncodeSignalEvent(e SharedEvent, value uint64) {
	encodeSignalEvent.Send(b, e, value)
}

// EncodeWaitForEvent is -[MTLCommandBuffer encodeWaitForEvent:value:]; no encoder is open.
func (b CommandBuffer) EncodeWaitForEvent(e SharedEvent, value uint64) {
	encodeWaitForEvent.Send(b, e, value)
}

// Commit is -[MTLCommandBuffer commit].
func (b CommandBuffer) Commit() { commit.Send(b) }

// WaitUntilScheduled is -[MTLCommandBuffer waitUntilScheduled]; the buffer has been committed.
func (b CommandBuffer) WaitUntilScheduled() { waitUntilScheduled.Send(b) }

// WaitUntilCompleted is -[MTLCommandBuffer waitUntilCompleted]; the buffer has been committed.
func (b CommandBuffer) WaitUntilCompleted() { waitUntilCompleted.Send(b) }

// Status is -[MTLCommandBuffer status].
func (b CommandBuffer) Status() CommandBufferStatus { return bufferStatus.Send(b) }

// Error is -[MTLCommandBuffer error], +0; nil where there is none.
func (b CommandBuffer) Error() objc.Error { return bufferError.Send(b) }

// GPUStartTime is -[MTLCommandBuffer GPUStartTime]: seconds of the system's clock, which is mach_absolute_time; 0 where it
// is not known.
func (b CommandBuffer) GPUStartTime() float64 { return gpuStartTime.Send(b, gpuStartTime.Sel()) }

// GPUEndTime is -[MTLCommandBuffer GPUEndTime]: seconds of the system's clock; 0 where it is not known.
func (b CommandBuffer) GPUEndTime() float64 { return gpuEndTime.Send(b, gpuEndTime.Sel()) }

// KernelEndTime is -[MTLCommandBuffer kernelEndTime]: when the CPU was done with scheduling the buffer,
// on the same clock.
func (b CommandBuffer) KernelEndTime() float64 { return kernelEndTime.Send(b, kernelEndTime.Sel()) }

// EndEncoding is -[MTLCommandEncoder endEncoding].
func (e ComputeCommandEncoder) EndEncoding() { endEncoding.Send(objc.ID(e)) }

// EndEncoding is -[MTLCommandEncoder endEncoding].
func (e BlitCommandEncoder) EndEncoding() { endEncoding.Send(objc.ID(e)) }

// UpdateFence is -[MTLComputeCommandEncoder updateFence:]: the fence is passed when the encoder's work has ended.
func (e ComputeCommandEncoder) UpdateFence(f Fence) { updateFence.Send(e, f) }

// WaitForFence is -[MTLComputeCommandEncoder waitForFence:]: the encoder's work waits for the last update before it in
// the queue.
func (e ComputeCommandEncoder) WaitForFence(f Fence) { waitForFence.Send(e, f) }

// UseResource is -[MTLComputeCommandEncoder useResource:usage:]: kernels of the encoder may follow addresses into the
// resource, from the next dispatch on.
func (e ComputeCommandEncoder) UseResource(resource objc.ID, u ResourceUsage) {
	useResource.Send(e, resource, u)
}

// UpdateFence is -[MTLBlitCommandEncoder updateFence:].
func (e BlitCommandEncoder) UpdateFence(f Fence) { updateBlitFence.Send(e, f) }

// WaitForFence is -[MTLBlitCommandEncoder waitForFence:].
func (e BlitCommandEncoder) WaitForFence(f Fence) { waitForBlitFence.Send(e, f) }

// Copy is -[MTLBlitCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:]; offsets
// and size are multiples of 4.
func (e BlitCommandEncoder) Copy(from Buffer, at uint64, to Buffer, there, size uint64) {
	copyFromBuffer.Send(e, from, at, to, there, size)
}

// SignaledValue is -[MTLSharedEvent signaledValue].
func (e SharedEvent) SignaledValue() uint64 { return signaledValue.Send(e) }

// SetSignaledValue is -[MTLSharedEvent setSignaledValue:]; the value only grows.
func (e SharedEvent) SetSignaledValue(v uint64) { setSignaledValue.Send(e, v) }
