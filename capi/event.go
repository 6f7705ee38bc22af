package main

// #include "shim.h"
import "C"

import (
	"time"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// withEvent runs f with the event of a handle, which stays pinned while f runs.
func withEvent(who string, handle C.uint64_t, f func(*event) error) error {
	return convert.WithPinned(events, who, "event", uint64(handle), f)
}

// onEvent runs the body of an exported function against an event.
func onEvent(who string, handle C.uint64_t, body func(*event) error) C.fault {
	return try(func(*runtime.Runtime) error { return withEvent(who, handle, body) })
}

// goEventNew is pmps_event_new. The caller owns the handle.
//
//export goEventNew
func goEventNew(p C.place_in, flags C.uint32_t, out *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("event_new")
		}
		if flags&^C.PMPS_EVENT_TIMING != 0 {
			return status.Errorf(status.Invalid, "[event_new] flags are %#x; want 0 or PMPS_EVENT_TIMING", flags)
		}
		e, err := c.NewEvent(flags&C.PMPS_EVENT_TIMING != 0)
		if err != nil {
			return err
		}
		handle, record := events.New()
		if record == nil {
			_ = e.Close() // the first error is the one to report
			return convert.TableFull(events, "event_new", "events")
		}
		*record = &event{e, c}
		*out = C.uint64_t(handle)
		return nil
	})
}

// goEventFree is pmps_event_free. The handle is invalid at once; calls that wait for the event on other
// threads continue.
//
//export goEventFree
func goEventFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { events.Free(uint64(handle)) })
}

// goEventRecord is pmps_event_record. Stream 0 is the thread's current stream on the device of the event,
// which C passes in current.
//
//export goEventRecord
func goEventRecord(handle, streamHandle C.uint64_t, current *C.current_streams) C.fault {
	return onEvent("event_record", handle, func(e *event) (err error) {
		if streamHandle == 0 {
			if streamHandle, err = currentOf(e.context, current); err != nil {
				return err
			}
		}
		s := streams.Pin(uint64(streamHandle))
		if s == nil {
			return convert.StaleHandle("event_record", "stream", streams.History(uint64(streamHandle)))
		}
		defer streams.Unpin(uint64(streamHandle))
		return e.Record((*s).Stream)
	})
}

// goEventQuery is pmps_event_query. It never blocks.
//
//export goEventQuery
func goEventQuery(handle C.uint64_t, out *C.bool) C.fault {
	return onEvent("event_query", handle, func(e *event) error {
		if out == nil {
			return convert.NullPointer("event_query")
		}
		*out = C.bool(e.Query())
		return nil
	})
}

// goEventSynchronize is pmps_event_synchronize. It blocks the calling thread and reports no failures: streams
// and tensors report them.
//
//export goEventSynchronize
func goEventSynchronize(handle C.uint64_t) C.fault {
	return onEvent("event_synchronize", handle, func(e *event) error {
		e.Synchronize()
		return nil
	})
}

// goEventWaitFor is pmps_event_wait_for. It blocks for at most ms; see [slice].
//
//export goEventWaitFor
func goEventWaitFor(handle C.uint64_t, ms C.int64_t, wait *C.uint64_t) C.fault {
	return onEvent("event_wait_for", handle, func(e *event) error {
		return slice("event_wait_for", ms, wait, func(w runtime.Wait, d time.Duration) (runtime.Wait, error) {
			return e.WaitFor(w, d), nil
		})
	})
}

// goEventElapsed is pmps_event_elapsed. Both events are pinned for the call, so that another thread may free
// either.
//
//export goEventElapsed
func goEventElapsed(start, end C.uint64_t, out *C.double) C.fault {
	return onEvent("event_elapsed", start, func(from *event) error {
		return withEvent("event_elapsed", end, func(to *event) error {
			if out == nil {
				return convert.NullPointer("event_elapsed")
			}
			ms, err := from.Elapsed(to.Event)
			if err == nil {
				*out = C.double(ms)
			}
			return err
		})
	})
}
