package serve

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// An ensemble is a version without a program: a request to it becomes a request to the model of each step, whose inputs are
// tensors from the client or from other steps. A step runs as soon as its inputs are available, so branches run concurrently.
// The models batch and count the requests of an ensemble like any others. The ensemble's own statistics are the sums of its
// steps, as in Triton.
//
// The graph was checked when the configuration was read (serve/modelconfig); types, shapes and the largest batch were checked
// against the models when the ensemble was loaded. An ensemble is reloaded whenever one of its models is, and is not READY
// without them (dependents.go).

// mostFlights limits the requests of one ensemble in flight: each holds the tensors between its steps.
const mostFlights = 4096

// ensemble is what a version of an ensemble has in place of programs.
type ensemble struct {
	server  *Server
	steps   []*modelconfig.ModelEnsembling_Step
	flights atomic.Int64
}

// openEnsemble checks the models of the steps and makes the version.
func (o *opening) openEnsemble(v *Version) error {
	if err := modelconfig.CheckPorts(v.config); err != nil {
		return inference.Errorf(inference.InvalidArg, "%s", err)
	}
	v.ensemble = &ensemble{server: o.server, steps: v.config.GetEnsembleScheduling().Step}
	// What the ensemble says of its own tensors comes first: models are compared with it, as in Triton.
	all := map[string]typed{}
	batched := v.config.MaxBatchSize > 0
	for _, in := range v.config.Input {
		if in.Optional {
			return inference.UnsupportedField("input.optional", v.config.Name)
		}
		v.inputs = append(v.inputs, portOf(in.Name, in.DataType, in.Dims, in.Reshape, 0))
		all[in.Name] = typedOf(v.config.Name, batched, in)
	}
	for _, out := range v.config.Output {
		p := portOf(out.Name, out.DataType, out.Dims, out.Reshape, 0)
		if out.LabelFilename != "" {
			var err error
			if p.labels, err = readLabels(o.folder, out.LabelFilename, out.Name, v.config.Name); err != nil {
				return err
			}
		}
		v.outputs = append(v.outputs, p)
		all[out.Name] = typedOf(v.config.Name, batched, out)
	}
	v.needed = v.required()
	for _, s := range v.ensemble.steps {
		part, err := o.server.part(v.config.Name, s)
		if err != nil {
			return err
		}
		if most := part.MaxBatchSize; most != 0 && most < v.config.MaxBatchSize {
			return inference.Errorf(inference.InvalidArg, "ensemble %s allows maximum batch size %d, but it contains model %s which only allows maximum batch size to be %d", v.config.Name, v.config.MaxBatchSize, s.ModelName, most)
		}
		if err := checkStep(v.config.Name, s, part, all); err != nil {
			return err
		}
	}
	return nil
}

// part is the configuration of the model of a step, which has to serve.
func (s *Server) part(ensemble string, step *modelconfig.ModelEnsembling_Step) (*modelconfig.ModelConfig, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := s.models[step.ModelName]
	switch {
	case m == nil || len(m.states) == 0:
		return nil, inference.Errorf(inference.InvalidArg, "ensemble %s contains models that are not available or ambiguous: %s", ensemble, step.ModelName)
	case len(m.ready) == 0:
		note := ""
		for n, st := range m.states {
			if st.Word == Gone && st.Reason != wasUnloaded {
				note = fmt.Sprintf(" Model '%s' loading failed with error: version %d is at %s state: %s;", step.ModelName, n, st.Word, st.Reason)
			}
		}
		return nil, inference.Errorf(inference.InvalidArg, "ensemble '%s' depends on '%s' which has no loaded version.%s", ensemble, step.ModelName, note)
	}
	v, err := s.find(step.ModelName, step.ModelVersion)
	if err != nil {
		return nil, inference.Errorf(inference.InvalidArg, "ensemble '%s' depends on '%s' whose required version %d is not loaded.", ensemble, step.ModelName, step.ModelVersion)
	}
	return v.config, nil
}

// typed is what is known of a tensor of an ensemble, and from which model.
type typed struct {
	model      string
	kind       modelconfig.DataType
	dims, full []int64 // without the batch and with it
}

// typedOf is what a model says of one of its inputs or outputs. Within an ensemble the reshaped form is what passes.
func typedOf(model string, batched bool, d declared) typed {
	t := typed{model: model, kind: d.GetDataType(), dims: d.GetDims()}
	if r := d.GetReshape(); r != nil {
		t.dims = r.Shape
	}
	if t.full = t.dims; batched {
		t.full = append([]int64{-1}, t.dims...)
	}
	return t
}

