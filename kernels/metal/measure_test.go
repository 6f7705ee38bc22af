package metal_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/profile"
)

// TestProfile: each command buffer is a span with the GPU's times, which are readings of the clock of all other spans, and
// says which calls are in it.
func TestProfile(t *testing.T) {
	w := newWorld(t)
	x := w.filled(w.gpu, 1, 1000)
	w.free(w.add(x, x, nil)) // compiled now
	require.NoError(t, w.gpu.Synchronize())
	require.NoError(t, w.rt.StartProfile(profile.Options{}))
	before := profile.Now()
	y := w.add(x, x, nil)
	z := w.add(y, x, nil)
	require.NoError(t, w.gpu.Synchronize())
	r, err := w.rt.StopProfile()
	require.NoError(t, err)
	after := profile.Now()
	w.free(x, y, z)
	var d struct {
		TraceEvents []struct {
			Ph, Cat, Name string
			Tid           int64
			Ts, Dur       float64
			Args          struct {
				Calls int
				Names []string
			}
		}
	}
	require.NoError(t, json.Unmarshal(r.AppendTrace(nil), &d))
	var names []string
	operators := 0
	for _, e := range d.TraceEvents {
		switch e.Cat {
		case "Operator":
			operators++
		case "Kernel":
			names = append(names, e.Args.Names...)
			require.Equal(t, len(e.Args.Names), e.Args.Calls)
			require.GreaterOrEqual(t, e.Ts*1000, float64(before)-1000, "a microsecond: the mock's times are seconds in a double")
			require.LessOrEqual(t, (e.Ts+e.Dur)*1000, float64(after)+1000)
			require.GreaterOrEqual(t, e.Tid, int64(1_000_000_000))
		}
	}
	require.Equal(t, 2, operators)
	require.Equal(t, []string{"add", "add"}, names)
}
