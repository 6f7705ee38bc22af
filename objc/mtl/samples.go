package mtl

import (
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
)

// Samples is an object of each protocol of Metal's that is declared here, and of each class whose objects may
// be of another one, by name: what objc.Census looks into. All but the device are the caller's to release;
// see Release. The caller holds a pool.
type Samples map[string]objc.ID

// NewSamples makes them, each +1 but the device; nothing of it runs on the GPU.
func NewSamples(d Device) (Samples, error) {
	const page, shared = 1 << 14, ResourceStorageModeShared | ResourceHazardTrackingModeTracked
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
		"MTLCommandQueue":      objc.ID(d.NewCommandQueue()),
	}
	if err := s.makeShader(d); err != nil {
		s.Release()
		return nil, err
	}
	s.makeEncoders()
	return s, nil
}

// Release gives the samples back.
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
		return e.Status(status.Device, "[census] the sample does not compile")
	}
	s["MTLLibrary"] = objc.ID(library)
	function := library.NewFunction(objc.Text("sample"))
	s["MTLFunction"] = objc.ID(function)
	pipeline, reflection, e := d.NewReflectedPipeline(function)
	if pipeline == 0 {
		return e.Status(status.Device, "[census] the GPU takes no pipeline of the sample")
	}
	s["MTLComputePipelineState"] = objc.ID(pipeline)
	if bindings := reflection.Bindings(); bindings.Len() > 0 {
		s["MTLBinding"] = objc.Retain(bindings.At(0))
	}
	return nil
}

// makeEncoders opens and closes both kinds in a command buffer that is never committed. A queue that there
// was no memory for is nil, and so is everything made of it.
func (s Samples) makeEncoders() {
	buffer := CommandQueue(s["MTLCommandQueue"]).CommandBuffer()
	s["MTLCommandBuffer"] = objc.Retain(objc.ID(buffer))
	compute := buffer.ComputeCommandEncoder()
	s["MTLComputeCommandEncoder"] = objc.Retain(objc.ID(compute))
	s["MTLCommandEncoder"] = objc.Retain(objc.ID(compute))
	compute.EndEncoding()
	blit := buffer.BlitCommandEncoder()
	s["MTLBlitCommandEncoder"] = objc.Retain(objc.ID(blit))
	blit.EndEncoding()
}
