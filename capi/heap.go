package main

import (
	goruntime "runtime"
	"runtime/debug"
)

// To load a small model and run it once allocates some 10 MiB. Go's collector begins when its heap has 4 MiB, and would run twice or
// more in that time, which takes as long as the rest; almost everything that it marks is still needed.

// firstHeap is how large the heap may become before the first collection, in percent of 4 MiB. Go's own is 100.
const firstHeap = 400

// delayCollection makes the collector wait for the first 16 MiB. From then on it begins when the heap has doubled, as it always does,
// so that large heaps do not grow by more than that. The variables of Go's runtime decide where they are set.
//
// The end of the first collection is known by an object that it frees.
func delayCollection(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	usual := debug.SetGCPercent(firstHeap)
	type sentinel struct{ self *sentinel } // one with a pointer is not put together with other small objects
	goruntime.SetFinalizer(&sentinel{}, func(*sentinel) { debug.SetGCPercent(usual) })
}
