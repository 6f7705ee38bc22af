// Package snapshot writes the memory of a device as JSON.
//
// The invariant: names and units are those of torch.cuda.memory._snapshot, for what both have.
//
// The package only reads: it waits for no work and locks nothing of its own.
package snapshot

import (
	"io"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// The snapshot as JSON: names and units are those of torch.cuda.memory._snapshot, so that its tools and users
// can read it; docs/memory_snapshot.md describes it field by field.

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
	segments := make([]any, len(found.Heaps))
	for i := range found.Heaps {
		segments[i] = segmentOf(&found.Heaps[i], names)
	}
	trace := make([]any, len(events))
	for i, e := range events {
		trace[i] = jsontext.Make("action", actionWords[e.Action], "time_us", e.Time/1000).With("segment", e.Heap).
			And("addr", e.Address).And("size", e.Size).Known("stream", names.of(e.Stream)).With("stack", e.Cause)
	}
	refused := c.Refusals()
	text := jsontext.Append(nil, jsontext.Make(
		"version", snapshotVersion,
		"device", c.Info().Name,
		"place", c.Place().String(),
		"time_us", found.Time/1000,
		"stats", statsOf(&found.Stats),
		"program_cache", programsOf(c.Cache().Stats()),
		"cpu_fallbacks", jsontext.Sorted(c.Fallbacks()), // calls that the CPU has run because the device lacks the operator, by name
		"refused", jsontext.Make("shaders", refused.Shaders, "graphs", refused.Graphs, "second_way_steps", refused.SecondWay),
		"stored_graphs", storedOf(c.Stored()),
		"limit_bytes", c.Limit(),
		"num_alloc_retries", found.Stats.Retries,
		"num_ooms", found.Stats.OOMs,
		"segments", segments,
		"trace", trace,
		"trace_dropped", total-uint64(len(events)), // events that the ring no longer has
	))
	_, err := w.Write(append(text, '\n'))
	return err
}

// statsOf names the statistics as PyTorch does.
func statsOf(s *alloc.Stats) jsontext.Pairs {
	made := jsontext.Pairs{}
	for _, of := range [...]struct {
		name string
		stat alloc.Stat
	}{
		{"active", s.ActiveBlocks},
		{"active_bytes", s.Active},
		{"allocated_bytes", s.Allocated},
		{"allocation", s.Blocks},
		{"inactive_split", s.InactiveSplits},
		{"inactive_split_bytes", s.InactiveSplit},
		{"requested_bytes", s.Requested},
		{"reserved_bytes", s.Reserved},
		{"segment", s.Heaps},
	} {
		made = made.And(of.name, jsontext.Make(
			"current", of.stat.Current, "peak", of.stat.Peak, "allocated", of.stat.Allocated, "freed", of.stat.Freed))
	}
	return made
}

// programsOf describes the cache of programs.
func programsOf(s program.Stats) jsontext.Pairs {
	return jsontext.Make(
		"entries", s.Entries,
		"bytes", s.Bytes,
		"hits", s.Hits,
		"misses", s.Misses,
		"evictions", s.Evictions,
		"cleared", s.Cleared,
		"compilations", s.Compilations,
		"failures", s.Failures,
		"compile_ns", s.CompileTime.Nanoseconds(),
	)
}

// storedOf describes the graphs that the device stores in files.
func storedOf(s device.Stored) jsontext.Pairs {
	return jsontext.Make("hits", s.Hits, "misses", s.Misses, "writes", s.Writes, "dropped", s.Dropped, "bytes", s.Bytes)
}

// segmentOf describes a heap, with the sums over its blocks that PyTorch has.
func segmentOf(h *alloc.HeapInfo, names streamNames) jsontext.Pairs {
	var allocated, active, requested int64
	blocks := make([]any, len(h.Blocks))
	for i := range h.Blocks {
		b := &h.Blocks[i]
		switch b.State {
		case alloc.Live:
			allocated += b.Size
			active += b.Size
			requested += b.Requested
		case alloc.Pending:
			active += b.Size
		}
		blocks[i] = jsontext.Make("address", h.Address+uintptr(b.Offset), "size", b.Size, "requested_size", b.Requested, "state", stateWords[b.State]).
			Known("stream", names.of(b.Stream)).With("stack", b.Cause)
	}
	return jsontext.Make(
		"id", h.Serial,
		"address", h.Address,
		"total_size", h.Size,
		"allocated_size", allocated,
		"active_size", active,
		"requested_size", requested,
		"blocks", blocks,
	)
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

// of is the number of a stream; nil for no stream, and for one that has been closed.
func (n streamNames) of(s device.Stream) any {
	if id, ok := n[s]; ok {
		return id
	}
	return nil
}
