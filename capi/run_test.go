package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/eager"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/graph"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
)

// held is a graph that is not resolved before a channel is closed.
type held struct {
	*graph.Graph
	until chan struct{}
}

func (h held) Resolve(in []op.Type) (*graph.Graph, error) {
	<-h.until
	return h.Graph.Resolve(in)
}

// TestFreeOfRunThatIsWaitedFor: a free cancels a run also while another thread waits for it, which is told so.
func TestFreeOfRunThatIsWaitedFor(t *testing.T) {
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{})})
	require.NoError(t, err)
	c, err := rt.Context(place.CPU)
	require.NoError(t, err)
	b := graph.NewBuilder()
	x := op.Type{DType: dtype.Float32}
	out, err := b.Call(op.MustByName("exp"), []graph.Value{b.Input(x)}, nil)
	require.NoError(t, err)
	h := held{b.Build(out...), make(chan struct{})}
	p := execute.New(c, h)
	in, err := rt.FromHost(c, x.DType, x.Shape, make([]byte, 4))
	require.NoError(t, err)
	handle, record := runs.New()
	*record, err = execute.Start(eager.In(rt, 0), p, []*runtime.Tensor{in}, nil, func() {})
	require.NoError(t, err)
	waited := runs.Pin(handle) // as a thread that waits has it
	freeRun(handle)
	freeRun(handle)
	close(h.until)
	_, err = (*waited).Wait()
	require.Equal(t, status.Cancelled, status.CodeOf(err))
	runs.Unpin(handle)
	rt.Free(in.Handle())
	p.Close()
	require.Zero(t, rt.Live())
	require.NoError(t, rt.Close())
}
