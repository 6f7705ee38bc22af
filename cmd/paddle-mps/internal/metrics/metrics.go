// Package metrics exposes the server's statistics in Prometheus text form: the metrics of tritonserver, by name,
// label and type, and those of device memory and compiled programs.
//
// Except for summaries (summaries.go), nothing is counted here. A collector reads the server's statistics on
// request, so the metrics equal those of the statistics extension, and the metrics of a version disappear when it is
// unloaded.
//
// Names that begin with nv_ are tritonserver's; dashboards and autoscalers look for them. Names that begin with
// paddle_mps_ describe the devices: memory held by the pool, and the cache of compiled programs.
//
// # Settings
//
// --metrics-config can disable the counters of durations, and add summaries: quantiles over the last minute, with
// the configured errors. Summaries are off by default because every answered request is then counted here, once for
// each duration. A model that uses the response cache has no summary of whole requests, but summaries of hits and
// misses.
//
// Counters never decrease while a version serves. A reloaded version begins with 0, as in tritonserver, and
// Prometheus treats that as a restart.
package metrics

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// Config is what the metrics are of.
type Config struct {
	Server   *serve.Server
	Runtime  *runtime.Runtime
	GPU, CPU bool // whether those of devices are among them
	// NoLatencies leaves the counters of durations out.
	NoLatencies bool
	// Summaries are the quantiles of durations; nil: none.
	Summaries *Summaries
}

// Handler answers GET /metrics; other paths and methods are errors, as in tritonserver.
func Handler(c Config) http.Handler {
	// A registry of our own has none of the metrics about Go that the default one has: tritonserver has no such names.
	registry := prometheus.NewRegistry()
	registry.MustRegister(&models{c.Server, c.NoLatencies, c.Summaries})
	if c.CPU {
		registry.MustRegister(&processor{})
	}
	registry.MustRegister(&devices{c.Runtime, c.GPU})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/metrics":
			http.Error(w, "Not Found", http.StatusNotFound)
		case r.Method != http.MethodGet:
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		default:
			metrics.ServeHTTP(w, r)
		}
	})
}

// models collects the metrics of models.
type models struct {
	server      *serve.Server
	noLatencies bool
	summaries   *Summaries
}

// Describe describes nothing: labels of models follow from their configurations, and Prometheus calls such a collector
// unchecked.
func (*models) Describe(chan<- *prometheus.Desc) {}

// metric is a metric of a version.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*serve.Count) float64
}

// microseconds are those of a duration.
func microseconds(d statistics.Duration) float64 { return float64(d.NS / 1000) }

// perVersion are the metrics of each version.
var perVersion = []metric{
	{
		"nv_inference_request_success", "Number of successful inference requests, all batch sizes", prometheus.CounterValue,
		func(c *serve.Count) float64 { return float64(c.Stats.Success.Count) },
	},
	{
		"nv_inference_count", "Number of inferences performed (does not include cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return float64(c.Inferences) },
	},
	{
		"nv_inference_exec_count", "Number of model executions performed (does not include cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return float64(c.Executions) },
	},
	{
		"nv_inference_request_duration_us", "Cumulative inference request duration in microseconds (includes cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.Success) },
	},
	{
		"nv_inference_queue_duration_us", "Cumulative inference queuing duration in microseconds (includes cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.Queue) },
	},
	{
		"nv_inference_compute_input_duration_us", "Cumulative compute input duration in microseconds (does not include cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.ComputeInput) },
	},
	{
		"nv_inference_compute_infer_duration_us", "Cumulative compute inference duration in microseconds (does not include cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.ComputeInfer) },
	},
	{
		"nv_inference_compute_output_duration_us", "Cumulative inference compute output duration in microseconds (does not include cached requests)", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.ComputeOutput) },
	},
	{
		"nv_inference_pending_request_count", "Instantaneous number of pending requests awaiting execution per-model.", prometheus.GaugeValue,
		func(c *serve.Count) float64 { return float64(c.Pending) },
	},
	{
		"nv_model_load_duration_secs", "Model load time in seconds", prometheus.GaugeValue,
		func(c *serve.Count) float64 { return c.LoadTime },
	},
}

