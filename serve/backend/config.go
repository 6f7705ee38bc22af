package backend

import (
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
	all      *value  // everything that it says
	maxBatch int64   // 0: no batch dimension
	inputs   []*port // none: to be completed
	outputs  []*port // likewise
	fileName string  // empty: model.onnx
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

// readConfig reads a configuration and refuses what it says that the backend cannot do.
func readConfig(text []byte) (*config, error) {
	all, err := readJSON(string(text))
	if err != nil {
		return nil, err
	}
	for _, path := range refused {
		v := all
		for _, name := range path {
			v = v.get(name)
		}
		if v.truth() || len(v.items) > 0 {
			return nil, status.Errorf(status.Unsupported, "the configuration has %s; want one without", strings.Join(path, "."))
		}
	}
	c := &config{all: all, fileName: all.get("default_model_filename").text}
	if c.maxBatch, err = all.get("max_batch_size").number(); err == nil {
		c.inputs, err = readPorts(all.get("input"))
	}
	if err == nil {
		c.outputs, err = readPorts(all.get("output"))
	}
	if err == nil && c.maxBatch < 0 {
		err = status.Errorf(status.Invalid, "max_batch_size is %d; want 0 or more", c.maxBatch)
	}
	return c, err
}

// An array of the configuration that is absent is like an empty one.

// readPorts reads the inputs or the outputs.
func readPorts(list *value) (made []*port, err error) {
	for _, v := range list.items {
		p := &port{name: v.get("name").text, dataType: v.get("data_type").text, optional: v.get("optional").truth()}
		for _, field := range notDone {
			if v.get(field).truth() {
				return nil, status.Errorf(status.Unsupported, "%q has %s; want one without", p.name, field)
			}
		}
		r := v.get("reshape")
		p.reshaped = r.fields != nil
		if p.dims, err = v.get("dims").numbers(); err == nil {
			p.reshape, err = r.get("shape").numbers()
		}
		if err != nil {
			return nil, err
		}
		made = append(made, p)
	}
	return made, nil
}

// with is the configuration with other inputs, outputs and max_batch_size, and with dynamic batching if it has none, as JSON.
// Everything else is as it was.
func (c *config) with(batching bool) string {
	parts := []string{
		`"max_batch_size":` + strconv.FormatInt(c.maxBatch, 10),
		`"input":` + portsJSON(c.inputs),
		`"output":` + portsJSON(c.outputs),
	}
	for i, name := range c.all.fields {
		switch name {
		case "max_batch_size", "input", "output":
			continue
		case "dynamic_batching":
			batching = false
		}
		parts = append(parts, quote(name)+":"+c.all.items[i].raw)
	}
	if batching {
		parts = append(parts, `"dynamic_batching":{}`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// portsJSON are inputs or outputs as JSON.
func portsJSON(ports []*port) string {
	var parts []string
	for _, p := range ports {
		text := `{"name":` + quote(p.name) + `,"data_type":` + quote(p.dataType) + `,"dims":` + list(p.dims)
		if p.reshaped {
			text += `,"reshape":{"shape":` + list(p.reshape) + `}`
		}
		if p.optional {
			text += `,"optional":true`
		}
		parts = append(parts, text+"}")
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// ReadBackendConfig reads what the server was started with for the backend: default-max-batch-size of
// {"cmdline":{"default-max-batch-size":"4"}}, or absent where it is not there.
func ReadBackendConfig(text []byte, absent int64) (defaultMaxBatch int64, err error) {
	all, err := readJSON(string(text))
	if err != nil {
		return 0, status.Errorf(status.Invalid, "[metal_mps] backend configuration: %s", err)
	}
	size := all.get("cmdline").get("default-max-batch-size")
	if size.raw == "" {
		return absent, nil
	}
	n, err := size.number()
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, status.Errorf(status.Invalid, "[metal_mps] default-max-batch-size is %s; want a whole number of 0 or more", size.raw)
	}
	return n, nil
}
