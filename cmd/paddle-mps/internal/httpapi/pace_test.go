package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/internal/sample"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// served is the API on a connection of its own, with a model of a configuration.
func served(t *testing.T, config string) (*API, *httptest.Server) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "m", "1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m", "1", "model.onnx"), onnxtest.Unary("Neg", onnxtest.Float, -1, -1), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m", "config.pbtxt"), []byte(config), 0o644))
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), NoMPS: "there is none"})
	require.NoError(t, err)
	s := serve.New(serve.Options{Runtime: rt, Repositories: []string{folder}, DefaultMaxBatch: 4})
	require.NoError(t, s.Start())
	a := New(Config{Server: s, MaxInput: 1 << 26, Settings: NewSettings(Logging{}, func(Logging) {})})
	server := httptest.NewUnstartedServer(a)
	server.Config.ReadTimeout = 30 * time.Second
	server.Start()
	t.Cleanup(func() { server.Close(); s.Close(); require.NoError(t, rt.Close()) })
	return a, server
}

// hurried sets the grace of clients for a test.
func hurried(t *testing.T, to time.Duration) {
	t.Helper()
	before := grace
	grace = to
	t.Cleanup(func() { grace = before })
}

// request is a request with so many ones.
func request(n int) string {
	return fmt.Sprintf(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,%d],"data":[1%s]}]}`, n, strings.Repeat(",1", n-1))
}

// TestLongWaits: the pace is that of the body. A request that waits for longer than that is not given up.
func TestLongWaits(t *testing.T) {
	hurried(t, 200*time.Millisecond)
	_, s := served(t, `max_batch_size: 2 dynamic_batching { max_queue_delay_microseconds: 1000000 }`)
	r, err := http.Post(s.URL+infer, "application/json", strings.NewReader(request(1)))
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode, "%s", text)
}

// TestPace: a client that sends as fast as the documentation says is served.
func TestPace(t *testing.T) {
	hurried(t, 2*time.Second)
	_, s := served(t, "")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	body := request(1) + strings.Repeat(" ", 200<<10)
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", infer, len(body))
	for len(body) > 0 { // 40 KiB a second
		n := min(len(body), 4<<10)
		_, err := io.WriteString(c, body[:n])
		require.NoError(t, err)
		body = body[n:]
		time.Sleep(100 * time.Millisecond)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.StatusCode)
}

// TestReadersThatDoNotRead: a client that takes no responses loses its connection.
func TestReadersThatDoNotRead(t *testing.T) {
	hurried(t, 300*time.Millisecond)
	_, s := served(t, "")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4<<10)) // the fewer responses the system holds, the sooner the server waits
	body := request(8000)
	require.NoError(t, c.SetWriteDeadline(time.Now().Add(time.Minute)))
	for err == nil {
		_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", infer, len(body), body)
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is still there")
}

// TestDeepArrays: elements within many arrays are passed over once, and not once for each array.
func TestDeepArrays(t *testing.T) {
	sample.Timed(t)
	const count = 1 << 16
	took := func(depth int) time.Duration {
		data, err := jsontext.Parse([]byte(strings.Repeat("[", depth) + "1" + strings.Repeat(",1", count-1) + strings.Repeat("]", depth)))
		require.NoError(t, err)
		best := time.Hour
		for range 10 {
			start := time.Now()
			_, err := (&inferBody{limit: 1 << 30, call: &call{api: &API{}}}).elements(&inference.Tensor{Type: tensors.Int8, Shape: []int64{count}}, data)
			require.NoError(t, err)
			best = min(best, time.Since(start))
		}
		return best
	}
	require.Less(t, took(95), 12*took(1)) // once it was 40 times; the smallest of ten, because others may be busy
}

// TestManyDimensions: a shape with millions of dimensions is refused before it takes memory.
func TestManyDimensions(t *testing.T) {
	a, _ := served(t, "")
	body := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1` + strings.Repeat(",1", 1<<20) + `],"data":[1]}]}`
	w := ask(a, "POST", infer, body)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "more than 1024 dimensions")
}
