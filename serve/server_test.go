package serve

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// newRuntime is a runtime with the CPU alone.
func newRuntime(t *testing.T) *runtime.Runtime {
	t.Helper()
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), NoMPS: "there is none"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rt.Close()) })
	return rt
}

// repository writes files into a new folder.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return folder
}

// started is a server over files, of which all models that can be are loaded.
func started(t *testing.T, files map[string]string, o Options) *Server {
	t.Helper()
	o.Runtime, o.DefaultMaxBatch = newRuntime(t), 4
	o.Repositories = append(o.Repositories, repository(t, files))
	o.Log = func(_ Level, text string) { t.Log(text) }
	s := New(o)
	_ = s.Start() // what cannot be loaded is looked at by the tests
	t.Cleanup(s.Close)
	return s
}

// floats are numbers as bytes.
func floats(xs ...float32) (data []byte) {
	for _, x := range xs {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

// numbers are bytes as numbers.
func numbers(data []byte) (xs []float32) {
	for i := 0; i < len(data); i += 4 {
		xs = append(xs, math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))
	}
	return xs
}

// input is a request with one input of floats.
func input(model string, shape []int64, xs ...float32) *inference.Request {
	return &inference.Request{Model: model, Version: -1, Inputs: []inference.Tensor{{Name: "x", Type: tensors.FP32, Shape: shape, Data: floats(xs...)}}}
}

// TestInfer: a model without a configuration is completed, and answers.
func TestInfer(t *testing.T) {
	s := started(t, map[string]string{"neg/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))}, Options{})
	require.True(t, s.Ready())
	r, err := s.Infer(context.Background(), input("neg", []int64{2, 2}, 1, 2, 3, 4))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 2}, r.Outputs[0].Shape)
	require.Equal(t, []float32{-1, -2, -3, -4}, numbers(r.Outputs[0].Data))

	c, err := s.ConfigOf("neg", -1)
	require.NoError(t, err)
	require.EqualValues(t, 4, c.MaxBatchSize)
	require.Equal(t, []int64{2}, c.Input[0].Dims)
	require.Equal(t, []int32{4}, c.GetDynamicBatching().PreferredBatchSize)
	m, err := s.Metadata("neg", -1)
	require.NoError(t, err)
	require.Equal(t, &Metadata{
		Name: "neg", Versions: []string{"1"}, Platform: "onnxruntime_onnx",
		Inputs: []Port{{"x", "FP32", []int64{-1, 2}}}, Outputs: []Port{{"y", "FP32", []int64{-1, 2}}},
	}, m)
}

// TestFile: an ONNX file is a repository of one model.
func TestFile(t *testing.T) {
	folder := repository(t, map[string]string{"abs.onnx": string(onnxtest.Unary("Abs", onnxtest.Float, 2))})
	s := started(t, nil, Options{Repositories: []string{filepath.Join(folder, "abs.onnx")}})
	r, err := s.Infer(context.Background(), input("abs", []int64{2}, -1, 2))
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2}, numbers(r.Outputs[0].Data))
}

