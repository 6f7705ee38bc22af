package backend

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The server gives the configuration of a model as JSON: config.pbtxt with the defaults of all fields. It has checked it by its
// own rules by then: names and counts are there, sizes are positive or -1. What concerns scheduling, such as dynamic_batching,
// instance_group, priorities or model_warmup, is the server's alone and not read here.
//
// Fields are looked up by name, so that a newer server may have more of them.

// config is what this package reads of a configuration.
type config struct {
	all      map[string]json.RawMessage // everything that it says
	maxBatch int64                      // 0: no batch dimension
	inputs   []*port                    // none: to be completed
	outputs  []*port                    // likewise
	fileName string                     // empty: model.onnx
}

// port is an input or an output of a configuration, without the batch dimension.
type port struct {
	name     string
	dataType string  // TYPE_FP32 and so on
	dims     []int64 // -1: any size
	reshaped bool    // whether there is a reshape, which may be to no dimensions
	reshape  []int64 // the shape that the model has, where it is not that of requests
	optional bool
}

// The fields as JSON has them. A number may be written as a string.
type (
	configJSON struct {
		FileName      string      `json:"default_model_filename"`
		MaxBatch      wholeNumber `json:"max_batch_size"`
		Input, Output []portJSON
	}
	portJSON struct {
		Name     string        `json:"name"`
		DataType string        `json:"data_type"`
		Dims     []wholeNumber `json:"dims"`
		Reshape  *shapeJSON    `json:"reshape,omitempty"`
		Optional bool          `json:"optional,omitempty"`
	}
	shapeJSON struct {
		Shape []wholeNumber `json:"shape"`
	}
)

// refused are fields that ask for what the backend does not do. Each is refused by its name, because a model that needs it
// would compute something else.
var refused = [][]string{
	{"batch_input"},
	{"batch_output"},
	{"sequence_batching"},
	{"model_transaction_policy", "decoupled"},
	{"model_operations", "op_library_filename"},
	{"optimization", "execution_accelerators", "gpu_execution_accelerator"},
	{"optimization", "execution_accelerators", "cpu_execution_accelerator"},
}

// notDone are such fields of inputs and outputs.
var notDone = []string{"is_shape_tensor", "allow_ragged_batch", "is_non_linear_format_io"}

// readConfig reads a configuration and refuses what it says that the backend cannot do.
func readConfig(text []byte) (*config, error) {
	var (
		c      = &config{}
		fields configJSON
		tree   any
	)
	for _, into := range []any{&c.all, &fields, &tree} {
		if err := json.Unmarshal(text, into); err != nil {
			return nil, status.Errorf(status.Invalid, "the configuration is damaged: %s", err)
		}
	}
	for _, path := range refused {
		if says(member(tree, path...)) {
			return nil, status.Errorf(status.Unsupported, "the configuration has %s; want one without", strings.Join(path, "."))
		}
	}
	var err error
	c.fileName = fields.FileName
	if c.maxBatch, err = number(fields.MaxBatch); err == nil {
		c.inputs, err = readPorts(fields.Input, member(tree, "input"))
	}
	if err == nil {
		c.outputs, err = readPorts(fields.Output, member(tree, "output"))
	}
	if err == nil && c.maxBatch < 0 {
		err = status.Errorf(status.Invalid, "max_batch_size is %d; want 0 or more", c.maxBatch)
	}
	return c, err
}

// member is a member of an object, or of the members on the way; nil where there is none.
func member(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// says reports whether a field has another value than its default.
func says(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// readPorts reads the inputs or the outputs. tree has the fields that portJSON lacks.
func readPorts(list []portJSON, tree any) (made []*port, err error) {
	elements, _ := tree.([]any)
	for i, f := range list {
		p := &port{name: f.Name, dataType: f.DataType, optional: f.Optional, reshaped: f.Reshape != nil}
		for _, field := range notDone {
			if i < len(elements) && says(member(elements[i], field)) {
				return nil, status.Errorf(status.Unsupported, "%q has %s; want one without", p.name, field)
			}
		}
		if p.dims, err = numbers(f.Dims); err == nil && p.reshaped {
			p.reshape, err = numbers(f.Reshape.Shape)
		}
		if err != nil {
			return nil, err
		}
		made = append(made, p)
	}
	return made, nil
}

// wholeNumber is the text of a number of JSON. Protocol buffers write those of 64 bits as strings of digits, which count as well. What
// is no number is refused by number, which says what was wanted.
type wholeNumber string

func (n *wholeNumber) UnmarshalJSON(text []byte) error {
	if *n = wholeNumber(strings.Trim(string(text), `"`)); *n == "null" {
		*n = ""
	}
	return nil
}

func (n wholeNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// number is a whole number: 0 where there is none.
func number(text wholeNumber) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, status.Errorf(status.Invalid, "got %s; want a whole number", text)
	}
	return n, nil
}

// numbers are whole numbers.
func numbers(texts []wholeNumber) (list []int64, err error) {
	list = make([]int64, len(texts))
	for i := range texts {
		if list[i], err = number(texts[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// with is the configuration with other inputs, outputs and max_batch_size, and with dynamic batching if it has none, as JSON.
// The text of everything else is as it was.
func (c *config) with(batching bool) ([]byte, error) {
	made := map[string]any{}
	if batching {
		made["dynamic_batching"] = struct{}{}
	}
	for name, text := range c.all {
		made[name] = text
	}
	made["max_batch_size"], made["input"], made["output"] = c.maxBatch, portsJSON(c.inputs), portsJSON(c.outputs)
	return json.Marshal(made)
}

// portsJSON are inputs or outputs as JSON has them.
func portsJSON(ports []*port) []portJSON {
	list := []portJSON{}
	for _, p := range ports {
		one := portJSON{Name: p.name, DataType: p.dataType, Dims: numbersJSON(p.dims), Optional: p.optional}
		if p.reshaped {
			one.Reshape = &shapeJSON{numbersJSON(p.reshape)}
		}
		list = append(list, one)
	}
	return list
}

// numbersJSON are numbers as JSON has them.
func numbersJSON(list []int64) []wholeNumber {
	texts := make([]wholeNumber, len(list))
	for i, n := range list {
		texts[i] = wholeNumber(strconv.FormatInt(n, 10))
	}
	return texts
}

// ReadBackendConfig reads what the server was started with for the backend: default-max-batch-size of
// {"cmdline":{"default-max-batch-size":"4"}}, or absent where it is not there.
func ReadBackendConfig(text []byte, absent int64) (defaultMaxBatch int64, err error) {
	var all struct {
		Cmdline struct {
			Size *json.RawMessage `json:"default-max-batch-size"`
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return 0, status.Errorf(status.Invalid, "[metal_mps] backend configuration: %s", err)
	}
	if all.Cmdline.Size == nil {
		return absent, nil
	}
	n, err := strconv.ParseInt(strings.Trim(string(*all.Cmdline.Size), `"`), 10, 64)
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, status.Errorf(status.Invalid, "[metal_mps] default-max-batch-size is %s; want a whole number of 0 or more", *all.Cmdline.Size)
	}
	return n, nil
}