// ofCache are the metrics of each version that uses the cache of responses.
var ofCache = []metric{
	{
		"nv_cache_num_hits_per_model", "Number of cache hits per model", prometheus.CounterValue,
		func(c *serve.Count) float64 { return float64(c.Stats.CacheHit.Count) },
	},
	{
		"nv_cache_num_misses_per_model", "Number of cache misses per model", prometheus.CounterValue,
		func(c *serve.Count) float64 { return float64(c.Stats.CacheMiss.Count) },
	},
	{
		"nv_cache_hit_duration_per_model", "Total cache hit duration per model, in microseconds", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.CacheHit) },
	},
	{
		"nv_cache_miss_duration_per_model", "Total cache miss (insert+lookup) duration per model, in microseconds", prometheus.CounterValue,
		func(c *serve.Count) float64 { return microseconds(c.Stats.CacheMiss) },
	},
}

// Collect sends the metrics of all versions that serve.
func (m *models) Collect(to chan<- prometheus.Metric) {
	counts, err := m.server.Statistics("", -1)
	if err != nil {
		return // the server ends
	}
	if m.summaries != nil {
		m.summaries.collect(counts, to)
	}
	// Descriptions are made anew each time, because labels depend on the model.
	for i := range counts {
		c := &counts[i]
		names, values := labels(c)
		all := perVersion
		if c.Cached {
			all = slices.Concat(perVersion, ofCache)
		}
		for _, one := range all {
			if m.noLatencies && strings.Contains(one.name, "_duration_") && one.kind == prometheus.CounterValue {
				continue
			}
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc(one.name, one.help, names, nil), one.kind, one.value(c), values...)
		}
		// All reasons are there from the start, at 0: a rate over a counter that appears later would miss its first count.
		failures := prometheus.NewDesc("nv_inference_request_failure", "Number of failed inference requests, all batch sizes", append(names, "reason"), nil)
		for reason, n := range c.Failures {
			to <- prometheus.MustNewConstMetric(failures, prometheus.CounterValue, float64(n), append(values[:len(values):len(values)], statistics.Reasons[reason])...)
		}
	}
}

// labels are those of a version: its model and number, and with an underscore the tags of its configuration. Tags that are
// no names of labels were refused when it was loaded; the name of a folder may be no UTF-8.
func labels(c *serve.Count) (names, values []string) {
	names, values = []string{"model", "version"}, []string{strings.ToValidUTF8(c.Name, "\uFFFD"), c.Version}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		// Keys in order: two looks at the same model give the same text.
		names, values = append(names, "_"+key), append(values, c.Tags[key])
	}
	return names, values
}

// devices collects the metrics of the devices of the runtime. Their names are not those of tritonserver, which has none
// for such things.
type devices struct {
	runtime *runtime.Runtime
	gpu     bool
}

// Describe describes nothing; see models.
func (*devices) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of each device: bytes of its memory, and its compiled programs.
func (d *devices) Collect(to chan<- prometheus.Metric) {
	// The CPU is always there; GPUs are left out where the options say so.
	places := []place.Place{place.CPU}
	if d.gpu {
		for i := range d.runtime.Count(place.MPSKind) {
			places = append(places, place.MPS(int32(i)))
		}
	}
	for _, at := range places {
		// The count was asked for just now, so that a missing device is none.
		c, err := d.runtime.Context(at)
		if err != nil {
			continue
		}
		send := func(name, help string, kind prometheus.ValueType, value int64) {
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, []string{"place"}, nil), kind, float64(value), at.String())
		}
		memory, programs := c.Stats(), c.Programs()
		send("paddle_mps_memory_allocated_bytes", "Bytes of live tensors, weights among them", prometheus.GaugeValue, memory.Allocated.Current)
		send("paddle_mps_memory_reserved_bytes", "Bytes that the pool of the device holds", prometheus.GaugeValue, memory.Reserved.Current)
		send("paddle_mps_programs", "Compiled programs in the cache", prometheus.GaugeValue, programs.Entries)
		send("paddle_mps_program_hits_total", "Runs whose program was in the cache", prometheus.CounterValue, programs.Hits)
		send("paddle_mps_program_misses_total", "Runs whose program had to be compiled", prometheus.CounterValue, programs.Misses)
		if at != place.CPU {
			send("nv_gpu_memory_used_bytes", "GPU used memory, in bytes", prometheus.GaugeValue, memory.Reserved.Current)
			send("nv_gpu_memory_total_bytes", "GPU total memory, in bytes", prometheus.GaugeValue, c.Info().TotalMemory)
		}
	}
}
