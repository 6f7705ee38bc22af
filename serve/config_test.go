package serve

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
)

// portsOfNeg is a whole configuration of the model Neg with two numbers in a row, but for the largest batch.
const portsOfNeg = `backend: "onnxruntime" input { name: "x" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 } `

// TestConfigurationsThatAreNotCompleted: what a configuration lacks is then an error, also where the file of the model says it,
// and the message is that of Triton where it has one.
func TestConfigurationsThatAreNotCompleted(t *testing.T) {
	model := string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))
	files := map[string]string{
		"none/1/model.onnx":        model,
		"whole/1/model.onnx":       model,
		"whole/config.pbtxt":       `max_batch_size: 3 ` + portsOfNeg,
		"no_input/1/model.onnx":    model,
		"no_input/config.pbtxt":    `backend: "onnxruntime" max_batch_size: 3 output { name: "y" data_type: TYPE_FP32 dims: 2 }`,
		"no_output/1/model.onnx":   model,
		"no_output/config.pbtxt":   `backend: "onnxruntime" max_batch_size: 3 input { name: "x" data_type: TYPE_FP32 dims: 2 }`,
		"no_batch/1/model.onnx":    model,
		"no_batch/config.pbtxt":    portsOfNeg,
		"by_platform/1/model.onnx": model,
		"by_platform/config.pbtxt": `platform: "onnxruntime_onnx" max_batch_size: 3 ` + portsOfNeg[len(`backend: "onnxruntime" `):],
	}
	s := started(t, files, Options{Control: ControlExplicit, NoComplete: true})
	require.NoError(t, s.Load("whole", Overrides{}))
	v, release, err := s.Find("whole", -1)
	require.NoError(t, err)
	require.Nil(t, v.Config().GetDynamicBatching(), "without completion a model batches only if its configuration says so")
	release()
	r, err := s.Infer(context.Background(), input("whole", []int64{1, 2}, 1, 2))
	require.NoError(t, err)
	require.Equal(t, []float32{-1, -2}, numbers(r.Outputs[0].Data))
	require.NoError(t, s.Load("by_platform", Overrides{}), "the name of the backend follows from the platform in any case")
	for name, want := range map[string]string{
		"none":      "failed to load 'none', failed to poll from model repository",
		"no_input":  "configuration expects 0 inputs, model provides 1",
		"no_output": "the configuration has no output, and may not be completed from the file",
		"no_batch":  "the model expects 2 dimensions",
	} {
		err := s.Load(name, Overrides{})
		require.ErrorContains(t, err, want, name)
		_, _, err = s.Find(name, -1)
		require.Error(t, err, name)
	}
	// An override is no less a configuration than a file is.
	require.ErrorContains(t, s.Load("none", Overrides{Config: `{"backend": "onnxruntime"}`}), "the configuration has no output")
	require.NoError(t, s.Load("none", Overrides{Config: `{"backend": "onnxruntime", "max_batch_size": 1, "input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [2]}], "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [2]}]}`}))
}

// TestOneFileIsNotCompleted: a repository of one file has no configuration, which has to be one that is whole.
func TestOneFileIsNotCompleted(t *testing.T) {
	folder := repository(t, map[string]string{"net.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))})
	s := New(Options{Runtime: newRuntime(t), Repositories: []string{folder + "/net.onnx"}, NoComplete: true})
	defer s.Close()
	require.ErrorContains(t, s.Start(), "failed to load all models")
}

// TestConfigurationsOfAName: a model that has the configuration of the name is configured by it, and another one as ever.
func TestConfigurationsOfAName(t *testing.T) {
	model := string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))
	files := map[string]string{
		"both/1/model.onnx":              model,
		"both/config.pbtxt":              "max_batch_size: 1 " + portsOfNeg,
		"both/configs/large.pbtxt":       "max_batch_size: 7 " + portsOfNeg,
		"both/configs/other.pbtxt":       "nonsense",
		"default/1/model.onnx":           model,
		"default/config.pbtxt":           "max_batch_size: 1 " + portsOfNeg,
		"own/1/model.onnx":               model,
		"own/configs/large.pbtxt":        "max_batch_size: 7 " + portsOfNeg,
		"folder/1/model.onnx":            model,
		"folder/config.pbtxt":            "max_batch_size: 1 " + portsOfNeg,
		"folder/configs/large.pbtxt/x":   "a folder is no configuration",
		"file/1/model.onnx":              model,
		"file/config.pbtxt":              `backend: "onnxruntime" default_model_filename: "net.onnx" max_batch_size: 1 ` + portsOfNeg[len(`backend: "onnxruntime" `):],
		"file/configs/large.pbtxt":       "max_batch_size: 7 " + portsOfNeg,
		"none/1/model.onnx":              model,
		"damaged/1/model.onnx":           model,
		"damaged/config.pbtxt":           portsOfNeg,
		"damaged/configs/large.pbtxt":    "nonsense",
		"other_name/1/model.onnx":        model,
		"other_name/configs/large.pbtxt": `name: "both" max_batch_size: 7 ` + portsOfNeg,
	}
	largest := func(s *Server) map[string]int32 {
		found := map[string]int32{}
		for _, name := range []string{"both", "default", "own", "folder", "file", "none", "damaged", "other_name"} {
			if c, err := s.ConfigOf(name, -1); err == nil {
				found[name] = c.MaxBatchSize
			}
		}
		return found
	}
	for _, complete := range []bool{true, false} {
		s := started(t, files, Options{ConfigName: "large", NoComplete: !complete})
		want := map[string]int32{"both": 7, "default": 1, "own": 7, "folder": 1, "file": 7}
		if complete {
			want["none"] = 4 // the default of completion
		}
		require.Equal(t, want, largest(s))
	}
	// A change of the file is found by a load.
	s := started(t, files, Options{ConfigName: "large", Control: ControlExplicit})
	require.NoError(t, s.Load("own", Overrides{}))
	require.NoError(t, os.WriteFile(s.options.Repositories[0]+"/own/configs/large.pbtxt", []byte("max_batch_size: 12 "+portsOfNeg), 0o644))
	require.NoError(t, s.Load("own", Overrides{}))
	require.Equal(t, map[string]int32{"own": 12}, largest(s))
	require.NoError(t, os.Remove(s.options.Repositories[0]+"/own/configs/large.pbtxt"))
	require.NoError(t, s.Load("own", Overrides{}))
	require.Equal(t, map[string]int32{"own": 4}, largest(s))
}
