package main

// The C code has no tables to unwind its frames, 20 KB: exceptions cannot pass the frames of Go anyway.

// #cgo CFLAGS: -I${SRCDIR}/../include -std=gnu11 -fno-asynchronous-unwind-tables
// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// try runs the body of an exported function against the runtime, which is started if need be. Its
// error, or its panic, becomes an error object.
func try(body func(*runtime.Runtime) error) C.fault { return fault(attempt(body)) }

// attempt is try without the error object, for callers that use the error in another way.
func attempt(body func(*runtime.Runtime) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = bug(p)
		}
	}()
	rt, err := running()
	if err != nil {
		return err
	}
	return body(rt)
}

// quietly runs the body of a free or getter, which cannot report errors. Before the runtime has started there is
// nothing to free, so it does nothing.
func quietly(body func(*runtime.Runtime)) {
	if started.Load() == nil {
		return
	}
	_ = attempt(func(rt *runtime.Runtime) error { // a panic has been logged, and there is no way to report it
		body(rt)
		return nil
	})
}

// logPanic is deferred by a free that is too frequent for [quietly]. A panic is logged, and there is no way to report it.
func logPanic() {
	if p := recover(); p != nil {
		_ = bug(p)
	}
}

// bug is the error for a panic, which is a defect of the library and must not end the process of the caller. Its
// stack goes to the log.
func bug(p any) error {
	logs.say(logError, fmt.Sprintf("[capi] bug: %v\n%s", p, debug.Stack()))
	return status.Errorf(status.Internal, "[capi] %v; this is a bug of the library", p)
}

// fault makes the error object of an error: 0 for nil, otherwise a handle that its receiver owns.
func fault(err error) C.fault {
	if err == nil {
		return 0
	}
	e := status.From(err)
	// SAFETY: C copies the bytes before the call returns and keeps no pointer to them.
	text := (*C.char)(unsafe.Pointer(unsafe.StringData(e.Msg)))
	return C.error_new(C.int32_t(e.Code), text, C.size_t(len(e.Msg)))
}