// TestRefusals: the messages about requests that do not fit, as Triton has them.
func TestRefusals(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))}, Options{})
	for want, change := range map[string]func(*inference.Request){
		"Request for unknown model: 'n' is not found":                                                                       func(r *inference.Request) { r.Model = "n" },
		"Request for unknown model: 'm' version 7 is not found":                                                             func(r *inference.Request) { r.Version = 7 },
		"[request id: <id_unknown>] inference request batch-size must be <= 4 for 'm'":                                      func(r *inference.Request) { r.Inputs[0].Shape = []int64{5, 2} },
		"[request id: a] inference input 'x' data-type is 'INT32', but model 'm' expects 'FP32'":                            func(r *inference.Request) { r.ID, r.Inputs[0].Type = "a", tensors.Int32 },
		"[request id: <id_unknown>] input 'x' already exists in request":                                                    func(r *inference.Request) { r.Inputs = append(r.Inputs, r.Inputs[0]) },
		"unexpected inference input 'z' for model 'm'":                                                                      func(r *inference.Request) { r.Inputs[0].Name = "z" },
		"unexpected inference output 'z' for model 'm'":                                                                     func(r *inference.Request) { r.Outputs = []inference.Requested{{Name: "z"}} },
		"[request id: <id_unknown>] unexpected shape for input 'x' for model 'm'. Expected [-1,2], got [1,3]. " + batchNote: func(r *inference.Request) { r.Inputs[0].Shape = []int64{1, 3} },
		"[request id: <id_unknown>] input byte size mismatch for input 'x' for model 'm'. Expected 8, got 4":                func(r *inference.Request) { r.Inputs[0].Data = r.Inputs[0].Data[:4] },
		"[request id: <id_unknown>] All input dimensions should be specified for input 'x' for model 'm', got [1,-1]":       func(r *inference.Request) { r.Inputs[0].Shape = []int64{1, -1} },
		"[request id: <id_unknown>] input 'x' has no shape but model requires batch dimension for 'm'":                      func(r *inference.Request) { r.Inputs[0].Shape = nil },
		"[request id: <id_unknown>] expected 1 inputs but got 0 inputs for model 'm'. Got input(s) [], but missing required input(s) ['x']. Please provide all required input(s).": func(r *inference.Request) {
			r.Inputs = nil
		},
	} {
		r := input("m", []int64{1, 2}, 1, 2)
		change(r)
		_, err := s.Infer(context.Background(), r)
		require.EqualError(t, err, want)
	}
}

// TestBatches: requests that wait together run as one batch, and each gets its own part.
func TestBatches(t *testing.T) {
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)),
		"m/config.pbtxt": `max_batch_size: 8 input { name: "x" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }
			dynamic_batching { preferred_batch_size: 8 max_queue_delay_microseconds: 10000000 } instance_group { count: 2 }`,
	}, Options{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			x := float32(i)
			r := input("m", []int64{1, 2}, x, x+1)
			want := []float32{-x, -x - 1}
			if i < 2 { // two requests of two items, four of one
				r = input("m", []int64{2, 2}, x, x, x, x)
				want = []float32{-x, -x, -x, -x}
			}
			got, err := s.Infer(context.Background(), r)
			if err != nil {
				t.Error(err)
				return
			}
			if fmt.Sprint(numbers(got.Outputs[0].Data)) != fmt.Sprint(want) {
				t.Errorf("%v is not %v", numbers(got.Outputs[0].Data), want)
			}
		})
	}
	all.Wait()
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 8, c[0].Inferences)
	require.EqualValues(t, 1, c[0].Executions)
	require.EqualValues(t, 6, c[0].Stats.Success.Count)
	require.EqualValues(t, 8, c[0].Batches[0].Size)
}

