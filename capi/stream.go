package main

// #include "shim.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/place"
)

// Kinds of handles; tensors have 1, error objects 15.
const (
	streamKind = 2
	eventKind  = 3
)

// stream is what the handle of a stream names.
type stream struct {
	*runtime.Stream
	forever bool // a default stream, which callers only borrow
}

// event is what the handle of an event names.
type event struct {
	*runtime.Event
	context *runtime.Context
}

var (
	streams = convert.NewTable(streamKind, func(s *stream) { go s.Stream.Close() }) // it waits for the work of the stream, and a free must not block
	events  = convert.NewTable(eventKind, func(e *event) { _ = e.Close() })         // a free cannot report a failure

	defaultOf sync.Map     // *runtime.Context -> handle of its default stream
	defaultMu sync.Mutex   // around making one
	defaults  atomic.Int64 // how many there are
)

// newStream makes a handle for a stream. After an error the stream is still the caller's to close.
func newStream(s *runtime.Stream, forever bool) (uint64, error) {
	handle, record := streams.New()
	if record == nil {
		return 0, convert.TableFull(streams, "stream_new", "streams")
	}
	*record = &stream{s, forever}
	return handle, nil
}

// defaultStream is the handle of a device's default stream, made when it is first asked for.
func defaultStream(c *runtime.Context) (uint64, error) {
	if handle, ok := defaultOf.Load(c); ok {
		return handle.(uint64), nil
	}
	defaultMu.Lock()
	defer defaultMu.Unlock()
	if handle, ok := defaultOf.Load(c); ok {
		return handle.(uint64), nil
	}
	handle, err := newStream(c.Default(), true)
	if err == nil {
		defaults.Add(1)
		defaultOf.Store(c, handle)
	}
	return handle, err
}

// onStream runs the body of an exported function against a stream, which stays pinned while it runs.
func onStream(who string, handle C.uint64_t, body func(*runtime.Stream) error) C.fault {
	return try(func(*runtime.Runtime) error {
		return convert.WithPinned(streams, who, "stream", uint64(handle), func(s *stream) error {
			if s.Traces() {
				return errTracing(who)
			}
			return body(s.Stream)
		})
	})
}

// errTracing is the error for calls that have nothing to do while a thread traces.
func errTracing(who string) error {
	return status.Errorf(status.Traced, "[%s] a function is being traced, which runs nothing; want streams used outside of the function", who)
}

// using pins the stream that a thread has made current until done; nil for the default one.
func using(on C.uint64_t) (*runtime.Stream, error) {
	handle := on &^ C.NO_GRADIENTS
	if handle == 0 {
		return nil, nil
	}
	if s := streams.Pin(uint64(handle)); s != nil {
		return (*s).Stream, nil
	}
	return nil, status.Errorf(status.InvalidHandle, "[stream] this thread's current stream was freed; want another to be set")
}

// calling is the runtime with calls as a thread makes them: recorded, unless the thread wants no gradients.
func calling(rt *runtime.Runtime, on C.uint64_t) eager.Caller {
	if on&C.NO_GRADIENTS != 0 {
		return eager.In(rt, 0)
	}
	return eager.In(rt, runtime.Recording)
}

// done ends what using pins.
func done(on C.uint64_t) {
	if handle := on &^ C.NO_GRADIENTS; handle != 0 {
		streams.Unpin(uint64(handle))
	}
}

// goStreamNew is pmps_stream_new. The caller owns the handle.
//
//export goStreamNew
func goStreamNew(p C.place_in, out *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("stream_new")
		}
		s, err := c.NewStream()
		if err != nil {
			return err
		}
		handle, err := newStream(s, false)
		if err != nil {
			_ = s.Close() // the first error is the one to report
			return err
		}
		*out = C.uint64_t(handle)
		return nil
	})
}

// goStreamDefault is pmps_stream_default. The handle is borrowed: all callers get the same one, and a free of
// it does nothing.
//
//export goStreamDefault
func goStreamDefault(p C.place_in, out *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("stream_default")
		}
		handle, err := defaultStream(c)
		if err == nil {
			*out = C.uint64_t(handle)
		}
		return err
	})
}

// goStreamFree is pmps_stream_free. It does not block: a goroutine waits for the work of the stream. The
// handle is invalid at once.
//
//export goStreamFree
func goStreamFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) {
		s := streams.Pin(uint64(handle))
		if s == nil {
			return
		}
		defer streams.Unpin(uint64(handle))
		if !(*s).forever {
			streams.Free(uint64(handle))
		}
	})
}

