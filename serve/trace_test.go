package serve

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
)

// inOrder checks that moments are known and come one after the other.
func inOrder(t *testing.T, moments ...time.Time) {
	t.Helper()
	for i, m := range moments {
		require.False(t, m.IsZero(), i)
		require.False(t, i > 0 && m.Before(moments[i-1]), i)
	}
}

// TestTrace: a trace has the moments of its request; those of a request that is refused are not there.
func TestTrace(t *testing.T) {
	s := started(t, map[string]string{"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 2))}, Options{})
	r := input("m", []int64{1, 2}, 1, 2)
	r.ID, r.Trace = "a", &Trace{}
	_, err := s.Infer(t.Context(), r)
	require.NoError(t, err)
	tr := r.Trace
	require.Equal(t, []any{"m", int64(1), "a"}, []any{tr.Model, tr.Version, tr.ID})
	inOrder(t, tr.Started, tr.Times.Queued, tr.Times.Start, tr.Times.Inputs, tr.Times.Outputs, tr.Times.End, tr.Ended)

	r = input("m", []int64{1, 3}, 1, 2, 3)
	r.Trace = &Trace{}
	_, err = s.Infer(t.Context(), r)
	require.Error(t, err)
	require.Zero(t, r.Trace.Started)
}

// TestTraceOfEnsemble: the steps of an ensemble have traces of their own, and the ensemble has no execution.
func TestTraceOfEnsemble(t *testing.T) {
	s := started(t, ensembleFiles(""), Options{})
	r := ofE(1, 2)
	r.Trace = &Trace{}
	_, err := s.Infer(t.Context(), r)
	require.NoError(t, err)
	require.Zero(t, r.Trace.Times.Start)
	inOrder(t, r.Trace.Started, r.Trace.Times.Queued, r.Trace.Ended)
	require.NotEmpty(t, r.Trace.Steps())
	for _, step := range r.Trace.Steps() {
		require.NotEmpty(t, step.Model)
		inOrder(t, r.Trace.Started, step.Started, step.Times.Queued, step.Times.Start, step.Times.End, step.Ended, r.Trace.Ended)
	}
}

// TestAnswersBeforeTheNextBatch: a request that was answered does not wait for the batch behind it, also where one thread runs
// everything.
func TestAnswersBeforeTheNextBatch(t *testing.T) {
	const n = 1 << 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // first: the kernels then have one thread, too
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, n)),
		"m/config.pbtxt": "max_batch_size: 0",
	}, Options{})
	// The first request borrows the instance; the others wait in the queue, from which the instance itself takes them.
	xs := make([]float32, n)
	ended := make(chan error, 8)
	var all [8]*Request
	for i := range all {
		all[i] = input("m", []int64{n}, xs...)
		all[i].Trace = &Trace{}
	}
	for _, r := range all {
		go func() {
			_, err := s.Infer(context.Background(), r)
			ended <- err
		}()
	}
	for range all {
		require.NoError(t, <-ended)
	}
	for _, one := range all {
		for _, next := range all {
			if next.Trace.Times.Start.Before(one.Trace.Times.End) {
				continue // it ran before
			}
			// The answer was there before the next batch had run. Without a yield it came after all of them.
			require.True(t, one.Trace.Ended.Before(next.Trace.Times.Outputs), "an answer came %v after its execution", one.Trace.Ended.Sub(one.Trace.Times.End))
		}
	}
}