// TestLoads: a load that fails changes nothing, one that succeeds replaces the model, and an unload ends its service.
func TestLoads(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, 1))},
		Options{Control: ControlExplicit, Load: []string{"m"}})
	answer := func() float32 {
		r, err := s.Infer(context.Background(), input("m", []int64{1}, -3))
		require.NoError(t, err)
		return numbers(r.Outputs[0].Data)[0]
	}
	write := func(name string, text []byte) {
		path := filepath.Join(s.options.Repositories[0], name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	require.EqualValues(t, 3, answer())
	write("m/2/model.onnx", []byte("nothing"))
	err := s.Load("m", Overrides{})
	require.ErrorContains(t, err, "load failed for model 'm': version 2 is at UNAVAILABLE state: ")
	require.EqualValues(t, 3, answer())
	require.True(t, s.Ready())
	write("m/2/model.onnx", onnxtest.Unary("Identity", onnxtest.Float, 1))
	require.NoError(t, s.Load("m", Overrides{}))
	require.EqualValues(t, -3, answer())
	index, err := s.Index(false)
	require.NoError(t, err)
	require.Equal(t, []Entry{{"m", "1", Gone, "unloaded"}, {"m", "2", Ready, ""}}, index)

	require.NoError(t, s.Load("m", Overrides{
		Config: `{"name": "m", "backend": "metal_mps"}`, Files: map[string][]byte{"5/model.onnx": onnxtest.Unary("Abs", onnxtest.Float, 1)},
	}))
	require.EqualValues(t, 3, answer())
	require.EqualError(t, s.Load("none", Overrides{}), "failed to load 'none', failed to poll from model repository")
	require.ErrorContains(t, s.Load("..", Overrides{}), "must not contain path traversal")
	require.NoError(t, s.Unload("m", false))
	_, err = s.Infer(context.Background(), input("m", []int64{1}, -3))
	require.EqualError(t, err, "Request for unknown model: 'm' has no available versions")
	require.NoError(t, s.Unload("none", false))
}

// TestConfigurationsThatAreRefused: nothing in a configuration is ignored.
func TestConfigurationsThatAreRefused(t *testing.T) {
	model := string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))
	for config, want := range map[string]string{
		`sequence_batching {}`:                                           "field 'sequence_batching' in the configuration of model 'm' is not supported",
		`input { name: "x" allow_ragged_batch: true }`:                   "field 'input.allow_ragged_batch'",
		`optimization { graph { level: 1 } }`:                            "field 'optimization.graph'",
		`model_transaction_policy { decoupled: true }`:                   "field 'model_transaction_policy.decoupled'",
		`parameters { key: "precision" value { string_value: "fp16" } }`: "parameter 'precision' in the configuration of model 'm' is 'fp16'; want 'fp32'",
		`instance_group { kind: KIND_GPU }`:                              "instance group m_0 of model m has kind KIND_GPU but no GPUs are available",
		`max_batch_size: 4 input { name: "z" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }`:  "unexpected inference input 'z', allowed inputs are: x",
		`max_batch_size: 4 input { name: "x" data_type: TYPE_INT32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }`: "configuration expects datatype TYPE_INT32 for input 'x', model provides TYPE_FP32",
		`max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 3 } output { name: "y" data_type: TYPE_FP32 dims: 2 }`:  "the model expects shape [-1,2] but the model configuration specifies shape [-1,3]",
		`max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: -1 } output { name: "y" data_type: TYPE_FP32 dims: 2 }`: "the model expects shape [-1,2] but the model configuration specifies shape [-1,-1]",
		`instance_group { kind: 99 }`: "field 'instance_group.kind' in the configuration of model 'm' is not supported",
		`model_warmup { name: "w" batch_size: 1 inputs { key: "x" value { data_type: 99 dims: 2 zero_data: true } } }`: "field 'model_warmup.inputs.x.data_type'",
		`max_batch_size: 4 dynamic_batching { default_queue_policy { timeout_action: 99 } }`:                           "field 'dynamic_batching.default_queue_policy.timeout_action'",
		`runtime: "libother.so"`: "unable to find 'libother.so' for model 'm', backend 'onnxruntime' is built in: want no runtime",
		`output { name: "y" data_type: TYPE_FP32 dims: 2 label_filename: "../labels" }`: "is outside model directory",
	} {
		s := started(t, map[string]string{"m/1/model.onnx": model, "m/config.pbtxt": config}, Options{})
		require.False(t, s.Ready())
		index, err := s.Index(false)
		require.NoError(t, err)
		require.Contains(t, index[0].Reason, want)
	}
}

// TestPolledModelThatIsGone: the index has the models of the repository, and one that serves nothing any more is not there.
func TestPolledModelThatIsGone(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))}, Options{Control: ControlPoll})
	index, err := s.Index(false)
	require.NoError(t, err)
	require.Equal(t, []Entry{{"m", "1", Ready, ""}}, index)
	require.NoError(t, os.RemoveAll(filepath.Join(s.options.Repositories[0], "m")))
	s.poll(map[string]string{})
	index, err = s.Index(false)
	require.NoError(t, err)
	require.Empty(t, index)
	_, _, err = s.Find("m", -1)
	require.EqualError(t, err, "Request for unknown model: 'm' has no available versions")
}

