package main

// #include <stdlib.h>
import "C"

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
)

// started is the runtime once it has been built, for callers that must not build it.
var started atomic.Pointer[runtime.Runtime]

// start builds the runtime on first use, whichever thread is first. A start that failed is not repeated: every
// call returns its error, because the cause is the environment.
var start = sync.OnceValues(func() (*runtime.Runtime, error) {
	c, err := readConfig(getenv)
	if err != nil {
		return nil, err
	}
	logs.start(c.verbose)
	rt, err := runtime.New(devices(c))
	if err != nil {
		return nil, err
	}
	logDevices(rt)
	started.Store(rt)
	return rt, nil
})

// getenv asks C, because Go only knows the environment that the process began with: a variable that
// the program set before it loaded the library is not in it.
func getenv(name string) string {
	key := C.CString(name)
	// SAFETY: key is C memory of our own, freed once.
	defer C.free(unsafe.Pointer(key))
	return C.GoString(C.getenv(key))
}

// devices are the CPU, and as mps the GPU or, if the environment asks for it, an emulated one.
func devices(c config) runtime.Config {
	cpu := host.New(host.Config{Threads: c.threads, UUID: identity(0)})
	cfg := runtime.Config{
		CPU: cpu, Limit: c.pool, MaxAge: c.age,
		Programs: program.Config{Entries: c.entries, Bytes: c.bytes},
		Reclaim:  reclaim, NoFallback: c.alone, Log: logs.runtime,
	}
	if c.device != "host" {
		gpu, err := openMetal(c, goruntime.GOOS)
		if gpu == nil {
			cfg.NoMPS = noMPS(goruntime.GOOS, goruntime.GOARCH, err)
			return cfg
		}
		cfg.MPS = []device.Device{gpu}
		return cfg
	}
	cfg.MPS = []device.Device{host.New(host.Config{
		Name:        "Emulated MPS (CPU: " + cpu.Info().Name + ")",
		UUID:        identity(1),
		Threads:     c.threads,
		Async:       true,
		InlineLimit: c.inline,
	})}
	return cfg
}

// openMetal opens the GPU, or the mock of Metal that the environment names. Both results are nil on a system
// without Metal.
func openMetal(c config, goos string) (device.Device, error) {
	if goos != "darwin" && c.metal.Library == "" {
		return nil, nil
	}
	gpu, err := metal.Open(c.metal)
	if err != nil {
		return nil, err
	}
	return gpu, nil
}

// identity is a UUID (RFC 9562, version 8: of our own making) for a device that has none. It is that
// of the n-th device in every process.
func identity(n byte) [16]byte {
	return [16]byte{'p', 'a', 'd', 'd', 'l', 'e', 0x80, 'm', 0x80, 'p', 's', 15: n}
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
