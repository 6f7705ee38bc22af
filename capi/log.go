package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/environment"
	"github.com/paddle-mps/paddle-mps/place"
)

// Levels of messages, as in the C header.
const (
	logError   int32 = 0
	logWarning int32 = 1
	logInfo    int32 = 2
)

// logger drops messages above its level and passes on the others: to standard error at once, to a
// callback from a goroutine of its own. A callback may therefore wait for a lock that the caller of the
// library holds, such as an interpreter's, without blocking that caller.
type logger struct {
	mu       sync.Mutex
	level    int32
	chosen   bool // the level was set by the program, not by the environment
	callback C.pmps_log_callback
	user     C.uint64_t // the caller's, never dereferenced
	queue    chan entry // made with the first callback
}

// entry is a message with the callback that was set when it was logged.
type entry struct {
	level    int32
	text     string
	callback C.pmps_log_callback
	user     C.uint64_t
}

// queued is how many messages may wait for a slow callback.
const queued = 256

var logs = logger{level: environment.DefaultVerbose}

// start sets the level that the environment asks for, unless the program has set one.
func (l *logger) start(level int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.chosen {
		l.level = level
	}
}

// set replaces the callback, nil for standard error, and the level unless it is negative. Messages that are queued
// still go to the callback that they were logged for.
func (l *logger) set(callback C.pmps_log_callback, user C.uint64_t, level int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callback, l.user = callback, user
	if level >= 0 {
		l.level, l.chosen = level, true
	}
	if callback != nil && l.queue == nil {
		l.queue = make(chan entry, queued)
		go deliver(l.queue)
	}
}

// say logs a message. It never blocks on a callback: if too many messages are queued, further ones go to
// standard error.
func (l *logger) say(level int32, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level > l.level {
		return
	}
	if l.callback != nil {
		select {
		case l.queue <- entry{level, text, l.callback, l.user}:
			return
		default:
		}
	}
	fmt.Fprintf(os.Stderr, "paddle_mps: %s\n", text)
}

// runtime receives the messages of the runtime.
func (l *logger) runtime(warning bool, text string) {
	if warning {
		l.say(logWarning, text)
	} else {
		l.say(logInfo, text)
	}
}

// deliver calls callbacks, one at a time, until the process ends. The text is borrowed for the call.
func deliver(queue <-chan entry) {
	for e := range queue {
		text := C.CString(e.text)
		C.call_log(e.callback, C.int32_t(e.level), text, e.user)
		C.free(unsafe.Pointer(text)) // SAFETY: made above; the callback only borrowed it
	}
}

// logDevices logs the devices that the runtime was started with.
func logDevices(rt *runtime.Runtime) {
	places := []place.Place{place.CPU}
	for i := range rt.Count(place.MPSKind) {
		places = append(places, place.MPS(int32(i)))
	}
	for _, p := range places {
		if c, err := rt.Context(p); err == nil {
			i := c.Info()
			logs.say(logInfo, fmt.Sprintf("[start] %s is %s: %d processors, limit %d bytes", p, i.Name, i.Processors, c.Limit()))
		}
	}
}

// goLogSet is pmps_log_set. It needs no runtime, so that a program can receive the messages of the start.
//
//export goLogSet
func goLogSet(callback C.pmps_log_callback, user C.uint64_t, level C.int32_t) {
	logs.set(callback, user, int32(level))
}

// liveServings is how many models and instances a tritonserver has; nil in a library without the backend for it.
var liveServings func() int64

// goLiveHandles is pmps_live_handles. Default streams are borrowed by callers and therefore not counted.
//
//export goLiveHandles
func goLiveHandles() (n C.int64_t) {
	n = C.error_count()
	quietly(func(rt *runtime.Runtime) {
		n += C.int64_t(rt.Live() + streams.Live() - defaults.Load() + events.Live() +
			libraries.Live() + kernels.Live() + graphs.Live() + programs.Live() + runs.Live() + traces.Live())
		if liveServings != nil {
			n += C.int64_t(liveServings())
		}
	})
	return n
}
