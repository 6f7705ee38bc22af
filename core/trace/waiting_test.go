package trace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/execute"
	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/shape"
)

// TestReplaysDoNotWait: while another goroutine traces a program for all sizes, a run for sizes that are known begins and ends,
// and a run for others is refused to a caller who may not wait.
func TestReplaysDoNotWait(t *testing.T) {
	of := func(n int64) []op.Type {
		return []op.Type{{DType: dtype.Float32, Shape: shape.Shape{Rank: 1, Dims: [shape.MaxRank]int64{n}}}}
	}
	known := of(3)
	key := string(execute.AppendShape(nil, known[0].DType, &known[0].Shape))
	p := &replays{whole: &execute.Program{}, programs: map[string]*replayed{key: {Program: &execute.Program{}}}}
	p.tracing.Lock()
	x, err := p.find(known, runtime.NonBlocking)
	require.NoError(t, err)
	require.Equal(t, 1, x.users)
	p.leave(x)
	require.Zero(t, x.users)
	_, err = p.find(of(4), runtime.NonBlocking)
	require.ErrorAs(t, err, new(*runtime.Long))
}
