package main

// #include "shim.h"
import "C"

import (
	"sync"

	"github.com/paddle-mps/paddle-mps/core/profile"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
)

// numberThreads tells core/profile how to tell threads apart, before the first recording.
var numberThreads = sync.OnceFunc(func() {
	profile.SetThread(func() uint64 { return uint64(C.thread_number()) })
})

// goProfileStart is pmps_profile_start.
//
//export goProfileStart
func goProfileStart(flags C.uint32_t, most C.int64_t) C.fault {
	return try(func(rt *runtime.Runtime) error {
		const known = C.PMPS_PROFILE_SHAPES | C.PMPS_PROFILE_MEMORY
		if flags&^known != 0 {
			return status.Errorf(status.Invalid, "[profile_start] flags are %#x; want PMPS_PROFILE_ constants", uint32(flags))
		}
		if most < 0 || most > profile.MaxEvents {
			return status.Errorf(status.Invalid, "[profile_start] max_events is %d; want 0 (for %d) to %d", most, profile.DefaultEvents, profile.MaxEvents)
		}
		numberThreads()
		return rt.StartProfile(profile.Options{
			Shapes: flags&C.PMPS_PROFILE_SHAPES != 0, Memory: flags&C.PMPS_PROFILE_MEMORY != 0, Events: int(most),
		})
	})
}

// goProfileStop is pmps_profile_stop. The text is C memory that the caller owns; pmps_text_free frees it.
//
//export goProfileStop
func goProfileStop(json **C.char) C.fault {
	return try(func(rt *runtime.Runtime) error {
		recording, err := rt.StopProfile()
		if err == nil && json != nil {
			*json = C.CString(string(recording.AppendTrace(nil)))
		}
		return err
	})
}

// goProfileBegin is pmps_profile_begin. It needs no runtime.
//
//export goProfileBegin
func goProfileBegin() C.uint64_t {
	if !profile.On() {
		return 0
	}
	return C.uint64_t(profile.Now())
}

// goProfileEnd is pmps_profile_end. The texts are copied. It needs no runtime.
//
//export goProfileEnd
func goProfileEnd(begun C.uint64_t, category, name C.text_in) {
	if begun == 0 || category == nil || name == nil || !profile.On() {
		return
	}
	quietly(func(*runtime.Runtime) {
		profile.UserSpan(C.GoString(category), C.GoString(name), int64(begun))
	})
}
