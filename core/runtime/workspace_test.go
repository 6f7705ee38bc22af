package runtime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// packed is a product whose left operand the CPU packs into a workspace: x transposed, times x.
func packed(w *world, x, columns *runtime.Tensor, on *runtime.Stream) *runtime.Tensor {
	ts, err := eager.Call(w.rt, op.MustByName("matmul"), of(columns, x), make(op.Attrs, 2), nil, on)
	require.NoError(w, err)
	return ts[0]
}

// TestQueuedWorkspacesAreReused: workspaces of queued calls are not memory that tensors hold, and all calls of a
// stream use one piece of memory for them.
func TestQueuedWorkspacesAreReused(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	const rows, columns, calls = 8192, 16, 64 // the workspace has 512 KiB
	x := w.f32(w.mps, make([]float32, rows*columns), rows, columns)
	turned := w.call("transpose", of(x), ints(1, 0))
	open := d.gate()
	defer open()
	before := w.mps.Stats()
	var results []*runtime.Tensor
	for range calls {
		results = append(results, packed(w, x, turned, nil))
	}
	after := w.mps.Stats()
	require.EqualValues(t, calls*columns*columns*4, after.Allocated.Current-before.Allocated.Current, "the results alone")
	require.Equal(t, before.Reserved.Current, after.Reserved.Current, "64 workspaces would need 32 MiB")
	open()
	require.NoError(t, w.mps.Synchronize())
	w.free(append(results, x, turned)...)
}

// TestAllocationWaitsForWorkInFlight: an allocation for one stream finds no memory but the workspace of a call that
// another stream has not run yet. It waits for that call and then succeeds.
func TestAllocationWaitsForWorkInFlight(t *testing.T) {
	w, d := newSteeredWorld(t, -1)
	const rows, columns, limit = 5 << 19, 4, 96 << 20 // x has 40 MiB, and so has the workspace
	require.NoError(t, w.mps.SetLimit(limit))
	x := w.f32(w.mps, make([]float32, rows*columns), rows, columns)
	turned := w.call("transpose", of(x), ints(1, 0))
	ss := w.streams(2)
	open := d.gate()
	defer open()
	y := packed(w, x, turned, ss[0])
	time.AfterFunc(10*time.Millisecond, open) // the allocation waits for it, however long it takes
	s, err := shape.Of(40 << 20)
	require.NoError(t, err)
	big, err := w.rt.Empty(w.mps, dtype.Uint8, s, ss[1])
	require.NoError(t, err)
	require.Zero(t, w.mps.Stats().OOMs)
	w.free(x, turned, y, big)
}
