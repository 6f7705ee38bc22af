package main

// #include "shim.h"
import "C"

import (
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/core/trace"
	"github.com/paddle-mps/paddle-mps/place"
)

// traceKind is the kind of handles of traces, after those of programs.
const traceKind = 8

// traceState is what the handle of a trace names. Its calls are made on a stream of its own, which is the thread's current one
// until the end.
type traceState struct {
	*trace.Trace
	stream C.uint64_t // the handle of its stream
	before C.uint64_t // what was current
}

var traces = convert.NewTable(traceKind, func(t *traceState) {
	t.Abort()
	streams.Free(uint64(t.stream))
})

// goTraceBegin is pmps_trace_begin. The caller owns the handles in inputs and out. current is memory of the calling thread.
//
//export goTraceBegin
func goTraceBegin(p C.place_in, examples unsafe.Pointer, count C.size_t, current *C.current_streams, inputs, out *C.uint64_t) C.fault {
	const who = "trace_begin"
	return try(func(rt *runtime.Runtime) error {
		if out == nil || inputs == nil && count > 0 {
			return convert.NullPointer(who)
		}
		if tracing(current.of[place.MPSKind]) {
			return status.Errorf(status.Invalid, "[%s] this thread is tracing a function; want that ended", who)
		}
		c, _, err := placeOf(rt, p)
		if err != nil {
			return err
		}
		handles, err := convert.Array[uint64](who, "examples", examples, uint64(count))
		if err != nil {
			return err
		}
		given, err := convert.AcquireAll(nil, rt, who, handles)
		defer convert.ReleaseAll(given)
		if err != nil {
			return err
		}
		handle, record := traces.New()
		if record == nil {
			return convert.TableFull(traces, who, "traces")
		}
		tr, stands, err := trace.New(c, given)
		if err != nil {
			traces.Free(handle)
			return err
		}
		stream, err := newStream(tr.Stream(), false)
		if err != nil {
			free(rt, stands)
			traces.Free(handle)
			return err
		}
		*record = &traceState{tr, C.uint64_t(stream), current.of[place.MPSKind]}
		current.of[place.MPSKind] = C.uint64_t(stream)
		// SAFETY: the C contract says that inputs has room for count handles.
		for i, t := range stands {
			unsafe.Slice(inputs, len(stands))[i] = C.uint64_t(t.Handle())
		}
		*out = C.uint64_t(handle)
		return nil
	})
}

// tracing reports whether a handle is of the stream of a trace.
func tracing(stream C.uint64_t) bool { return traceOf(stream) != nil }

// traceOf is the stream that a thread has made current, if it is that of a trace; else nil.
func traceOf(on C.uint64_t) *runtime.Stream {
	handle := uint64(on &^ C.NO_GRADIENTS)
	if handle == 0 {
		return nil
	}
	s := streams.Pin(handle)
	if s == nil {
		return nil
	}
	defer streams.Unpin(handle)
	if !(*s).Traces() {
		return nil
	}
	return (*s).Stream
}

// leave makes the thread's calls run again, where it is this thread that traces.
func (t *traceState) leave(current *C.current_streams) {
	if current.of[place.MPSKind] == t.stream {
		current.of[place.MPSKind] = t.before
	}
}

// goTraceEnd is pmps_trace_end. It frees the handle of the trace, and the caller owns that of the program. What the program
// captured belongs to it.
//
//export goTraceEnd
func goTraceEnd(handle C.uint64_t, outputs unsafe.Pointer, count C.size_t, current *C.current_streams, out *C.uint64_t) C.fault {
	const who = "trace_end"
	return onTrace(who, handle, func(rt *runtime.Runtime, t *traceState) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		handles, err := convert.Array[uint64](who, "outputs", outputs, uint64(count))
		if err != nil {
			return err
		}
		results, err := convert.AcquireAll(nil, rt, who, handles)
		defer convert.ReleaseAll(results)
		if err != nil {
			return err
		}
		made, record := programs.New()
		if record == nil {
			return convert.TableFull(programs, who, "programs")
		}
		if current.of[place.MPSKind] != t.stream {
			programs.Free(made)
			return status.Errorf(status.Invalid, "[%s] another thread is tracing, or the trace is paused; want the thread that began", who)
		}
		p, err := t.End(results)
		t.leave(current) // not before: the backward pass calls functions of the caller
		if err != nil {
			programs.Free(made)
			traces.Free(uint64(handle))
			return err
		}
		*record = p
		*out = C.uint64_t(made)
		traces.Free(uint64(handle))
		return nil
	})
}

