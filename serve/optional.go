package serve

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// An optional input may be omitted by a request. Its default value is in the ONNX file: an initializer that is also a graph
// input. The runtime treats such an input as a constant, unless the configuration lists it: then it becomes an input of the
// program, and a request without it gets the value of the file. The value has its own shape, which broadcasts over a batch;
// requests with and without an input never share a batch.

// takeDefaults makes inputs of the initializers that the configuration lists, and returns their values by name. It is called
// for each model that a version parses, with the same configuration.
func takeDefaults(c *modelconfig.ModelConfig, m *onnx.Model) (map[string]*op.Const, error) {
	var names []string
	for _, in := range c.Input {
		if slices.ContainsFunc(m.Replaceable(), func(p *onnx.Port) bool { return p.Name == in.Name }) && !slices.Contains(names, in.Name) {
			names = append(names, in.Name)
		}
	}
	values, err := m.Take(names)
	if err != nil {
		return nil, err
	}
	all := map[string]*op.Const{}
	inputs, _ := m.Ports()
	for i, name := range names {
		all[name] = values[i]
		// Strings have numbers in the file; requests have their texts. Inputs that were taken are the last ones.
		if inputs[len(inputs)-len(names)+i].IsString() {
			wire, err := m.Wire(values[i])
			if err != nil {
				return nil, err
			}
			all[name] = &op.Const{Type: values[i].Type, Bytes: wire}
		}
	}
	return all, nil
}

// required is the number of inputs that a request has to have.
func (v *Version) required() (n int) {
	for _, in := range v.config.Input {
		if !in.Optional {
			n++
		}
	}
	return n
}

// addDefaults gives the inputs that a request leaves out the values of the file.
func (v *Version) addDefaults(r *inference.Request, a *accepted) error {
	// A shape that was accepted is never nil, not even that of a scalar.
	for i := range v.inputs {
		p := &v.inputs[i]
		if a.shapes[i] != nil {
			continue
		}
		if p.value == nil {
			return inference.Errorf(inference.InvalidArg, "%sinput '%s' is missing in the request for model '%s', and the model has no value for it", r.Tag(), p.name, v.config.Name)
		}
		if a.absent == nil {
			a.absent = make([]bool, len(v.inputs))
		}
		a.absent[i], a.data[i], a.shapes[i] = true, p.value.Bytes, p.value.Shape.Slice()
	}
	if v.config.MaxBatchSize > 0 && a.batch == 0 {
		a.batch = 1 // a request of nothing but values of the file
	}
	return nil
}

// isAbsent reports whether an input of the batch is the value of the file, which is the same for all its requests.
func (a *accepted) isAbsent(input int) bool { return a.absent != nil && a.absent[input] }
