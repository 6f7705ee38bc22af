package backend

import (
	"errors"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/text"
	"github.com/paddle-mps/paddle-mps/onnx"
	"github.com/paddle-mps/paddle-mps/place"
)

// Kind is where an instance runs, with the numbers of the server's API.
type Kind int32

// The kinds that the backend takes. The server itself refuses KIND_GPU, which is CUDA to it.
const (
	OnCPU   Kind = 1 // KIND_CPU
	OnModel Kind = 3 // KIND_MODEL: mps where the process has it, else the CPU
)

// Instance runs a model on a place. One goroutine at a time uses it.
type Instance struct {
	model    *Model
	ctx      *runtime.Context  // the place
	program  *execute.Program  // the model's for that place
	stream   *runtime.Stream   // of its own on mps; nil on the CPU
	defaults []*runtime.Tensor // by input; nil where there is none

	// Of a run, kept for the next one.
	in    []*runtime.Tensor
	made  []*runtime.Tensor // by the latest run, in
	group []*Request        // requests that run together
	held  []*runtime.Tensor // all results that requests have
	size  int64             // bytes of these
	parts [][]byte          // pieces of an input of the group
}

// The two programs of a model, for the CPU and for mps, read the same mapped file. It is closed with the model, after both.

// source is a file as a source of programs. It has no Close: several programs are made of one file.
type source struct{ file *onnx.Model }

// The rest is what runtime.Source asks for.

func (s source) Inputs() []op.Type  { return s.file.Inputs() }
func (s source) Outputs() []op.Type { return s.file.Outputs() }
func (s source) Calls() int         { return s.file.Calls() }
func (s source) String() string     { return s.file.String() }

// Resolve is that of the file.
func (s source) Resolve(inputs []op.Type) (*graph.Graph, error) { return s.file.Resolve(inputs) }

// Stage is that of the file.
func (s source) Stage(inputs []op.Type) (*graph.Graph, *graph.Stage, error) {
	return s.file.Stage(inputs)
}

// Strings, StringInputs and StringOutputs are those of the file: see graph.Stringed.

func (s source) Strings() *text.Model          { return s.file.Strings() }
func (s source) StringInputs() []string        { return s.file.StringInputs() }
func (s source) StringOutputs() ([]bool, bool) { return s.file.StringOutputs() }

// Decided is the file with inputs of known elements.
func (s source) Decided(known map[int]*op.Const) execute.Source { return s.file.Given(known) }

// Instance makes an instance. What it lacks on its place is an error here, not at the first request: element types, and
// operators with attributes that are not supported, where the shapes of the model are known.
func (m *Model) Instance(k Kind) (*Instance, error) {
	where := place.CPU
	switch {
	case k == OnModel && m.rt.Count(place.MPSKind) > 0:
		where = place.MPS(0)
	case k != OnCPU && k != OnModel:
		return nil, status.Errorf(status.Unsupported, "[metal_mps] model '%s': the kind of an instance is %d; want KIND_CPU or KIND_MODEL", m.name, k)
	}
	i := &Instance{model: m, in: make([]*runtime.Tensor, len(m.inputs))}
	err := i.open(where)
	if err == nil {
		i.program, err = m.program(i.ctx)
	}
	if err != nil {
		i.Close()
		return nil, status.Errorf(status.CodeOf(err), "[metal_mps] model '%s' on %s: %s", m.name, where, err)
	}
	return i, nil
}

// A stream of its own lets an instance on mps run beside others; the CPU runs each call at once, on the thread that makes it.

// open takes what the instance has of its own on a place.
func (i *Instance) open(where place.Place) (err error) {
	if i.ctx, err = i.model.rt.Context(where); err != nil {
		return err
	}
	if where != place.CPU {
		if i.stream, err = i.ctx.NewStream(); err != nil {
			return err
		}
	}
	i.defaults = make([]*runtime.Tensor, len(i.model.inputs))
	for n, t := range i.model.inputs {
		if t.given == nil {
			continue
		}
		if i.defaults[n], err = i.defaultOf(t); err != nil {
			return err
		}
	}
	return nil
}

// defaultOf is the tensor with the value of an input in the file.
func (i *Instance) defaultOf(t *tensor) (*runtime.Tensor, error) {
	if t.kind != stringType {
		return i.model.rt.FromHost(i.ctx, t.given.DType, t.given.Shape, t.given.Bytes)
	}
	wire, err := i.model.file.Wire(t.given)
	if err != nil {
		return nil, err
	}
	return execute.FromStrings(i.model.rt, i.ctx, t.given.Shape, wire)
}

// Shapes that the configuration leaves open are compiled at the first request with them. model_warmup of the configuration
// sends one before the model is ready.

// program is the program of the model for a place: the first instance there makes it.
func (m *Model) program(c *runtime.Context) (*execute.Program, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.programs[c.Place()]; p != nil {
		return p, nil
	}
	for _, t := range append(m.inputs[:len(m.inputs):len(m.inputs)], m.outputs...) {
		none, err := m.rt.Empty(c, t.kind.dtype(), shape.Shape{Rank: 1}, nil) // refuses what the place has not
		if err != nil {
			return nil, err
		}
		m.rt.Free(none.Handle())
	}
	p := execute.New(c, source{m.file})
	if types, ok := m.shapes(); ok {
		var needs *graph.NeedsElements
		if err := p.Prepare(types); err != nil && !errors.As(err, &needs) {
			p.Close()
			return nil, err
		}
	}
	m.programs[c.Place()] = p
	return p, nil
}

// shapes are the types of a call with one request of batch size 1; false where the configuration leaves a size open.
func (m *Model) shapes() ([]op.Type, bool) {
	types := make([]op.Type, len(m.inputs))
	for _, t := range m.inputs {
		dims := t.dims
		if m.maxBatch > 0 {
			dims = append([]int64{1}, dims...)
		}
		s, err := shape.Of(dims...)
		if err != nil || t.given != nil {
			return nil, false
		}
		types[t.at] = op.Type{DType: t.dtype(), Shape: s}
	}
	return types, true
}

// dtype is that of the tensors of an input or output.
func (t *tensor) dtype() dtype.DType { return t.kind.dtype() }

// Context is the place that the instance runs on.
func (i *Instance) Context() *runtime.Context { return i.ctx }

// Close frees what the instance has. The model stays.
func (i *Instance) Close() {
	i.Release()
	for _, t := range i.defaults {
		if t != nil {
			i.model.rt.Free(t.Handle())
		}
	}
	i.defaults = nil
	if i.stream != nil {
		_ = i.stream.Close() // nothing is under way, and what has failed was reported to its requests
		i.stream = nil
	}
}