// goStreamSetCurrent is pmps_stream_set_current. current is memory of the calling thread. The handle in it is
// borrowed: a call after the free reports status.InvalidHandle.
//
//export goStreamSetCurrent
func goStreamSetCurrent(handle C.uint64_t, current *C.current_streams) C.fault {
	if tracing(current.of[place.MPSKind]) {
		return fault(errTracing("stream_set_current"))
	}
	if handle == 0 {
		*current = C.current_streams{}
		return 0
	}
	return onStream("stream_set_current", handle, func(s *runtime.Stream) error {
		current.of[s.Context().Place().Kind] = handle
		return nil
	})
}

// goStreamGetCurrent is pmps_stream_get_current. The handle is borrowed: the caller frees only what it has
// made.
//
//export goStreamGetCurrent
func goStreamGetCurrent(p C.place_in, current *C.current_streams, out *C.uint64_t) C.fault {
	return at(p, func(c *runtime.Context) error {
		if out == nil {
			return convert.NullPointer("stream_get_current")
		}
		handle, err := currentOf(c, current)
		if err == nil {
			*out = handle
		}
		return err
	})
}

// currentOf is the handle of a thread's stream on a device.
func currentOf(c *runtime.Context, current *C.current_streams) (C.uint64_t, error) {
	if handle := current.of[c.Place().Kind]; handle != 0 {
		return handle, nil
	}
	handle, err := defaultStream(c)
	return C.uint64_t(handle), err
}

// goStreamGetPlace is pmps_stream_get_place. The place of a stream never changes.
//
//export goStreamGetPlace
func goStreamGetPlace(handle C.uint64_t, out *C.pmps_place) C.fault {
	return onStream("stream_get_place", handle, func(s *runtime.Stream) error {
		if out == nil {
			return convert.NullPointer("stream_get_place")
		}
		*out = cPlace(s.Context().Place())
		return nil
	})
}

// cPlace is a place in the form of the header.
func cPlace(p place.Place) C.pmps_place {
	return C.pmps_place{kind: C.int32_t(p.Kind), index: C.int32_t(p.Index)}
}

// goStreamGetId is pmps_stream_get_id. The number belongs to the stream, whichever handle names it, and is
// never used again.
//
//export goStreamGetId
func goStreamGetId(handle C.uint64_t, out *C.uint64_t) C.fault {
	return onStream("stream_get_id", handle, func(s *runtime.Stream) error {
		if out == nil {
			return convert.NullPointer("stream_get_id")
		}
		*out = C.uint64_t(s.ID())
		return nil
	})
}

// goStreamQuery is pmps_stream_query. It never blocks and reports no failure.
//
//export goStreamQuery
func goStreamQuery(handle C.uint64_t, out *C.bool) C.fault {
	return onStream("stream_query", handle, func(s *runtime.Stream) error {
		if out == nil {
			return convert.NullPointer("stream_query")
		}
		*out = C.bool(s.Query())
		return nil
	})
}

// goStreamSynchronize is pmps_stream_synchronize. It blocks the calling thread. A failure that is reported
// here is not reported again.
//
//export goStreamSynchronize
func goStreamSynchronize(handle C.uint64_t) C.fault {
	return onStream("stream_synchronize", handle, (*runtime.Stream).Synchronize)
}

// goStreamWaitFor is pmps_stream_wait_for. It blocks for at most ms; see [slice].
//
//export goStreamWaitFor
func goStreamWaitFor(handle C.uint64_t, ms C.int64_t, wait *C.uint64_t) C.fault {
	return onStream("stream_wait_for", handle, func(s *runtime.Stream) error {
		return slice("stream_wait_for", ms, wait, s.WaitFor)
	})
}

// slice continues the wait whose number is in *wait, or begins one if that is 0, for at most ms. It writes the number
// to continue with, 0 when the wait is over. The caller may drop the number at any time.
func slice(who string, ms C.int64_t, wait *C.uint64_t, resume func(runtime.Wait, time.Duration) (runtime.Wait, error)) error {
	if wait == nil {
		return convert.NullPointer(who)
	}
	if ms < 0 {
		return status.Errorf(status.Invalid, "[%s] timeout_ms is %d; want 0 or more", who, ms)
	}
	w, err := resume(runtime.Wait(*wait), timeout(int64(ms)))
	if err == nil {
		*wait = C.uint64_t(w)
	}
	return err
}

// goStreamWaitEvent is pmps_stream_wait_event. Both are pinned for the call; the stream keeps what it needs
// of the event.
//
//export goStreamWaitEvent
func goStreamWaitEvent(handle, eventHandle C.uint64_t) C.fault {
	return onStream("stream_wait_event", handle, func(s *runtime.Stream) error {
		return withEvent("stream_wait_event", eventHandle, func(e *event) error {
			s.WaitEvent(e.Event)
			return nil
		})
	})
}
