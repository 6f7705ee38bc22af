package service

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// nextCollection is the size of the heap at which the collector runs next.
func nextCollection() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.NextGC
}

// TestRaiseHeap: the collector waits for twice the floor, but not where the operator has decided, and only until it is lowered.
func TestRaiseHeap(t *testing.T) {
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		lower := raiseHeap(func(name string) string { return map[string]string{set: "100"}[name] })
		require.Less(t, nextCollection(), uint64(heapFloor), set)
		lower()
	}
	lower := raiseHeap(func(string) string { return "" })
	require.GreaterOrEqual(t, nextCollection(), uint64(2*heapFloor))
	lower()
	require.Less(t, nextCollection(), uint64(heapFloor))
}
