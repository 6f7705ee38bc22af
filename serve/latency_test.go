package serve

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// TestLatencies: a time is in the bucket whose bound is at most 19 % above it.
func TestLatencies(t *testing.T) {
	for took := time.Microsecond; took < time.Hour; took += took/7 + 1 {
		var l statistics.Latencies
		l.Add(took)
		for bucket, n := range l {
			if n == 0 {
				continue
			}
			if bucket < statistics.Buckets-1 {
				require.LessOrEqual(t, took, statistics.Bound(bucket)+1)
				require.Less(t, float64(statistics.Bound(bucket)), 1.1893*float64(took)+2)
			} else {
				require.Greater(t, took, statistics.Bound(statistics.Buckets-2))
			}
		}
	}
	var l statistics.Latencies
	l.Add(-time.Second)
	require.EqualValues(t, 1, l[0])
}

// TestLatenciesAreCounted: every success is in a bucket, those of the cache and of ensembles too.
func TestLatenciesAreCounted(t *testing.T) {
	files := ensembleFiles("response_cache { enable: true }")
	files["m/1/model.onnx"] = string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1))
	s := started(t, files, Options{Cache: NewCache(1 << 20)})
	for range 3 {
		_, err := s.Infer(context.Background(), input("m", []int64{1, 1}, 1))
		require.NoError(t, err)
		_, err = s.Infer(context.Background(), ofE(1, 2))
		require.NoError(t, err)
	}
	counts, err := s.Statistics("", -1)
	require.NoError(t, err)
	for _, c := range counts {
		sum := uint64(0)
		for _, n := range c.Latency {
			sum += n
		}
		require.Equal(t, c.Stats.Success.Count, sum, c.Name)
		require.Positive(t, sum)
	}
}
