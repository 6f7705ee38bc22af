package serve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// scaled is y = x * scale, where scale has a value of its own: 10 and 100.
func scaled() string {
	port := func(name string) onnxtest.Port {
		return onnxtest.Port{Name: name, Elem: onnxtest.Float, Dims: []int64{-1, 2}}
	}
	return string(onnxtest.WithWeights([]onnxtest.Weight{{Name: "scale", Dims: []int64{1, 2}, Data: []float32{10, 100}}},
		[]onnxtest.Port{port("x"), port("scale")}, []onnxtest.Port{port("y")}, onnxtest.Node{Op: "Mul", In: []string{"x", "scale"}, Out: []string{"y"}}))
}

const scaledConfig = `max_batch_size: 8 input { name: "x" data_type: TYPE_FP32 dims: 2 }
	input { name: "scale" data_type: TYPE_FP32 dims: 2 optional: true } output { name: "y" data_type: TYPE_FP32 dims: 2 }
	dynamic_batching { preferred_batch_size: 8 max_queue_delay_microseconds: 200000 }`

// TestOptionalInputs: requests with and without an optional input wait together, run apart, and get their own answers.
func TestOptionalInputs(t *testing.T) {
	s := started(t, map[string]string{
		"m/1/model.onnx": scaled(), "m/config.pbtxt": scaledConfig,
		"patient/1/model.onnx": scaled(), "patient/config.pbtxt": strings.ReplaceAll(scaledConfig, "200000", "100000000"),
	}, Options{})
	require.True(t, s.Ready())
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			x, scale := float32(i), []float32{10, 100}
			r := input("m", []int64{1, 2}, x, x)
			if i%3 == 0 { // two items
				r = input("m", []int64{2, 2}, x, x, x, x)
			}
			if i%2 == 0 {
				scale = []float32{x, 3}
				data := floats(scale...)
				if i%3 == 0 {
					data = append(data, data...)
				}
				r.Inputs = append(r.Inputs, inference.Tensor{Name: "scale", Type: tensors.FP32, Shape: r.Inputs[0].Shape, Data: data})
			}
			want := []float32{x * scale[0], x * scale[1]}
			if i%3 == 0 {
				want = append(want, want...)
			}
			got, err := s.Infer(context.Background(), r)
			if err != nil {
				t.Error(err)
				return
			}
			if fmt.Sprint(numbers(got.Outputs[0].Data)) != fmt.Sprint(want) {
				t.Errorf("request %d: %v is not %v", i, numbers(got.Outputs[0].Data), want)
			}
		})
	}
	all.Wait()
	for range 8 { // a batch of eight without the input, which is the preferred size
		all.Go(func() {
			got, err := s.Infer(context.Background(), input("patient", []int64{1, 2}, 1, 2))
			if err != nil || fmt.Sprint(numbers(got.Outputs[0].Data)) != "[10 200]" {
				t.Errorf("%v: %v", got, err)
			}
		})
	}
	all.Wait()
	c, err := s.Statistics("patient", -1)
	require.NoError(t, err)
	require.EqualValues(t, 1, c[0].Executions)
	r := input("m", []int64{1, 2}, 1, 2)
	r.Inputs[0].Name = "scale"
	_, err = s.Infer(context.Background(), r)
	require.EqualError(t, err, "[request id: <id_unknown>] input 'x' is missing in the request for model 'm', and the model has no value for it")
	r.Inputs = nil
	_, err = s.Infer(context.Background(), r)
	require.EqualError(t, err, "[request id: <id_unknown>] expected number of inputs between 1 and 2 but got 0 inputs for model 'm'. Got input(s) [], but missing required input(s) ['x']. Please provide all required input(s).")
}