// goTracePause is pmps_trace_pause.
//
//export goTracePause
func goTracePause(handle C.uint64_t, paused C.bool, current *C.current_streams) C.fault {
	const who = "trace_pause"
	return onTrace(who, handle, func(_ *runtime.Runtime, t *traceState) error {
		from, to := t.before, t.stream
		if paused {
			from, to = to, from
		}
		if current.of[place.MPSKind] != from {
			return status.Errorf(status.Invalid, "[%s] this thread does not trace with it, or is as it would be; want the thread that began, and pauses by turns", who)
		}
		current.of[place.MPSKind] = to
		return nil
	})
}

// goTraceAbort is pmps_trace_abort. Where another thread traces, its calls fail from then on.
//
//export goTraceAbort
func goTraceAbort(handle C.uint64_t, current *C.current_streams) {
	quietly(func(*runtime.Runtime) {
		if t := traces.Pin(uint64(handle)); t != nil {
			(*t).leave(current)
			traces.Unpin(uint64(handle))
			traces.Free(uint64(handle))
		}
	})
}

// goTraceToText is pmps_trace_to_text. The text is C memory that the caller owns.
//
//export goTraceToText
func goTraceToText(handle C.uint64_t, out **C.char) C.fault {
	return onTrace("trace_to_text", handle, func(_ *runtime.Runtime, t *traceState) error {
		if out == nil {
			return convert.NullPointer("trace_to_text")
		}
		*out = C.CString(t.String())
		return nil
	})
}

// onTrace runs the body of an exported function against a trace, which stays pinned while it runs.
func onTrace(who string, handle C.uint64_t, body func(*runtime.Runtime, *traceState) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return convert.WithPinned(traces, who, "trace", uint64(handle), func(t *traceState) error { return body(rt, t) })
	})
}

// goProgramGetCaptured is pmps_program_get_captured. The caller owns the handle.
//
//export goProgramGetCaptured
func goProgramGetCaptured(handle C.uint64_t, index C.size_t, out *C.uint64_t) C.fault {
	const who = "program_get_captured"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		all := p.Captured()
		if uint64(index) >= uint64(len(all)) {
			return status.Errorf(status.Index, "[%s] index is %d; want one below %d", who, index, len(all))
		}
		t, err := all[index].Same()
		return hand(out, t, err)
	})
}

// goProgramUnify is pmps_program_unify. The caller owns the handle, and may free the two programs afterwards. It waits for the
// work that computes captured tensors where the two have captured different ones.
//
//export goProgramUnify
func goProgramUnify(handle, other C.uint64_t, out *C.uint64_t) C.fault {
	const who = "program_unify"
	return onProgram(who, handle, func(_ *runtime.Runtime, p *execute.Program) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		return convert.WithPinned(programs, who, "program", uint64(other), func(q *execute.Program) error {
			made, record := programs.New()
			if record == nil {
				return convert.TableFull(programs, who, "programs")
			}
			unified, err := trace.Unify(p, q)
			if err != nil {
				programs.Free(made)
				return err
			}
			*record = unified
			*out = C.uint64_t(made)
			return nil
		})
	})
}

// goProgramToText is pmps_program_to_text. The text is C memory that the caller owns.
//
//export goProgramToText
func goProgramToText(handle C.uint64_t, plan C.bool, out **C.char) C.fault {
	return onProgram("program_to_text", handle, func(_ *runtime.Runtime, p *execute.Program) error {
		if out == nil {
			return convert.NullPointer("program_to_text")
		}
		text := p.String
		if plan {
			text = p.Explain
		}
		*out = C.CString(text())
		return nil
	})
}
