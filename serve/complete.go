package serve

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// complete is complete by the options of the server: without completion, a configuration has all that it needs.
func (o *opening) complete(c *modelconfig.ModelConfig, m *onnx.Model) error {
	if !o.server.options.NoComplete {
		return complete(c, m, o.server.options.DefaultMaxBatch)
	}
	if len(c.Output) == 0 {
		return inference.Errorf(inference.InvalidArg, "unable to load model '%s', the configuration has no output, and may not be completed from the file", c.Name)
	}
	return supported(c, m)
}

// complete refuses inputs and outputs that are not supported. Where the configuration lacks inputs or outputs, it fills them in
// from the model, with the largest batch, by the rule of Triton's ONNX Runtime
// backend: a model whose inputs and outputs all begin with a dimension of any size takes batches, of at most most items unless
// the configuration says another number, and then batches are dynamic.
func complete(c *modelconfig.ModelConfig, m *onnx.Model, most int) error {
	if err := supported(c, m); err != nil {
		return err
	}
	inputs, outputs := m.Ports()
	// A configuration that names both sides is complete as it is: a max_batch_size of 0 means none there.
	if len(c.Input) > 0 && len(c.Output) > 0 {
		return nil
	}
	if batches(inputs) && batches(outputs) {
		// Inputs or outputs with all dimensions of the file leave none for the batch. What a model counts is no batch either.
		if c.MaxBatchSize == 0 && !m.Counts() && !inFull(c, append(slices.Clip(inputs), outputs...)) {
			c.MaxBatchSize = int32(max(most, 0))
		}
		if c.MaxBatchSize > 1 && c.SchedulingChoice == nil {
			c.SchedulingChoice = &modelconfig.ModelConfig_DynamicBatching{DynamicBatching: &modelconfig.ModelDynamicBatching{}}
		}
		// The preferred sizes depend on the largest batch, which may have been completed just now.
		modelconfig.CompleteBatching(c)
	} else if c.MaxBatchSize != 0 {
		return inference.Errorf(inference.InvalidArg, "autofill failed for model '%s': model does not support batching while non-zero max_batch_size is specified", c.Name)
	}
	if len(c.Input) == 0 {
		for _, p := range inputs {
			dims, reshape := completeDims(c, p)
			c.Input = append(c.Input, &modelconfig.ModelInput{Name: p.Name, DataType: typeOf(p), Dims: dims, Reshape: reshape})
		}
	}
	if len(c.Output) == 0 {
		for _, p := range outputs {
			dims, reshape := completeDims(c, p)
			c.Output = append(c.Output, &modelconfig.ModelOutput{Name: p.Name, DataType: typeOf(p), Dims: dims, Reshape: reshape})
		}
	}
	return nil
}

// supported refuses inputs and outputs of element types that the protocol lacks, or that no tensor has.
func supported(c *modelconfig.ModelConfig, m *onnx.Model) error {
	inputs, outputs := m.Ports()
	for _, p := range append(slices.Clip(inputs), outputs...) {
		if typeOf(p) == modelconfig.DataType_TYPE_INVALID {
			return inference.Errorf(inference.Unsupported, "unable to load model '%s', '%s' is %s in the file, which is not supported", c.Name, p.Name, p.Text())
		}
	}
	return nil
}

// inFull reports whether the configuration has an input or output with as many dimensions as the file: it counts the batch
// among them.
func inFull(c *modelconfig.ModelConfig, ports []*onnx.Port) bool {
	full := func(d declared) bool {
		dims := d.GetDims()
		if r := d.GetReshape(); r != nil {
			dims = r.Shape
		}
		return slices.ContainsFunc(ports, func(p *onnx.Port) bool { return p.Name == d.GetName() && len(dims) == len(p.Dims) })
	}
	return slices.ContainsFunc(c.Input, func(in *modelconfig.ModelInput) bool { return full(in) }) ||
		slices.ContainsFunc(c.Output, func(out *modelconfig.ModelOutput) bool { return full(out) })
}

// batches reports whether the first dimension of all ports may have any size.
func batches(ports []*onnx.Port) bool {
	for _, p := range ports {
		if !p.Ranked || len(p.Dims) == 0 || p.Dims[0].Size >= 0 {
			return false
		}
	}
	return true
}

// typeOf is the type of a port in configurations.
func typeOf(p *onnx.Port) modelconfig.DataType {
	return modelconfig.DataType(tensors.OfElem(int32(p.Elem)))
}

// dimsOf are the dimensions of a port, -1 where any size is accepted.
func dimsOf(p *onnx.Port) []int64 {
	dims := make([]int64, len(p.Dims))
	for i, d := range p.Dims {
		dims[i] = max(d.Size, -1)
	}
	return dims
}

// completeDims are the dimensions of a port for a configuration, which has no scalars: they are a dimension of 1 that is
// reshaped away.
func completeDims(c *modelconfig.ModelConfig, p *onnx.Port) ([]int64, *modelconfig.ModelTensorReshape) {
	dims := dimsOf(p)
	if c.MaxBatchSize > 0 {
		dims = dims[1:]
	}
	if len(dims) == 0 {
		return []int64{1}, &modelconfig.ModelTensorReshape{}
	}
	return dims, nil
}
