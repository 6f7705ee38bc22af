package mtl

import (
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// Samples has an object of each Metal protocol that is declared here, and of each class whose objects may have
// another class, by name: objc.CheckInterface looks methods up in their classes. The caller owns all of them but
// the device; see Release. The caller holds a pool.
type Samples map[string]objc.ID

// NewSamples makes the samples, each +1 but the device. Nothing runs on the GPU.
func NewSamples(d Device) (Samples, error) {
	const page, shared = 1 << 14, ResourceStorageModeShared | ResourceHazardTrackingModeUntracked
	heap := NewHeapDescriptor()
	heap.SetSize(page)
	heap.SetStorageMode(StorageModeShared)
	s := Samples{
		"MTLDevice":            objc.ID(d),
		"MTLArchitecture":      objc.ID(objc.Retain(d.Architecture())),
		"MTLHeapDescriptor":    objc.ID(heap),
		"MTLCompileOptions":    objc.ID(NewCompileOptions()),
		"MTLCaptureDescriptor": objc.ID(NewCaptureDescriptor()),
		"MTLHeap":              objc.ID(d.NewHeap(heap)),
		"MTLBuffer":            objc.ID(d.NewBuffer(page, shared)),
		"MTLSharedEvent":       objc.ID(d.NewSharedEvent()),
		"MTLFence":             objc.ID(d.NewFence()),
		"MTLCommandQueue":      objc.ID(d.NewCommandQueue()),
	}
	if err := s.makeShader(d); err != nil {
		s.Release()
		return nil, err
	}
	s.makeEncoders()
	return s, nil
}

// Release releases the samples.
func (s Samples) Release() {
	for name, o := range s {
		if name != "MTLDevice" {
			objc.Release(o)
		}
	}
}

// makeShader compiles the smallest kernel with an argument to reflect on.
func (s Samples) makeShader(d Device) error {
	const source = "kernel void sample(device int *x [[buffer(0)]]) { x[0] = 0; }"
	library, e := d.NewLibrary(objc.Text(source), CompileOptions(s["MTLCompileOptions"]))
	if library == 0 {
		return e.Status(status.Device, "[device_census] the sample kernel does not compile")
	}
	s["MTLLibrary"] = objc.ID(library)
	function := library.NewFunction(objc.Text("sample"))
	s["MTLFunction"] = objc.ID(function)
	pipeline, reflection, e := d.NewReflectedPipeline(function)
	if pipeline == 0 {
		return e.Status(status.Device, "[device_census] the pipeline of the sample kernel cannot be made")
	}
	s["MTLComputePipelineState"] = objc.ID(pipeline)
	if bindings := reflection.Bindings(); bindings.Len() > 0 {
		s["MTLBinding"] = objc.Retain(bindings.At(0))
	}
	return nil
}

// makeEncoders opens and closes encoders of both kinds in a command buffer that is never committed. If the queue is
// nil, for lack of memory, so is everything made from it: messages to nil return nil.
func (s Samples) makeEncoders() {
	buffer := CommandQueue(s["MTLCommandQueue"]).CommandBuffer()
	s["MTLCommandBuffer"] = objc.Retain(objc.ID(buffer))
	compute := buffer.ComputeCommandEncoder(DispatchTypeConcurrent)
	s["MTLComputeCommandEncoder"] = objc.Retain(objc.ID(compute))
	s["MTLCommandEncoder"] = objc.Retain(objc.ID(compute))
	compute.EndEncoding()
	blit := buffer.BlitCommandEncoder()
	s["MTLBlitCommandEncoder"] = objc.Retain(objc.ID(blit))
	blit.EndEncoding()
}
