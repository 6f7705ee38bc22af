package backend

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/place"
)

// A configuration may say less than the file, and never something else: an open dimension of the file may be a size in the
// configuration, and a size of the file must be that size. Element types are those of the file. Where the configuration has
// max_batch_size, its dimensions are those of one row, and the first dimension of the file must be open.
//
// An input that the file has a value for, an initializer that is listed among the inputs as well, is no input of a model
// unless its configuration lists it. Requests may then leave it out if the configuration calls it optional.

// Model is a version of a model of a repository. It may be used from any goroutine until Close, which comes after that of its
// instances.
type Model struct {
	rt       *runtime.Runtime
	name     string      // for errors
	file     *onnx.Model // mapped until Close
	maxBatch int64       // 0: requests have no batch dimension
	inputs   []*tensor
	outputs  []*tensor
	complete []byte // the configuration with what the file says; nil: it needed nothing

	mu       sync.Mutex
	programs map[place.Place]*execute.Program // closed with the model
}

// tensor is an input or an output as the configuration has it.
type tensor struct {
	name    string    // the same in the file and in the configuration
	kind    Datatype  // likewise
	at      int       // its number in the file
	dims    []int64   // of the model, without the batch dimension; -1: any
	scalar  bool      // requests have the shape [1] for what has none in the file
	given   *op.Const // the value of an input that a request may leave out; nil: there is none
	absence bool      // whether a request may leave it out
}

// Options is what the server says beside the configuration.
type Options struct {
	Name            string // of the model
	Folder          string // of the model; versions are folders in it
	Version         uint64
	Config          []byte // the configuration as JSON
	Complete        bool   // what the configuration lacks may be taken from the file
	DefaultMaxBatch int64  // max_batch_size of a model that can be batched and does not say it
}

// Load reads a version of a model and checks its configuration against the file.
func Load(rt *runtime.Runtime, o *Options) (*Model, error) {
	m, err := load(rt, o)
	if err != nil {
		e := status.From(err)
		return nil, status.Errorf(e.Code, "[metal_mps] model '%s', version %d: %s", o.Name, o.Version, e.Msg)
	}
	return m, nil
}

// load is Load with errors that do not name the model.
func load(rt *runtime.Runtime, o *Options) (*Model, error) {
	c, err := readConfig(o.Config)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(c.fileName, "model.onnx")
	if !filepath.IsLocal(name) {
		return nil, status.Errorf(status.Invalid, "default_model_filename is %q; want a file in the folder of the version", name)
	}
	file, err := onnx.Open(filepath.Join(o.Folder, strconv.FormatUint(o.Version, 10), name), execute.Folder(rt))
	if err != nil {
		return nil, err
	}
	if rt.Count(place.MPSKind) == 0 { // all instances share the model
		file.UseIntegers()
	}
	m := &Model{rt: rt, name: o.Name, file: file, programs: map[place.Place]*execute.Program{}}
	if err = file.OnlyTensors(); err == nil && o.Complete && (len(c.inputs) == 0 || len(c.outputs) == 0) {
		m.complete, err = complete(c, o.DefaultMaxBatch, file)
	}
	if err == nil {
		err = m.check(c)
	}
	if err != nil {
		_ = file.Close() // the first error is the one to report
		return nil, err
	}
	return m, nil
}

// check takes inputs and outputs from the configuration, which must be those of the file.
func (m *Model) check(c *config) error {
	m.maxBatch = c.maxBatch
	if len(c.outputs) == 0 {
		return status.Errorf(status.Invalid, "the configuration has no output; want one of the file, or --disable-auto-complete-config left out")
	}
	defaults, err := m.take(c)
	if err != nil {
		return err
	}
	inputs, outputs := m.file.Ports()
	for _, p := range c.inputs {
		t, err := m.tensor("input", p, inputs, m.inputs)
		if err != nil {
			return err
		}
		t.absence = p.optional
		if n := t.at - (len(inputs) - len(defaults)); n >= 0 {
			t.given = defaults[n]
		}
		m.inputs = append(m.inputs, t)
	}
	for _, p := range inputs {
		if !slices.ContainsFunc(m.inputs, func(t *tensor) bool { return t.name == p.Name }) {
			return status.Errorf(status.Invalid, "the configuration lacks the input %q of the file, %s", p.Name, p.Text())
		}
	}
	for _, p := range c.outputs {
		t, err := m.tensor("output", p, outputs, m.outputs)
		if err != nil {
			return err
		}
		m.outputs = append(m.outputs, t)
	}
	return nil
}

