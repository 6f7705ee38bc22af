package metal_test

import (
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

// TestEverNewShapes compiles graphs for ever new shapes, for two seconds, or with PADDLE_MPS_LONG=1 for five
// minutes. The cache keeps its bounds, and what leaves it gives back its objects.
func TestEverNewShapes(t *testing.T) {
	const most = 16
	w := newGraphWorld(t, most)
	spell := 2 * time.Second
	if os.Getenv("PADDLE_MPS_LONG") == "1" {
		spell = 5 * time.Minute
	}
	n, steady := int64(0), int64(0)
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
		if live := fakemetal.Count(t, "live_objects"); steady == 0 {
			steady = live
		} else {
			require.LessOrEqual(t, live, steady)
		}
	}
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