// TestWhatIsNotOptional: a value of the file that the configuration does not call optional has to be given, and one that it
// does not list stays a constant.
func TestWhatIsNotOptional(t *testing.T) {
	ports := `input { name: "x" data_type: TYPE_FP32 dims: 2 } %s output { name: "y" data_type: TYPE_FP32 dims: 2 } max_batch_size: 8`
	s := started(t, map[string]string{
		"listed/1/model.onnx": scaled(), "listed/config.pbtxt": fmt.Sprintf(ports, `input { name: "scale" data_type: TYPE_FP32 dims: 2 }`),
		"unlisted/1/model.onnx": scaled(), "unlisted/config.pbtxt": fmt.Sprintf(ports, ""),
		"without/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)), "without/config.pbtxt": `max_batch_size: 8
			input { name: "x" data_type: TYPE_FP32 dims: 2 optional: true } output { name: "y" data_type: TYPE_FP32 dims: 2 }`,
	}, Options{})
	require.True(t, s.Ready())
	_, err := s.Infer(context.Background(), input("listed", []int64{1, 2}, 1, 2))
	require.ErrorContains(t, err, "expected 2 inputs but got 1 inputs for model 'listed'")
	got, err := s.Infer(context.Background(), input("unlisted", []int64{1, 2}, 1, 2))
	require.NoError(t, err)
	require.Equal(t, []float32{10, 200}, numbers(got.Outputs[0].Data))
	_, err = s.Infer(context.Background(), &inference.Request{Model: "without", Version: -1})
	require.ErrorContains(t, err, "and the model has no value for it")
}

// TestCompletedBatch: a configuration whose inputs have all dimensions of the file is not completed to a batch of four,
// which would leave no dimension for it.
func TestCompletedBatch(t *testing.T) {
	model := string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))
	files := map[string]string{}
	configs := map[string]struct {
		config string
		batch  int32
	}{
		"full":    {`input { name: "x" data_type: TYPE_FP32 dims: [-1, 2] }`, 0},
		"outputs": {`output { name: "y" data_type: TYPE_FP32 dims: [-1, 2] }`, 0},
		"item":    {`input { name: "x" data_type: TYPE_FP32 dims: 2 }`, 4},
		"said":    {`input { name: "x" data_type: TYPE_FP32 dims: 2 } max_batch_size: 6`, 6},
		"none":    {``, 4},
	}
	for name, c := range configs {
		files[name+"/1/model.onnx"], files[name+"/config.pbtxt"] = model, c.config
	}
	s := started(t, files, Options{})
	require.True(t, s.Ready())
	for name, c := range configs {
		config, err := s.ConfigOf(name, -1)
		require.NoError(t, err)
		require.Equal(t, c.batch, config.MaxBatchSize, name)
		got, err := s.Infer(context.Background(), input(name, []int64{3, 2}, 1, 2, 3, 4, 5, 6))
		require.NoError(t, err)
		require.Equal(t, []int64{3, 2}, got.Outputs[0].Shape)
	}
}

// TestParameters: they are shown to clients, and one that asks for other answers is refused.
func TestParameters(t *testing.T) {
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2)),
		"m/config.pbtxt": `parameters { key: "precision" value { string_value: "fp32" } } parameters { key: "team" value { string_value: "a" } }`,
	}, Options{})
	config, err := s.ConfigOf("m", -1)
	require.NoError(t, err)
	require.Equal(t, "a", config.Parameters["team"].StringValue)
}

// TestCountsAreNoBatches: the first size of an output may be how many elements are not zero, and requests that run together
// would get each other's. A model that counts is not completed to a batch; sizes that shapes tell are no counts.
func TestCountsAreNoBatches(t *testing.T) {
	in, out := onnxtest.Port{Name: "x", Elem: onnxtest.Float, Dims: []int64{-1}}, onnxtest.Port{Name: "y", Elem: onnxtest.Int64, Dims: []int64{-1, 1}}
	step := func(operator, in, out string) onnxtest.Node {
		return onnxtest.Node{Op: operator, In: []string{in}, Out: []string{out}}
	}
	s := started(t, map[string]string{
		"counts/1/model.onnx": string(onnxtest.Model([]onnxtest.Port{in}, []onnxtest.Port{out}, step("NonZero", "x", "at"), step("Transpose", "at", "y"))),
		"shapes/1/model.onnx": string(onnxtest.Model([]onnxtest.Port{in}, []onnxtest.Port{out}, step("Shape", "x", "s"), step("NonZero", "s", "at"), step("Transpose", "at", "y"))),
	}, Options{})
	require.True(t, s.Ready())
	for name, batch := range map[string]int32{"counts": 0, "shapes": 4} {
		config, err := s.ConfigOf(name, -1)
		require.NoError(t, err)
		require.Equal(t, batch, config.MaxBatchSize, name)
	}
	got, err := s.Infer(context.Background(), input("counts", []int64{4}, 0, 3, 0, 5))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, got.Outputs[0].Shape)
}

// TestSequencesAreRefused: the protocols have no messages for a list of tensors.
func TestSequencesAreRefused(t *testing.T) {
	list, one := onnxtest.Port{Name: "x", Elem: onnxtest.Float, Dims: []int64{2}, Sequence: true}, onnxtest.Port{Name: "y", Elem: onnxtest.Float, Dims: []int64{2}}
	s := started(t, map[string]string{
		"takes/1/model.onnx":   string(onnxtest.Model([]onnxtest.Port{list}, []onnxtest.Port{one}, onnxtest.Node{Op: "ConcatFromSequence", In: []string{"x"}, Out: []string{"y"}})),
		"returns/1/model.onnx": string(onnxtest.Model([]onnxtest.Port{one}, []onnxtest.Port{list}, onnxtest.Node{Op: "SequenceConstruct", In: []string{"y"}, Out: []string{"x"}})),
	}, Options{Control: ControlExplicit})
	for _, name := range []string{"takes", "returns"} {
		require.ErrorContains(t, s.Load(name, Overrides{}), `[onnx] "x" is a sequence of float[2]; want a tensor`, name)
	}
}
