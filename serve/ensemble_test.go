package serve

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

const partConfig = `max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 } dynamic_batching {}`

// ensembleFiles is a repository of an ensemble e: b = abs(neg(a)).
func ensembleFiles(more string) map[string]string {
	return map[string]string{
		"neg/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)), "neg/config.pbtxt": partConfig,
		"abs/1/model.onnx": string(onnxtest.Unary("Abs", onnxtest.Float, -1, 2)), "abs/config.pbtxt": partConfig,
		"e/1/nothing": "", "e/labels": "zero\none\n",
		"e/config.pbtxt": `platform: "ensemble" max_batch_size: 4 input { name: "a" data_type: TYPE_FP32 dims: 2 }
			output { name: "b" data_type: TYPE_FP32 dims: 2 label_filename: "labels" } ensemble_scheduling {
			step { model_name: "abs" model_version: -1 input_map { key: "x" value: "m" } output_map { key: "y" value: "b" } }
			step { model_name: "neg" model_version: 1 input_map { key: "x" value: "a" } output_map { key: "y" value: "m" } } } ` + more,
	}
}

// ofE is a request to the ensemble.
func ofE(x ...float32) *inference.Request {
	r := input("e", []int64{int64(len(x) / 2), 2}, x...)
	r.Inputs[0].Name = "a"
	return r
}

// TestEnsemble: steps run in the order of the data, requests of one time batch in the models, labels are the ensemble's.
func TestEnsemble(t *testing.T) {
	s := started(t, ensembleFiles(""), Options{})
	require.True(t, s.Ready())
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			x := float32(i)
			got, err := s.Infer(context.Background(), ofE(x, -x))
			if err != nil || fmt.Sprint(numbers(got.Outputs[0].Data)) != fmt.Sprint([]float32{x, x}) || got.Outputs[0].Name != "b" {
				t.Errorf("%v: %v", got, err)
			}
		})
	}
	all.Wait()
	r := ofE(1, -3)
	r.Outputs = []inference.Requested{{Name: "b", Classes: 1}}
	got, err := s.Infer(context.Background(), r)
	require.NoError(t, err)
	require.Contains(t, string(got.Outputs[0].Data), "3.000000:1:one")
	for _, name := range []string{"e", "neg", "abs"} {
		c, err := s.Statistics(name, -1)
		require.NoError(t, err)
		require.EqualValues(t, 17, c[0].Stats.Success.Count, name)
		require.EqualValues(t, 17, c[0].Inferences, name)
	}
}

// TestCancelledEnsemble: a request that is given up is an error of the ensemble, and nothing of it is left.
func TestCancelledEnsemble(t *testing.T) {
	files := ensembleFiles("")
	files["abs/config.pbtxt"] = `max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }
		dynamic_batching { preferred_batch_size: 4 max_queue_delay_microseconds: 100000000 }`
	s := started(t, files, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Infer(ctx, ofE(1, 2))
		failed <- err
	}()
	require.Eventually(t, func() bool {
		c, err := s.Statistics("abs", -1)
		return err == nil && c[0].Pending == 1
	}, 1e10, 1e6)
	cancel()
	require.EqualError(t, <-failed, "in ensemble 'e', [request id: <id_unknown>] request was cancelled")
	c, err := s.Statistics("e", -1)
	require.NoError(t, err)
	require.EqualValues(t, 1, c[0].Failures[statistics.ReasonCancelled])
	require.Zero(t, s.Flights())
}

// TestCachedEnsemble: an answer of an ensemble is kept, and dropped when one of its models is another one.
func TestCachedEnsemble(t *testing.T) {
	s := started(t, ensembleFiles("response_cache { enable: true }"), Options{Cache: NewCache(1 << 20), Control: ControlExplicit, Load: []string{"*"}})
	for range 3 {
		got, err := s.Infer(context.Background(), ofE(1, -2))
		require.NoError(t, err)
		require.Equal(t, []float32{1, 2}, numbers(got.Outputs[0].Data))
	}
	c, err := s.Statistics("abs", -1)
	require.NoError(t, err)
	require.EqualValues(t, 1, c[0].Executions)
	require.NoError(t, s.Load("abs", Overrides{Config: `{"backend": "metal_mps"}`, Files: map[string][]byte{"1/model.onnx": onnxtest.Unary("Identity", onnxtest.Float, -1, 2)}}))
	got, err := s.Infer(context.Background(), ofE(1, -2))
	require.NoError(t, err)
	require.Equal(t, []float32{-1, 2}, numbers(got.Outputs[0].Data))
}

// TestPolledEnsemble: an ensemble whose model is not there yet is loaded when it comes.
func TestPolledEnsemble(t *testing.T) {
	files := ensembleFiles("")
	delete(files, "abs/1/model.onnx")
	delete(files, "abs/config.pbtxt")
	s := started(t, files, Options{Control: ControlPoll})
	tried := map[string]string{}
	s.poll(tried)
	_, err := s.Infer(context.Background(), ofE(1, 2))
	require.ErrorContains(t, err, "unknown model: 'e'")
	more := ensembleFiles("")
	s.options.Repositories = append(s.options.Repositories, repository(t, map[string]string{"abs/1/model.onnx": more["abs/1/model.onnx"], "abs/config.pbtxt": partConfig}))
	require.Eventually(t, func() bool {
		s.poll(tried)
		_, err := s.Infer(context.Background(), ofE(1, 2))
		return err == nil
	}, 1e10, 1e7)
}

// TestEnsembleBounds: the number of steps and of requests on their way is bounded.
func TestEnsembleBounds(t *testing.T) {
	c := &modelconfig.ModelConfig{Name: "e", Platform: modelconfig.Ensemble, SchedulingChoice: &modelconfig.ModelConfig_EnsembleScheduling{
		EnsembleScheduling: &modelconfig.ModelEnsembling{Step: make([]*modelconfig.ModelEnsembling_Step, 1025)},
	}}
	require.ErrorContains(t, modelconfig.Check(c), "ensemble 'e' has 1025 steps; want at most 1024")
	s := started(t, ensembleFiles(""), Options{})
	v, release, err := s.Find("e", -1)
	require.NoError(t, err)
	defer release()
	v.ensemble.flights.Add(mostFlights)
	_, err = s.Infer(context.Background(), ofE(1, 2))
	require.EqualError(t, err, "[request id: <id_unknown>] Exceeds maximum queue size")
	v.ensemble.flights.Add(-mostFlights)
	_, err = s.Infer(context.Background(), ofE(1, 2))
	require.NoError(t, err)
}

// TestInputsThatAreOutputs: an output of an ensemble that is an input of it is the caller's, and not the memory of the request,
// which the frontends use for other requests once there is an answer.
func TestInputsThatAreOutputs(t *testing.T) {
	files := ensembleFiles(`output { name: "a" data_type: TYPE_FP32 dims: 2 }`)
	s := started(t, files, Options{})
	require.True(t, s.Ready())
	r := ofE(1, -3)
	got, err := s.Infer(context.Background(), r)
	require.NoError(t, err)
	clear(r.Inputs[0].Data)
	require.Equal(t, "a", got.Outputs[1].Name)
	require.Equal(t, []float32{1, -3}, numbers(got.Outputs[1].Data))
}
