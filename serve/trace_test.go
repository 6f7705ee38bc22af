package serve

import (
	"context"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/batching"
	"github.com/paddle-mps/paddle-mps/serve/inference"
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
	r.ID, r.Trace = "a", &inference.Trace{}
	_, err := s.Infer(t.Context(), r)
	require.NoError(t, err)
	tr := r.Trace
	require.Equal(t, []any{"m", int64(1), "a"}, []any{tr.Model, tr.Version, tr.ID})
	inOrder(t, tr.Started, tr.Times.Queued, tr.Times.Start, tr.Times.Inputs, tr.Times.Outputs, tr.Times.End, tr.Ended)

	r = input("m", []int64{1, 3}, 1, 2, 3)
	r.Trace = &inference.Trace{}
	_, err = s.Infer(t.Context(), r)
	require.Error(t, err)
	require.Zero(t, r.Trace.Started)
}

// TestTraceOfEnsemble: the steps of an ensemble have traces of their own, and the ensemble has no execution.
func TestTraceOfEnsemble(t *testing.T) {
	s := started(t, ensembleFiles(""), Options{})
	r := ofE(1, 2)
	r.Trace = &inference.Trace{}
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
	const rounds, together = 512, 8
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1)) // first: the kernels then have one thread, too
	s := started(t, map[string]string{
		"m/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, 2)),
		"m/config.pbtxt": "max_batch_size: 0",
	}, Options{})
	v, release, err := s.Find("m", -1)
	require.NoError(t, err)
	defer release()
	late := 0
	for range rounds {
		late += queuedTogether(t, s, v, together)
	}
	// Without a yield all answers but the last of a round come late, with a single one those of every 61st batch. A thread that
	// the system has stopped for a while lets a few come late, whatever this package does.
	require.Less(t, late, rounds*together/(2*61))
}

// queuedTogether runs requests that are all in the queue when the instance takes the first one, and counts those whose
// goroutines got the answer when a later batch had begun.
func queuedTogether(t *testing.T, s *Server, v *Version, count int) (late int) {
	t.Helper()
	var w *batching.Worker
	for w == nil { // the instance may not be waiting yet
		goruntime.Gosched()
		w = v.queue.Borrow(1)
	}
	var running sync.WaitGroup
	all, errs := make([]*inference.Request, count), make([]error, count)
	for i := range all {
		all[i] = input("m", []int64{2}, 1, 2)
		all[i].Trace = &inference.Trace{}
		running.Go(func() { _, errs[i] = s.Infer(context.Background(), all[i]) })
	}
	for v.queue.Len() < count {
		goruntime.Gosched()
	}
	v.queue.Return(w)
	running.Wait()
	for i, one := range all {
		require.NoError(t, errs[i])
		overtaken := func(next *inference.Request) bool {
			start := next.Trace.Times.Start
			return start.After(one.Trace.Times.Start) && start.Before(one.Trace.Ended)
		}
		if slices.ContainsFunc(all, overtaken) {
			late++
		}
	}
	return late
}
