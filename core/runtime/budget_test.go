package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// TestPlacesShareTheMachine fills one place and then the other on a machine of 256 MiB: each may have
// 71 % of it, both together 95 %.
func TestPlacesShareTheMachine(t *testing.T) {
	const machine, miB = 256 << 20, 1 << 20
	rt, err := runtime.New(runtime.Config{
		CPU: host.New(host.Config{Memory: machine}),
		MPS: []device.Device{host.New(host.Config{Memory: machine, Async: true})},
	})
	require.NoError(t, err)
	cpu, _ := rt.Context(place.CPU)
	mps, _ := rt.Context(place.MPS(0))
	empty := func(c *runtime.Context, bytes int64) (*runtime.Tensor, error) {
		s, err := shape.Of(bytes)
		require.NoError(t, err)
		return rt.Empty(c, dtype.Uint8, s, nil)
	}
	require.Equal(t, cpu.Limit(), cpu.Available())

	big, err := empty(mps, 160*miB)
	require.NoError(t, err)
	require.Less(t, mps.Available(), int64(23*miB), "its own limit")
	require.Less(t, cpu.Available(), int64(84*miB), "what is left of the machine")
	require.EqualValues(t, cpu.Limit(), machine/4*3/100*95)
	_, err = empty(cpu, 120*miB)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.ErrorContains(t, err, "for all devices that share this memory")

	// Heaps that the other place caches are returned.
	require.True(t, rt.Free(big.Handle()))
	require.EqualValues(t, 160*miB, mps.Stats().Reserved.Current)
	here, err := empty(cpu, 120*miB)
	require.NoError(t, err)
	require.Zero(t, mps.Stats().Reserved.Current)

	// A place at its own limit does not make others return heaps.
	small, err := empty(mps, miB)
	require.NoError(t, err)
	require.True(t, rt.Free(small.Handle()))
	_, err = empty(cpu, 100*miB)
	require.Equal(t, status.OutOfMemory, status.CodeOf(err))
	require.Positive(t, mps.Stats().Reserved.Current)

	// The limit of one place may still be 95 % of the machine.
	require.NoError(t, cpu.SetLimit(machine/100*95))
	require.True(t, rt.Free(here.Handle()))
	all, err := empty(cpu, 240*miB)
	require.NoError(t, err)
	require.True(t, rt.Free(all.Handle()))
	require.NoError(t, rt.Close())
}
