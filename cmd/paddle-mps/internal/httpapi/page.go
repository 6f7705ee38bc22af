package httpapi

import (
	_ "embed" // the page
	"net/http"
	"strconv"
	"time"

	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// The page at / shows what the server does, live. It is one file with no resources of others; once a second it asks for
// /status.json, whose numbers only grow, and shows the differences. tritonserver has no such page.

//go:embed page.html
var page []byte

// policy is what the page may do: run its own script and ask this server. Names of models are shown as text and never as
// HTML; should one become HTML nevertheless, nothing outside is loaded.
const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page answers with the page.
func (c *call) page() error {
	// It changes with the executable only, but no client should keep that of an older one.
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(page) // a client that is gone is no error of ours
	return nil
}

// status is what the page shows.
type status struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Ready   bool           `json:"ready"`
	Time    float64        `json:"time"` // seconds of the server's clock, for rates
	Flights int64          `json:"flights"`
	Bounds  []float64      `json:"bounds"` // of the buckets of latencies in milliseconds
	Models  []modelStatus  `json:"models"`
	Devices []deviceStatus `json:"devices"`
}

// modelStatus is one version, or a model that was never loaded.
type modelStatus struct {
	serve.Entry
	Success    uint64        `json:"success"`
	Failed     uint64        `json:"failed"`
	Pending    int64         `json:"pending"`
	Inferences uint64        `json:"inferences"`
	Executions uint64        `json:"executions"`
	Queue      uint64        `json:"queue_ns"`
	Compute    uint64        `json:"compute_ns"`
	Latency    []uint64      `json:"latency"`
	Batches    []batchStatus `json:"batches"`
	Memory     uint64        `json:"memory"`
}

// batchStatus is how many executions had a size.
type batchStatus struct {
	Size  uint64 `json:"size"`
	Count uint64 `json:"count"`
}

// deviceStatus is the memory of a device.
type deviceStatus struct {
	Place     string `json:"place"`
	Allocated int64  `json:"allocated"`
	Reserved  int64  `json:"reserved"`
	Programs  int64  `json:"programs"`
}

// began is when the process did, as far as the page is concerned.
var began = time.Now()

// status answers with what the page shows.
func (c *call) status() error {
	s := c.api.Server
	index, err := s.Index(false)
	if err != nil {
		return err
	}
	counts, err := s.Statistics("", -1)
	if err != nil {
		return err
	}
	// The index has the versions that do not serve as well, and why they do not; the rest have numbers.
	byVersion := map[[2]string]*serve.Count{}
	for i := range counts {
		byVersion[[2]string{counts[i].Name, counts[i].Version}] = &counts[i]
	}
	answer := status{
		Name: c.api.Name, Version: c.api.Version, Ready: s.Ready(), Time: time.Since(began).Seconds(), Flights: s.Flights(),
		Models: []modelStatus{}, Devices: c.api.devices(),
	}
	for _, e := range index {
		m := modelStatus{Entry: e, Latency: []uint64{}, Batches: []batchStatus{}}
		if count := byVersion[[2]string{e.Name, e.Version}]; count != nil {
			m.add(count)
		}
		answer.Models = append(answer.Models, m)
	}
	for i := range len(serve.Count{}.Latency) {
		answer.Bounds = append(answer.Bounds, float64(statistics.Bound(i))/1e6)
	}
	c.w.Header().Set("Cache-Control", "no-store")
	return c.reply(answer)
}

// add takes the numbers of a version that serves.
func (m *modelStatus) add(c *serve.Count) {
	m.Success, m.Failed, m.Pending = c.Stats.Success.Count, c.Stats.Fail.Count, c.Pending
	m.Inferences, m.Executions = c.Inferences, c.Executions
	m.Queue = c.Stats.Queue.NS
	m.Compute = c.Stats.ComputeInput.NS + c.Stats.ComputeInfer.NS + c.Stats.ComputeOutput.NS
	// The counts of executions by size are those of batch_stats.
	m.Latency = c.Latency[:]
	for _, b := range c.Batches {
		m.Batches = append(m.Batches, batchStatus{b.Size, b.ComputeInfer.Count})
	}
	for _, one := range c.Memory {
		m.Memory += one.Bytes
	}
}

// devices are those of the runtime; none where the API has no runtime.
func (a *API) devices() []deviceStatus {
	all := []deviceStatus{}
	if a.Runtime == nil {
		return all
	}
	// Numbers are those of the metrics paddle_mps_*.
	places := []place.Place{place.CPU}
	for i := range a.Runtime.Count(place.MPSKind) {
		places = append(places, place.MPS(int32(i)))
	}
	for _, at := range places {
		c, err := a.Runtime.Context(at)
		if err != nil { // its number was asked for just now
			continue
		}
		memory := c.Stats()
		all = append(all, deviceStatus{at.String(), memory.Allocated.Current, memory.Reserved.Current, c.Programs().Entries})
	}
	return all
}
