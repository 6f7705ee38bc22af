package metal

import (
	"encoding/json"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var _ device.Censor = (*Device)(nil)

// sampleSource is the smallest kernel with an argument to reflect on.
const sampleSource = "kernel void sample(device int *x [[buffer(0)]]) { x[0] = 0; }"

// Census is what the system has of the classes and methods that the library uses, as JSON: the version of
// macOS, the name of the GPU's architecture, and the findings.
func (d *Device) Census() (string, error) {
	defer objc.Pool().Close()
	s := samples{"MTLDevice": objc.ID(d.gpu)}
	defer s.release()
	if err := s.make(d); err != nil {
		return "", err
	}
	findings, err := objc.Census(s)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(struct {
		MacOS        string         `json:"macos"`
		Architecture string         `json:"architecture"`
		Findings     []objc.Finding `json:"findings"`
	}{objc.MacOS().String(), d.gpu.ArchitectureName(), findings})
	return string(text), err
}

// samples is an object of each protocol that the library sends messages to, and of each class whose
// objects may be of another one. All but the device are the map's own.
type samples map[string]objc.ID

func (s samples) release() {
	for name, o := range s {
		if name != "MTLDevice" {
			objc.Release(o)
		}
	}
}

// make makes the samples; what is encoded is thrown away. The caller holds a pool.
func (s samples) make(d *Device) error {
	s["MTLArchitecture"] = objc.ID(objc.Retain(d.gpu.Architecture()))
	s["MTLHeapDescriptor"] = objc.ID(mtl.NewHeapDescriptor())
	s["MTLCompileOptions"] = objc.ID(mtl.NewCompileOptions())
	s["MTLCaptureDescriptor"] = objc.ID(mtl.NewCaptureDescriptor())
	s["MTLHeap"] = objc.ID(d.placement(granule))
	s["MTLBuffer"] = objc.ID(d.gpu.NewBuffer(granule, resource))
	s["MTLSharedEvent"] = objc.ID(d.gpu.NewSharedEvent())
	s["MTLCommandQueue"] = objc.ID(d.gpu.NewCommandQueue())
	if err := s.makeShader(d); err != nil {
		return err
	}
	return s.makeEncoders()
}

// makeShader compiles the sample kernel.
func (s samples) makeShader(d *Device) error {
	library, e := d.gpu.NewLibrary(objc.Text(sampleSource), mtl.CompileOptions(s["MTLCompileOptions"]))
	if library == 0 {
		return e.Status(status.Device, "[census] the sample does not compile")
	}
	s["MTLLibrary"] = objc.ID(library)
	function := library.NewFunction(objc.Text("sample"))
	s["MTLFunction"] = objc.ID(function)
	pipeline, reflection, e := d.gpu.NewReflectedPipeline(function)
	if pipeline == 0 {
		return e.Status(status.Device, "[census] the GPU takes no pipeline of the sample")
	}
	s["MTLComputePipelineState"] = objc.ID(pipeline)
	if bindings := reflection.Bindings(); bindings.Len() > 0 {
		s["MTLBinding"] = objc.Retain(bindings.At(0))
	}
	return nil
}

// makeEncoders opens and closes both kinds in a command buffer that is never committed.
func (s samples) makeEncoders() error {
	queue := mtl.CommandQueue(s["MTLCommandQueue"])
	if queue == 0 {
		return status.Errorf(status.Device, "[census] the GPU gave no command queue")
	}
	buffer := queue.CommandBuffer()
	s["MTLCommandBuffer"] = objc.Retain(objc.ID(buffer))
	compute := buffer.ComputeCommandEncoder()
	s["MTLComputeCommandEncoder"] = objc.Retain(objc.ID(compute))
	s["MTLCommandEncoder"] = objc.Retain(objc.ID(compute))
	compute.EndEncoding()
	blit := buffer.BlitCommandEncoder()
	s["MTLBlitCommandEncoder"] = objc.Retain(objc.ID(blit))
	blit.EndEncoding()
	return nil
}
