package main

// #include "shim.h"
import "C"

import (
	"strings"
	"sync/atomic"

	"github.com/paddle-mps/paddle-mps/alloc"
	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/snapshot"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// goMemoryGetStats is pmps_memory_get_stats. Other threads may allocate meanwhile: the figures of the
// allocator agree with each other, those of the program cache may be newer.
//
//export goMemoryGetStats
func goMemoryGetStats(p C.place_in, stats *C.pmps_memory_stats) C.fault {
	return at(p, func(c *runtime.Context) error {
		s, refused := c.Stats(), c.Refusals()
		full := C.pmps_memory_stats{
			allocated_bytes:      stat(s.Allocated),
			allocation:           stat(s.Blocks),
			active_bytes:         stat(s.Active),
			active:               stat(s.ActiveBlocks),
			reserved_bytes:       stat(s.Reserved),
			segment:              stat(s.Heaps),
			inactive_split_bytes: stat(s.InactiveSplit),
			inactive_split:       stat(s.InactiveSplits),
			requested_bytes:      stat(s.Requested),
			num_alloc_retries:    C.int64_t(s.Retries),
			num_ooms:             C.int64_t(s.OOMs),
			limit_bytes:          C.int64_t(c.Limit()),
			available_bytes:      C.int64_t(c.Available()),
			program_cache:        programStats(c.Programs()),
			refused_shaders:      C.int64_t(refused.Shaders),
			refused_graphs:       C.int64_t(refused.Graphs),
			second_way_steps:     C.int64_t(refused.SecondWay),
			stored_graphs:        storedStats(c.Stored()),
		}
		return give("memory_get_stats", stats, &full, &full.struct_size)
	})
}

// stat is a figure in the form of the header.
func stat(s alloc.Stat) C.pmps_stat {
	return C.pmps_stat{
		current: C.int64_t(s.Current), peak: C.int64_t(s.Peak),
		allocated: C.int64_t(s.Allocated), freed: C.int64_t(s.Freed),
	}
}

// storedStats is the statistics of stored graphs in the form of the header.
func storedStats(s device.Stored) C.pmps_stored_stats {
	return C.pmps_stored_stats{
		hits: C.int64_t(s.Hits), misses: C.int64_t(s.Misses),
		writes: C.int64_t(s.Writes), dropped: C.int64_t(s.Dropped),
		bytes: C.int64_t(s.Bytes),
	}
}

// programStats is the statistics of the program cache in the form of the header.
func programStats(s program.Stats) C.pmps_program_stats {
	return C.pmps_program_stats{
		entries: C.int64_t(s.Entries), bytes: C.int64_t(s.Bytes),
		hits: C.int64_t(s.Hits), misses: C.int64_t(s.Misses),
		evictions: C.int64_t(s.Evictions), cleared: C.int64_t(s.Cleared),
		compilations: C.int64_t(s.Compilations), failures: C.int64_t(s.Failures),
		compile_ns: C.int64_t(s.CompileTime),
	}
}

// goMemoryResetPeak is pmps_memory_reset_peak. Sums and counts stay; see [goMemoryResetAccumulated].
//
//export goMemoryResetPeak
func goMemoryResetPeak(p C.place_in) C.fault {
	return at(p, func(c *runtime.Context) error {
		c.ResetPeak()
		return nil
	})
}

// goMemoryEmptyCache is pmps_memory_empty_cache. Live tensors and programs that are running are not affected.
//
//export goMemoryEmptyCache
func goMemoryEmptyCache(p C.place_in) C.fault {
	return at(p, func(c *runtime.Context) error {
		c.EmptyCache()
		return nil
	})
}

// goMemoryResetAccumulated is pmps_memory_reset_accumulated. Current figures and peaks stay.
//
//export goMemoryResetAccumulated
func goMemoryResetAccumulated(p C.place_in) C.fault {
	return at(p, func(c *runtime.Context) error {
		c.ResetAccumulated()
		return nil
	})
}

// goMemorySetLimit is pmps_memory_set_limit. A limit below what is reserved is accepted: it stops growth and
// frees nothing that is in use.
//
//export goMemorySetLimit
func goMemorySetLimit(p C.place_in, bytes C.int64_t) C.fault {
	return at(p, func(c *runtime.Context) error { return c.SetLimit(int64(bytes)) })
}

// pressure is the callback that is asked to free memory; nil for none.
var pressure atomic.Pointer[reclaimer]

type reclaimer struct {
	callback C.pmps_reclaim_callback
	user     C.uint64_t // the caller's, never dereferenced
}

// reclaim asks the program to free memory; true means that another try is worth it. It runs on the goroutine that
// allocates, with no lock of the library held, so that the callback may call the library.
func reclaim(need int64) bool {
	r := pressure.Load()
	return r != nil && bool(C.call_reclaim(r.callback, C.int64_t(need), r.user))
}

// goMemoryOnPressure is pmps_memory_on_pressure. It needs no runtime. A callback that has just been replaced
// may still be running on another thread, so its user pointer must stay valid for that long.
//
//export goMemoryOnPressure
func goMemoryOnPressure(callback C.pmps_reclaim_callback, user C.uint64_t) {
	if callback == nil {
		pressure.Store(nil)
		return
	}
	pressure.Store(&reclaimer{callback, user})
}

// maxEvents bounds the history, which takes about a hundred bytes for each.
const maxEvents = 1 << 24

// goMemoryRecordHistory is pmps_memory_record_history. stack is called on the thread that allocates, with
// user, until the history is started anew or ended.
//
//export goMemoryRecordHistory
func goMemoryRecordHistory(p C.place_in, most C.int64_t, stack C.pmps_stack_callback, user C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if most < 0 || most > maxEvents {
			return status.Errorf(status.Invalid, "[memory_record_history] max_entries is %d; want 0 to %d", most, maxEvents)
		}
		if stack == nil {
			c.RecordHistory(int(most), nil)
			return nil
		}
		c.RecordHistory(int(most), func() uint64 { return uint64(C.call_stack(stack, user)) })
		return nil
	})
}

// goMemorySnapshot is pmps_memory_snapshot. The text is C memory that the caller owns; pmps_text_free frees
// it.
//
//export goMemorySnapshot
func goMemorySnapshot(p C.place_in, out **C.char) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("memory_snapshot")
		}
		var text strings.Builder
		if err := snapshot.Write(c, &text); err != nil {
			return err
		}
		*out = C.CString(text.String())
		return nil
	})
}
