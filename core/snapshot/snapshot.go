// Package snapshot writes the memory of a device as JSON.
//
// The invariant: names and units are those of torch.cuda.memory._snapshot, for what both have.
//
// The package only reads: it waits for no work and locks nothing of its own.
package snapshot

import (
	"encoding/json"
	"io"
	"time"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// The snapshot as JSON. Names and units are those of torch.cuda.memory._snapshot, so that its tools and users
// can read it; docs/memory_snapshot.md describes it field by field.
type (
	snapshot struct {
		Version  int             `json:"version"`
		Device   string          `json:"device"`
		Place    string          `json:"place"`
		TimeUS   int64           `json:"time_us"`
		Stats    map[string]stat `json:"stats"`
		Programs programs        `json:"program_cache"`
		// Fallbacks counts the calls that the CPU has run because the device lacks the operator, by name.
		Fallbacks map[string]int64 `json:"cpu_fallbacks"`
		Refused   refused          `json:"refused"`
		Stored    stored           `json:"stored_graphs"`
		Limit     int64            `json:"limit_bytes"`
		Retries   int64            `json:"num_alloc_retries"`
		OOMs      int64            `json:"num_ooms"`
		Segments  []segment        `json:"segments"`
		Trace     []trace          `json:"trace"`
		Dropped   uint64           `json:"trace_dropped"` // events that the ring no longer has
	}
	stat struct {
		Current   int64 `json:"current"`
		Peak      int64 `json:"peak"`
		Allocated int64 `json:"allocated"`
		Freed     int64 `json:"freed"`
	}
	programs struct {
		Entries      int64         `json:"entries"`
		Bytes        int64         `json:"bytes"`
		Hits         int64         `json:"hits"`
		Misses       int64         `json:"misses"`
		Evictions    int64         `json:"evictions"`
		Cleared      int64         `json:"cleared"`
		Compilations int64         `json:"compilations"`
		Failures     int64         `json:"failures"`
		CompileTime  time.Duration `json:"compile_ns"`
	}
	stored struct {
		Hits    int64 `json:"hits"`
		Misses  int64 `json:"misses"`
		Writes  int64 `json:"writes"`
		Dropped int64 `json:"dropped"`
		Bytes   int64 `json:"bytes"`
	}
	refused struct {
		Shaders   int64 `json:"shaders"`
		Graphs    int64 `json:"graphs"`
		SecondWay int64 `json:"second_way_steps"`
	}
	segment struct {
		ID        uint64  `json:"id"`
		Address   uintptr `json:"address"`
		Total     int64   `json:"total_size"`
		Allocated int64   `json:"allocated_size"`
		Active    int64   `json:"active_size"`
		Requested int64   `json:"requested_size"`
		Blocks    []block `json:"blocks"`
	}
	block struct {
		Address   uintptr `json:"address"`
		Size      int64   `json:"size"`
		Requested int64   `json:"requested_size"`
		State     string  `json:"state"`
		Stream    *uint64 `json:"stream,omitempty"`
		Stack     uint64  `json:"stack,omitempty"`
	}
	trace struct {
		Action  string  `json:"action"`
		TimeUS  int64   `json:"time_us"`
		Segment uint64  `json:"segment,omitempty"`
		Address uintptr `json:"addr"`
		Size    int64   `json:"size"`
		Stream  *uint64 `json:"stream,omitempty"`
		Stack   uint64  `json:"stack,omitempty"`
	}
)

// snapshotVersion changes when a field changes its meaning or goes; readers accept new fields.
const snapshotVersion = 1

// The words of the JSON for states and actions.
var (
	stateWords  = map[alloc.State]string{alloc.Live: "active_allocated", alloc.Pending: "active_pending_free", alloc.Free: "inactive"}
	actionWords = map[alloc.Action]string{
		alloc.DidAlloc: "alloc", alloc.DidFree: "free", alloc.DidGrow: "segment_alloc", alloc.DidShrink: "segment_free", alloc.DidRefuse: "oom",
	}
)

// Write writes a map of the device's memory, and the history as far as it is recorded, as JSON. The map
// is copied first, so that slow writing blocks no allocation.
func Write(c *runtime.Context, w io.Writer) error {
	found := c.Allocator().Snapshot()
	events, total := c.Allocator().History()
	names := namesOfStreams(c)
	s := snapshot{
		Version: snapshotVersion, Device: c.Info().Name, Place: c.Place().String(), TimeUS: found.Time / 1000, Limit: c.Limit(),
		Retries: found.Stats.Retries, OOMs: found.Stats.OOMs,
		Stats: statsOf(&found.Stats), Programs: programs(c.Cache().Stats()), Fallbacks: c.Fallbacks(), Refused: refused(c.Refusals()), Stored: stored(c.Stored()), Segments: []segment{}, Trace: []trace{}, Dropped: total - uint64(len(events)),
	}
	for i := range found.Heaps {
		s.Segments = append(s.Segments, segmentOf(&found.Heaps[i], names))
	}
	for _, e := range events {
		s.Trace = append(s.Trace, trace{actionWords[e.Action], e.Time / 1000, e.Heap, e.Address, e.Size, names.of(e.Stream), e.Cause})
	}
	return json.NewEncoder(w).Encode(&s)
}

// statsOf names the statistics as PyTorch does.
func statsOf(s *alloc.Stats) map[string]stat {
	return map[string]stat{
		"allocated_bytes": stat(s.Allocated), "active_bytes": stat(s.Active), "reserved_bytes": stat(s.Reserved),
		"requested_bytes": stat(s.Requested), "inactive_split_bytes": stat(s.InactiveSplit),
		"allocation": stat(s.Blocks), "active": stat(s.ActiveBlocks), "segment": stat(s.Heaps), "inactive_split": stat(s.InactiveSplits),
	}
}

// segmentOf describes a heap, with the sums over its blocks that PyTorch has.
func segmentOf(h *alloc.HeapInfo, names streamNames) segment {
	s := segment{ID: h.Serial, Address: h.Address, Total: h.Size, Blocks: make([]block, 0, len(h.Blocks))}
	for i := range h.Blocks {
		b := &h.Blocks[i]
		switch b.State {
		case alloc.Live:
			s.Allocated += b.Size
			s.Active += b.Size
			s.Requested += b.Requested
		case alloc.Pending:
			s.Active += b.Size
		}
		s.Blocks = append(s.Blocks, block{h.Address + uintptr(b.Offset), b.Size, b.Requested, stateWords[b.State], names.of(b.Stream), b.Cause})
	}
	return s
}

// streamNames are the numbers of a device's streams: a snapshot names streams by Stream.ID, because their
// addresses mean nothing outside the process.
type streamNames map[device.Stream]uint64

// namesOfStreams are the numbers of the streams that are open now.
func namesOfStreams(c *runtime.Context) streamNames {
	names := streamNames{}
	for _, s := range c.OpenStreams() {
		names[s.Device] = s.ID()
	}
	return names
}

// of is nil for no stream, and for one that has been closed.
func (n streamNames) of(s device.Stream) *uint64 {
	if id, ok := n[s]; ok {
		return &id
	}
	return nil
}
