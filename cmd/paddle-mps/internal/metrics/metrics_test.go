package metrics

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// served are the metrics of a server whose model m has a configuration.
func served(t *testing.T, config string) (*serve.Server, func() string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "m", "1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m", "1", "model.onnx"), onnxtest.Unary("Neg", onnxtest.Float, -1, 2), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m", "config.pbtxt"), []byte(config), 0o644))
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), NoMPS: "there is none"})
	require.NoError(t, err)
	s := serve.New(serve.Options{Runtime: rt, Repositories: []string{folder}, DefaultMaxBatch: 4})
	_ = s.Start() // what cannot be loaded has no metrics
	t.Cleanup(func() { s.Close(); require.NoError(t, rt.Close()) })
	handler := Handler(Config{Server: s, Runtime: rt, CPU: true, GPU: true})
	return s, func() string {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		require.Equal(t, 200, w.Code, w.Body)
		return w.Body.String()
	}
}

// ask sends a request of a number of items to the model.
func ask(s *serve.Server, items int64) error {
	_, err := s.Infer(context.Background(), &inference.Request{Model: "m", Version: -1, Inputs: []inference.Tensor{
		{Name: "x", Type: tensors.FP32, Shape: []int64{items, 2}, Data: make([]byte, items*8)},
	}})
	return err
}

// TestCounts: what has happened is counted, by version, with the tags of the model as labels.
func TestCounts(t *testing.T) {
	s, text := served(t, `metric_tags { key: "team" value: "a \"b\"" }`)
	require.NoError(t, ask(s, 1))
	require.NoError(t, ask(s, 3))
	require.Error(t, ask(s, 9))
	got := text()
	labels := `{_team="a \"b\"",model="m",version="1"`
	for _, want := range []string{
		"nv_inference_request_success" + labels + "} 2\n",
		"nv_inference_count" + labels + "} 4\n",
		"nv_inference_exec_count" + labels + "} 2\n",
		"nv_inference_pending_request_count" + labels + "} 0\n",
		"nv_inference_request_failure" + strings.Replace(labels, `"m"`, `"m",reason="OTHER"`, 1) + "} 1\n",
		"nv_inference_request_failure" + strings.Replace(labels, `"m"`, `"m",reason="REJECTED"`, 1) + "} 0\n",
		"# TYPE nv_inference_count counter\n", "# TYPE nv_model_load_duration_secs gauge\n",
		`paddle_mps_memory_reserved_bytes{place="cpu"} `,
	} {
		require.Contains(t, got, want)
	}
}

// TestTagsThatAreNoLabels: a key that Prometheus does not take fails the load of its model, and not the metrics.
func TestTagsThatAreNoLabels(t *testing.T) {
	for _, key := range []string{"_x", "_", "a-b", "é", "a b"} {
		s, text := served(t, `metric_tags { key: "`+key+`" value: "c" }`)
		require.Error(t, s.Serves("m", -1), key)
		require.NotContains(t, text(), "nv_inference_count{")
	}
	for _, key := range []string{"", "a", "A_", "9"} {
		s, text := served(t, `metric_tags { key: "`+key+`" value: "c" }`)
		require.NoError(t, s.Serves("m", -1), key)
		require.Contains(t, text(), "nv_inference_count{")
	}
}

// TestLint: what promtool has to say is about names that are tritonserver's.
func TestLint(t *testing.T) {
	s, text := served(t, `response_cache { enable: true } metric_tags { key: "team" value: "a" }`)
	require.NoError(t, ask(s, 1))
	problems, err := promlint.New(strings.NewReader(text())).Lint()
	require.NoError(t, err)
	require.NotEmpty(t, problems, "counters of tritonserver do not end in _total")
	for _, p := range problems {
		require.True(t, strings.HasPrefix(p.Metric, "nv_"), "%s: %s", p.Metric, p.Text)
	}
}

// TestOtherPaths: there is one path and one method.
func TestOtherPaths(t *testing.T) {
	h := Handler(Config{Server: serve.New(serve.Options{}), Runtime: nil})
	for _, c := range []struct {
		method, path string
		code         int
	}{{"GET", "/", 404}, {"GET", "/metrics/", 404}, {"POST", "/metrics", 405}} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		require.Equal(t, c.code, w.Code)
	}
}
