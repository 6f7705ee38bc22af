package serve

import (
	"context"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/batching"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// TestMemoryOfOutputs: responses that give their memory back never see each other's elements, also those of one batch.
func TestMemoryOfOutputs(t *testing.T) {
	const each = inference.SmallestKept / 4
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, each)),
		"m/config.pbtxt": `max_batch_size: 4 dynamic_batching { max_queue_delay_microseconds: 200 }`,
	}, Options{})
	var clients sync.WaitGroup
	for c := range 6 {
		clients.Go(func() {
			xs := make([]float32, each)
			for i := range 60 {
				for k := range xs {
					xs[k] = float32(c*1000 + i)
				}
				r, err := s.Infer(context.Background(), input("m", []int64{1, each}, xs...))
				if err != nil {
					t.Error(err)
					return
				}
				for _, y := range numbers(r.Outputs[0].Data) {
					if y != -xs[0] {
						t.Errorf("got %v; want %v", y, -xs[0])
						return
					}
				}
				if i%3 > 0 { // the others keep theirs
					r.Free()
				}
			}
		})
	}
	clients.Wait()
}

// TestMemoryIsUsedAgain: a size that is no power of two fits, and others are not kept.
func TestMemoryIsUsedAgain(t *testing.T) {
	for _, n := range []int64{inference.SmallestKept, inference.SmallestKept + 1, 3 << 20, inference.LargestKept} {
		m := inference.NewBuffer(n, 2)
		require.GreaterOrEqual(t, int64(len(m.Bytes)), n)
		require.Less(t, int64(len(m.Bytes)), 2*n)
		r := inference.Response{Buffers: []*inference.Buffer{m}}
		r.Free()
		require.EqualValues(t, 1, m.Users.Load())
		r.Free() // a second time is no harm
		require.EqualValues(t, 1, m.Users.Load())
	}
	require.Nil(t, inference.NewBuffer(inference.SmallestKept-1, 1))
	require.Nil(t, inference.NewBuffer(inference.LargestKept+1, 1))
}

// TestLargeBatches: the memory of a batch that is larger than others is not kept by the instance that ran it.
func TestLargeBatches(t *testing.T) {
	const each = inference.LargestKept/2/4 + 1 // floats
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, -1)),
		"m/config.pbtxt": `max_batch_size: 2 dynamic_batching { preferred_batch_size: 2 max_queue_delay_microseconds: 100000000 }`,
	}, Options{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			_, err := s.Infer(t.Context(), input("m", []int64{1, each}, make([]float32, each)...))
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	v, release, err := s.Find("m", -1)
	require.NoError(t, err)
	defer release()
	var w *batching.Worker
	require.Eventually(t, func() bool { w = v.queue.Borrow(2); return w != nil }, 10*time.Second, time.Millisecond)
	defer v.queue.Return(w)
	require.LessOrEqual(t, cap(w.Of().(*instance).buffer), inference.LargestKept)
}

// TestInstancesForgetTheirRequests: an instance that waits holds nothing of the requests that it has answered.
func TestInstancesForgetTheirRequests(t *testing.T) {
	for _, ordered := range []string{"", "preserve_ordering: true"} {
		s := started(t, map[string]string{
			"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1)),
			"m/config.pbtxt": `max_batch_size: 2 dynamic_batching { preferred_batch_size: 2 max_queue_delay_microseconds: 100000000 ` + ordered + ` }`,
		}, Options{})
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := s.Infer(t.Context(), input("m", []int64{1, 1}, 1)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		v, release, err := s.Find("m", -1)
		require.NoError(t, err)
		defer release()
		var w *batching.Worker
		require.Eventually(t, func() bool { w = v.queue.Borrow(2); return w != nil }, 10*time.Second, time.Millisecond)
		defer v.queue.Return(w)
		n := w.Of().(*instance)
		for _, it := range n.items[:cap(n.items)] {
			require.Nil(t, it)
		}
		for _, j := range n.jobs[:cap(n.jobs)] {
			require.Nil(t, j)
		}
		for _, a := range n.answers[:cap(n.answers)] {
			require.Zero(t, a)
		}
	}
}

// keptByHeap is how many bytes Go's heap has from the system.
func keptByHeap() int64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapSys - m.HeapReleased)
}

// product is the file of a product with a weight of n x n.
func product(n int64) string {
	return string(onnxtest.WithWeights([]onnxtest.Weight{{Name: "w", Dims: []int64{n, n}, Data: make([]float32, n*n)}},
		[]onnxtest.Port{{Name: "x", Elem: onnxtest.Float, Dims: []int64{-1, n}}}, []onnxtest.Port{{Name: "y", Elem: onnxtest.Float, Dims: []int64{-1, n}}},
		onnxtest.Node{Op: "MatMul", In: []string{"x", "w"}, Out: []string{"y"}}))
}

// TestMemoryOfModels: the file of a model and its packed weights go back to the system when the model is unloaded, and when
// its load fails.
func TestMemoryOfModels(t *testing.T) {
	const n = 2048
	const size = 4 * n * n // bytes of the weight, which the file and the packed operand have once each
	s := started(t, map[string]string{"m/1/model.onnx": product(n)}, Options{Control: ControlExplicit})
	runtime.ReturnMemory()
	before := keptByHeap()
	unloaded := func() bool { // after the version was closed
		all, err := s.Index(true)
		require.NoError(t, err)
		s.mu.RLock()
		defer s.mu.RUnlock()
		return len(all) == 0 && s.models["m"].states[1].Word == Gone
	}
	for range 2 {
		require.NoError(t, s.Load("m", Overrides{}))
		_, err := s.Infer(t.Context(), input("m", []int64{1, n}, make([]float32, n)...))
		require.NoError(t, err)
		require.Greater(t, keptByHeap(), before+size, "the weights are in the heap")
		require.NoError(t, s.Unload("m", false))
		require.Eventually(t, unloaded, time.Minute, time.Millisecond)
		require.Less(t, keptByHeap(), before+size/4)
	}
	// The configuration fits the file, and the file of the warm-up is missing: all else was made by then.
	require.ErrorContains(t, s.Load("m", Overrides{Config: `{"max_batch_size":4,"model_warmup":[{"name":"w","batch_size":1,"inputs":{"x":{"data_type":"TYPE_FP32","dims":[2048],"input_data_file":"none"}}}]}`}), "warmup")
	require.Less(t, keptByHeap(), before+size/4)
}
