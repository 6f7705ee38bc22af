package main

// #include <stdlib.h>
import "C"

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/environment"
)

// started is the runtime once it has been built, for callers that must not build it.
var started atomic.Pointer[runtime.Runtime]

// start builds the runtime on first use, whichever thread is first. A start that failed is not repeated: every
// call returns its error, because the cause is the environment.
var start = sync.OnceValues(func() (*runtime.Runtime, error) {
	c, err := environment.Read(getenv)
	if err != nil {
		return nil, err
	}
	logs.start(c.Verbose)
	cfg := c.Devices()
	cfg.Reclaim, cfg.Log = reclaim, logs.runtime
	rt, err := runtime.New(cfg)
	if err != nil {
		return nil, err
	}
	if getenv("GOMAXPROCS") == "" {
		goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(0) + spare)
	}
	logDevices(rt)
	started.Store(rt)
	return rt, nil
})

// spare is how many processors Go's scheduler has more than there are CPUs. It leaves one with each thread of the program that has
// called, for its next call, and takes it back after up to ten milliseconds. With two CPUs and two such threads none was left
// for a goroutine that shares the work of a call, and every third run of a network took as long as on one thread.
const spare = 4

// getenv asks C, because Go only knows the environment that the process began with: a variable that
// the program set before it loaded the library is not in it.
func getenv(name string) string {
	key := C.CString(name)
	// SAFETY: key is C memory of our own, freed once.
	defer C.free(unsafe.Pointer(key))
	return C.GoString(C.getenv(key))
}

// running is start for the fast family: one load when the runtime exists.
func running() (*runtime.Runtime, error) {
	if rt := started.Load(); rt != nil {
		return rt, nil
	}
	return start()
}

// timeout is a number of milliseconds as a duration, at most what a duration holds.
func timeout(ms int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(ms, most)) * time.Millisecond
}
