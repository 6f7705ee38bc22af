package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// bind relates the inputs and outputs of the configuration to those of the model, and refuses what does not agree. The
// messages are those of Triton's ONNX Runtime backend.
func (v *Version) bind(m *onnx.Model, folder string, values map[string]*op.Const) error {
	inputs, outputs := m.Ports()
	if len(v.config.Input) != len(inputs) {
		return inference.Errorf(inference.InvalidArg, "unable to load model '%s', configuration expects %d inputs, model provides %d", v.config.Name, len(v.config.Input), len(inputs))
	}
	for _, in := range v.config.Input {
		at, err := v.bindPort("input", in, inputs)
		if err != nil {
			return err
		}
		p := portOf(in.Name, in.DataType, in.Dims, in.Reshape, at)
		if in.Optional {
			p.value = values[in.Name]
		}
		v.inputs = append(v.inputs, p)
	}
	v.needed = v.required()
	for _, out := range v.config.Output {
		at, err := v.bindPort("output", out, outputs)
		if err != nil {
			return err
		}
		p := portOf(out.Name, out.DataType, out.Dims, out.Reshape, at)
		if out.LabelFilename != "" {
			if p.labels, err = readLabels(folder, out.LabelFilename, out.Name, v.config.Name); err != nil {
				return err
			}
		}
		v.outputs = append(v.outputs, p)
	}
	return nil
}

// declared is an input or output of a configuration.
type declared interface {
	GetName() string
	GetDataType() modelconfig.DataType
	GetDims() []int64
	GetReshape() *modelconfig.ModelTensorReshape
}

// bindPort finds the port of the model that a declared one names, and compares the two.
func (v *Version) bindPort(what string, d declared, ports []*onnx.Port) (at int, err error) {
	// The names decide: the order of a configuration need not be that of the file.
	at = slices.IndexFunc(ports, func(p *onnx.Port) bool { return p.Name == d.GetName() })
	if at < 0 {
		var names []string
		for _, p := range ports {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		return 0, inference.Errorf(inference.InvalidArg, "unexpected inference %s '%s', allowed %ss are: %s", what, d.GetName(), what, strings.Join(names, ", "))
	}
	p := ports[at]
	// Types of files that tensors of the runtime do not have were refused by complete.
	if kind := typeOf(p); kind != d.GetDataType() {
		return 0, inference.Errorf(inference.InvalidArg, "unable to load model '%s', configuration expects datatype %s for %s '%s', model provides %s",
			v.config.Name, d.GetDataType(), what, d.GetName(), tensors.Type(kind).ConfigName())
	}
	if !p.Ranked {
		return at, nil
	}
	// What the model gets is the reshaped form, so that this is what has to agree with the file.
	dims := d.GetDims()
	if r := d.GetReshape(); r != nil {
		dims = r.Shape
	}
	full, note := dims, ""
	if v.config.MaxBatchSize > 0 {
		full = append([]int64{-1}, dims...)
		note = fmt.Sprintf(" (an initial batch dimension because max_batch_size > 0 followed by the explicit tensor shape, making complete shape %s)", tensors.Text(full))
		if len(p.Dims) > 0 && p.Dims[0].Size >= 0 {
			return 0, inference.Errorf(inference.InvalidArg, "model '%s', tensor '%s': for the model to support batching the shape should have at least 1 dimension and the first dimension must be -1; but shape expected by the model is %s",
				v.config.Name, d.GetName(), tensors.Text(dimsOf(p)))
		}
	}
	if len(full) != len(p.Dims) {
		return 0, inference.Errorf(inference.InvalidArg, "model '%s', tensor '%s': the model expects %d dimensions (shape %s) but the model configuration specifies %d dimensions%s",
			v.config.Name, d.GetName(), len(p.Dims), tensors.Text(dimsOf(p)), len(full), note)
	}
	// A dimension that the file leaves open agrees with any. One that it knows has to be in the configuration, as in Triton's
	// ONNX Runtime backend: the requests with other sizes, which -1 promises, would fail.
	for i, n := range full {
		if m := p.Dims[i].Size; m >= 0 && n != m {
			return 0, inference.Errorf(inference.InvalidArg, "model '%s', tensor '%s': the model expects shape %s but the model configuration specifies shape %s",
				v.config.Name, d.GetName(), tensors.Text(dimsOf(p)), tensors.Text(full))
		}
	}
	return at, nil
}

// readLabels reads a file of labels, one a line, from the folder of the model. A path that leads out of it is refused,
// also through a symbolic link.
func readLabels(folder, file, output, model string) ([]string, error) {
	// A root refuses what leads out of the folder also where a link is swapped between a check and the read.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, inference.Errorf(inference.InvalidArg, "label file '%s' for output '%s' in model '%s': %s", file, output, model, err)
	}
	defer func() { _ = root.Close() }()
	if !filepath.IsLocal(file) {
		return nil, inference.Errorf(inference.InvalidArg, "label file path '%s' for output '%s' in model '%s' is outside model directory", file, output, model)
	}
	text, err := readFile(root.OpenFile, file, largestLabels)
	if err != nil {
		return nil, inference.Errorf(inference.InvalidArg, "label file '%s' for output '%s' in model '%s': %s", file, output, model, errors.Unwrap(err))
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n"), nil
}

// smallest are the types of the inputs, in the order of the model, for a batch of one; false where the configuration
// leaves a dimension open.
func (v *Version) smallest() (types []op.Type, known bool) {
	types = make([]op.Type, len(v.inputs))
	for _, p := range v.inputs {
		dims := p.dims
		if p.reshape != nil {
			dims = p.reshape
		}
		if v.config.MaxBatchSize > 0 {
			dims = append([]int64{1}, dims...)
		}
		s, err := shape.Of(dims...) // refuses -1 and too many dimensions
		if err != nil {
			return nil, false
		}
		types[p.at] = op.Type{DType: p.kind.DType(), Shape: s}
	}
	return types, true
}