// checkStep compares the model of a step with what is known of the tensors that it reads and writes.
func checkStep(ensemble string, s *modelconfig.ModelEnsembling_Step, part *modelconfig.ModelConfig, all map[string]typed) error {
	batched := part.MaxBatchSize > 0
	inputs, outputs := map[string]declared{}, map[string]declared{}
	for _, in := range part.Input {
		inputs[in.Name] = in
	}
	for _, out := range part.Output {
		outputs[out.Name] = out
	}
	for _, name := range slices.Sorted(maps.Keys(s.InputMap)) {
		if _, has := inputs[name]; has {
			continue
		}
		return inference.Errorf(inference.InvalidArg, "in ensemble %s, ensemble tensor %s is mapping to non-existing input %s in model %s", ensemble, s.InputMap[name], name, s.ModelName)
	}
	for _, in := range part.Input {
		if _, mapped := s.InputMap[in.Name]; !mapped && !in.Optional {
			return inference.Errorf(inference.InvalidArg, "in ensemble %s, input %s in model %s is not mapped to any ensemble tensors", ensemble, in.Name, s.ModelName)
		}
	}
	// Names in order, so that a configuration with two faults always gets the same message.
	for _, side := range []struct {
		names map[string]string
		known map[string]declared
		wrong string
	}{
		{s.InputMap, inputs, ""}, // whose names were checked
		{s.OutputMap, outputs, "in ensemble %s, ensemble tensor %s is mapped from non-existing output %s in model %s"},
	} {
		for _, name := range slices.Sorted(maps.Keys(side.names)) {
			tensor := side.names[name]
			d, ok := side.known[name]
			if !ok {
				return inference.Errorf(inference.InvalidArg, side.wrong, ensemble, tensor, name, s.ModelName)
			}
			mine := typedOf(s.ModelName, batched, d)
			mine.dims = d.GetDims() // clients of the model, as the ensemble is one, see the form before a reshape
			if mine.full = mine.dims; batched {
				mine.full = append([]int64{-1}, mine.dims...)
			}
			known, has := all[tensor]
			if !has {
				all[tensor] = mine
				continue
			}
			if err := consistent(known, mine); err != nil {
				return inference.Errorf(inference.InvalidArg, "in ensemble %s, ensemble tensor %s: %s", ensemble, tensor, err)
			}
		}
	}
	return nil
}

// consistent compares what two models say of a tensor. A dimension of any size agrees with all; what comes in then is
// checked by the model that gets it.
func consistent(a, b typed) error {
	agree := func(x, y []int64) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i] != y[i] && x[i] != -1 && y[i] != -1 {
				return false
			}
		}
		return true
	}
	switch {
	case a.kind != b.kind:
		return fmt.Errorf("inconsistent data type: %s is inferred from model %s while %s is inferred from model %s", a.kind, a.model, b.kind, b.model)
	case !agree(a.dims, b.dims) && !agree(a.full, b.full):
		return fmt.Errorf("inconsistent shape: %s is inferred from model %s while %s is inferred from model %s", tensors.Text(a.full), a.model, tensors.Text(b.full), b.model)
	}
	return nil
}

// passage is one request on its way through an ensemble.
type passage struct {
	version *Version
	job     *job
	parts   []*Version // of the steps
	tensors map[string]inference.Tensor
	started []bool
	spent   statistics.Spent
}

// result is what became of a step.
type result struct {
	step     int
	response *inference.Response
	err      error
}

// compose answers a request to an ensemble.
func (v *Version) compose(ctx context.Context, j *job) (*inference.Response, error) {
	e := v.ensemble
	defer e.flights.Add(-1)
	if e.flights.Add(1) > mostFlights {
		v.counters.Failed(statistics.ReasonRejected, j.received)
		return nil, inference.Errorf(inference.Unavailable, "%sExceeds maximum queue size", j.request.Tag())
	}
	p := &passage{version: v, job: j, tensors: map[string]inference.Tensor{}, started: make([]bool, len(e.steps))}
	// All models are held from the beginning, so that a request sees one version of each.
	for _, s := range e.steps {
		part, release, err := e.server.Find(s.ModelName, s.ModelVersion)
		if err != nil {
			return nil, v.broken(j, err)
		}
		defer release()
		p.parts = append(p.parts, part)
	}
	for i := range v.inputs {
		p.tensors[v.inputs[i].name] = inference.Tensor{Type: v.inputs[i].kind, Shape: j.accepted.shapes[i], Data: j.accepted.data[i]}
	}
	if err := p.run(ctx); err != nil {
		return nil, v.broken(j, err)
	}
	response, err := p.response()
	if err != nil {
		return nil, v.broken(j, err)
	}
	v.counters.Composed(j.size(), j.received, &p.spent)
	v.observeSpent(j, &p.spent)
	return response, nil
}

