package service

// Weights are in memory of the devices, so that Go's heap has a few MiB. The garbage collector runs whenever the heap has
// doubled: up to fifty times a second with small requests, and each time it takes the threads that answer them.

// heapFloor is how large the heap is taken to be at least: the collector waits until twice as much is allocated.
const heapFloor = 32 << 20

// floor is never read or written, so that the system has no pages for it. The collector does not look into it: it has no
// pointers.
var floor []byte

// raiseHeap makes the collector run less often, unless the operator has set its variables.
func raiseHeap(getenv func(string) string) {
	if getenv("GOGC") == "" && getenv("GOMEMLIMIT") == "" {
		floor = make([]byte, heapFloor)
	}
}
