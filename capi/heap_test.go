package main

import (
	goruntime "runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// percent is what the collector has been told.
func percent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(s[0].Value.Uint64())
}

// The collector waits for more memory until it has run once.
func TestCollectionIsDelayedOnce(t *testing.T) {
	before := percent()
	delayCollection(func(string) string { return "" })
	require.Equal(t, firstHeap, percent())
	goruntime.GC()
	require.Eventually(t, func() bool { return percent() == before }, time.Minute, time.Millisecond)
}

// What the environment says stays.
func TestCollectionOfTheEnvironment(t *testing.T) {
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		before := percent()
		delayCollection(func(name string) string {
			if name == set {
				return "50"
			}
			return ""
		})
		require.Equal(t, before, percent(), set)
	}
}