// broken counts a request that has failed in a step and is its error.
func (v *Version) broken(j *job, err error) error {
	e := inference.From(err)
	reason := statistics.ReasonOther
	if e.Code == inference.Cancelled {
		reason = statistics.ReasonCancelled
	}
	v.counters.Failed(reason, j.received)
	return inference.Errorf(e.Code, "in ensemble '%s', %s", v.config.Name, e.Text)
}

// run runs all steps. After a failure the others are cancelled; it returns when none is left, because inputs are read until
// then.
func (p *passage) run(ctx context.Context) (failed error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result, len(p.parts))
	running := p.start(ctx, results)
	for running > 0 {
		r := <-results
		running--
		switch {
		case failed != nil: // only waited for
		case r.err != nil:
			failed = r.err
			cancel()
		default:
			p.take(r)
			running += p.start(ctx, results)
		}
	}
	return failed
}

// start starts the steps that have their inputs, and returns how many.
func (p *passage) start(ctx context.Context, results chan<- result) (n int) {
	// Steps are few, so that looking at all of them costs less than a table of who waits for what.
	for i, s := range p.version.ensemble.steps {
		if p.started[i] {
			continue
		}
		r := p.request(s)
		if r == nil {
			continue
		}
		p.started[i] = true
		n++
		go func() {
			response, err := p.parts[i].guarded(ctx, r)
			results <- result{i, response, err}
		}()
	}
	return n
}

// guarded is infer with a panic as an error: it runs in a goroutine of its own, where nothing else would catch it.
func (v *Version) guarded(ctx context.Context, r *inference.Request) (response *inference.Response, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = inference.Errorf(inference.Internal, "model '%s' has failed: %v", v.config.Name, fault)
		}
	}()
	return v.infer(ctx, r)
}

// request is the request of a step; nil where one of its inputs is not there yet.
func (p *passage) request(s *modelconfig.ModelEnsembling_Step) *inference.Request {
	from := p.job.request
	r := &inference.Request{Model: s.ModelName, Version: s.ModelVersion, ID: from.ID, Priority: from.Priority, Timeout: from.Timeout}
	// The model checks the request like any other: a tensor of any size may be wrong for it.
	for name, tensor := range s.InputMap {
		t, ok := p.tensors[tensor]
		if !ok {
			return nil
		}
		t.Name = name
		r.Inputs = append(r.Inputs, t)
	}
	for name := range s.OutputMap {
		r.Outputs = append(r.Outputs, inference.Requested{Name: name})
	}
	r.Trace = from.Trace.Step()
	return r
}

// take keeps what a step has made.
func (p *passage) take(r result) {
	for _, t := range r.response.Outputs {
		p.tensors[p.version.ensemble.steps[r.step].OutputMap[t.Name]] = t
	}
	t := &r.response.Times
	p.spent.Queue += t.Start.Sub(t.Queued)
	p.spent.Input += t.Inputs.Sub(t.Start)
	p.spent.Infer += t.Outputs.Sub(t.Inputs)
	p.spent.Output += t.End.Sub(t.Outputs)
}

// response is the answer: the tensors that the request asks for, as the configuration describes them.
func (p *passage) response() (*inference.Response, error) {
	v, j := p.version, p.job
	response := &inference.Response{Model: v.config.Name, Version: v.number, ID: j.request.ID}
	batched := v.config.MaxBatchSize > 0
	for i := range v.outputs {
		port := &v.outputs[i]
		want, ok := j.request.Requested(port.name)
		if !ok {
			continue
		}
		t := p.tensors[port.name]
		t.Name = port.name
		// An input is memory of the request, which the frontend reuses; an output belongs to the caller.
		if v.input(port.name) >= 0 {
			t.Data = bytes.Clone(t.Data)
		}
		inner, dims := t.Shape, port.dims
		if port.reshape != nil {
			dims = port.reshape
		}
		if batched && len(inner) > 0 {
			inner = inner[1:]
		}
		if t.Type != port.kind || !fits(inner, dims) || batched && (len(t.Shape) == 0 || t.Shape[0] != j.accepted.batch) {
			return nil, inference.Errorf(inference.Internal, "unexpected %s %s for ensemble output '%s' of '%s'", t.Type, tensors.Text(t.Shape), port.name, v.config.Name)
		}
		if port.reshape != nil {
			t.Shape = append(t.Shape[:len(t.Shape)-len(inner):len(t.Shape)-len(inner)], reshaped(inner, port.reshape, port.dims)...)
		}
		if want.Classes > 0 {
			var err error
			if t, err = inference.Classify(t, want.Classes, port.labels, batched); err != nil {
				return nil, err
			}
		}
		response.Outputs = append(response.Outputs, t)
	}
	return response, nil
}
