package metal_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/program"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/fakemetal"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/kernels/metal"
	"github.com/paddle-mps/paddle-mps/place"
)

// TestEverNewShapes compiles graphs for ever new shapes, for 4 seconds, or with PADDLE_MPS_LONG=1 for five
// minutes. The cache keeps its bounds, what leaves it gives back its objects, and the process does not grow.
func TestEverNewShapes(t *testing.T) {
	const most = 16
	w := newGraphWorld(t, most)
	spell := 4 * time.Second
	switch {
	case os.Getenv("PADDLE_MPS_LONG") == "1":
		spell = 5 * time.Minute
	case testing.Short():
		spell = time.Second
	}
	n, begin, grown := int64(0), int64(-1), 0.0
	for end := time.Now().Add(spell); time.Now().Before(end); {
		for range 2 * most {
			n++
			x := w.filled(w.gpu, 1, n)
			y := w.add(x, x, nil)
			got, _, err := w.first(y)
			require.NoError(t, err)
			require.EqualValues(t, 2, got)
			w.free(x, y)
			require.LessOrEqual(t, w.gpu.Programs().Entries, int64(most))
		}
		require.NoError(t, w.gpu.Synchronize())
		w.gpu.EmptyCache()
		if begin < 0 {
			time.Sleep(100 * time.Millisecond)
			begin, grown = fakemetal.Count(t, "live_objects"), resident(t)
		}
	}
	require.LessOrEqual(t, left(t, begin), int64(0))
	require.LessOrEqual(t, resident(t), grown*1.25+8, "MiB of memory")
	found := w.gpu.Programs()
	require.Equal(t, n, found.Misses, "each shape is new")
	require.Equal(t, n, found.Evictions+found.Cleared)
	require.Zero(t, found.Entries+found.Bytes)
}

// newGraphWorld is newWorld with graphs where there is a choice, of which some are kept.
func newGraphWorld(t *testing.T, most int64) *world {
	d, err := metal.Open(metal.Config{Library: fakemetal.Library(t), Prefer: metal.PreferGraphs})
	require.NoError(t, err)
	rt, err := runtime.New(runtime.Config{
		CPU: host.New(host.Config{}), MPS: []device.Device{d}, Programs: program.Config{Entries: most},
	})
	require.NoError(t, err)
	w := &world{T: t, rt: rt}
	w.cpu, err = rt.Context(place.CPU)
	require.NoError(t, err)
	w.gpu, err = rt.Context(place.MPS(0))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, rt.Live(), "tensors leaked")
		require.NoError(t, rt.Close())
	})
	fakemetal.Reset(t)
	return w
}

// resident is the memory of the process in MiB.
func resident(t *testing.T) float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("the system does not say how much memory a process has: %v", err)
	}
	var pages, held float64
	_, err = fmt.Sscan(string(text), &pages, &held)
	require.NoError(t, err)
	return held * float64(os.Getpagesize()) / (1 << 20)
}
