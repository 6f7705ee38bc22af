package serve

import (
	"slices"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// accepted is a request that fits the model: its inputs in the order of the model, with shapes as the model gets them.
type accepted struct {
	batch  int64 // 0 for a model without batches
	data   [][]byte
	shapes [][]int64
	absent []bool // inputs that have the values of the file; nil: none

	// Most models have few inputs.
	fewData   [2][]byte
	fewShapes [2][]int64
}

// lists makes room for a number of inputs.
func (a *accepted) lists(n int) {
	if n <= len(a.fewData) {
		a.data, a.shapes = a.fewData[:n], a.fewShapes[:n]
		return
	}
	a.data, a.shapes = make([][]byte, n), make([][]int64, n)
}

// batchNote is what Triton adds to the message about a wrong shape.
const batchNote = "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended " +
	"to each input shape. If you want to specify the full shape including the batch dim in your input dims config, try " +
	"setting max_batch_size to zero. See the model configuration docs for more info on max_batch_size."

// accept checks a request against the configuration of the version, in the order in which Triton does, so that a request
// with two faults gets the same message. What fits is in the job.
func (v *Version) accept(r *inference.Request, j *job) error {
	name := v.config.Name
	// Triton looks at outputs before inputs; a request with both wrong names an output.
	for _, o := range r.Outputs {
		if v.output(o.Name) < 0 {
			return inference.Errorf(inference.InvalidArg, "unexpected inference output '%s' for model '%s'", o.Name, name)
		}
	}
	// The number comes before the names: a wrong name beside a missing input is reported as the missing one.
	if len(r.Inputs) > len(v.inputs) || len(r.Inputs) < v.needed {
		if name := twice(r.Inputs); name != "" {
			return inference.Errorf(inference.InvalidArg, "%sinput '%s' already exists in request", r.Tag(), name)
		}
		return inference.Errorf(inference.InvalidArg, "%s%s", r.Tag(), v.wrongCount(r))
	}
	a := &j.accepted
	a.lists(len(v.inputs))
	// First all inputs are found and agree on the batch; only then is each of them compared with the configuration.
	for i := range r.Inputs {
		in := &r.Inputs[i]
		at := v.input(in.Name)
		if at < 0 {
			return inference.Errorf(inference.InvalidArg, "unexpected inference input '%s' for model '%s'", in.Name, name)
		}
		if a.shapes[at] != nil {
			return inference.Errorf(inference.InvalidArg, "%sinput '%s' already exists in request", r.Tag(), in.Name)
		}
		// The batch is the first dimension of each input and has to be the same in all of them.
		a.shapes[at] = j.ints(0) // it is set below
		if v.config.MaxBatchSize == 0 {
			continue
		}
		switch {
		case len(in.Shape) == 0:
			return inference.Errorf(inference.InvalidArg, "%sinput '%s' has no shape but model requires batch dimension for '%s'", r.Tag(), in.Name, name)
		case a.batch == 0:
			a.batch = in.Shape[0]
		case in.Shape[0] != a.batch:
			return inference.Errorf(inference.InvalidArg, "%sinput '%s' batch size does not match other inputs for '%s'", r.Tag(), in.Name, name)
		}
	}
	if v.config.MaxBatchSize > 0 && a.batch < 1 && len(r.Inputs) > 0 {
		return inference.Errorf(inference.InvalidArg, "%sinference request batch-size must be >= 1 for '%s'", r.Tag(), name)
	}
	if limit := int64(v.config.MaxBatchSize); a.batch > limit {
		return inference.Errorf(inference.InvalidArg, "%sinference request batch-size must be <= %d for '%s'", r.Tag(), limit, name)
	}
	for i := range r.Inputs {
		if err := v.acceptInput(r, &r.Inputs[i], j); err != nil {
			return err
		}
	}
	if len(r.Inputs) < len(v.inputs) {
		return v.addDefaults(r, a)
	}
	return nil
}

// twice is a name that two inputs have; "": there is none.
func twice(inputs []inference.Tensor) string {
	seen := make(map[string]bool, len(inputs))
	for i := range inputs {
		name := inputs[i].Name
		if seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

// wrongCount is the message about a request with too many or too few inputs.
func (v *Version) wrongCount(r *inference.Request) string {
	var missing, given []string
	for _, in := range v.config.Input {
		if !in.Optional && !slices.ContainsFunc(r.Inputs, func(t inference.Tensor) bool { return t.Name == in.Name }) {
			missing = append(missing, "'"+in.Name+"'")
		}
	}
	for _, in := range r.Inputs {
		given = append(given, "'"+in.Name+"'")
	}
	slices.Sort(given)
	// Triton removes the bracket where nothing is missing.
	lack := "[" + strings.Join(missing, ",") + "]"
	if len(missing) == 0 {
		lack = "]"
	}
	if v.needed < len(v.inputs) {
		return inference.Errorf(inference.InvalidArg, "expected number of inputs between %d and %d but got %d inputs for model '%s'. Got input(s) [%s], but missing required input(s) %s. Please provide all required input(s).",
			v.needed, len(v.config.Input), len(r.Inputs), v.config.Name, strings.Join(given, ","), lack).Text
	}
	return inference.Errorf(inference.InvalidArg, "expected %d inputs but got %d inputs for model '%s'. Got input(s) [%s], but missing required input(s) %s. Please provide all required input(s).",
		len(v.config.Input), len(r.Inputs), v.config.Name, strings.Join(given, ","), lack).Text
}

// acceptInput checks one input, whose batch is known, and puts it in its place.
func (v *Version) acceptInput(r *inference.Request, in *inference.Tensor, j *job) error {
	a := &j.accepted
	at, name := v.input(in.Name), v.config.Name
	p := &v.inputs[at]
	// No type is converted: what is sent has to be what the model takes.
	if in.Type != p.kind {
		return inference.Errorf(inference.InvalidArg, "%sinference input '%s' data-type is '%s', but model '%s' expects '%s'", r.Tag(), in.Name, in.Type, name, p.kind)
	}
	// Shapes of the configuration are without the batch, and so is what is compared with them.
	shape := in.Shape
	if v.config.MaxBatchSize > 0 {
		shape = shape[1:]
	}
	if slices.Contains(shape, -1) && len(shape) == len(p.dims) {
		return inference.Errorf(inference.InvalidArg, "%sAll input dimensions should be specified for input '%s' for model '%s', got %s", r.Tag(), in.Name, name, tensors.Text(in.Shape))
	}
	if !fits(shape, p.dims) {
		full, note := p.dims, ""
		if v.config.MaxBatchSize > 0 {
			full, note = append([]int64{-1}, p.dims...), batchNote
		}
		return inference.Errorf(inference.InvalidArg, "%sunexpected shape for input '%s' for model '%s'. Expected %s, got %s. %s", r.Tag(), in.Name, name, tensors.Text(full), tensors.Text(in.Shape), note)
	}
	// A reshape changes the shape and no bytes: it is applied to what was checked.
	if p.reshape != nil {
		shape = reshaped(shape, p.dims, p.reshape)
	}
	if v.config.MaxBatchSize > 0 {
		full := j.ints(1 + len(shape))
		full[0] = a.batch
		copy(full[1:], shape)
		shape = full
	}
	// The product of a shape may exceed 64 bits: a request with 2^62 items of 4 must not become one of 0 bytes.
	want, ok := tensors.ByteSize(in.Type, shape)
	if !ok {
		return inference.Errorf(inference.InvalidArg, "%sinput '%s' for model '%s' has shape %s, which causes total byte size to exceed maximum size of 9223372036854775807", r.Tag(), in.Name, name, tensors.Text(in.Shape))
	}
	if in.Type == tensors.Bytes {
		n, _ := tensors.Count(shape) // it fits, like the size
		if why := tensors.CheckElements(in.Data, n, "inference input '"+in.Name+"' for model '"+name+"'"); why != "" {
			return inference.Errorf(inference.InvalidArg, "%s%s", r.Tag(), why)
		}
	} else if int64(len(in.Data)) != want {
		return inference.Errorf(inference.InvalidArg, "%sinput byte size mismatch for input '%s' for model '%s'. Expected %d, got %d", r.Tag(), in.Name, name, want, len(in.Data))
	}
	if shape == nil {
		shape = []int64{} // nil: not given
	}
	a.data[at], a.shapes[at] = in.Data, shape
	return nil
}

// fits reports whether a shape is one of those that dims stand for.
func fits(shape, dims []int64) bool {
	if len(shape) != len(dims) {
		return false
	}
	for i, d := range dims {
		if shape[i] < 0 || d != -1 && d != shape[i] {
			return false
		}
	}
	return true
}

// reshaped is the shape to, in which each -1 is the size of the next dimension of any size in from.
func reshaped(shape, from, to []int64) []int64 {
	var free []int64
	for i, d := range from {
		if d == -1 {
			free = append(free, shape[i])
		}
	}
	made := slices.Clone(to)
	for i, d := range made {
		if d == -1 && len(free) > 0 {
			made[i], free = free[0], free[1:]
		}
	}
	return made
}

// port is an input or output of a version.
type port struct {
	name    string
	kind    tensors.Type
	dims    []int64 // as requests have them, without the batch
	reshape []int64 // as the model has them; nil: the same
	at      int     // its number among those of the model
	labels  []string
	value   *op.Const // of an input that a request may leave out; nil: it may not, or the file has none
}

// portOf is an input or output of a configuration, the model's of number at.
func portOf(name string, kind modelconfig.DataType, dims []int64, r *modelconfig.ModelTensorReshape, at int) port {
	p := port{name: name, kind: tensors.Type(kind), dims: dims, at: at}
	if r != nil {
		p.reshape = append([]int64{}, r.Shape...)
	}
	return p
}

// input is the index of an input, -1 where there is none.
func (v *Version) input(name string) int {
	return slices.IndexFunc(v.inputs, func(p port) bool { return p.name == name })
}

// output is the index of an output, -1 where there is none.
func (v *Version) output(name string) int {
	return slices.IndexFunc(v.outputs, func(p port) bool { return p.name == name })
}
