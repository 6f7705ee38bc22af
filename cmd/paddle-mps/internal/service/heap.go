package service

import "runtime"

// With small models Go's heap has a few MiB. The garbage collector runs whenever the heap has doubled: up to fifty times a second
// with small requests, and each time it takes the threads that answer them.

// heapFloor is how large the heap is taken to be at least: the collector waits until twice as much is allocated.
const heapFloor = 32 << 20

// raiseHeap makes the collector run less often until lower is called, unless the operator has set its variables.
func raiseHeap(getenv func(string) string) (lower func()) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	// It is never read or written, so that the system has no pages for it. The collector does not look into it either: it has
	// no pointers.
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
