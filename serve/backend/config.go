package backend

import (
	"strconv"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The server gives the configuration of a model as JSON: config.pbtxt with the defaults of all fields.

// config is what this package reads of a configuration.
type config struct {
	all      *value
	maxBatch int64
	inputs   []*port
	outputs  []*port
	fileName string
}

// port is an input or an output of a configuration, without the batch dimension.
type port struct {
	name     string
	dataType string
	dims     []int64
	reshaped bool
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

// readConfig reads a configuration and refuses what it says that the backend cannot do.
func readConfig(text []byte) (*config, error) {
	all, err := readJSON(string(text))
	if err != nil {
		return nil, err
	}
	for _, path := range refused {
		if v := all.get(path...); v.truth() || len(v.items) > 0 {
			return nil, status.Errorf(status.Unsupported, "the configuration has %s; want one without", strings.Join(path, "."))
		}
	}
	size, name := all.get("max_batch_size"), all.get("default_model_filename")
	c := &config{all: all, fileName: name.text}
	if c.maxBatch, err = size.number(); err == nil {
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

// readPorts reads the inputs or the outputs.
func readPorts(list value) (made []*port, err error) {
	for i := range list.items {
		v := &list.items[i]
		name, kind, dims, optional := v.get("name"), v.get("data_type"), v.get("dims"), v.get("optional")
		p := &port{name: name.text, dataType: kind.text, optional: optional.truth()}
		for _, field := range []string{"is_shape_tensor", "allow_ragged_batch", "is_non_linear_format_io"} {
			if set := v.get(field); set.truth() {
				return nil, status.Errorf(status.Unsupported, "%q has %s; want one without", p.name, field)
			}
		}
		if p.dims, err = dims.numbers(); err != nil {
			return nil, err
		}
		if r := v.get("reshape"); r.raw != "" && r.raw != "null" {
			to := r.get("shape")
			if p.reshape, err = to.numbers(); err != nil {
				return nil, err
			}
			p.reshaped = true
		}
		made = append(made, p)
	}
	return made, nil
}

// with is the configuration with other inputs, outputs and max_batch_size, and with dynamic batching if it has none, as JSON.
// Everything else is as it was.
func (c *config) with(batching bool) string {
	var b strings.Builder
	begin := func(name string) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quote(name) + ":")
	}
	b.WriteByte('{')
	for i, name := range c.all.fields {
		switch name {
		case "max_batch_size", "input", "output":
		case "dynamic_batching":
			batching = false
			fallthrough
		default:
			begin(name)
			b.WriteString(c.all.items[i].raw)
		}
	}
	begin("max_batch_size")
	b.WriteString(strconv.FormatInt(c.maxBatch, 10))
	begin("input")
	writePorts(&b, c.inputs)
	begin("output")
	writePorts(&b, c.outputs)
	if batching {
		begin("dynamic_batching")
		b.WriteString("{}")
	}
	b.WriteByte('}')
	return b.String()
}

// writePorts writes inputs or outputs.
func writePorts(b *strings.Builder, ports []*port) {
	b.WriteByte('[')
	for i, p := range ports {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":` + quote(p.name) + `,"data_type":` + quote(p.dataType) + `,"dims":` + list(p.dims))
		if p.reshaped {
			b.WriteString(`,"reshape":{"shape":` + list(p.reshape) + `}`)
		}
		if p.optional {
			b.WriteString(`,"optional":true`)
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
}

// ReadBackendConfig reads what the server was started with for the backend: default-max-batch-size of
// {"cmdline":{"default-max-batch-size":"4"}}, or absent where it is not there.
func ReadBackendConfig(text []byte, absent int64) (defaultMaxBatch int64, err error) {
	all, err := readJSON(string(text))
	if err != nil {
		return 0, status.Errorf(status.Invalid, "[metal_mps] backend configuration: %s", err)
	}
	size := all.get("cmdline", "default-max-batch-size")
	if size.raw == "" {
		return absent, nil
	}
	n, err := size.number()
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, status.Errorf(status.Invalid, "[metal_mps] default-max-batch-size is %s; want a whole number of 0 or more", size.raw)
	}
	return n, nil
}
