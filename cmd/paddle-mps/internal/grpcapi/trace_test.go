package grpcapi

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	span "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
)

// tracedBoth are both protocols with traces as a command line says, and what ends the traces.
func tracedBoth(t *testing.T, lines ...string) (client kserve.GRPCInferenceServiceClient, api *httpapi.API, end func()) {
	t.Helper()
	var c traces.Config
	for _, line := range append(lines, "level=TIMESTAMPS", "rate=1") {
		require.NoError(t, c.Add(line))
	}
	o, err := c.Options()
	require.NoError(t, err)
	tracer, err := traces.New(o, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	client, _ = served(t, func(c *Config) {
		c.Traces = tracer
		api = httpapi.New(httpapi.Config{Server: c.Server, MaxInput: 1 << 20, Traces: tracer})
	})
	return client, api, func() { tracer.Close(t.Context()) }
}

// post asks over HTTP.
func post(api *httpapi.API, model, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/v2/models/"+model, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

// body is a request of JSON.
const body = `{"id":"a","inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]}`

// parent is the context of a caller, which is not sampled: a request with a context is traced all the same.
const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

// The moments of a request, in the order of time. They are those that tritonserver 2.51 wrote into its file and sent to a
// collector for the same requests.
var (
	ofModel  = []string{"REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END", "REQUEST_END", "INFER_RESPONSE_COMPLETE"}
	overHTTP = append(append([]string{"HTTP_RECV_START", "HTTP_RECV_END", "model a"}, ofModel...), "HTTP_SEND_START", "HTTP_SEND_END")
	overGRPC = append(append([]string{"GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "model a"}, ofModel...), "GRPC_SEND_START", "GRPC_SEND_END")
)

// TestTraceFile: a request over each protocol is in the file with the moments of tritonserver.
func TestTraceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	client, api, end := tracedBoth(t, "triton,file="+path)
	require.Equal(t, http.StatusOK, post(api, "m/infer", body).Code)
	_, err := client.ModelInfer(t.Context(), request(2, 1))
	require.NoError(t, err)
	stream, err := client.ModelStreamInfer(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(request(2, 1)))
	_, err = stream.Recv()
	require.NoError(t, err)
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	require.Equal(t, io.EOF, err)
	// A request that cannot be read, one that the model refuses, and one for a model that there is not.
	require.NotEqual(t, http.StatusOK, post(api, "m/infer", "{").Code)
	require.NotEqual(t, http.StatusOK, post(api, "m/infer", strings.Replace(body, `"x"`, `"z"`, 1)).Code)
	require.Equal(t, http.StatusNotFound, post(api, "n/infer", body).Code)
	end()

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []struct {
		ID         int
		Model      string `json:"model_name"`
		Version    *int   `json:"model_version"`
		Request    string `json:"request_id"`
		Timestamps []struct {
			Name string
			NS   int64
		}
	}
	require.NoError(t, json.Unmarshal(text, &all))
	byID, last := map[int][]string{}, map[int]int64{}
	for _, one := range all {
		if one.Model != "" {
			require.Equal(t, "m", one.Model)
			require.Equal(t, 1, *one.Version)
			byID[one.ID] = append(byID[one.ID], "model "+one.Request)
			continue
		}
		require.GreaterOrEqual(t, one.Timestamps[0].NS, last[one.ID])
		last[one.ID] = one.Timestamps[0].NS
		byID[one.ID] = append(byID[one.ID], one.Timestamps[0].Name)
	}
	// Moments come in the order of time; those of reading a call may be equal.
	require.Equal(t, map[int][]string{1: overHTTP, 2: overGRPC, 3: overGRPC, 4: overHTTP[:2], 5: overHTTP[:2]}, byID)
}

// collected is a collector of OTLP over HTTP, and what it was sent.
type collected struct {
	mu       sync.Mutex
	requests []*collector.ExportTraceServiceRequest
}

// ServeHTTP takes one message.
func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	m := &collector.ExportTraceServiceRequest{}
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(text, m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, m)
}

// events are the names of the events of a span.
func events(s *span.Span) (all []string) {
	for _, e := range s.Events {
		all = append(all, e.Name)
	}
	return all
}

// TestSpans: a collector gets the spans of tritonserver, below the context that a request comes with.
func TestSpans(t *testing.T) {
	c := &collected{}
	at := httptest.NewServer(c)
	defer at.Close()
	client, api, end := tracedBoth(t, "mode=opentelemetry", "opentelemetry,url="+at.URL+"/v1/traces", "opentelemetry,resource=service.name=me")
	require.Equal(t, http.StatusOK, post(api, "m/infer", body, "traceparent", parent).Code)
	_, err := client.ModelInfer(metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent), request(2, 1))
	require.NoError(t, err)
	end()

	require.NotEmpty(t, c.requests)
	byParent, resources := map[string][]*span.Span{}, map[string]string{}
	for _, m := range c.requests {
		for _, r := range m.ResourceSpans {
			for _, a := range r.Resource.Attributes {
				resources[a.Key] = a.Value.GetStringValue()
			}
			for _, s := range r.ScopeSpans {
				for _, one := range s.Spans {
					require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hexadecimal(one.TraceId))
					require.Equal(t, span.Span_SPAN_KIND_SERVER, one.Kind)
					require.Less(t, one.StartTimeUnixNano, one.EndTimeUnixNano)
					byParent[hexadecimal(one.ParentSpanId)] = append(byParent[hexadecimal(one.ParentSpanId)], one)
				}
			}
		}
	}
	require.Equal(t, "me", resources["service.name"])
	roots := byParent["b7ad6b7169203331"]
	require.Len(t, roots, 2)
	for i, want := range [][]string{
		{"HTTP_RECV_START", "HTTP_RECV_END", "INFER_RESPONSE_COMPLETE", "HTTP_SEND_START", "HTTP_SEND_END"},
		{"GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "INFER_RESPONSE_COMPLETE", "GRPC_SEND_START", "GRPC_SEND_END"},
	} {
		require.Equal(t, "InferRequest", roots[i].Name)
		require.Equal(t, want, events(roots[i]))
		below := byParent[hexadecimal(roots[i].SpanId)]
		require.Len(t, below, 1)
		require.Equal(t, "m", below[0].Name)
		require.Equal(t, []string{"REQUEST_START", "QUEUE_START", "REQUEST_END"}, events(below[0]))
		attributes := map[string]any{}
		for _, a := range below[0].Attributes {
			if attributes[a.Key] = a.Value.GetStringValue(); attributes[a.Key] == "" {
				attributes[a.Key] = a.Value.GetIntValue()
			}
		}
		require.Equal(t, map[string]any{
			"triton.model_name": "m", "triton.model_version": int64(1), "triton.trace_id": int64(i + 1), "triton.trace_parent_id": int64(0), "triton.request_id": "a",
		}, attributes)
		compute := byParent[hexadecimal(below[0].SpanId)]
		require.Len(t, compute, 1)
		require.Equal(t, "compute", compute[0].Name)
		require.Equal(t, []string{"COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"}, events(compute[0]))
	}
}

// hexadecimal is the text of an id.
func hexadecimal(id []byte) string {
	const digits = "0123456789abcdef"
	var text []byte
	for _, b := range id {
		text = append(text, digits[b>>4], digits[b&15])
	}
	return string(text)
}

// TestTraceSettings: both protocols show and change the same settings.
func TestTraceSettings(t *testing.T) {
	client, api, end := tracedBoth(t, "triton,file=f")
	defer end()
	w := post(api, "m/trace/setting", `{"trace_rate":"5"}`)
	require.Equal(t, `{"trace_level":["TIMESTAMPS"],"trace_rate":"5","trace_count":"-1","log_frequency":"0","trace_file":"f","trace_mode":"triton"}`, w.Body.String())
	get := func(r *kserve.TraceSettingRequest) map[string][]string {
		t.Helper()
		m, err := client.TraceSetting(t.Context(), r)
		require.NoError(t, err)
		all := map[string][]string{}
		for name, v := range m.Settings {
			all[name] = v.Value
		}
		return all
	}
	want := map[string][]string{"trace_level": {"TIMESTAMPS"}, "trace_rate": {"5"}, "trace_count": {"-1"}, "log_frequency": {"0"}, "trace_file": {"f"}, "trace_mode": {"triton"}}
	require.Equal(t, want, get(&kserve.TraceSettingRequest{ModelName: "m"}))
	want["trace_rate"] = []string{"1"}
	require.Equal(t, want, get(&kserve.TraceSettingRequest{}))
	value := func(texts ...string) *kserve.TraceSettingRequest_SettingValue {
		return &kserve.TraceSettingRequest_SettingValue{Value: texts}
	}
	want["trace_level"] = []string{"OFF"}
	require.Equal(t, want, get(&kserve.TraceSettingRequest{ModelName: "m", Settings: map[string]*kserve.TraceSettingRequest_SettingValue{"trace_rate": value(), "trace_level": value("OFF")}}))
	for name, row := range map[string][]string{
		"trace_file":  {"x", "trace file location can not be updated through network protocol"},
		"trace_count": {"-2", "Unable to parse 'trace_count'. Expecting value >= -1, got: -2"},
	} {
		_, err := client.TraceSetting(t.Context(), &kserve.TraceSettingRequest{Settings: map[string]*kserve.TraceSettingRequest_SettingValue{name: value(row[0])}})
		require.ErrorContains(t, err, row[1])
	}
	_, err := client.TraceSetting(t.Context(), &kserve.TraceSettingRequest{Settings: map[string]*kserve.TraceSettingRequest_SettingValue{"trace_rate": value("1", "2")}})
	require.ErrorContains(t, err, "expect only 1 value for 'trace_rate'")
	_, err = client.TraceSetting(t.Context(), &kserve.TraceSettingRequest{ModelName: "n"})
	require.ErrorContains(t, err, "Request for unknown model : n")
	for text, status := range map[string]int{`{"trace_file":"x"}`: 501, `{"trace_level":"OFF"}`: 500, `{"trace_rate":5}`: 500, `{"trace_level":null,"other":1}`: 200} {
		require.Equal(t, status, post(api, "m/trace/setting", text).Code, text)
	}
	require.JSONEq(t, `{"error":"Request for unknown model : n"}`, post(api, "n/trace/setting", "{}").Body.String())
}
