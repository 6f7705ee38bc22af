package mtl

import "github.com/paddle-mps/paddle-mps/objc"

var (
	classHeapDescriptor   = objc.Named("MTLHeapDescriptor")
	setType               = objc.Declare1[HeapDescriptor, HeapType, objc.Void]("MTLHeapDescriptor", "setType:")
	setSize               = objc.Declare1[HeapDescriptor, uint64, objc.Void]("MTLHeapDescriptor", "setSize:")
	setStorageMode        = objc.Declare1[HeapDescriptor, StorageMode, objc.Void]("MTLHeapDescriptor", "setStorageMode:")
	setHazardTrackingMode = objc.Declare1[HeapDescriptor, HazardTrackingMode, objc.Void]("MTLHeapDescriptor", "setHazardTrackingMode:")
	newBufferAt           = objc.Declare3[Heap, uint64, ResourceOptions, uint64, Buffer]("MTLHeap", "newBufferWithLength:options:offset:")
	contents              = objc.Declare0[Buffer, objc.Pointer]("MTLBuffer", "contents")
	gpuAddress            = objc.Declare0[Buffer, uint64]("MTLBuffer", "gpuAddress")
	length                = objc.Declare0[Buffer, uint64]("MTLBuffer", "length")
)

// NewHeapDescriptor is +[MTLHeapDescriptor new], +1.
func NewHeapDescriptor() HeapDescriptor { return HeapDescriptor(classHeapDescriptor.New()) }

// SetType is -[MTLHeapDescriptor setType:].
func (h HeapDescriptor) SetType(t HeapType) { setType.Send(h, t) }

// SetSize is -[MTLHeapDescriptor setSize:], in bytes.
func (h HeapDescriptor) SetSize(n uint64) { setSize.Send(h, n) }

// SetStorageMode is -[MTLHeapDescriptor setStorageMode:].
func (h HeapDescriptor) SetStorageMode(m StorageMode) { setStorageMode.Send(h, m) }

// SetHazardTrackingMode is -[MTLHeapDescriptor setHazardTrackingMode:].
func (h HeapDescriptor) SetHazardTrackingMode(m HazardTrackingMode) { setHazardTrackingMode.Send(h, m) }

// NewBuffer is -[MTLHeap newBufferWithLength:options:offset:] of a placement heap, +1; nil where it
// fails. The offset is aligned as [Device.HeapBufferSizeAndAlign] says.
func (h Heap) NewBuffer(length uint64, o ResourceOptions, offset uint64) Buffer {
	return newBufferAt.Send(h, length, o, offset)
}

// Contents is -[MTLBuffer contents]: the memory, as long as the buffer lives.
func (b Buffer) Contents() objc.Pointer { return contents.Send(b) }

// GPUAddress is -[MTLBuffer gpuAddress] (macOS 13): where shaders see the memory, as long as the buffer lives.
func (b Buffer) GPUAddress() uint64 { return gpuAddress.Send(b) }

// Length is -[MTLBuffer length], in bytes.
func (b Buffer) Length() uint64 { return length.Send(b) }
