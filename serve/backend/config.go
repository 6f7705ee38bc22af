package backend

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// The server gives the configuration of a model as JSON: config.pbtxt with the defaults of all fields. It has checked it by its
// own rules by then: names and counts are there, sizes are positive or -1. What concerns scheduling, such as dynamic_batching,
// instance_group, priorities or model_warmup, is the server's alone and not read here.
//
// Fields are looked up by name, so that a newer server may have more of them.

// config is what this package reads of a configuration.
type config struct {
	all      []jsontext.Member // everything that it says
	maxBatch int64             // 0: no batch dimension
	inputs   []*port           // none: to be completed
	outputs  []*port           // likewise
	fileName string            // empty: model.onnx
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

// readConfig reads a configuration and refuses what it says that the backend cannot do. Bytes that are no UTF-8 are read as they would be
// written.
func readConfig(text []byte) (*config, error) {
	tree, err := jsontext.Read(bytes.ToValidUTF8(text, []byte("\ufffd")))
	c := &config{}
	if err == nil {
		c.all, err = tree.Members()
	}
	if err != nil {
		return nil, damaged(err)
	}
	for _, path := range refused {
		if says(member(tree, path...)) {
			return nil, status.Errorf(status.Unsupported, "the configuration has %s; want one without", strings.Join(path, "."))
		}
	}
	if c.fileName, err = textOf(member(tree, "default_model_filename")); err == nil {
		c.maxBatch, err = number(member(tree, "max_batch_size"))
	}
	if err == nil {
		c.inputs, err = readPorts(member(tree, "input"))
	}
	if err == nil {
		c.outputs, err = readPorts(member(tree, "output"))
	}
	if err == nil && c.maxBatch < 0 {
		err = status.Errorf(status.Invalid, "max_batch_size is %d; want 0 or more", c.maxBatch)
	}
	return c, err
}

// damaged is the error of a configuration that is not JSON, or has another type in the place of a field's.
func damaged(err error) error {
	return status.Errorf(status.Invalid, "the configuration is damaged: %s", err)
}

// member is a member of an object, or of the members on the way; a null where there is none.
func member(v jsontext.Value, path ...string) jsontext.Value {
	for _, name := range path {
		v, _ = jsontext.Find(jsontext.OrNone(v.Members()), name)
	}
	return v
}

// says reports whether a field has another value than its default.
func says(v jsontext.Value) bool {
	switch v.Kind() {
	case jsontext.Bool:
		is, _ := v.Bool()
		return is
	case jsontext.Array, jsontext.Object:
		return len(jsontext.Append(nil, v)) > len("{}")
	}
	return false
}

// readPorts reads the inputs or the outputs.
func readPorts(list jsontext.Value) (made []*port, err error) {
	err = each(list, func(v jsontext.Value) error {
		p, err := readPort(v)
		made = append(made, p)
		return err
	})
	return made, err
}

// readPort reads an input or an output.
func readPort(v jsontext.Value) (p *port, err error) {
	if v.Kind() != jsontext.Object && v.Kind() != jsontext.Null {
		return nil, damaged(errors.New("an input or output is no object"))
	}
	p = &port{}
	if p.name, err = textOf(member(v, "name")); err != nil {
		return nil, err
	}
	if p.dataType, err = textOf(member(v, "data_type")); err != nil {
		return nil, err
	}
	for _, field := range notDone {
		if says(member(v, field)) {
			return nil, status.Errorf(status.Unsupported, "%q has %s; want one without", p.name, field)
		}
	}
	if optional := member(v, "optional"); optional.Kind() != jsontext.Null {
		if p.optional, err = optional.Bool(); err != nil {
			return nil, damaged(err)
		}
	}
	if p.dims, err = numbers(member(v, "dims")); err != nil {
		return nil, err
	}
	switch reshape := member(v, "reshape"); reshape.Kind() {
	case jsontext.Null:
	case jsontext.Object:
		p.reshaped = true
		p.reshape, err = numbers(member(reshape, "shape"))
	default:
		err = damaged(errors.New("reshape is no object"))
	}
	return p, err
}

// each calls f with each element of an array. A null has none.
func each(list jsontext.Value, f func(jsontext.Value) error) error {
	if list.Kind() == jsontext.Null {
		return nil
	}
	if _, err := list.Array(); err != nil {
		return damaged(err)
	}
	return list.Each(f)
}

// textOf is a text; "" for null.
func textOf(v jsontext.Value) (string, error) {
	if v.Kind() == jsontext.Null {
		return "", nil
	}
	text, err := v.String()
	if err != nil {
		return "", damaged(err)
	}
	return text, nil
}

// number is a whole number: 0 for null. Protocol buffers write those of 64 bits as strings of digits, which count as well.
func number(v jsontext.Value) (int64, error) {
	text := strings.Trim(string(v.Text()), `"`)
	if v.Kind() == jsontext.Null || text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, status.Errorf(status.Invalid, "got %s; want a whole number", text)
	}
	return n, nil
}

// numbers are whole numbers.
func numbers(list jsontext.Value) ([]int64, error) {
	made := []int64{}
	err := each(list, func(v jsontext.Value) error {
		n, err := number(v)
		made = append(made, n)
		return err
	})
	return made, err
}

// with is the configuration with other inputs, outputs and max_batch_size, and with dynamic batching if it has none, as JSON.
// The text of everything else is as it was, without blanks.
func (c *config) with(batching bool) []byte {
	made := map[string]any{}
	if batching {
		made["dynamic_batching"] = jsontext.Pairs{}
	}
	for _, m := range slices.Backward(c.all) { // the first of a name counts
		made[m.Name] = m.Value
	}
	made["max_batch_size"], made["input"], made["output"] = c.maxBatch, portsJSON(c.inputs), portsJSON(c.outputs)
	return jsontext.Append(nil, jsontext.Sorted(made))
}

// portsJSON are inputs or outputs as JSON has them.
func portsJSON(ports []*port) []any {
	list := make([]any, len(ports))
	for i, p := range ports {
		one := jsontext.Make("name", p.name, "data_type", p.dataType, "dims", jsontext.List(p.dims))
		if p.reshaped {
			one = one.And("reshape", jsontext.Make("shape", jsontext.List(p.reshape)))
		}
		list[i] = one.With("optional", p.optional)
	}
	return list
}

// ReadBackendConfig reads what the server was started with for the backend: default-max-batch-size of
// {"cmdline":{"default-max-batch-size":"4"}}, or absent where it is not there.
func ReadBackendConfig(text []byte, absent int64) (defaultMaxBatch int64, err error) {
	all, err := jsontext.Read(text)
	if err != nil {
		return 0, status.Errorf(status.Invalid, "[metal_mps] backend configuration: %s", err)
	}
	size := member(all, "cmdline", "default-max-batch-size")
	if size.Kind() == jsontext.Null {
		return absent, nil
	}
	n, err := strconv.ParseInt(strings.Trim(string(size.Text()), `"`), 10, 64)
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, status.Errorf(status.Invalid, "[metal_mps] default-max-batch-size is %s; want a whole number of 0 or more", size.Text())
	}
	return n, nil
}
