// Package statistics counts what a version of a model does: requests, executions by the size of their batch, failures by reason, and
// how long each part took.
//
// [Counters] may be used from any goroutine; each of its methods counts one event under one lock, in which it calls nothing. What was
// counted is read as [Totals], in the form of Triton's statistics, with the [Latencies] that percentiles are made of.
package statistics

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

// Totals are what a version has done so far.
type Totals struct {
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
	ReasonRejected = iota
	ReasonCancelled
	ReasonBackend
	ReasonOther
	reasons
)

// Reasons are the names of the reasons of failed requests, in the order of Failures.
var Reasons = [reasons]string{"REJECTED", "CANCELED", "BACKEND", "OTHER"}

// Failures are failed requests by reason.
type Failures [reasons]uint64

// Counters are the statistics of a version as they are collected.
type Counters struct {
	mu         sync.Mutex
	last       time.Time
	inferences uint64
	executions uint64
	stats      Inferences
	failures   Failures
	batches    []Batches // in the order of their sizes
	latency    Latencies // of the successes
	pending    int64     // requests that were accepted and are not being run
}

// Moments are those of one execution.
type Moments struct{ Start, Inputs, Outputs, End time.Time }

// Executed counts a batch that was run, before its requests are answered.
func (c *Counters) Executed(size uint64, m *Moments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.executions++
	c.last = m.End
	at, found := slices.BinarySearchFunc(c.batches, size, func(b Batches, n uint64) int { return int(b.Size) - int(n) })
	if !found {
		c.batches = slices.Insert(c.batches, at, Batches{Size: size})
	}
	// Sizes are few: they end at the largest batch of the model.
	b := &c.batches[at]
	b.ComputeInput.add(1, m.Inputs.Sub(m.Start))
	b.ComputeInfer.add(1, m.Outputs.Sub(m.Inputs))
	b.ComputeOutput.add(1, m.End.Sub(m.Outputs))
}

// Succeeded counts a request of a batch.
func (c *Counters) Succeeded(size uint64, received, queued time.Time, m *Moments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inferences += size
	c.stats.Success.add(1, m.End.Sub(received))
	c.latency.Add(m.End.Sub(received))
	c.stats.Queue.add(1, m.Start.Sub(queued))
	c.stats.ComputeInput.add(1, m.Inputs.Sub(m.Start))
	c.stats.ComputeInfer.add(1, m.Outputs.Sub(m.Inputs))
	c.stats.ComputeOutput.add(1, m.End.Sub(m.Outputs))
}

// Failed counts a request that was refused or has failed.
func (c *Counters) Failed(reason int, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Fail.add(1, time.Since(received))
	c.failures[reason]++
}

// Wait counts requests that begin to wait, or with a negative number cease to.
func (c *Counters) Wait(n int64) {
	c.mu.Lock()
	c.pending += n
	c.mu.Unlock()
}

// Snapshot is what was counted.
func (c *Counters) Snapshot(l *Latencies) (s Totals, f Failures, pending int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s = Totals{
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

// Hit counts a request that was answered from the cache. It is a success, and no inference.
func (c *Counters) Hit(received time.Time, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Success.add(1, time.Since(received))
	c.latency.Add(time.Since(received))
	c.stats.Queue.add(1, 0)
	c.stats.CacheHit.add(1, took)
}

// Missed counts a request that was not in the cache, with the time to look and to keep the answer.
func (c *Counters) Missed(looked, kept time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.CacheMiss.add(1, looked+kept)
	c.stats.Success.NS += uint64(kept) // the request was counted before
}

// Spent are the durations of the steps of a request, summed.
type Spent struct{ Queue, Input, Infer, Output time.Duration }

// Composed counts a request of an ensemble.
func (c *Counters) Composed(size uint64, received time.Time, s *Spent) {
	now := time.Now()
	m := Moments{Start: now, Inputs: now.Add(s.Input), Outputs: now.Add(s.Input + s.Infer), End: now.Add(s.Input + s.Infer + s.Output)}
	c.Executed(size, &m)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = now
	c.inferences += size
	c.stats.Success.add(1, now.Sub(received))
	c.latency.Add(now.Sub(received))
	c.stats.Queue.add(1, s.Queue)
	c.stats.ComputeInput.add(1, s.Input)
	c.stats.ComputeInfer.add(1, s.Infer)
	c.stats.ComputeOutput.add(1, s.Output)
}