// They follow the other inputs of the file, in this order.

// take makes inputs of the initializers that the configuration has among its inputs, and returns their values.
func (m *Model) take(c *config) ([]*op.Const, error) {
	var names []string
	for _, p := range c.inputs {
		if slices.ContainsFunc(m.file.Replaceable(), func(r *onnx.Port) bool { return r.Name == p.name }) && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return m.file.Take(names)
}

// tensor is an input or an output of the configuration, checked against those of the file. have are the ones before it.
func (m *Model) tensor(what string, p *port, ports []*onnx.Port, have []*tensor) (*tensor, error) {
	at := slices.IndexFunc(ports, func(r *onnx.Port) bool { return r.Name == p.name })
	if at < 0 {
		return nil, status.Errorf(status.Invalid, "the configuration has the %s %q; want one of the file: %s", what, p.name, names(ports))
	}
	if slices.ContainsFunc(have, func(t *tensor) bool { return t.name == p.name }) {
		return nil, status.Errorf(status.Invalid, "the configuration has the %s %q twice", what, p.name)
	}
	kind, err := datatypeOfPort(ports[at])
	if err != nil {
		return nil, status.Errorf(status.CodeOf(err), "%s %s", what, status.From(err).Msg)
	}
	if p.dataType != kind.String() {
		return nil, status.Errorf(status.Invalid, "the configuration has %s for the %s %q; want %s, as in the file", p.dataType, what, p.name, kind)
	}
	t := &tensor{name: p.name, kind: kind, at: at, dims: p.dims}
	if p.reshaped {
		t.dims = p.reshape
	}
	if r := ports[at]; !p.reshaped && m.maxBatch == 0 && r.Ranked && len(r.Dims) == 0 && slices.Equal(t.dims, []int64{1}) {
		t.dims, t.scalar = nil, true
	}
	if err := m.agrees(t, ports[at]); err != nil {
		return nil, status.Errorf(status.Invalid, "the configuration has dims %s for the %s %q%s; want what the file says: %s", list(t.dims), what, p.name, err, ports[at].Text())
	}
	return t, nil
}

// The server itself applies reshape to what clients send and get: the backend only ever sees the shapes of the model.

// agrees says where the dimensions of the configuration are not those of the file.
func (m *Model) agrees(t *tensor, p *onnx.Port) error {
	if !p.Ranked {
		return nil
	}
	dims := t.dims
	if m.maxBatch > 0 {
		if len(p.Dims) == 0 || p.Dims[0].Size >= 0 {
			return fmt.Errorf(" and max_batch_size %d, so that the first dimension of the file must be open", m.maxBatch)
		}
		dims = append([]int64{-1}, dims...)
	}
	if len(dims) != len(p.Dims) {
		return fmt.Errorf(" and max_batch_size %d, which are %d dimensions", m.maxBatch, len(dims))
	}
	for i, d := range p.Dims {
		if d.Size >= 0 && d.Size != dims[i] {
			return fmt.Errorf(", where dimension %d of the model is %d", i, d.Size)
		}
	}
	return nil
}

// list prints dimensions as a configuration has them.
func list(dims []int64) string { return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ") }

// names lists ports for people.
func names(ports []*onnx.Port) string {
	var all []string
	for _, p := range ports {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}

// Config is the configuration with what was taken from the file; nil where it was complete.
func (m *Model) Config() []byte { return m.complete }

// Inputs are the names of the inputs in the order of [Request.Inputs].
func (m *Model) Inputs() []string { return namesOf(m.inputs) }

// Outputs are the names of the outputs in the order of [Request.Outputs].
func (m *Model) Outputs() []string { return namesOf(m.outputs) }

// namesOf are names in the order of the configuration.
func namesOf(list []*tensor) (all []string) {
	for _, t := range list {
		all = append(all, t.name)
	}
	return all
}

// Constants is how many bytes of constants the model has on its devices.
func (m *Model) Constants() (bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.programs {
		bytes += p.Info().Constants
	}
	return bytes
}

// Close frees the programs and the file, and returns their memory to the system. No instance may be in use, then or later.
func (m *Model) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.programs {
		p.Close()
	}
	clear(m.programs)
	_ = m.file.Close() // it was only read
	runtime.ReturnMemory()
}
