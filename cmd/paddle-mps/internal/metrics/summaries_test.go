package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// TestQuantiles: what is no list of quantiles is refused.
func TestQuantiles(t *testing.T) {
	s, err := NewSummaries("0.5:0.05, 0.9:0.01")
	require.NoError(t, err)
	require.Equal(t, map[float64]float64{0.5: 0.05, 0.9: 0.01}, s.quantiles)
	s, err = NewSummaries("")
	require.NoError(t, err)
	require.Len(t, s.quantiles, 5)
	for _, wrong := range []string{"0.5", "a:b", "0.5:", "2:0.1", "0.5:0", "NaN:0.1", "0.5:0.1,,"} {
		_, err := NewSummaries(wrong)
		require.ErrorContains(t, err, "want summary_quantiles=", wrong)
	}
}

// TestVersionsThatAreGone: their summaries are dropped; which ones a version has depends on the cache, as in tritonserver.
func TestVersionsThatAreGone(t *testing.T) {
	s, err := NewSummaries("")
	require.NoError(t, err)
	sent := func(counts ...serve.Count) int {
		to := make(chan prometheus.Metric, 100)
		s.collect(counts, to)
		return len(to)
	}
	plain := serve.Count{Totals: statistics.Totals{Name: "m", Version: "1"}, Load: 1}
	cached := serve.Count{Totals: statistics.Totals{Name: "c", Version: "1"}, Load: 2, Cached: true}
	require.Equal(t, 5+6, sent(plain, cached))
	require.Len(t, s.all, 2)
	require.Equal(t, 5, sent(plain))
	require.Len(t, s.all, 1)
}
