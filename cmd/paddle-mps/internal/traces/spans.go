package traces

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// spans sends traces to a collector.
type spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// newSpans makes what sends. The collector need not be there yet: what cannot be sent is tried again by the SDK, and then
// dropped, with a warning in the log.
func newSpans(o *Options, log *slog.Logger) (*spans, error) {
	ctx := context.Background()
	var settings []otlptracehttp.Option
	if o.URL != "" {
		settings = append(settings, otlptracehttp.WithEndpointURL(o.URL))
	}
	exporter, err := otlptracehttp.New(ctx, settings...)
	if err != nil {
		return nil, err
	}
	attributes := []attribute.KeyValue{attribute.String("service.name", "triton-inference-server")}
	for _, a := range o.Resource {
		attributes = append(attributes, attribute.String(a.Name, a.Value)) // a later one of the same name counts
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attributes...))
	if err != nil {
		return nil, err
	}
	// The queue is bounded: spans that find it full are dropped, and requests never wait.
	provider := sdk.NewTracerProvider(
		// Which requests are traced was decided before: a parent that is not sampled does not change it.
		sdk.WithSampler(sdk.AlwaysSample()), sdk.WithResource(about),
		sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(o.Queue), sdk.WithBatchTimeout(o.Delay), sdk.WithMaxExportBatchSize(o.Batch)),
	)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent: " + err.Error()) }))
	return &spans{provider, provider.Tracer("triton-server")}, nil
}

// close sends what is left.
func (s *spans) close(ctx context.Context) error { return s.provider.Shutdown(ctx) }

// carrier reads the context of a request out of its headers.
type carrier func(name string) string

// Get, Set and Keys make it a propagation.TextMapCarrier.
func (c carrier) Get(name string) string { return c(name) }

// Set is not called where contexts are read.
func (c carrier) Set(string, string) {}

// Keys are those of a context.
func (c carrier) Keys() []string { return []string{"traceparent", "tracestate"} }

// extract is the context that a request comes with, and whether it has one.
func (s *spans) extract(header func(name string) string) (parent context.Context, has bool) {
	parent = propagation.TraceContext{}.Extract(context.Background(), carrier(header))
	return parent, trace.SpanContextFromContext(parent).IsValid()
}

// write makes the spans of a request, when all their moments are known. They are of the kind "server", as tritonserver's.
func (s *spans) write(r *Request) {
	// A span begins and ends with its moments: nothing here depends on when it is made.
	first, last := r.span()
	ctx, root := s.start(r.parent, "InferRequest", first)
	addAll(root, r.stamps)
	if !r.Started.IsZero() {
		s.model(ctx, r, r.id, 0, &r.Trace)
	}
	root.End(trace.WithTimestamp(last))
}

// span is from the first to the last moment of a request.
func (r *Request) span() (first, last time.Time) {
	for i, m := range r.stamps {
		if i == 0 || m.at.Before(first) {
			first = m.at
		}
		if m.at.After(last) {
			last = m.at
		}
	}
	if r.Ended.After(last) {
		last = r.Ended
	}
	return first, last
}

// model makes the span of a model, and those below it.
func (s *spans) model(ctx context.Context, r *Request, id, parent uint64, t *inference.Trace) {
	ctx, span := s.start(ctx, t.Model, t.Started)
	// Names and types of attributes are tritonserver's.
	span.SetAttributes(
		attribute.String("triton.model_name", t.Model), attribute.Int64("triton.model_version", t.Version),
		attribute.Int64("triton.trace_id", int64(id)), attribute.Int64("triton.trace_parent_id", int64(parent)),
	)
	if t.ID != "" {
		span.SetAttributes(attribute.String("triton.request_id", strings.ToValidUTF8(t.ID, "?")))
	}
	addAll(span, []stamp{{requestStart, t.Started}, {"QUEUE_START", t.Times.Queued}})
	if !t.Times.Start.IsZero() {
		_, inner := s.start(ctx, "compute", t.Times.Start)
		addAll(inner, compute(t))
		inner.End(trace.WithTimestamp(t.Times.End))
	}
	for _, step := range t.Steps() {
		if !step.Started.IsZero() {
			s.model(ctx, r, r.setting.tracer.last.Add(1), id, step)
		}
	}
	addAll(span, []stamp{{"REQUEST_END", t.Ended}})
	span.End(trace.WithTimestamp(t.Ended))
}

// start starts a span.
func (s *spans) start(ctx context.Context, name string, at time.Time) (context.Context, trace.Span) {
	return s.tracer.Start(ctx, strings.ToValidUTF8(name, "?"), trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(at))
}

// addAll adds moments as events.
func addAll(to trace.Span, all []stamp) {
	for _, m := range all {
		to.AddEvent(m.name, trace.WithTimestamp(m.at))
	}
}
