package serve

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
)

// TestLoadsOfOneNameAtOneTime: a load that fails must not take away the record that another load of the name fills.
func TestLoadsOfOneNameAtOneTime(t *testing.T) {
	s := started(t, nil, Options{Control: ControlExplicit})
	good := Overrides{
		Config: `{"backend": "metal_mps"}`,
		Files:  map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
	}
	for range 2000 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _ = s.Load("m", Overrides{}) })
		}
		all.Go(func() {
			if err := s.Load("m", good); err != nil {
				t.Error(err)
			} else if _, err := s.Infer(t.Context(), input("m", []int64{1}, 1)); err != nil {
				t.Error("a model that was loaded is not there:", err)
			}
		})
		all.Wait()
		require.NoError(t, s.Unload("m", false))
		s.mu.Lock()
		delete(s.models, "m")
		s.mu.Unlock()
	}
}

// TestNamesThatAreNoText: a name that gRPC cannot send would break the index and the statistics of all models.
func TestNamesThatAreNoText(t *testing.T) {
	s := started(t, nil, Options{Control: ControlExplicit})
	err := s.Load("\xff", Overrides{
		Config: `{"backend": "metal_mps"}`, Files: map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
	})
	require.ErrorContains(t, err, "invalid model name")
	require.NoError(t, os.Mkdir(filepath.Join(s.options.Repositories[0], "\xfe"), 0o755))
	index, err := s.Index(false)
	require.NoError(t, err)
	require.Empty(t, index)
}

// TestWarmUpOfARequest: a model that came with a request has no folder, and reads no file of the server's own one.
func TestWarmUpOfARequest(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("warmup", 0o755))
	require.NoError(t, os.WriteFile("warmup/x", floats(1), 0o600))
	s := started(t, nil, Options{Control: ControlExplicit})
	err := s.Load("m", Overrides{
		Config: `{"backend": "metal_mps", "model_warmup": [{"name": "w", "inputs": {"x": {"data_type": "TYPE_FP32", "dims": [1], "input_data_file": "x"}}}]}`,
		Files:  map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
	})
	require.ErrorContains(t, err, "warmup")
}

// TestStepsOutsideOfTheRepository: the names of an ensemble's models become a part of a path, as that of a load does.
func TestStepsOutsideOfTheRepository(t *testing.T) {
	outside := repository(t, map[string]string{
		"secret/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)), "models/e/1/none": "",
	})
	s := started(t, nil, Options{Control: ControlExplicit, Repositories: []string{filepath.Join(outside, "models")}})
	err := s.Load("e", Overrides{Config: `{"platform": "ensemble", "max_batch_size": 4,
		"input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [2]}], "output": [{"name": "y", "data_type": "TYPE_FP32", "dims": [2]}],
		"ensemble_scheduling": {"step": [{"model_name": "../secret", "model_version": -1, "input_map": {"x": "x"}, "output_map": {"y": "y"}}]}}`})
	require.ErrorContains(t, err, "contains models that are not available or ambiguous: ../secret")
	index, err := s.Index(false)
	require.NoError(t, err)
	for _, e := range index {
		require.NotContains(t, e.Name, "secret")
	}
}

// TestConfigurationsAreUTF8: gRPC and Prometheus cannot show other texts.
func TestConfigurationsAreUTF8(t *testing.T) {
	s := started(t, nil, Options{Control: ControlExplicit})
	err := s.Load("m", Overrides{
		Config: "{\"backend\": \"metal_mps\", \"metric_tags\": {\"a\": \"\xff\"}}",
		Files:  map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
	})
	require.Error(t, err)
}

// TestInstancesTogether: groups, and GPUs of a group that are named again and again, make no more instances than one group may.
func TestInstancesTogether(t *testing.T) {
	s := started(t, nil, Options{Control: ControlExplicit})
	load := func(groups string) error {
		return s.Load("m", Overrides{
			Config: `{"backend": "metal_mps", "instance_group": [` + groups + `]}`,
			Files:  map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
		})
	}
	const group = `{"kind": "KIND_CPU", "count": 512}`
	require.NoError(t, load(group+", "+group))
	require.ErrorContains(t, load(group+", "+group+", "+group), "model m has 1536 instances; want at most 1024")
	c := &modelconfig.ModelConfig{Name: "m", InstanceGroup: []*modelconfig.ModelInstanceGroup{
		{Name: "g", Kind: modelconfig.ModelInstanceGroup_KIND_GPU, Count: 1024, Gpus: []int32{0, 0}},
	}}
	require.ErrorContains(t, modelconfig.CheckInstances(c, 1), "model m has 2048 instances; want at most 1024")
}

