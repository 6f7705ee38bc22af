package serve

import (
	"slices"
	"sync"
	"time"
)

// Duration is a number of events and the time that they took, in nanoseconds.
type Duration struct {
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
}

// add counts n events of one duration.
func (d *Duration) add(n uint64, took time.Duration) {
	d.Count += n
	d.NS += n * uint64(max(took, 0))
}

// Inferences are the durations of the requests of a version.
type Inferences struct {
	Success       Duration `json:"success"`
	Fail          Duration `json:"fail"`
	Queue         Duration `json:"queue"`
	ComputeInput  Duration `json:"compute_input"`
	ComputeInfer  Duration `json:"compute_infer"`
	ComputeOutput Duration `json:"compute_output"`
	CacheHit      Duration `json:"cache_hit"`
	CacheMiss     Duration `json:"cache_miss"`
}

// Batches are the executions of one size.
type Batches struct {
	Size          uint64   `json:"batch_size"`
	ComputeInput  Duration `json:"compute_input"`
	ComputeInfer  Duration `json:"compute_infer"`
	ComputeOutput Duration `json:"compute_output"`
}

// Memory is memory that a version holds.
type Memory struct {
	Kind  string `json:"type"`
	ID    int64  `json:"id"`
	Bytes uint64 `json:"byte_size"`
}

// Statistics are what a version has done so far.
type Statistics struct {
	Name          string            `json:"name"`
	Version       string            `json:"version"`
	LastInference uint64            `json:"last_inference"` // milliseconds since 1970
	Inferences    uint64            `json:"inference_count"`
	Executions    uint64            `json:"execution_count"`
	Stats         Inferences        `json:"inference_stats"`
	Responses     map[string]string `json:"response_stats"` // of models with many responses: there are none
	Batches       []Batches         `json:"batch_stats"`
	Memory        []Memory          `json:"memory_usage"`
}

// The reasons of failed requests, as the metrics of Triton name them.
const (
	reasonRejected = iota
	reasonCancelled
	reasonBackend
	reasonOther
	reasons
)

// Reasons are the names of the reasons of failed requests, in the order of Failures.
var Reasons = [reasons]string{"REJECTED", "CANCELED", "BACKEND", "OTHER"}

// Failures are failed requests by reason.
type Failures [reasons]uint64

// counters are the statistics of a version as they are collected.
type counters struct {
	mu         sync.Mutex
	last       time.Time
	inferences uint64
	executions uint64
	stats      Inferences
	failures   Failures
	batches    []Batches // in the order of their sizes
	latency    latencies // of the successes
	pending    int64     // requests that were accepted and are not being run
}

// moments are those of one execution.
type moments struct{ start, inputs, outputs, end time.Time }

// executed counts a batch that was run, before its requests are answered.
func (c *counters) executed(size uint64, m *moments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.executions++
	c.last = m.end
	at, found := slices.BinarySearchFunc(c.batches, size, func(b Batches, n uint64) int { return int(b.Size) - int(n) })
	if !found {
		c.batches = slices.Insert(c.batches, at, Batches{Size: size})
	}
	// Sizes are few: they end at the largest batch of the model.
	b := &c.batches[at]
	b.ComputeInput.add(1, m.inputs.Sub(m.start))
	b.ComputeInfer.add(1, m.outputs.Sub(m.inputs))
	b.ComputeOutput.add(1, m.end.Sub(m.outputs))
}

// succeeded counts a request of a batch.
func (c *counters) succeeded(size uint64, received, queued time.Time, m *moments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inferences += size
	c.stats.Success.add(1, m.end.Sub(received))
	c.latency.add(m.end.Sub(received))
	c.stats.Queue.add(1, m.start.Sub(queued))
	c.stats.ComputeInput.add(1, m.inputs.Sub(m.start))
	c.stats.ComputeInfer.add(1, m.outputs.Sub(m.inputs))
	c.stats.ComputeOutput.add(1, m.end.Sub(m.outputs))
}

// failed counts a request that was refused or has failed.
func (c *counters) failed(reason int, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Fail.add(1, time.Since(received))
	c.failures[reason]++
}

// wait counts requests that begin to wait, or with a negative number cease to.
func (c *counters) wait(n int64) {
	c.mu.Lock()
	c.pending += n
	c.mu.Unlock()
}

// snapshot is what was counted.
func (c *counters) snapshot(l *latencies) (s Statistics, f Failures, pending int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s = Statistics{
		Inferences: c.inferences, Executions: c.executions, Stats: c.stats, Batches: slices.Clone(c.batches),
		Responses: map[string]string{}, Memory: []Memory{},
	}
	*l = c.latency
	if s.Batches == nil {
		s.Batches = []Batches{}
	}
	if !c.last.IsZero() {
		s.LastInference = uint64(c.last.UnixMilli())
	}
	return s, c.failures, c.pending
}
