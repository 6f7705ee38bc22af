package metrics

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// Summaries are the quantiles of durations, over the last minute as in tritonserver. They are the one thing that is counted
// here, because statistics have sums alone; and only where --metrics-config asks for them.
type Summaries struct {
	quantiles map[float64]float64

	mu  sync.Mutex
	all map[uint64]*[serve.ObservedMiss + 1]prometheus.Summary // by version as it was loaded
}

// summary are the name and the help of each.
var summary = [serve.ObservedMiss + 1]struct{ name, help string }{
	serve.ObservedRequest: {"nv_inference_request_summary_us", "Summary of inference request duration in microseconds (includes cached requests)"},
	serve.ObservedQueue:   {"nv_inference_queue_summary_us", "Summary of inference queuing duration in microseconds (includes cached requests)"},
	serve.ObservedInput:   {"nv_inference_compute_input_summary_us", "Cumulative compute input duration in microseconds (does not include cached requests)"},
	serve.ObservedInfer:   {"nv_inference_compute_infer_summary_us", "Cumulative compute inference duration in microseconds (does not include cached requests)"},
	serve.ObservedOutput:  {"nv_inference_compute_output_summary_us", "Cumulative inference compute output duration in microseconds (does not include cached requests)"},
	serve.ObservedHit:     {"nv_cache_hit_summary_per_model", "Summary of cache hit counts/durations per model, in microseconds."},
	serve.ObservedMiss:    {"nv_cache_miss_summary_per_model", "Summary of cache miss counts/durations per model, in microseconds."},
}

// NewSummaries makes summaries with quantiles and their errors, as "0.5:0.05,0.9:0.01"; "" are those of tritonserver.
func NewSummaries(quantiles string) (*Summaries, error) {
	if quantiles == "" {
		quantiles = "0.5:0.05,0.9:0.01,0.95:0.001,0.99:0.001,0.999:0.001"
	}
	s := &Summaries{quantiles: map[float64]float64{}, all: map[uint64]*[serve.ObservedMiss + 1]prometheus.Summary{}}
	for pair := range strings.SplitSeq(quantiles, ",") {
		q, e, ok := strings.Cut(strings.TrimSpace(pair), ":")
		quantile, err := strconv.ParseFloat(q, 64)
		allowed, err2 := strconv.ParseFloat(e, 64)
		if !ok || err != nil || err2 != nil || !(quantile > 0 && quantile < 1) || !(allowed > 0 && allowed < 1) {
			return nil, fmt.Errorf("want summary_quantiles=<quantile>:<error>,..., each between 0 and 1")
		}
		s.quantiles[quantile] = allowed
	}
	return s, nil
}

// Observe counts a duration of a request; it is for serve.Options.
func (s *Summaries) Observe(v *serve.Version, what serve.Observed, took time.Duration) {
	c := v.Config()
	// A summary of requests without those of the cache would mislead: tritonserver has none then.
	s.of(&serve.Count{
		Totals: statistics.Totals{Name: c.Name, Version: strconv.FormatInt(v.Number(), 10)}, Tags: c.MetricTags, Load: v.Load(),
	})[what].Observe(float64(max(took, 0) / time.Microsecond))
}

// of are the summaries of a version.
func (s *Summaries) of(c *serve.Count) *[serve.ObservedMiss + 1]prometheus.Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := s.all[c.Load]
	if made != nil {
		return made
	}
	made = new([serve.ObservedMiss + 1]prometheus.Summary)
	// Labels are those of the counters, the tags of the configuration among them.
	names, values := labels(c)
	constant := prometheus.Labels{}
	for i, name := range names {
		constant[name] = values[i]
	}
	for what := range made {
		made[what] = prometheus.NewSummary(prometheus.SummaryOpts{
			Name: summary[what].name, Help: summary[what].help, ConstLabels: constant,
			Objectives: s.quantiles, MaxAge: time.Minute, AgeBuckets: 5,
		})
	}
	s.all[c.Load] = made
	return made
}

// collect sends the summaries of the versions that serve, and drops those of others.
func (s *Summaries) collect(counts []serve.Count, to chan<- prometheus.Metric) {
	// A version that serves has its summaries from the start, with a count of 0.
	alive := map[uint64]bool{}
	for i := range counts {
		alive[counts[i].Load] = true
		for what, one := range s.of(&counts[i]) {
			ofCache := serve.Observed(what) >= serve.ObservedHit
			if ofCache != counts[i].Cached && (ofCache || serve.Observed(what) == serve.ObservedRequest) {
				continue
			}
			to <- one
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for load := range s.all {
		if !alive[load] {
			delete(s.all, load)
		}
	}
}
