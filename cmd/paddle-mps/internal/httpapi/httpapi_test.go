package httpapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/serve"
)

// newAPI is the API of a server with the model m, which negates vectors of two floats.
func newAPI(t testing.TB) *API {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "m", "1", "model.onnx")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, onnxtest.Unary("Neg", onnxtest.Float, -1, 2), 0o644))
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), NoMPS: "there is none"})
	require.NoError(t, err)
	s := serve.New(serve.Options{Runtime: rt, Repositories: []string{folder}, DefaultMaxBatch: 4})
	require.NoError(t, s.Start())
	t.Cleanup(func() { s.Close(); require.NoError(t, rt.Close()) })
	return New(Config{Server: s, Name: "triton", MaxInput: 1 << 16, Settings: NewSettings(Logging{}, func(Logging) {})})
}

// ask is the answer to a request.
func ask(a *API, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

// infer is the path of the model.
const infer = "/v2/models/m/infer"

// TestForms: the forms of a request and of its response, byte for byte.
func TestForms(t *testing.T) {
	a := newAPI(t)
	two := "\x00\x00\x80\x3f\x00\x00\x00\x40" // 1 and 2
	minus := "\x00\x00\x80\xbf\x00\x00\x00\xc0"
	binary := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}],"parameters":{"binary_data_output":true}}`
	answer := `{"model_name":"m","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}]}`

	w := ask(a, "POST", infer, `{"id":"a","inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"data":[[1,2],[0.1,NaN]]}]}`)
	require.Equal(t, `{"id":"a","model_name":"m","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[2,2],"data":[-1.0,-2.0,-0.10000000149011612,NaN]}]}`, w.Body.String())
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))

	w = ask(a, "POST", infer, binary+two, lengthHeader, strconv.Itoa(len(binary)))
	require.Equal(t, answer+minus, w.Body.String())
	require.Equal(t, strconv.Itoa(len(answer)), w.Header().Get(lengthHeader))
	require.Equal(t, "application/octet-stream", w.Header().Get("Content-Type"))

	w = ask(a, "POST", infer, two, lengthHeader, "0")
	require.Equal(t, answer+minus, w.Body.String())
}

// TestPlacesWithoutARegion: a number of a place in shared memory that is none is an error also where there is no region, as in
// tritonserver.
func TestPlacesWithoutARegion(t *testing.T) {
	a := newAPI(t)
	for _, name := range []string{"shared_memory_byte_size", "shared_memory_offset"} {
		for parameter, want := range map[string]int{`16`: http.StatusOK, `"x"`: http.StatusInternalServerError, `-1`: http.StatusInternalServerError} {
			for _, body := range []string{
				`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2],"parameters":{%q:%s}}]}`,
				`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],"outputs":[{"name":"y","parameters":{%q:%s}}]}`,
			} {
				w := ask(a, http.MethodPost, infer, fmt.Sprintf(body, name, parameter))
				require.Equal(t, want, w.Code, w.Body.String())
				if want != http.StatusOK {
					require.Contains(t, w.Body.String(), "Unable to parse '"+name+"': attempt to access JSON non-unsigned-integer as unsigned-integer")
				}
			}
		}
	}
}

// TestNumbers: numbers are written as RapidJSON writes them.
func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1e20: "100000000000000000000.0", 1e21: "1e21", 1.25e22: "1.25e22", 1e-6: "0.000001", 1e-7: "1e-7", 123456.789: "123456.789",
	} {
		require.Equal(t, want, string(appendFloat(nil, x)))
	}
}

// TestPool: requests at one time do not see each other's buffers.
func TestPool(t *testing.T) {
	a := newAPI(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				x := i*1000 + j
				w := ask(a, "POST", infer, fmt.Sprintf(`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[%d,%d]}]}`, x, x+1))
				if want := fmt.Sprintf(`"data":[%d.0,%d.0]`, -x, -x-1); !strings.Contains(strings.ReplaceAll(w.Body.String(), "-0.0", "0.0"), want) {
					t.Errorf("%s has no %s", w.Body, want)
				}
			}
		})
	}
	all.Wait()
}

// TestLimits: a body is refused as soon as it is known to be too large.
func TestLimits(t *testing.T) {
	a := newAPI(t)
	w := ask(a, "POST", infer, strings.Repeat(" ", 1<<16+1))
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "exceeds the maximum allowed input size of 65536 bytes")
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 1<<20))
	require.NoError(t, z.Close())
	w = ask(a, "POST", infer, bomb.String(), "Content-Encoding", "gzip")
	require.Equal(t, http.StatusBadRequest, w.Code)
	w = ask(a, "POST", infer, "{}", "Content-Encoding", "br")
	require.Equal(t, http.StatusNotImplemented, w.Code)
}

// TestValuesThatAreNoObjects: they have no members, as for tritonserver.
func TestValuesThatAreNoObjects(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string]string{
		`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2],"parameters":null}],"outputs":[{"name":"y","parameters":[]}]}`: `"data":[-1.0,-2.0]`,
		`{"inputs":[null]}`: "But no field is set",
		`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}],"outputs":["y"]}`: "attempt to access non-existing object member 'name'",
		``:  "input byte size mismatch for input 'raw_input' for model 'm'. Expected 8, got 0",
		` `: "The document is empty. at 1",
	} {
		require.Contains(t, ask(a, "POST", infer, body).Body.String(), want)
	}
}

// FuzzInfer: no body is a fault, and every answer is one of the protocol.
func FuzzInfer(f *testing.F) {
	binary := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}],"outputs":[{"name":"y","parameters":{"binary_data":true,"classification":1}}]}`
	f.Add([]byte(binary+"\x00\x00\x80\x3f\x00\x00\x00\x40"), strconv.Itoa(len(binary)))
	f.Add([]byte(`{"id":"a","inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"data":[[1,2],[3,1e400]]}],"parameters":{"priority":1,"timeout":3}}`), "")
	f.Add([]byte(`{"inputs":[{"name":"x","datatype":"BYTES","shape":[1,2],"data":["a","\u00e9"]}]}`), "0x10")
	f.Add([]byte("\x00\x00\x80\x3f\x00\x00\x00\x40"), "0")
	a := newAPI(f)
	f.Fuzz(func(t *testing.T, body []byte, length string) {
		r := httptest.NewRequest("POST", infer, bytes.NewReader(body))
		if length != "" {
			r.Header[lengthHeader] = []string{length}
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError, http.StatusNotImplemented:
		default:
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		if w.Code != http.StatusOK && !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
	})
}

// BenchmarkInfer is a request of 8 bytes in binary form, without a connection.
func BenchmarkInfer(b *testing.B) {
	a := newAPI(b)
	head := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}],"parameters":{"binary_data_output":true}}`
	body := []byte(head + "\x00\x00\x80\x3f\x00\x00\x00\x40")
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", infer, bytes.NewReader(body))
		r.Header[lengthHeader] = []string{strconv.Itoa(len(head))}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

// TestTexts: strings are written as RapidJSON writes them. Bytes that are no UTF-8, as labels may have, stay as they are.
func TestTexts(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a\"b\\/": `"a\"b\\/"`, "\b\t\n\v\f\r\x00\x1f\x7f": "\"\\b\\t\\n\\u000B\\f\\r\\u0000\\u001F\x7f\"", "<é\u2028🎉>&": "\"<é\u2028🎉>&\"", "\xff\xc3": "\"\xff\xc3\"",
	} {
		require.Equal(t, want, string(appendString(nil, []byte(text))))
	}
}