// TestLargeWarmUps: the inputs of a sample are bounded together, before memory is taken for any of them.
func TestLargeWarmUps(t *testing.T) {
	s := started(t, nil, Options{Control: ControlExplicit})
	inputs := ""
	for i := range 20 {
		inputs += fmt.Sprintf(`, "x%d": {"data_type": "TYPE_UINT8", "dims": [1000000000], "random_data": true}`, i)
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	err := s.Load("m", Overrides{
		Config: `{"backend": "metal_mps", "model_warmup": [{"name": "w", "inputs": {` + inputs[2:] + `}}]}`,
		Files:  map[string][]byte{"1/model.onnx": onnxtest.Unary("Neg", onnxtest.Float, 1)},
	})
	require.ErrorContains(t, err, "warmup sample 'w'")
	goruntime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<28))
}

// TestFoldersWithManyLinks: forty folders with two links each to the next one are read in 2^40 ways, unless each is read once.
func TestFoldersWithManyLinks(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))}, Options{Control: ControlExplicit})
	folder := filepath.Join(s.options.Repositories[0], "m")
	for i := range 40 {
		require.NoError(t, os.Mkdir(filepath.Join(folder, fmt.Sprint("more", i)), 0o755))
		for _, name := range []string{"a", "b"} {
			require.NoError(t, os.Symlink(fmt.Sprint("../more", (i+1)%40), filepath.Join(folder, fmt.Sprint("more", i), name)))
		}
	}
	require.NoError(t, s.Load("m", Overrides{}))
	before := s.models["m"].signature
	require.NotEmpty(t, before)
	f := found{name: "m", folder: folder}
	require.Equal(t, before, f.signature())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "more39", "new"), nil, 0o644))
	require.NotEqual(t, before, f.signature(), "what the links lead to counts")
}

// TestFilesWithoutAnEnd: a load reads regular files of a bounded size. A device has no end, and a file may say that it has more
// bytes than there is memory.
func TestFilesWithoutAnEnd(t *testing.T) {
	const ports = ` input { name: "x" data_type: TYPE_FP32 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 label_filename: "labels" }`
	const warmUp = `model_warmup { name: "w" batch_size: 1 inputs { key: "x" value { data_type: TYPE_FP32 dims: 2 input_data_file: "f" } } }`
	s := started(t, nil, Options{Control: ControlExplicit})
	for name, want := range map[string]string{
		"config.pbtxt":   "failed to poll from model repository",
		"1/model.onnx":   "unable to read",
		"labels":         "label file 'labels' for output 'y' in model 'm'",
		"warmup/f":       "warmup sample 'w'",
		"1/other/absent": "", // nothing is wrong
	} {
		folder := filepath.Join(s.options.Repositories[0], "m")
		require.NoError(t, os.RemoveAll(folder))
		for file, text := range map[string]string{
			"1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)), "config.pbtxt": "max_batch_size: 4" + ports + warmUp,
			"labels": "a\nb", "warmup/f": string(floats(1, 2)), name: "",
		} {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644))
		}
		path := filepath.Join(folder, name)
		if want == "" {
			require.NoError(t, s.Load("m", Overrides{}))
			require.NoError(t, s.Unload("m", false))
			continue
		}
		require.NoError(t, os.Truncate(path, 1<<40)) // it takes no place on the disk
		require.ErrorContains(t, s.Load("m", Overrides{}), want, "a large %s", name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o755))
		require.ErrorContains(t, s.Load("m", Overrides{}), want, "a folder %s", name)
		// Links out of the folder of the model are followed for its configuration and its file alone.
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink("/dev/zero", path))
		require.ErrorContains(t, s.Load("m", Overrides{}), want, "a device as %s", name)
	}
}
