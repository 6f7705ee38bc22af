package main

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/capi/convert"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/runtime"
)

// runKind is the kind of handles of runs.
const runKind = 10

// A free cancels the run and does not wait for it: the run itself keeps what it needs.
var runs = convert.NewTable(runKind, (*execute.Run).Free)

// freeRun frees a run. It cancels it by itself, because the end of its record waits for threads that wait for the run.
func freeRun(handle uint64) {
	if r := runs.Pin(handle); r != nil {
		(*r).Cancel()
		runs.Unpin(handle)
	}
	runs.Free(handle)
}

// goProgramStart is pmps_program_start. Program, inputs and stream are pinned until the run has ended. The caller owns
// the handle.
//
//export goProgramStart
func goProgramStart(handle C.uint64_t, inputs unsafe.Pointer, inCount C.size_t, on C.uint64_t, out *C.uint64_t) C.fault {
	const who = "program_start"
	return onProgram(who, handle, func(rt *runtime.Runtime, p *execute.Program) error {
		if out == nil {
			return convert.NullPointer(who)
		}
		in, err := tensorsOf(rt, who, "inputs", inputs, inCount)
		if err != nil {
			convert.ReleaseAll(in)
			return err
		}
		stream, err := using(on)
		if err != nil {
			convert.ReleaseAll(in)
			return err
		}
		if programs.Pin(uint64(handle)) == nil { // freed meanwhile
			convert.ReleaseAll(in)
			done(on)
			return convert.StaleHandle(who, "program", programs.History(uint64(handle)))
		}
		end := func() {
			convert.ReleaseAll(in)
			done(on)
			programs.Unpin(uint64(handle))
		}
		made, record := runs.New()
		if record == nil {
			end()
			return convert.TableFull(runs, who, "runs")
		}
		r, err := execute.Start(calling(rt, on), p, in, stream, end)
		if err != nil {
			end()
			runs.Free(made)
			return err
		}
		*record = r
		*out = C.uint64_t(made)
		return nil
	})
}

// onRun runs the body of an exported function against a run, whose results stay while it runs.
func onRun(who string, handle C.uint64_t, body func(*runtime.Runtime, *execute.Run) error) C.fault {
	return try(func(rt *runtime.Runtime) error {
		return convert.WithPinned(runs, who, "run", uint64(handle), func(r *execute.Run) error { return body(rt, r) })
	})
}

// goRunWaitFor is pmps_run_wait_for. It blocks for at most ms; the run itself is the wait, so that any number continues it.
//
//export goRunWaitFor
func goRunWaitFor(handle C.uint64_t, ms C.int64_t, wait *C.uint64_t) C.fault {
	return onRun("run_wait_for", handle, func(_ *runtime.Runtime, r *execute.Run) error {
		return slice("run_wait_for", ms, wait, func(_ runtime.Wait, d time.Duration) (runtime.Wait, error) {
			if r.WaitFor(d) {
				return 0, nil
			}
			return 1, nil
		})
	})
}

// goRunWait is pmps_run_wait. It blocks until the run has ended. The caller owns the handles in outputs.
//
//export goRunWait
func goRunWait(handle C.uint64_t, outputs *C.uint64_t, count *C.size_t) C.fault {
	const who = "run_wait"
	return onRun(who, handle, func(rt *runtime.Runtime, r *execute.Run) error {
		if outputs == nil || count == nil {
			return convert.NullPointer(who)
		}
		made, err := r.Wait()
		if err != nil {
			return err
		}
		return handOver(rt, who, made, outputs, count)
	})
}

// goRunCancel is pmps_run_cancel. It does not block.
//
//export goRunCancel
func goRunCancel(handle C.uint64_t) C.fault {
	return onRun("run_cancel", handle, func(_ *runtime.Runtime, r *execute.Run) error {
		r.Cancel()
		return nil
	})
}

// goRunFree is pmps_run_free. It does not block: a run under way frees its outputs when it ends.
//
//export goRunFree
func goRunFree(handle C.uint64_t) {
	quietly(func(*runtime.Runtime) { freeRun(uint64(handle)) })
}