// TestLatestOfNone: a policy that selects no version is no default, as in Triton.
func TestLatestOfNone(t *testing.T) {
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)), "m/config.pbtxt": `version_policy { latest { } }`,
	}, Options{Control: ControlExplicit})
	require.ErrorContains(t, s.Load("m", Overrides{}), "at least one version must be available under the version policy of model 'm'")
}

// TestTypesThatAreNotServed: the reader has types that tensors lack, and the protocols would not have them as what carries them.
// A configuration has to name the type of the file, and not the signed one whose tensors have the same bits.
func TestTypesThatAreNotServed(t *testing.T) {
	const uint16s, strings, float8s = 4, 8, 17
	ports := func(kind string) string {
		return fmt.Sprintf(`max_batch_size: 4 input { name: "x" data_type: %s dims: 2 } output { name: "y" data_type: %s dims: 2 }`, kind, kind)
	}
	for _, c := range []struct {
		elem         int
		config, want string
	}{
		{float8s, "", "'x' is float8e4m3fn[n, 2] in the file, which is not supported"},
		{float8s, ports("TYPE_UINT8"), "'x' is float8e4m3fn[n, 2] in the file, which is not supported"},
		{strings, ports("TYPE_INT64"), "configuration expects datatype TYPE_INT64 for input 'x', model provides TYPE_STRING"},
		{uint16s, ports("TYPE_INT16"), "configuration expects datatype TYPE_INT16 for input 'x', model provides TYPE_UINT16"},
	} {
		s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Identity", c.elem, -1, 2)), "m/config.pbtxt": c.config}, Options{})
		require.False(t, s.Ready())
		index, err := s.Index(false)
		require.NoError(t, err)
		require.Contains(t, index[0].Reason, c.want)
	}
}

// TestQueue: a full queue refuses at once, and a request that is cancelled leaves it.
func TestQueue(t *testing.T) {
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1)),
		"m/config.pbtxt": `max_batch_size: 2 dynamic_batching { max_queue_delay_microseconds: 20000000 default_queue_policy { max_queue_size: 1 } }`,
	}, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	refused := make(chan error, 1)
	go func() {
		_, err := s.Infer(ctx, input("m", []int64{1, 1}, 1))
		refused <- err
	}()
	require.Eventually(t, func() bool {
		_, err := s.Infer(context.Background(), &inference.Request{Model: "m", Version: -1})
		c, _ := s.Statistics("m", -1)
		return err != nil && c[0].Pending == 1
	}, 5*time.Second, time.Millisecond)
	_, err := s.Infer(context.Background(), input("m", []int64{1, 1}, 1))
	require.EqualError(t, err, "[request id: <id_unknown>] Exceeds maximum queue size")
	cancel()
	require.ErrorContains(t, <-refused, "cancelled")
	c, err := s.Statistics("m", -1)
	require.NoError(t, err)
	require.EqualValues(t, 1, c[0].Failures[statistics.ReasonCancelled])
	require.EqualValues(t, 1, c[0].Failures[statistics.ReasonRejected])
	require.Zero(t, c[0].Pending)
}

// TestSwapsUnderLoad: versions are replaced while clients ask, and no request fails.
func TestSwapsUnderLoad(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1))}, Options{Control: ControlExplicit, Load: []string{"m"}})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Infer(context.Background(), input("m", []int64{1, 1}, 1)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 20 {
		file := filepath.Join(s.options.Repositories[0], fmt.Sprint("m/", i+2), "model.onnx")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, onnxtest.Unary("Neg", onnxtest.Float, -1, 1), 0o644))
		require.NoError(t, s.Load("m", Overrides{}))
		r, err := s.Infer(context.Background(), input("m", []int64{1, 1}, 1))
		require.NoError(t, err)
		require.EqualValues(t, i+2, r.Version)
	}
	close(stop)
	clients.Wait()
}
