// Package traces decides which requests are traced, and writes their traces: to files in tritonserver's format, or
// as OpenTelemetry spans to a collector.
//
// A frontend calls [Tracer.Start] for each inference. If no setting enables traces, this costs one atomic load and
// returns nil, on which all methods do nothing. Otherwise the request counts for the rate of its model, and every
// n-th one gets a [Request]. The frontend stamps it with the times that only it knows, package serve adds those of
// the model and of the steps of an ensemble, and [Request.End] passes it to its writer.
//
// The invariant: a trace is written by the setting that sampled it, even if the setting has changed since, and
// traces sampled before Close are written by it.
//
// # Settings
//
// There is one global setting, and one for each model that overrides it (settings.go). A value that a model does not
// set follows the global setting, which follows the command line. Mode, file and collector can be set only on the
// command line: a client must not choose where a server writes. Names, values and messages are those of
// tritonserver.
//
// # Files
//
// A file is a JSON array of objects, each with the number of its trace: one with the model, and one for each
// timestamp (file.go). With log-frequency=N, every N traces are written to their own file: FILE.0, FILE.1 and so on.
// Without it, FILE is complete when the server ends. Timestamps are nanoseconds since 1970. They are measured with
// the monotonic clock, so that differences are durations even if the clock is set.
//
// # Spans
//
// A request has at least three spans: InferRequest, a child named after the model, and its child "compute". The
// models of an ensemble are children of the ensemble's span (spans.go). A request with a context of its own
// (traceparent) is always traced, and its spans belong to that trace.
//
// # Not supported
//
// The level TENSORS, which writes tensor elements to the file, is refused: a log must not contain the data of
// clients.
package traces

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Tracer samples requests. A nil Tracer samples none. It may be used from any goroutine.
type Tracer struct {
	on    atomic.Bool // whether some setting asks for traces
	last  atomic.Uint64
	log   *slog.Logger
	first Options
	file  *file  // of the mode triton
	spans *spans // of the mode opentelemetry

	mu     sync.Mutex
	global *setting
	models map[string]*setting
}

// New makes a tracer with the settings of a command line.
func New(o Options, log *slog.Logger) (*Tracer, error) {
	t := &Tracer{log: log, first: o, models: map[string]*setting{}}
	if o.Mode == ModeOpenTelemetry {
		var err error
		if t.spans, err = newSpans(&o, log); err != nil {
			return nil, err
		}
	} else {
		t.file = &file{name: o.File, log: log}
	}
	// A command line may ask for traces that there cannot be, such as without a file: nothing is sampled then, as in
	// tritonserver, and the settings show it.
	t.global = newSetting(t, o.Values, set{})
	t.switchOn()
	return t, nil
}

// Request is the trace of one request.
type Request struct {
	inference.Trace
	id      uint64
	setting *setting
	parent  context.Context // of the spans
	stamps  []stamp         // of the frontend
}

// stamp is a moment of a frontend.
type stamp struct {
	name string
	at   time.Time
}

// On reports whether some requests are traced.
func (t *Tracer) On() bool { return t != nil && t.on.Load() }

// Start is the trace of a request for a model, nil where it is not sampled. header is what the request says of itself, by the
// name of a header.
func (t *Tracer) Start(model string, header func(name string) string) *Request {
	if !t.On() {
		return nil
	}
	return t.sample(model, header)
}

// sample is Start where some requests are traced.
func (t *Tracer) sample(model string, header func(name string) string) *Request {
	// The setting is held until the trace has ended: it may be replaced meanwhile.
	t.mu.Lock()
	s := t.models[model]
	if s == nil {
		s = t.global
	}
	s.users++
	t.mu.Unlock()
	parent, forced := context.Background(), false
	if t.spans != nil && s.values.Level != LevelOff {
		parent, forced = t.spans.extract(header)
	}
	if !s.sample(forced) {
		t.leave(s)
		return nil
	}
	return &Request{id: t.last.Add(1), setting: s, parent: parent}
}

// Stamp adds a moment.
func (r *Request) Stamp(name string, at time.Time) {
	if r != nil {
		r.stamps = append(r.stamps, stamp{name, at})
	}
}

// Now adds the moment that it is.
func (r *Request) Now(name string) {
	if r != nil {
		r.stamps = append(r.stamps, stamp{name, time.Now()})
	}
}

// Answered adds the moment at which the answer of the server is there, unless the request was refused.
func (r *Request) Answered() {
	if r != nil && !r.Started.IsZero() {
		r.Now("INFER_RESPONSE_COMPLETE")
	}
}

// Inner is what package serve fills in; nil for nil.
func (r *Request) Inner() *inference.Trace {
	if r == nil {
		return nil
	}
	return &r.Trace
}

// End writes the trace, which is not used any more.
func (r *Request) End() {
	if r == nil {
		return
	}
	t := r.setting.tracer
	if t.spans != nil {
		t.spans.write(r)
	} else {
		r.setting.write(r.append)
	}
	t.leave(r.setting)
}

// leave ends a use of a setting. What the last user of one that was replaced leaves behind is written.
func (t *Tracer) leave(s *setting) {
	t.mu.Lock()
	s.users--
	over := s.users == 0
	t.mu.Unlock()
	if over {
		s.flush()
	}
}

// Close writes what was sampled. Nothing is sampled any more.
func (t *Tracer) Close(ctx context.Context) {
	// Requests that are still on their way are those that the end did not wait for. Their traces are lost.
	t.on.Store(false)
	t.mu.Lock()
	all := []*setting{t.global}
	for _, s := range t.models {
		all = append(all, s)
	}
	t.mu.Unlock()
	for _, s := range all {
		s.flush()
	}
	if t.file != nil {
		t.file.close()
	}
	if t.spans != nil {
		if err := t.spans.close(ctx); err != nil {
			t.log.Warn("traces could not be sent: " + err.Error())
		}
	}
}
