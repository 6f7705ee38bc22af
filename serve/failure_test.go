package serve

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// TestWrongRequestFailsAlone: requests that share a batch with one whose index is out of range are answered, and statistics count
// one failure. The delay is longer than any test: the batch runs when all of its eight requests are there.
func TestWrongRequestFailsAlone(t *testing.T) {
	file := onnxtest.WithWeights([]onnxtest.Weight{{Name: "table", Dims: []int64{3}, Data: []float32{1, 2, 4}}},
		[]onnxtest.Port{{Name: "x", Elem: onnxtest.Int64, Dims: []int64{-1, 2}}}, []onnxtest.Port{{Name: "y", Elem: onnxtest.Float, Dims: []int64{-1, 2}}},
		onnxtest.Node{Op: "Gather", In: []string{"table", "x"}, Out: []string{"y"}})
	for _, order := range []string{"", "preserve_ordering: true"} {
		config := `max_batch_size: 8 input { name: "x" data_type: TYPE_INT64 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }
			dynamic_batching { preferred_batch_size: 8 max_queue_delay_microseconds: 1000000000 ` + order + ` }`
		s := started(t, map[string]string{"m/1/model.onnx": string(file), "m/config.pbtxt": config}, Options{})
		require.True(t, s.Ready())
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				var data []byte
				for _, n := range []int{i % 3, map[bool]int{true: 7}[i == 5]} {
					data = binary.LittleEndian.AppendUint64(data, uint64(n))
				}
				got, err := s.Infer(context.Background(), &inference.Request{Model: "m", Version: -1, Inputs: []inference.Tensor{{Name: "x", Type: tensors.Int64, Shape: []int64{1, 2}, Data: data}}})
				switch {
				case i == 5:
					if err == nil {
						t.Error("an index out of range is not refused")
					}
				case err != nil:
					t.Errorf("request %d: %v", i, err)
				case fmt.Sprint(numbers(got.Outputs[0].Data)) != fmt.Sprint([]float32{[]float32{1, 2, 4}[i%3], 1}):
					t.Errorf("request %d: %v", i, numbers(got.Outputs[0].Data))
				}
			})
		}
		all.Wait()
		c, err := s.Statistics("m", -1)
		require.NoError(t, err)
		require.EqualValues(t, 7, c[0].Inferences)
		require.EqualValues(t, 7, c[0].Executions, "the batch has failed, and its requests have run by themselves")
		require.EqualValues(t, 7, c[0].Stats.Success.Count)
		require.EqualValues(t, 1, c[0].Stats.Fail.Count)
	}
}

// TestNamesOfTwoRepositories: a model that two repositories have is loaded from neither, in any mode of control.
func TestNamesOfTwoRepositories(t *testing.T) {
	file := map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, 2))}
	for _, control := range []Control{ControlNone, ControlExplicit} {
		s := started(t, file, Options{Control: control, Load: []string{"m"}, Repositories: []string{repository(t, file)}})
		_, err := s.Infer(context.Background(), input("m", []int64{2}, 1, 2))
		require.ErrorContains(t, err, "Request for unknown model: 'm' is not found")
		if control == ControlExplicit {
			require.EqualError(t, s.Load("m", Overrides{}), "failed to load 'm', failed to poll from model repository")
			require.EqualError(t, s.Load("none", Overrides{}), "failed to load 'none', failed to poll from model repository")
		}
	}
}
