//go:build invariants

package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

func leaky(t *testing.T, rt *runtime.Runtime) *runtime.Tensor {
	c, err := rt.Context(place.CPU)
	require.NoError(t, err)
	s, err := shape.Of(100)
	require.NoError(t, err)
	x, err := rt.Empty(c, dtype.Float32, s, nil)
	require.NoError(t, err)
	return x
}

// What misuse looks like with the build tag invariants: a leak names who made the tensor, a handle that
// was freed who freed it, and freed memory holds poison instead of numbers that look right.
func TestInvariants(t *testing.T) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{})})
	require.NoError(t, err)
	x := leaky(t, rt)
	handle := x.Handle()
	require.Contains(t, rt.HandleHistory(handle), "runtime_test.leaky")
	require.ErrorContains(t, rt.Close(), "1 tensors are alive; want none")
	require.ErrorContains(t, rt.Close(), "runtime_test.leaky")

	require.NoError(t, x.Write(make([]byte, 400)))
	p, err := x.Map()
	require.NoError(t, err)
	require.Equal(t, byte(0), *(*byte)(p))
	require.True(t, rt.Free(handle))
	require.Equal(t, byte(0xdb), *(*byte)(p), "freed memory is poisoned")
	require.Contains(t, rt.HandleHistory(handle), "freed at")
	require.Contains(t, rt.HandleHistory(handle), "runtime_test.TestInvariants")
	require.False(t, rt.Free(handle))
	require.NoError(t, rt.Close())
}
