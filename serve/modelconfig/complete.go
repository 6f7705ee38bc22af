package modelconfig

import (
	"slices"
	"strconv"
	"strings"
)

// The backends that a configuration may name. Both run ONNX files here.
const (
	// Ours is the name of the backend of this project.
	Ours = "metal_mps"
	// ORT is the name of the backend that Triton chooses for ONNX files.
	ORT = "onnxruntime"
)

// DefaultFile is the name of the model within the folder of a version, where the configuration names none.
const DefaultFile = "model.onnx"

// Complete fills in what a configuration leaves to the server before the model is looked at: the name, the backend by the
// file (hasModel: some version has DefaultFile), the version policy and the preferred sizes of batches.
func Complete(c *ModelConfig, name string, hasModel bool) {
	if c.Name == "" {
		c.Name = name
	}
	completeBackend(c, hasModel)
	if c.VersionPolicy == nil {
		c.VersionPolicy = &ModelVersionPolicy{PolicyChoice: &ModelVersionPolicy_Latest_{Latest: &ModelVersionPolicy_Latest{NumVersions: 1}}}
	}
	CompleteBatching(c)
	if c.Platform == Ensemble {
		if c.ModelTransactionPolicy == nil {
			c.ModelTransactionPolicy = &ModelTransactionPolicy{} // Triton derives it from the steps
		}
		return
	}
	if c.Optimization == nil {
		c.Optimization = &ModelOptimizationPolicy{}
	}
	if c.Optimization.InputPinnedMemory == nil {
		c.Optimization.InputPinnedMemory = &ModelOptimizationPolicy_PinnedMemoryBuffer{Enable: true}
	}
	if c.Optimization.OutputPinnedMemory == nil {
		c.Optimization.OutputPinnedMemory = &ModelOptimizationPolicy_PinnedMemoryBuffer{Enable: true}
	}
}

// completeBackend chooses the backend as Triton does: ONNX Runtime's, or ours where the name of the model ends with it.
func completeBackend(c *ModelConfig, hasModel bool) {
	// Triton takes the backend from the name of the model where nothing else says it.
	if c.Backend == "" && c.Platform == "" && strings.HasSuffix(c.Name, "."+Ours) {
		c.Backend = Ours
	}
	if c.Backend == "" && c.Platform == "" && (hasModel || c.DefaultModelFilename == DefaultFile) {
		c.Backend, c.Platform = ORT, "onnxruntime_onnx"
	}
	if c.Backend == "" && c.Platform == "onnxruntime_onnx" {
		c.Backend = ORT
	}
	// Both are shown to clients, whichever of them the file has.
	if c.Backend == ORT && c.Platform == "" {
		c.Platform = "onnxruntime_onnx"
	}
	if c.DefaultModelFilename == "" && c.Backend == ORT {
		c.DefaultModelFilename = DefaultFile // Triton knows the name for its own backends, and shows it
	}
}

// File is the name of the file of a version.
func File(c *ModelConfig) string {
	if c.DefaultModelFilename == "" {
		return DefaultFile
	}
	return c.DefaultModelFilename
}

// CompleteBatching is the part of Complete that is about batches: without preferred sizes the largest batch is preferred.
func CompleteBatching(c *ModelConfig) {
	if d := c.GetDynamicBatching(); d != nil && len(d.PreferredBatchSize) == 0 && c.MaxBatchSize > 0 {
		d.PreferredBatchSize = []int32{c.MaxBatchSize}
	}
}

// CompleteInstances gives each group of instances a name, a kind and a number, and those on GPUs the numbers of the GPUs,
// of which the machine has so many.
func CompleteInstances(c *ModelConfig, gpus int) {
	if len(c.InstanceGroup) == 0 {
		c.InstanceGroup = []*ModelInstanceGroup{{Name: c.Name}}
	}
	for i, g := range c.InstanceGroup {
		if g.Name == "" {
			g.Name = c.Name + "_" + strconv.Itoa(i)
		}
		// A group that names a GPU which the machine lacks runs on the CPU; one that asks for KIND_GPU is refused.
		if g.Kind == ModelInstanceGroup_KIND_AUTO {
			// KIND_AUTO is the GPU where there is one.
			g.Kind = ModelInstanceGroup_KIND_GPU
			if gpus == 0 || slices.ContainsFunc(g.Gpus, func(n int32) bool { return n < 0 || int(n) >= gpus }) {
				g.Kind = ModelInstanceGroup_KIND_CPU
			}
		}
		if g.Count < 1 {
			g.Count = 1
		}
		if g.Kind == ModelInstanceGroup_KIND_GPU && len(g.Gpus) == 0 {
			for n := range gpus {
				g.Gpus = append(g.Gpus, int32(n))
			}
		}
	}
}
